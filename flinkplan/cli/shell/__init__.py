"""The SQL shell: executes statements in one session on one running Spark."""
