"""Queries that go by a clock which is set, and not by the machine's: for tests of what expires."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def start_at(
    milliseconds: int, writer: DataStreamWriter, frame: DataFrame, name: str, checkpoint: str
) -> StreamingQuery:
    """Start a query that reads what is there, at a time in milliseconds since 1970.

    ``writer`` has the function that takes the batches of ``frame``.  Spark's own way to start a query has no place for
    a clock; it calls ``StreamingQueryManager.startQuery`` as this does.
    """
    from pyspark.sql.streaming.query import StreamingQuery

    jvm: Any = frame.sparkSession._jvm
    none, some = jvm.scala.Option.empty(), jvm.scala.Option.apply
    java_writer: Any = writer._jwrite
    field = java_writer.getClass().getDeclaredField("foreachBatchWriter")
    field.setAccessible(True)
    sources = jvm.org.apache.spark.sql.execution.streaming.sources
    sink = sources.ForeachBatchSink(field.get(java_writer), frame._jdf.exprEnc())
    query = (
        frame._jdf.sparkSession()
        .streams()
        .startQuery(
            some(name),
            none,
            some(checkpoint),
            frame._jdf,
            jvm.PythonUtils.toScalaMap({}),
            sink,
            jvm.org.apache.spark.sql.streaming.OutputMode.Append(),
            False,
            True,
            jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow(),
            jvm.org.apache.spark.util.ManualClock(milliseconds),
            none,
            none,
        )
    )
    return StreamingQuery(query)
