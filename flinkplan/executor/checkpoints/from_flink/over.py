"""OVER windows.

Sources: Flink's ``AbstractNonTimeUnboundedPrecedingOver``, ``AbstractRowTimeUnboundedPrecedingOver``,
``RowTimeRowsBoundedPrecedingFunction``, ``RowTimeRangeBoundedPrecedingFunction`` and
``ProcTimeUnboundedPrecedingFunction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ....plan.nodes import OverAggregate
from ....plan.types import RowField
from ....state.form import StateError
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
_TIMERS = "_timer_state/event_user-timers"
_CLEANUP = (
    "RowTimeUnboundedOverCleanupTime",
    "RowTimeBoundedRowsOverCleanupTime",
    "ProcTimeUnboundedOverCleanupTime",
    "ProcTimeBoundedRowsOverCleanupTime",
)
"""The states with the time of the clock at which an idle key is forgotten."""


@carries(OverAggregate, implied=("idState", "sortedListState", "accMapState", *_CLEANUP))
def over_aggregate(carrier: Carrier) -> Carried:
    """All rows, in the order in which they have come: what is computed over them is computed anew."""
    node = carrier.node
    assert isinstance(node, OverAggregate)
    if carrier.operator.kernel != "OrderedAggregate":
        return _by_time(carrier, node)
    table = carrier.table("valueMapState")
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
    if step.by_clock and is_bounded:
        raise StateError("a bounded frame in processing time is not carried over yet")
    (group,) = node.over_spec.groups
    constants = [RowField(f"constant{i}", c.type) for i, c in enumerate(node.over_spec.constants)]
    retracts = [is_bounded] * len(group.agg_calls)
    calls = Calls(group.agg_calls, retracts, False, [*carrier.fields(), *constants])
    entries = {**_rows(carrier, node), **counted_values(carrier, calls, 0), **distinct_values(carrier, calls, 0)}
    frame = _frame(carrier, calls, is_bounded)
    return {**entries, **({} if frame is None else dict([carrier.entries("frame", 0, frame)]))}


def _rows(carrier: Carrier, node: OverAggregate) -> Carried:
    """The rows by their times, and the time that each key waits for: Flink sets a timer for each."""
    table, timers = carrier.table("inputState"), carrier.timers.get(_TIMERS)
    if table is None:
        return {}
    width = len(carrier.fields())

    def widened(row: Column) -> Column:
        return F.struct(*_widened(carrier, node, [row.getField(field_name(i)) for i in range(width)]))

    rows = F.transform(table.frame["value"].getField(field_name(0)), widened)
    kept = carrier.put("rows", 0, table, F.struct(rows), F.struct(table.frame["map_key"].getField(field_name(0))))
    if timers is None:
        return dict([kept])
    times = timers.frame.select(carrier.key(timers).alias("key"), _timestamp(timers).alias("time"))
    return {**dict([kept]), **carrier.due(times.groupBy("key").agg(F.min("time").alias("time")))}


def _timestamp(timers: FlinkTable) -> Column:
    return timers.frame["value"].getField(field_name(0)).cast("bigint")


def _frame(carrier: Carrier, calls: Calls, is_bounded: bool) -> DataFrame | None:
    """What each key's frame has accumulated, and how far it is."""
    table, waiting = carrier.table("accState"), carrier.table("inputState")
    known = [each for each in (table, waiting) if each is not None]
    if table is None and not (is_bounded and known):
        return None
    schema = carrier.operator.variable("frame").value
    frame = _keys(carrier, known if is_bounded else known[:1])
    if table is not None:
        frame = _joined(frame, _accumulators(carrier, calls, table, schema))
    states = {"last": "lastTriggeringTsState", "inFrame": "processedCountState", "expiry": "cleanupTsState"}
    for name, state in states.items() if is_bounded else ():
        frame = _with_number(frame, carrier.table(state), name, carrier)
    timers = carrier.timers.get(_TIMERS)
    if is_bounded and timers is not None:
        times = timers.frame.select(carrier.key(timers).alias("key"), _timestamp(timers).alias("time"))
        frame = _joined(frame, times.groupBy("key").agg(F.collect_list("time").alias("timers")))
    columns = []
    for field in schema.fields:
        column = (F.col(field.name) if field.name in frame.columns else F.lit(None)).cast(field.dataType)
        if field.name in _BEGINNING:
            column = F.coalesce(column, F.lit(_BEGINNING[field.name]))
        elif field.name == "timers":
            column = F.coalesce(column, F.array().cast(field.dataType))
        columns.append(column)
    return frame.select("key", F.struct(*columns).alias("value"))


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
