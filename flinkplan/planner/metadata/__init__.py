"""What is known of a relation without running it: keys, bounds, monotonicity, kinds of changes, estimates."""
