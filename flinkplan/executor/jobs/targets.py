"""What takes the rows of a query: the writer of a table, in Java, or a collector, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..build.context import TranslationContext
from ..build.sharing import SharedRows
from ..build.stream import Stream
from ..build.time.source_watermarks import recording
from ..jvm.java import java_class
from ..jvm.spark import sql
from .collecting import Collector
from .starting import function_sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Target(Protocol):
    """Takes the rows of a query, batch by batch."""

    @property
    def failure(self) -> Any:
        """The Java exception that ended the query while a batch was taken; ``None``: there was none."""

    def planned(self, frame: DataFrame) -> DataFrame:
        """The rows of a stream and what is done with them before they are taken, as far as it is planned once."""

    def sink(self, frame: DataFrame, rows: SharedRows, reached: Any) -> Any:
        """Java's sink of the micro-batches of :meth:`planned` rows, which share ``rows``.

        ``reached`` is the Java ``ReachedWatermarks`` that is told of the end of each, if any.
        """

    def take(self, frame: DataFrame, batch: int) -> None:
        """Take the rows of a batch."""

    def counts(self, batch: int) -> str:
        """What was counted in a batch, in JSON; it can be asked once."""

    def end(self) -> None:
        """Be told that no more rows come, perhaps again."""

    def close(self) -> None:
        """Take no more rows, and let nothing wait for rows that are to be fetched."""


def _sinks(frame: DataFrame) -> Any:
    return java_class(frame.sparkSession._jvm, "flinkplan.runtime.sink")


class TableTarget:
    """The writer of a table, which is a Java ``writer`` of ``flinkplan.runtime.sink``.

    ``late`` are the Java counters of the rows that come too late, by the ids of the nodes that drop them.
    """

    failure = None

    def __init__(self, writer: Any, late: Mapping[int, Any]) -> None:
        self.java = writer
        for node, counter in late.items():
            writer.countLate(node, counter)

    def planned(self, frame: DataFrame) -> DataFrame:
        if not _sinks(frame).BatchSink.takes(self.java):
            return frame
        return sql.DataFrame(self.java.planned(frame._jdf), frame.sparkSession)

    def sink(self, frame: DataFrame, rows: SharedRows, reached: Any) -> Any:
        sinks = _sinks(frame)
        writer = rows.writer(self.java if reached is None else reached.recording(self.java))
        if sinks.BatchSink.takes(self.java):
            return sinks.BatchSink(writer)
        query = frame.writeStream
        query._jwrite.foreachBatch(writer)
        return function_sink(query, frame)

    def take(self, frame: DataFrame, batch: int) -> None:
        self.java.call(frame._jdf, batch)

    def counts(self, batch: int) -> str:
        return str(self.java.counts(batch) or "{}")

    def end(self) -> None:
        self.java.end()

    def close(self) -> None:
        """A table waits for nobody."""

    def settle(self) -> None:
        """Show what a query in real-time mode has committed."""
        self.java.settle()


class CollectingTarget:
    """A collector of the rows of ``stream``."""

    def __init__(self, collector: Collector, stream: Stream, context: TranslationContext) -> None:
        self._collector = collector
        self._write = collector.writer(stream, context)
        self._late: Mapping[int, Any] = context.parts.late_counters
        self._counted: dict[int, int] = {}

    @property
    def failure(self) -> Any:
        return self._collector.failure

    def planned(self, frame: DataFrame) -> DataFrame:
        return frame

    def sink(self, frame: DataFrame, rows: SharedRows, reached: Any) -> Any:
        return function_sink(frame.writeStream.foreachBatch(rows.write(recording(self._write, reached))), frame)

    def take(self, frame: DataFrame, batch: int) -> None:
        self._write(frame, batch)

    def counts(self, batch: int) -> str:
        totals = {node: int(late.total()) for node, late in self._late.items()}
        dropped = {node: total - self._counted.get(node, 0) for node, total in totals.items()}
        self._counted = totals
        counts = {
            "written": self._collector.written(batch),
            "dropped": {n: rows for n, rows in dropped.items() if rows},
        }
        return json.dumps(counts)

    def end(self) -> None:
        """A collector is told by the end of its job."""

    def close(self) -> None:
        self._collector.close()


class KeptTarget:
    """Takes the rows of a query over the past: into files of Spark in ``folder``."""

    failure = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def planned(self, frame: DataFrame) -> DataFrame:
        return frame

    def sink(self, frame: DataFrame, rows: SharedRows, reached: Any) -> Any:
        return function_sink(frame.writeStream.foreachBatch(rows.write(recording(self.take, reached))), frame)

    def take(self, frame: DataFrame, batch: int) -> None:
        frame.write.mode("overwrite").parquet(str(self._folder / f"batch={batch}"))

    def counts(self, batch: int) -> str:
        return "{}"

    def end(self) -> None:
        """The rows are those of the past, which nothing ends."""

    def close(self) -> None:
        """Nobody waits for these rows."""
