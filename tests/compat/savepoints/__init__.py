"""What Apache Flink does with a savepoint when the plan changes: asked by ``make truth-flink``, kept as files."""
