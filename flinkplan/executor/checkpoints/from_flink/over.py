"""OVER windows.

Sources: Flink's ``AbstractNonTimeUnboundedPrecedingOver``, ``AbstractRowTimeUnboundedPrecedingOver``,
``RowTimeRowsBoundedPrecedingFunction``, ``RowTimeRangeBoundedPrecedingFunction``,
``ProcTimeRowsBoundedPrecedingFunction``, ``ProcTimeRangeBoundedPrecedingFunction`` and
``ProcTimeUnboundedPrecedingFunction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ....plan.nodes import OverAggregate
from ....plan.savepoint import flink_states
from ....plan.types import RowField
from ...expressions import to_column
from ...jvm.spark import F
from ...jvm.types import field_name
from ...prepare.choose.over import UNBOUNDED, KernelOverByTime
from .aggregates import Calls, accumulated, counted_values, distinct_values, with_views
from .carriers import Carried, Carrier, carries
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_NEVER = 2**63 - 1
_EVENT_TIMERS = flink_states.TIMERS


@carries(
    OverAggregate,
    implied=(
        flink_states.OVER_NEXT_ID,
        flink_states.OVER_ORDER,
        flink_states.OVER_ACCUMULATORS_BY_ROW,
        flink_states.OVER_EARLIEST,
        *flink_states.OVER_CLEANUPS,
    ),
)
def over_aggregate(carrier: Carrier) -> Carried:
    """All rows, in the order in which they have come: what is computed over them is computed anew."""
    node = carrier.node
    assert isinstance(node, OverAggregate)
    if carrier.operator.kernel != "OrderedAggregate":
        return _by_time(carrier, node)
    table = carrier.table(flink_states.OVER_ROWS_BY_ID)
    if table is None:
        return {}
    columns = [table.frame["value"].getField(field_name(i)) for i in range(len(carrier.fields()))]
    place = table.frame["map_key"].getField(field_name(0))
    return dict([carrier.put("rows", 0, table, F.struct(*_widened(carrier, node, columns)), position=place)])


def _widened(carrier: Carrier, node: OverAggregate, columns: Sequence[Column]) -> list[Column]:
    """The columns of a row, and the constants that the kernel has behind them."""
    constants = (to_column(one, columns, time_zone=carrier.time_zone) for one in node.over_spec.constants)
    return [*columns, *constants]


def _by_time(carrier: Carrier, node: OverAggregate) -> Carried:
    """The rows that wait, or are in the frame, by their times, and what the frame has accumulated."""
    step = carrier.step
    assert isinstance(step, KernelOverByTime)
    is_bounded = step.preceding != UNBOUNDED
    (group,) = node.over_spec.groups
    constants = [RowField(f"constant{i}", c.type) for i, c in enumerate(node.over_spec.constants)]
    retracts = [is_bounded] * len(group.agg_calls)
    calls = Calls(group.agg_calls, retracts, False, [*carrier.fields(), *constants])
    entries = {**_rows(carrier, node), **counted_values(carrier, calls, 0), **distinct_values(carrier, calls, 0)}
    timers = _timers(carrier, step)
    if timers is not None:
        due = timers.select("key", F.array_min("timers").alias("time")).where("time IS NOT NULL")
        entries |= carrier.due(due)
    frame = _frame(carrier, calls, step, timers)
    return {**entries, **({} if frame is None else dict([carrier.entries("frame", 0, frame)]))}


def _rows(carrier: Carrier, node: OverAggregate) -> Carried:
    """The rows by their times."""
    table = carrier.table(_INPUT)
    if table is None:
        return {}
    width = len(carrier.fields())

    def widened(row: Column) -> Column:
        return F.struct(*_widened(carrier, node, [row.getField(field_name(i)) for i in range(width)]))

    rows = F.transform(table.frame["value"].getField(field_name(0)), widened)
    return dict([carrier.put("rows", 0, table, F.struct(rows), F.struct(_time(table)))])


_INPUT = flink_states.OVER_ROWS


def _time(table: FlinkTable) -> Column:
    """The time of the rows in an entry of :data:`_INPUT`."""
    return table.frame["map_key"].getField(field_name(0)).cast("bigint")


def _timers(carrier: Carrier, step: KernelOverByTime) -> DataFrame | None:
    """The times that each key waits for, an array ``timers`` that may be empty.

    By the clock, Flink's timers are a millisecond behind the rows that they are for, and those of frames that count
    rows are for the retention of state alone.
    """
    table = carrier.timers.get(flink_states.CLOCK_TIMERS if step.by_clock else _EVENT_TIMERS)
    if table is None or (step.by_clock and step.by_rows):
        return None
    time = table.frame["value"].getField(field_name(0)).cast("bigint")
    times = table.frame.select(carrier.key(table).alias("key"), time.alias("time"))
    gathered = times.groupBy("key").agg(F.collect_list("time").alias("timers"))
    rows = carrier.table(_INPUT)
    if not step.by_clock or rows is None:
        return gathered
    own = rows.frame.select(carrier.key(rows).alias("key"), (_time(rows) + 1).alias("time"))
    behind = own.groupBy("key").agg(F.collect_list("time").alias("behind"))
    waiting = F.transform(F.array_intersect("timers", "behind"), lambda time: time - 1)
    others = F.array_except("timers", "behind")
    known = F.col("behind").isNotNull()
    return _joined(gathered, behind).select(
        "key", F.when(known, F.array_union(waiting, others)).otherwise(F.col("timers")).alias("timers")
    )


def _frame(carrier: Carrier, calls: Calls, step: KernelOverByTime, timers: DataFrame | None) -> DataFrame | None:
    """What each key's frame has accumulated, and how far it is."""
    is_bounded = step.preceding != UNBOUNDED
    table, waiting = carrier.table(flink_states.ACCUMULATORS), carrier.table(_INPUT)
    known = [each for each in (table, waiting) if each is not None]
    if table is None and not (is_bounded and known):
        return None
    schema = carrier.operator.variable("frame").value
    frame = _keys(carrier, known if is_bounded else known[:1])
    if table is not None:
        frame = _joined(frame, _accumulators(carrier, calls, table, schema))
    states = {"last": flink_states.OVER_LAST, "inFrame": flink_states.OVER_COUNT, "expiry": flink_states.OVER_EXPIRY}
    for name, state in states.items() if is_bounded else ():
        frame = _with_number(frame, carrier.table(state), name, carrier)
    if is_bounded and timers is not None:
        frame = _joined(frame, timers)
    if is_bounded and step.by_clock and waiting is not None:
        frame = _with_last(frame, carrier, waiting)
    columns = []
    for field in schema.fields:
        column = (F.col(field.name) if field.name in frame.columns else F.lit(None)).cast(field.dataType)
        if field.name in _BEGINNING:
            column = F.coalesce(column, F.lit(_BEGINNING[field.name]))
        elif field.name == "timers":
            column = F.coalesce(column, F.array().cast(field.dataType))
        columns.append(column)
    return frame.select("key", F.struct(*columns).alias("value"))


def _with_last(frame: DataFrame, carrier: Carrier, waiting: FlinkTable) -> DataFrame:
    """The frame with the time of the last rows that came out: by the clock Flink keeps only timers of the others."""
    times = waiting.frame.select(carrier.key(waiting).alias("key"), _time(waiting).alias("time"))
    frame = _joined(frame, times.groupBy("key").agg(F.collect_list("time").alias("times")))
    emitted = F.col("times")
    if "timers" in frame.columns:
        emitted = F.array_except("times", F.coalesce("timers", F.array().cast("array<bigint>")))
    return frame.withColumn("last", F.array_max(emitted)).drop("times")


_BEGINNING = {"last": 0, "inFrame": 0, "expiry": _NEVER, "passed": -_NEVER - 1}
"""How far a frame is of which nothing is known."""


def _keys(carrier: Carrier, tables: Sequence[FlinkTable]) -> DataFrame:
    keys = [table.frame.select(carrier.key(table).alias("key")) for table in tables]
    return reduce(lambda one, other: one.union(other), keys).distinct()


def _accumulators(carrier: Carrier, calls: Calls, table: FlinkTable, schema: StructType) -> DataFrame:
    table, values = with_views(carrier, calls, table)
    accumulators, _ = calls.by_call(table.frame["value"], values)
    each = zip(calls.calls, calls.retracts, accumulators, schema.fields[-len(calls.calls) :], strict=True)
    columns = [
        accumulated(call, retracts, accumulator, _struct(field.dataType)).alias(field.name)
        for call, retracts, accumulator, field in each
    ]
    return table.frame.select(carrier.key(table).alias("key"), *columns)


def _struct(stored: object) -> StructType:
    return stored  # type: ignore[return-value]


def _with_number(frame: DataFrame, table: FlinkTable | None, name: str, carrier: Carrier) -> DataFrame:
    """The frame with a column for a state that holds a number for each key."""
    if table is None:
        return frame
    number = table.frame["value"].getField(field_name(0)).cast("bigint").alias(name)
    return _joined(frame, table.frame.select(carrier.key(table).alias("key"), number))


def _joined(frame: DataFrame, other: DataFrame) -> DataFrame:
    """The columns of both by their keys; those of the second are NULL where it has no such key."""
    same = F.col("one.key").eqNullSafe(F.col("other.key"))
    added = [F.col(f"other.{name}") for name in other.columns if name != "key"]
    return frame.alias("one").join(other.alias("other"), same, "left").select("one.*", *added)
