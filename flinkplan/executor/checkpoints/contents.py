"""What a sink holds, computed from the state of the operators above it, and how that differs under a changed plan.

The operators that keep the rows of their inputs make their own of them again, as a batch does; those of others follow
from each entry.  All that is between them and the sink runs as it does in a job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.changelog import row_kinds
from ...plan.document import Plan
from ...plan.nodes import (
    ChangelogNormalize,
    Deduplicate,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    Join,
    MultiJoin,
    Sink,
)
from ...plan.record import Record
from ...plan.row_kinds import INSERTS
from ...plan.savepoint import flink_states
from ...plan.specs import AggregateCall
from ...plan.uids import Uids
from ...state.checkpoint import CheckpointRecord
from ...state.form import JobState, StateError
from ..aggregate_functions import function_name
from ..build.sharing import SharedStreams
from ..build.stream import DELETE, INSERT, KIND, ORDER, SEQUENCE, Stream, column_name
from ..jobs.building import Batches
from ..jobs.options import JobOptions
from ..jvm.spark import F
from ..jvm.types import field_name, spark_type
from ..prepare.job_plan import JobSettings, prepare, queries_of
from ..prepare.modes import Mode
from .from_flink.aggregates import calls_of
from .from_flink.tables import FlinkTable, is_keyed_state, read_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NUMBER = "__number"
"""How often a row is there."""
_RANKED = (flink_states.APPENDED, flink_states.TOP_1, flink_states.UPDATED, flink_states.SORTED)


class SinkRows(Record):
    """What says which rows a sink has: the plan and its state, the id of the sink, and the operators they follow from.

    ``keeps_input``: whether the state of an operator has the rows of its inputs.
    """

    plan: Plan
    state: JobState
    sink: int
    keepers: Collection[int]
    keeps_input: Callable[[ExecNode], bool]


def sink_changes(
    spark: SparkSession, before: SinkRows | None, after: SinkRows, options: JobOptions, folders: tuple[Path, Path]
) -> DataFrame:
    """The rows to take back from a sink and those to add, with their kinds, the former first.

    ``folders`` are for files of both sides, which must outlive the frame.  Raises :class:`StateError` where the rows
    are not known.
    """
    new = _Contents(spark, after, options, folders[1]).rows()
    sides = [new]
    if before is not None:
        old = _Contents(spark, before, options, folders[0]).rows()
        if len(old.columns) != len(new.columns):
            raise StateError("the sink has other columns")
        columns = [old[c].cast(new.schema[c].dataType).alias(c) for c in new.columns if c != NUMBER]
        sides.append(old.select(*columns, (-old[NUMBER]).alias(NUMBER)))
    names = [name for name in new.columns if name != NUMBER]
    return counted_rows(reduce(lambda one, other: one.unionByName(other), sides), names)


def counted_rows(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Rows with their numbers in the column :data:`NUMBER`, negative for those to take back, as a sink gets them.

    ``names`` are their other columns.
    """
    counted = rows.groupBy(*names).agg(F.sum(NUMBER).alias(NUMBER)).where(F.col(NUMBER) != 0)
    is_gone = F.col(NUMBER) < 0
    times = F.explode(F.array_repeat(F.lit(True), F.abs(NUMBER).cast("int")))
    kind = F.when(is_gone, F.lit(DELETE)).otherwise(F.lit(INSERT)).cast("tinyint")
    order = F.when(is_gone, F.lit(0)).otherwise(F.lit(1)).cast("bigint")
    return counted.select(*names, kind.alias(KIND), order.alias(SEQUENCE), times.alias(NUMBER)).drop(NUMBER)


class _Contents:
    """Computes the rows of a sink."""

    def __init__(self, spark: SparkSession, sink_rows: SinkRows, options: JobOptions, folder: Path) -> None:
        self._spark = spark
        self._sink_rows = sink_rows
        self._options = options
        self._folder = folder
        self._uids = Uids(options.options)
        self._kinds = row_kinds(sink_rows.plan)

    def rows(self) -> DataFrame:
        """The sink's rows, each once, with their numbers."""
        settings = JobSettings(self._options.variables, self._options.options)
        job = prepare(self._sink_rows.plan, Mode.BOUNDED, settings)
        name = next(
            name
            for name, part in queries_of(self._sink_rows.plan).items()
            if any(node.id == self._sink_rows.sink and isinstance(node, Sink) for node in part.nodes)
        )
        known = _KnownStreams(job.queries[name].plan, self._streams(), lambda node: self._stream(node, None))
        stream = Batches(job, CheckpointRecord(self._folder), self._spark, self._options).stream(
            name, job.queries[name], known
        )
        names = [column_name(i) for i in range(len(stream.type.fields)) if column_name(i) in stream.frame.columns]
        sign = F.lit(1)
        if stream.changelog:
            sign = F.when(F.col(KIND).isin(INSERT, 2), F.lit(1)).otherwise(F.lit(-1))
        counted = stream.frame.groupBy(*names).agg(F.sum(sign).alias(NUMBER))
        return counted.where(F.col(NUMBER) > 0)

    def _streams(self) -> Mapping[int, Stream]:
        """The streams that state says, by the ids of their nodes."""
        plan = self._sink_rows.plan
        streams = {}
        for number in self._sink_rows.keepers:
            node = plan.by_id[number]
            if self._sink_rows.keeps_input(node):
                for side, source in enumerate(plan.inputs(node)):
                    streams[source.id] = self._stream(source, self._input(node, side))
            else:
                streams[number] = self._stream(node, self._output(node))
        return streams

    def _stream(self, node: ExecNode, rows: DataFrame | None) -> Stream:
        """The rows of a node as insertions; ``rows`` has the columns in order."""
        types = [spark_type(field.type) for field in node.fields]
        if rows is None:
            nothing = (F.lit(None).cast(t).alias(column_name(i)) for i, t in enumerate(types))
            rows = self._spark.range(0).select(*nothing)
        pairs = zip(rows.columns, types, strict=True)
        columns = [rows[name].cast(t).alias(column_name(i)) for i, (name, t) in enumerate(pairs)]
        hidden = [F.monotonically_increasing_id().alias(SEQUENCE)]
        changes = self._kinds.get(node.id) != INSERTS
        if changes:
            hidden += [F.lit(INSERT).cast("tinyint").alias(KIND), F.lit(0).cast("bigint").alias(ORDER)]
        return Stream(rows.select(*columns, *hidden), node.output_type, changelog=changes)

    def _input(self, node: ExecNode, side: int) -> DataFrame | None:
        """The rows that an operator keeps of an input; ``None``: there are none."""
        if isinstance(node, Join):
            table = self._table(node, flink_states.JOINED[side : side + 1])
            if table is None:
                return None
            layout = node.layout([source.fields for source in self._sink_rows.plan.inputs(node)])
            is_counted = layout is not None and layout.states[side].form.startswith("rows with a number")
            return _joined_rows(table, F.col("map_key") if is_counted else None)
        if isinstance(node, MultiJoin):
            table = self._table(node, (flink_states.multi_join_input(side),))
            if table is None:
                return None
            row = F.col("map_key")
            row = row.getField(field_name(1)) if node.join_key(side) else row
            return _joined_rows(table, None if node.unique_key(side) else row)
        table = self._table(node, _RANKED)
        if table is None:
            return None
        if table.table.name == flink_states.TOP_1:
            return table.frame.select("value.*")
        if table.table.name == flink_states.UPDATED:
            return table.frame.select(table.row.alias("row")).select("row.*")
        rows = table.frame["value"].getField(field_name(0))
        return table.frame.select(F.explode(rows).alias("row")).select("row.*")

    def _output(self, node: ExecNode) -> DataFrame | None:
        """The rows that follow from the entries of an operator; ``None``: there are none."""
        if isinstance(node, ChangelogNormalize | Deduplicate):
            table = self._table(node, (flink_states.LAST_ROWS,))
            return None if table is None else table.frame.select("value.*")
        assert isinstance(node, GroupAggregate | GlobalGroupAggregate)
        table = self._table(node, (flink_states.ACCUMULATORS,))
        if table is None:
            return None
        calls = calls_of(node, self._sink_rows.plan)
        accumulators, _ = calls.by_call(table.frame["value"])
        key = [table.frame["key"].getField(field_name(i)) for i in range(len(table.key_types))]
        results = [_result(call, parts) for call, parts in zip(calls.calls, accumulators, strict=True)]
        return table.frame.select(*(c.alias(column_name(i)) for i, c in enumerate([*key, *results])))

    def _table(self, node: ExecNode, names: Sequence[str]) -> FlinkTable | None:
        """The first state of a node's operator that is among these."""
        uids = set(self._uids.kept(node).values())
        tables = {
            table.name: table
            for operator in self._sink_rows.state.manifest.operators
            if operator.uid in uids
            for table in operator.states
            if is_keyed_state(table)
        }
        name = next((name for name in names if name in tables), None)
        return None if name is None else read_table(self._spark, self._sink_rows.state, tables[name], self._folder)


def _joined_rows(table: FlinkTable, counted: Column | None) -> DataFrame:
    """The rows of an input of a join: the values, or ``counted`` as often as the number that is the value says."""
    if counted is None:
        return table.frame.select(table.row.alias("row")).select("row.*")
    times = F.array_repeat(counted, table.frame["value"].getField(field_name(0)).cast("int"))
    return table.frame.select(F.explode(times).alias("row")).select("row.*")


class _KnownStreams(SharedStreams):
    """Streams of a plan that are known; nodes that are not behind one of them have no rows."""

    def __init__(self, plan: Plan, streams: Mapping[int, Stream], empty: Callable[[ExecNode], Stream]) -> None:
        super().__init__(plan, lambda node: True)
        self._known = streams
        self._empty = empty
        self._behind: set[int] = set()
        for node in plan.nodes:
            if any(source.id in self._behind or source.id in streams for source in plan.inputs(node)):
                self._behind.add(node.id)

    def find(self, node: ExecNode, folds: bool) -> Stream | None:
        if node.id in self._known:
            return self._known[node.id]
        return None if node.id in self._behind else self._empty(node)

    def late_rows(self, node: ExecNode, folds: bool) -> Mapping[int, Any]:
        return {}


def _result(call: AggregateCall, parts: Mapping[str, Column]) -> Column:
    """The result of an aggregate call.  Raises :class:`StateError` for a function of which that is not known."""
    match function_name(call):
        case "COUNT":
            return next(iter(parts.values()))
        case "SUM" | "$SUM0":
            total = parts["sum"]
            return F.when(parts["count"] > 0, total) if "count" in parts else total
        case "MIN" | "MAX":
            return next(iter(parts.values()))
        case "AVG" if call.type.root in _WHOLE:
            whole = parts["sum"] - parts["sum"] % parts["count"]
            return F.when(parts["count"] > 0, whole.cast(_EXACT) / parts["count"].cast(_EXACT))
        case "AVG" if call.type.root in ("DOUBLE", "FLOAT"):
            return F.when(parts["count"] > 0, parts["sum"] / parts["count"])
    raise StateError(f"what {function_name(call)} gives does not follow from what is kept")


_EXACT = "decimal(20,0)"
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
