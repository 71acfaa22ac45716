"""The shell: statements typed one after the other, in one session with one warm Spark."""
