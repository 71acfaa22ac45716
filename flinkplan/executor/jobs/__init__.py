"""Jobs: the queries of a plan while they run, their progress, failures and state."""
