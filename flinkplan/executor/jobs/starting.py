"""Starts the query of a stream as PySpark does, into a sink of ours and by a clock that may be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..jvm.java import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def function_sink(writer: DataStreamWriter, frame: DataFrame) -> Any:
    """Spark's sink that hands micro-batches of ``frame`` to the function that ``writer`` has been given."""
    jvm: Any = frame.sparkSession._jvm
    java_writer: Any = writer._jwrite
    field = java_writer.getClass().getDeclaredField("foreachBatchWriter")
    field.setAccessible(True)
    sinks = java_class(jvm, "org.apache.spark.sql.execution.streaming.sources")
    return sinks.ForeachBatchSink(field.get(java_writer), frame._jdf.exprEnc())


def start_query(
    frame: DataFrame, sink: Any, *, name: str, checkpoint: str, trigger: Any, clock: int | None = None
) -> StreamingQuery:
    """Start a query that writes the rows of ``frame`` to Java's ``sink``, whenever Java's ``trigger`` says.

    ``clock`` is the time in milliseconds since 1970 at which the query is to run, for tests of what expires.  Spark's
    own way to start a query has no place for a clock nor for a sink; it calls ``StreamingQueryManager.startQuery`` as
    this does.
    """
    from pyspark.sql.streaming.query import StreamingQuery

    jvm: Any = frame.sparkSession._jvm
    none, some = jvm.scala.Option.empty(), jvm.scala.Option.apply
    clocks = jvm.org.apache.spark.util
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
            trigger,
            clocks.SystemClock() if clock is None else clocks.ManualClock(clock),
            none,
            none,
        )
    )
    return StreamingQuery(query)
