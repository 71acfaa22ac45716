"""Texts: parsing JSON that users edit, positions in it, the spelling of its values, and source lines with a mark."""
