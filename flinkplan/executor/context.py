"""What every translator needs beyond its node and inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from time import time_ns
from typing import TYPE_CHECKING, Any

from ..plan.document import Plan
from ..plan.nodes import ExecNode
from ..plan.record import Record, field
from ..plan.rex import RexNode
from ..plan.session import DEFAULTS, option_of, time_zone
from ..plan.settings import LEGACY_CASTS
from .jvm.java import java_class
from .python_classes import PythonCode
from .sharing import SharedRows, SharedStreams
from .stream import LATENESS, Stream

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader
    from pyspark.sql.types import StructType


PYTHON = "python"
"""What stands for a kernel's class where Spark's Python workers run a node."""


class Mode(Enum):
    """How long a job runs, and what becomes of its open windows."""

    BOUNDED = "bounded"
    """Read all that is there, then end all input: the watermark becomes infinite and every window fires."""

    AVAILABLE_NOW = "available-now"
    """Read all that is there and stop; windows stay open for the next run."""

    STREAMING = "streaming"
    """Run until stopped."""

    REAL_TIME = "real-time"
    """Run until stopped, each row as it comes, in Spark's real-time mode."""

    @property
    def is_endless(self) -> bool:
        """Whether a job runs until it is stopped."""
        return self in (Mode.STREAMING, Mode.REAL_TIME)


class Turn(Enum):
    """When a source of a stream is read, where a table has several."""

    ALONE = "alone"
    """At once, and whatever comes."""

    FIRST = "first"
    """With the first micro-batch, and those behind it until it ends."""

    LAST = "last"
    """When the batch in which others end is done, and its watermark has taken effect."""


class TranslationContext(Record):
    """The surroundings of a translation.

    ``variables`` replace ``${NAME}`` in table options.  ``is_closed``: the query only ever sees input that ends,
    so that its end is the one watermark that must reach every operator.  ``shared`` keeps what several nodes have
    in common while one query is built.  ``options`` are the session's, for what the plan's nodes do not say.
    ``node`` is the one that is being translated.
    ``is_watched``: somebody looks at each change.  ``python`` may be imported where the plan names it.
    ``turn``: when the source that is translated is read; ``switch``, where it is not alone: the Java ``Switch`` between
    those before the last one and that.
    ``announces``: sources tell their watermarks among their rows, for operators that wait for them row by row.
    ``tells_time``: they tell the time among their rows, for operators that wait for the clock so.
    ``is_batch``: all input is read at once, by frames that do not stream, and ends.  ``common``: what its sinks and
    nodes share, which is computed once; ``common_rows``: the same of a stream's micro-batches.  ``files_per_batch``:
    how many files of a source a micro-batch takes up at most.  ``is_timed``: something waits for watermarks.
    ``reached``: the Java ``ReachedWatermarks`` of a stream, by which rows of a batch know those of the batches before.
    ``tells_lag``: somebody looks at how much of a source is still to be read, which may have to be asked for.
    ``in_kernels``: kernels keep all state, also that which Spark's own operators could keep.
    ``kernels``: the classes of the kernels that each node has been translated to, by its id.  ``built``: the engine
    that runs each translated node, and the kernel's class where it is one.
    """

    spark: SparkSession
    plan: Plan
    mode: Mode
    variables: Mapping[str, str] = field(default_factory=dict)
    is_closed: bool = True
    shared: dict[Any, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    node: ExecNode | None = None
    is_watched: bool = False
    python: PythonCode = PythonCode()
    is_batch: bool = False
    turn: Turn = Turn.ALONE
    switch: Any = None
    common: SharedStreams | None = None
    common_rows: SharedRows | None = None
    announces: bool = False
    tells_time: bool = False
    files_per_batch: int | None = None
    is_timed: bool = True
    reached: Any = None
    tells_lag: bool = False
    kernels: dict[int, list[str]] = field(default_factory=dict)
    built: dict[int, tuple[str, str]] = field(default_factory=dict)
    in_kernels: bool = False

    def record_kernel(self, name: str) -> None:
        """Note that the node which is translated is run by the Java class ``name`` below ``flinkplan.runtime``."""
        self.kernels.setdefault(self.node.id if self.node else 0, []).append(name)

    @property
    def is_real_time(self) -> bool:
        """Whether operators see each row when it comes, not with those of a batch."""
        return self.mode is Mode.REAL_TIME

    @property
    def whole_plan(self) -> Plan:
        """The plan of all sinks where what they share is computed once; else that of the query."""
        return self.common.plan if self.common else self.plan

    @property
    def reader(self) -> DataFrameReader | DataStreamReader:
        """What reads sources."""
        return self.spark.read if self.is_batch else self.spark.readStream

    def arrival(self) -> Column:
        """The time (BIGINT, epoch milliseconds) at which rows arrive; those of a batch do before any of it is run."""
        from pyspark.sql import functions as F

        if self.is_batch:
            return F.lit(time_ns() // 1_000_000).cast("bigint")
        return F.unix_millis(F.current_timestamp())

    @property
    def runtime(self) -> Any:
        """The Java package ``flinkplan.runtime`` of the kernels."""
        return java_class(self.spark._jvm, "flinkplan.runtime")

    @property
    def late_rows(self) -> Any:
        """The Java counter of the rows that the node drops because they come too late."""
        counters = self.late_counters
        number = self.node.id if self.node else 0
        if number not in counters:
            counters[number] = self.runtime.watermark.LateRows(self.spark._jsparkSession)
        return counters[number]

    @property
    def late_counters(self) -> dict[int, Any]:
        """The counters of late rows by the ids of their nodes."""
        found: dict[int, Any] = self.shared.setdefault("late rows", {})
        return found

    @property
    def needs_event_time(self) -> bool:
        """Whether rows of the plan have watermarks, so that sources must announce their end."""
        from ..plan.nodes import WatermarkAssigner

        return any(isinstance(node, WatermarkAssigner) for node in self.plan.nodes)

    @property
    def settles(self) -> bool:
        """Whether a batch with rows is followed by one without, in which the watermark takes effect.

        A source behind others counts such batches while it waits, also in checkpoints of before.
        """
        waits = self.is_timed or self.turn is Turn.LAST
        return waits and self.needs_event_time and self.mode is not Mode.BOUNDED

    def option(self, node: ExecNode, key: str) -> str:
        """One of :data:`~.plan.session.DEFAULTS` as the node has it, else as the session does."""
        return option_of(node, key, self.options)

    @property
    def time_zone(self) -> str:
        """The time zone of nodes that fix none."""
        return time_zone(self.plan, self.options)

    @property
    def legacy_casts(self) -> bool:
        """Whether casts yield NULL where they fail, and texts as they are."""
        return self.options.get(LEGACY_CASTS, DEFAULTS[LEGACY_CASTS]).upper() == "ENABLED"

    @property
    def folds_changes(self) -> bool:
        """Whether a key's changes in one micro-batch may come to one: nobody looks at each of them."""
        from .folding import folds_changes

        return not self.is_watched and not self.is_real_time and folds_changes(self.plan, self.variables)

    def expression(self, rex: RexNode, stream: Stream) -> Column:
        """``rex`` over the columns of ``stream``."""
        watermark = stream.frame[LATENESS] if LATENESS in stream.hidden else None
        return self.expression_over(rex, stream.columns, watermark)

    def expression_over(self, rex: RexNode, inputs: Sequence[Column], watermark: Column | None = None) -> Column:
        """``rex`` over ``inputs``, which may have Flink's watermark beside them."""
        from .expressions import to_column

        return to_column(rex, inputs, time_zone=self.time_zone, watermark=watermark, legacy_casts=self.legacy_casts)

    def frame(self, dataset: Any) -> DataFrame:
        """The Python face of a Java ``Dataset<Row>``."""
        from pyspark.sql import DataFrame

        return DataFrame(dataset, self.spark)

    def java_schema(self, schema: StructType) -> Any:
        """The Java face of a schema."""
        return java_class(self.spark._jvm, "org.apache.spark.sql.types.DataType").fromJson(schema.json())
