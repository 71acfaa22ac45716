"""What is known of the rows of a plan before it runs: their order, their times, what is read of them, how many."""
