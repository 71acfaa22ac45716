"""One Spark session for all tests that run something, and sources and a clock they control."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.build.stream import KIND, ORDER, SEQUENCE, Stream, column_name
from flinkplan.executor.checkpoints.copies import relocate
from flinkplan.executor.checkpoints.entries import read_entries, write_entries
from flinkplan.executor.checkpoints.operators import StatefulQuery
from flinkplan.executor.checkpoints.query_log import copy_sources, read_progress, write_progress
from flinkplan.executor.jvm.types import spark_type
from flinkplan.plan.document import Plan
from flinkplan.plan.files import Place as Place_
from flinkplan.plan.record import replace
from flinkplan.plan.types import LogicalType

from .building import query_of
from .databases import Database
from .jobs import Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KINDS = ("+I", "-U", "+U", "-D")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session with flinkplan's settings."""
    from flinkplan.executor.jvm.session import session

    spark = session("local[2]", {"spark.sql.shuffle.partitions": "1"})
    yield spark
    spark.stop()


class Bench:
    """Inputs, an operator over them, and the clock that its state's TTLs go by.

    Each step restarts the query from its checkpoint, so that what it emits comes of restored state.  With ``rewrites``
    that is read and written anew before.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.context = TranslationContext(spark, query_of(Plan("2.3", (), ())))
        self._folder = folder
        self._rows = 0
        self.rewrites = False

    def keep_journal(self) -> None:
        """Make operators feed a sink that wants every change."""
        self.context = replace(self.context, query=replace(self.context.query, folds=False))

    def source(self, name: str, of: LogicalType, *, changelog: bool = False) -> Stream:
        """A stream of rows of the ROW type ``of``, to which :meth:`put` adds."""
        from pyspark.sql.types import ByteType, LongType, StructField, StructType

        columns = [StructField(column_name(i), spark_type(t)) for i, t in enumerate(of.field_types)]
        hidden = [StructField(KIND, ByteType())] if changelog else []
        schema = StructType([*columns, *hidden, StructField(SEQUENCE, LongType())])
        (self._folder / name).mkdir()
        frame = self.spark.readStream.schema(schema).json(str(self._folder / name))
        return Stream(frame, of, changelog)

    def put(self, name: str, *rows: Sequence[Any], first: int | None = None) -> None:
        """Add rows to a source: their values, in a changelog after the kind (``+I``).

        ``first``: the number of the first of them, if they do not come behind all rows so far.
        """
        lines = []
        for number, row in enumerate(rows, self._rows if first is None else first):
            values = list(row)
            line: dict[str, Any] = {SEQUENCE: number}
            if values and values[0] in KINDS:
                line[KIND] = KINDS.index(values.pop(0))
            line |= {column_name(i): v for i, v in enumerate(values)}
            lines.append(json.dumps(line))
            self._rows += 1
        hidden = self._folder / f".{uuid.uuid4()}"
        hidden.write_text("\n".join(lines))
        hidden.rename(self._folder / name / f"{self._rows:06}.json")

    def step(self, stream: Stream, at: int = 0) -> list[tuple[Any, ...]]:
        """What ``stream`` emits for the rows put since the last step, when the clock shows ``at`` milliseconds.

        Each row is its kind and its values, in the order of their sequence numbers and places.
        """
        checkpoint = self._folder / "checkpoint"
        if self.rewrites and checkpoint.exists():
            rewrite(checkpoint, stream.frame, 1_000_000 + at)
        jvm: Any = self.spark._jvm
        sink = jvm.org.apache.spark.sql.execution.streaming.sources.MemorySink()
        frame: Any = stream.frame
        manager = frame._jdf.sparkSession().streams()
        none = jvm.scala.Option.empty()
        query = manager.startQuery(
            none,
            none,
            jvm.scala.Option.apply(str(self._folder / "checkpoint")),
            frame._jdf,
            jvm.PythonUtils.toScalaMap({}),
            sink,
            jvm.org.apache.spark.sql.streaming.OutputMode.Append(),
            False,
            True,
            jvm.org.apache.spark.sql.streaming.Trigger.AvailableNow(),
            jvm.org.apache.spark.util.ManualClock(1_000_000 + at),
            none,
            none,
        )
        query.awaitTermination()
        data = sink.allData()
        rows = [json.loads(data.apply(i).json()) for i in range(data.size())]
        rows.sort(key=lambda row: (row[SEQUENCE], row.get(ORDER, 0), row.get(KIND) not in (1, 3)))
        return [(KINDS[row.get(KIND, 0)], *_values(row, stream)) for row in rows]


def rewrite(checkpoint: Path, frame: DataFrame, now: int) -> None:
    """Read all that a query has in its checkpoint, and write it into a new one in its place."""
    query = StatefulQuery(frame)
    progress = read_progress(Place_.of(checkpoint))
    entries = read_entries(frame.sparkSession, Place_.of(checkpoint), query)
    written = checkpoint.with_name(f"written-{uuid.uuid4()}")
    written.mkdir()
    copy_sources(checkpoint, written)
    write_progress(written, replace(progress, batch=0), str(uuid.uuid4()))
    write_entries(query, Place_.of(written / "state"), entries, now)
    shutil.rmtree(checkpoint)
    relocate(written, checkpoint, "")
    written.rename(checkpoint)


def _values(row: Mapping[str, Any], stream: Stream) -> list[Any]:
    return [row.get(column_name(i)) for i in range(len(stream.type.fields))]


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    """A bench for one operator."""
    found = Bench(spark, tmp_path)
    found.rewrites = "FLINKPLAN_TEST_REWRITES" in os.environ
    return found


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    return Place(spark, tmp_path)


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[Database]:
    """A database in memory."""
    found = Database(spark, tmp_path)
    yield found
    found.close()
