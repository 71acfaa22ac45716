"""From the logical to the physical algebra, and what is decided of a whole physical tree."""
