"""Flink's end of a job's state: savepoints, read and written with the jars of the user's Flink."""
