"""Change data capture: snapshots of tables in databases, and the changes in their logs."""
