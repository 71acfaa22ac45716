"""Row expressions: building, simplifying, folding and evaluating them."""
