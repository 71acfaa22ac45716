"""What building a node needs beyond its step and inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeAlias

from ...plan.document import Plan
from ...plan.functions.java import JavaFunction
from ...plan.nodes import ExecNode, WatermarkAssigner
from ...plan.record import Record, field
from ...plan.rex import Call, RexNode
from ...plan.session import DEFAULTS, time_zone
from ...plan.settings import LEGACY_CASTS
from ..connectors.turns import Turn
from ..jvm.java import java_class
from ..jvm.spark import F, sql
from ..prepare.modes import Mode
from ..prepare.python_classes import PythonCode
from ..prepare.query import QueryPlan
from .saved_states import StateReader
from .sharing import SharedRows, SharedStreams
from .stream import LATENESS, Stream

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader
    from pyspark.sql.types import StructType


class Built(Record):
    """What has been built of a node, for those who compare it with the step.

    ``kernels``: the classes of the kernels that were made, in order; :data:`PYTHON` for Spark's Python workers.
    ``is_passed``: the rows are those of the input.
    """

    kernels: tuple[str, ...]
    is_passed: bool
    stream: Stream


PYTHON = "python"
"""What stands for a kernel's class where Spark's Python workers run a node."""


class QueryParts:
    """What the nodes of one query have in common while it is built, each made by the first node that asks for it."""

    def __init__(self) -> None:
        self.late_counters: dict[int, Any] = {}
        """The Java ``LateRows`` counters of the rows that come too late for a node, by its id."""
        self.switches: dict[int, Any] = {}
        """The Java ``Switch`` of each table of several sources, by the id of its scan."""
        self.watermarks: tuple[Any, Mapping[int, Any]] | None = None
        """The Java ``SourceWatermarks``, and the ``SourceActivity`` of each assigner; ``None``: none is needed."""
        self.has_watermarks = False
        """Whether :attr:`watermarks` has been made, or found not to be needed."""
        self.activities: dict[int, Any] = {}
        """The Java ``SourceActivity`` of each watermark assigner where sources' watermarks are kept, by its id."""
        self.control_times: DataFrame | None = None
        """The rows of time alone that come beside those of all sources."""
        self.kernels: dict[int, list[str]] = {}
        """The classes of the kernels that have been made for each node, by its id."""
        self.built: dict[int, Built] = {}
        """What has been built of each node, by its id."""


NODE = "flinkplan-node"
"""The option of Spark's sources that holds the id of the node that they are of: for checkpoints and counts of rows."""


JavaCalls: TypeAlias = "Callable[[TranslationContext, Call, JavaFunction, Sequence[Column]], Column]"


class TranslationContext(Record):
    """The surroundings of a node that is built."""

    spark: SparkSession
    """The session in which the query runs."""
    query: QueryPlan
    """What is built."""
    node: ExecNode | None = None
    """The node that is built."""
    parts: QueryParts = field(default_factory=QueryParts)
    """What the query's nodes have in common."""
    python: PythonCode = PythonCode()
    """What may be imported where the plan names Python classes."""
    python_job: str = ""
    """What tells the job from others in Spark's Python workers."""
    is_closed: bool = True
    """Whether the query only ever sees input that ends, so that its end is the one watermark that reaches all."""
    is_timed: bool = True
    """Whether something waits for watermarks."""
    common: SharedStreams | None = None
    """The streams that a batch's queries share, each of which is computed once."""
    common_rows: SharedRows | None = None
    """The rows of a micro-batch that several nodes read."""
    reached: Any = None
    """The Java ``ReachedWatermarks`` of a stream, by which rows of a batch know those of the batches before."""
    announces: bool = False
    """Whether sources tell their watermarks among their rows, for operators that wait for them row by row."""
    tells_time: bool = False
    """Whether sources tell the time among their rows, for operators that wait for the clock row by row."""
    tells_lag: bool = False
    """Whether somebody looks at how much of a source is still to be read, which may have to be asked for."""
    files_per_batch: int | None = None
    """How many files of a source a micro-batch takes up at most; ``None``: all."""
    advanced: Mapping[int, int] = field(default_factory=dict)
    """The watermarks (epoch ms) to which sources move on behind the rows that are there, by the ids of assigners."""
    given: Mapping[int, Callable[[SparkSession], Stream]] = field(default_factory=dict)
    """Streams that scans have instead of their tables, by the ids of their nodes."""
    turn: Turn = Turn.ALONE
    """When the source that is built is read."""
    switch: Any = None
    """The Java ``Switch`` between the sources before the last one and that, where a source is not alone."""
    saved_states: StateReader | None = None
    """Reads the states of savepoints and checkpoints, for tables over them."""
    java_jars: Callable[[], Sequence[str]] = tuple
    """Gives the jars with Flink's classes and with what calls functions in Java."""
    java_calls: JavaCalls | None = None
    """Makes the columns of calls of functions in Java."""

    @property
    def plan(self) -> Plan:
        """The plan of the query."""
        return self.query.plan

    @property
    def mode(self) -> Mode:
        """How long the job runs."""
        return self.query.mode

    @property
    def variables(self) -> Mapping[str, str]:
        """What replaces ``${NAME}`` in options of tables."""
        return self.query.variables

    @property
    def is_batch(self) -> bool:
        """Whether all input is read at once, by frames that do not stream, and ends."""
        return self.query.is_batch

    @property
    def is_real_time(self) -> bool:
        """Whether operators see each row when it comes, not with those of a batch."""
        return self.query.is_real_time

    @property
    def reader(self) -> DataFrameReader | DataStreamReader:
        """What reads sources, which say which node they are of."""
        reader = self.spark.read if self.is_batch else self.spark.readStream
        return reader if self.node is None else reader.option(NODE, self.node.id)

    def arrival(self) -> Column:
        """The time (BIGINT, epoch milliseconds) at which rows arrive; those of a batch do before any of it is run."""

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
        counters = self.parts.late_counters
        number = self.node.id if self.node else 0
        if number not in counters:
            counters[number] = self.runtime.watermark.LateRows(self.spark._jsparkSession)
        return counters[number]

    def record_kernel(self, name: str) -> None:
        """Note that the node is run by the Java class ``name`` below ``flinkplan.runtime``."""
        self.parts.kernels.setdefault(self.node.id if self.node else 0, []).append(name)

    @property
    def needs_event_time(self) -> bool:
        """Whether rows of the plan have watermarks, so that sources must announce their end."""
        return any(isinstance(node, WatermarkAssigner) for node in self.plan.nodes)

    @property
    def settles(self) -> bool:
        """Whether a batch with rows is followed by one without, in which the watermark takes effect.

        A source behind others counts such batches while it waits, also in checkpoints of before.
        """
        waits = self.is_timed or self.turn is Turn.LAST
        return waits and self.needs_event_time and self.mode is not Mode.BOUNDED

    @property
    def time_zone(self) -> str:
        """The time zone of nodes that fix none."""
        return time_zone(self.plan, self.query.options)

    @property
    def legacy_casts(self) -> bool:
        """Whether casts yield NULL where they fail, and texts as they are."""
        return self.query.options.get(LEGACY_CASTS, DEFAULTS[LEGACY_CASTS]).upper() == "ENABLED"

    def expression(self, rex: RexNode, stream: Stream) -> Column:
        """``rex`` over the columns of ``stream``."""
        watermark = stream.frame[LATENESS] if LATENESS in stream.hidden else None
        return self.expression_over(rex, stream.columns, watermark)

    def expression_over(self, rex: RexNode, inputs: Sequence[Column], watermark: Column | None = None) -> Column:
        """``rex`` over ``inputs``, which may have Flink's watermark beside them."""
        from ..expressions import to_column

        return to_column(
            rex,
            inputs,
            time_zone=self.time_zone,
            watermark=watermark,
            legacy_casts=self.legacy_casts,
            java=None if self.java_calls is None else partial(self.java_calls, self),
        )

    def frame(self, dataset: Any) -> sql.DataFrame:
        """The Python face of a Java ``Dataset<Row>``."""

        return sql.DataFrame(dataset, self.spark)

    def java_schema(self, schema: StructType) -> Any:
        """The Java face of a schema."""
        return java_class(self.spark._jvm, "org.apache.spark.sql.types.DataType").fromJson(schema.json())
