"""OVER windows, as :mod:`..from_flink.over` reads them.

Source: Flink's ``RowTimeRangeUnboundedPrecedingFunction``, ``RowTimeRangeBoundedPrecedingFunction``,
``RowTimeRowsBoundedPrecedingFunction``, ``ProcTimeUnboundedPrecedingFunction``,
``ProcTimeRowsBoundedPrecedingFunction``, ``ProcTimeRangeBoundedPrecedingFunction`` and
``AbstractNonTimeUnboundedPrecedingOver``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import OverAggregate
from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....plan.types import RowField
from ....state.form import StateError
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from ..from_flink.aggregates import Calls
from .aggregates import accumulator_columns, distinct_views, value_views
from .givers import FlinkEntries, Given, Giver, as_row, event_timers, gives, parts, timers_of
from .views import with_size

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NEVER = 2**63 - 1
_FIRST_ID = -(2**63)
"""The id of the first row of a key that Flink orders."""

_HEAD = 5
"""How many fields of a kernel's frame stand before the accumulators."""


@gives(OverAggregate, empty=flink_states.OVER_CLEANUPS)
def over_aggregate(giver: Giver) -> Given:
    """The rows that wait or are within the frame, and what has been accumulated of the frame."""
    node = giver.node
    assert isinstance(node, OverAggregate)
    group = node.over_spec.groups[0]
    is_bounded = group.lower_bound.kind == "BOUNDED_WINDOW"
    constants = [RowField(f"constant{i}", c.type) for i, c in enumerate(node.over_spec.constants)]
    calls = Calls(group.agg_calls, [is_bounded] * len(group.agg_calls), is_bounded, [*giver.fields(), *constants])
    if giver.operator.kernel == "OrderedAggregate":
        return _ordered(giver, node, calls)
    if giver.operator.kernel != "OverAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of OVER is not given to Flink yet")
    if giver.operator.time_mode == "ProcessingTime":
        return _by_clock(giver, calls, is_bounded, group.is_rows)
    return _by_time(giver, calls, is_bounded)


def _by_clock(giver: Giver, calls: Calls, is_bounded: bool, by_rows: bool) -> Given:
    """What has been accumulated, and the rows of a bounded frame, by the clock."""
    frame = giver.state("frame", 0)
    assert frame is not None
    last, in_frame, expiry, _, timers, *_ = parts(frame, "value")
    accumulated = _accumulated(giver, calls, frame)
    if not is_bounded:
        waiting = giver.state("rows", 0)
        assert waiting is not None
        giver.refuse_entries(waiting, "rows wait in processing time")
        return accumulated
    rows = _rows(giver)
    waiting = _waiting(rows, frame, last)
    given = {**accumulated, flink_states.OVER_ROWS: FlinkEntries(rows, [F.col("rows")], [F.col("time")])}
    if by_rows:
        giver.refuse_entries(waiting, "rows wait in processing time")
        earliest = rows.groupBy("key").agg(F.min("time").alias("time"), F.max("accessed").alias("accessed"))
        return {
            **given,
            flink_states.OVER_COUNT: FlinkEntries(frame, [in_frame]),
            flink_states.OVER_EARLIEST: FlinkEntries(earliest, [F.col("time")]),
        }
    expiring = frame.where(expiry != _NEVER)
    due = waiting.select("key", (F.col("due") + 1).alias("due"))
    due = due.unionByName(frame.select("key", F.explode(timers).alias("due"))).distinct()
    return {
        **given,
        flink_states.OVER_EXPIRY: FlinkEntries(expiring, [expiry]),
        timers_of(giver, by_clock=True): FlinkEntries(due, [F.col("due")]),
    }


def _accumulated(giver: Giver, calls: Calls, frame: DataFrame) -> dict[str, FlinkEntries]:
    """The accumulators of a kernel's frames, and the values that calls keep in states of their own."""
    _, in_frame, _, _, _, *accumulators = parts(frame, "value")
    schemas = [field.dataType for field in frame.schema["value"].dataType.fields[_HEAD:]]  # type: ignore[attr-defined]
    table = giver.tables[flink_states.ACCUMULATORS]
    views, sizes = value_views(giver, calls, 0, frame, accumulators, schemas)
    for number, size in sizes.items():
        frame = with_size(frame, size, f"size{number}")
    counts = {number: F.col(f"size{number}") for number in sizes}
    acc = accumulator_columns(calls, in_frame, accumulators, schemas, table, counts)
    return {flink_states.ACCUMULATORS: FlinkEntries(frame, acc), **views, **distinct_views(giver, calls, 0)}


def _waiting(rows: DataFrame, frame: DataFrame, last: Column) -> DataFrame:
    """The times of the rows that have not come out: ``key`` and ``due``."""
    passed = frame.select("key", last.alias("last"))
    same = F.col("rows.key").eqNullSafe(F.col("frames.key"))
    waiting = rows.alias("rows").join(passed.alias("frames"), same, "left")
    waiting = waiting.where(F.col("frames.last").isNull() | (F.col("rows.time") > F.col("frames.last")))
    return waiting.select(F.col("rows.key").alias("key"), F.col("rows.time").alias("due"))


def _ordered(giver: Giver, node: OverAggregate, calls: Calls) -> Given:
    """All rows in their order, and what has been accumulated up to each."""
    if any(map(view_of, calls.calls, calls.retracts)):
        raise StateError("values in OVER that is not ordered by time are not given to Flink yet")
    if any(call.is_distinct for call in calls.calls):
        raise StateError("DISTINCT in OVER that is not ordered by time is not given to Flink yet")
    (group,) = node.over_spec.groups
    rows = giver.state("rows", 0)
    assert rows is not None
    in_order = F.array_sort(F.collect_list(F.struct("position", "value")), _by_position)
    kept = rows.groupBy("key").agg(in_order.alias("all"))
    kept = kept.select("key", F.transform("all", lambda one: one["value"]).alias("rows"))
    found = sql.Column(giver.kernel().accumulatedRows(F.col("rows")._jc))
    each = kept.select("key", "rows", F.posexplode(found).alias("ordinal", "one"))
    row = F.get(F.col("rows"), F.col("one.place"))
    names = rows.schema["value"].dataType.names  # type: ignore[attr-defined]
    columns = [row.getField(name) for name in names[: len(giver.fields())]]
    sort_key = F.struct(*(columns[f.index].alias(field_name(i)) for i, f in enumerate(group.order_by.fields)))
    each = each.select(
        "key",
        "ordinal",
        (F.col("one.place").cast("bigint") + F.lit(_FIRST_ID)).alias("id"),
        F.struct(*(column.alias(field_name(i)) for i, column in enumerate(columns))).alias("row"),
        sort_key.alias("sort_key"),
        F.col("one.accumulators").alias("accumulators"),
        F.lit(giver.now).alias("accessed"),
    )
    ties = each.groupBy("key", "sort_key").agg(
        F.min("ordinal").alias("ordinal"),
        F.sort_array(F.collect_list("id")).alias("ids"),
        F.first("accumulators").alias("accumulators"),
        F.max("accessed").alias("accessed"),
    )
    tie = F.struct("ordinal", F.struct("sort_key", "ids").alias("tie"))
    lists = ties.groupBy("key").agg(
        F.sort_array(F.collect_list(tie)).alias("all"),
        F.sum(F.size("ids")).alias("count"),
        F.max("accessed").alias("accessed"),
    )
    by_key, place = (each, [F.col("id")]) if group.is_rows else (ties, parts(ties, "sort_key"))
    stored = by_key.schema["accumulators"].dataType.fields  # type: ignore[attr-defined]
    accumulators = parts(by_key, "accumulators")
    table = giver.tables[flink_states.OVER_ACCUMULATORS_BY_ROW]
    acc = accumulator_columns(calls, None, accumulators, [field.dataType for field in stored], table)
    return {
        flink_states.OVER_NEXT_ID: FlinkEntries(lists, [F.col("count") + F.lit(_FIRST_ID)]),
        flink_states.OVER_ORDER: FlinkEntries(lists, [F.transform("all", lambda one: one["tie"])]),
        flink_states.OVER_ROWS_BY_ID: FlinkEntries(each, parts(each, "row"), [F.col("id")]),
        flink_states.OVER_ACCUMULATORS_BY_ROW: FlinkEntries(by_key, acc, place),
    }


def _by_position(one: Column, other: Column) -> Column:
    return (one["position"] - other["position"]).cast("int")


def _by_time(giver: Giver, calls: Calls, is_bounded: bool) -> Given:
    rows = _rows(giver)
    frame = giver.entries["frame"].withColumn("accessed", F.lit(giver.now))
    last, in_frame, expiry, _, timers, *_ = parts(frame, "value")
    given: dict[str, FlinkEntries] = {
        **_accumulated(giver, calls, frame),
        flink_states.OVER_ROWS: FlinkEntries(rows, [F.col("rows")], [F.col("time")]),
    }
    due = rows.select("key", F.col("time").alias("due"))
    if is_bounded:
        due = _waiting(rows, frame, last)
        due = due.unionByName(frame.select("key", F.explode(timers).alias("due"))).distinct()
    optional = {
        flink_states.OVER_LAST: FlinkEntries(frame, [last]),
        flink_states.OVER_COUNT: FlinkEntries(frame, [in_frame]),
        flink_states.OVER_EXPIRY: FlinkEntries(frame.where(expiry != _NEVER), [expiry]),
    }
    given |= {name: entries for name, entries in optional.items() if name in giver.tables}
    return {**given, event_timers(giver): FlinkEntries(due, [F.col("due")])}


def _rows(giver: Giver) -> DataFrame:
    """The rows by their times: ``key``, ``time`` and ``rows``."""
    frame = giver.entries["rows"]
    (time,), (rows,) = (parts(frame, name) for name in ("map_key", "value"))
    row = frame.schema["value"].dataType.fields[0].dataType.elementType  # type: ignore[attr-defined]
    names = row.names[: len(giver.fields())]
    plain = F.transform(rows, lambda one: as_row(F.struct(*(one.getField(n) for n in names)), giver.types()))
    time = time.cast("bigint").alias("time")
    return frame.select("key", time, plain.alias("rows"), F.lit(giver.now).alias("accessed"))
