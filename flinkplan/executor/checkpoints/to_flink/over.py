"""OVER windows, as :mod:`..from_flink.over` reads them.

Source: Flink's ``RowTimeRangeUnboundedPrecedingFunction``, ``RowTimeRangeBoundedPrecedingFunction``,
``RowTimeRowsBoundedPrecedingFunction``, ``ProcTimeUnboundedPrecedingFunction`` and
``AbstractNonTimeUnboundedPrecedingOver``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import OverAggregate
from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....plan.types import RowField
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from ..from_flink.aggregates import Calls
from .aggregates import accumulator_columns, distinct_views
from .givers import FlinkEntries, Given, Giver, as_row, event_timers, gives, parts

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
    for call in calls.calls:
        if view_of(call, is_bounded):
            raise StateError(f"the values of {function_name(call)} in OVER are not given to Flink yet")
    if giver.operator.kernel == "OrderedAggregate":
        return _ordered(giver, node, calls)
    if giver.operator.kernel != "OverAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of OVER is not given to Flink yet")
    if giver.operator.time_mode == "ProcessingTime":
        return _by_clock(giver, calls, is_bounded)
    return _by_time(giver, calls, is_bounded)


def _by_clock(giver: Giver, calls: Calls, is_bounded: bool) -> Given:
    """What all rows so far have accumulated."""
    if is_bounded:
        raise StateError("a bounded frame in processing time is not given to Flink yet")
    waiting, frame = giver.state("rows", 0), giver.state("frame", 0)
    assert waiting is not None and frame is not None
    giver.refuse_entries(waiting, "rows wait in processing time")
    _, _, _, _, _, *accumulators = parts(frame, "value")
    schemas = [field.dataType for field in frame.schema["value"].dataType.fields[_HEAD:]]  # type: ignore[attr-defined]
    acc = accumulator_columns(calls, None, accumulators, schemas, giver.tables[flink_states.ACCUMULATORS])
    return {flink_states.ACCUMULATORS: FlinkEntries(frame, acc), **distinct_views(giver, calls, 0)}


def _ordered(giver: Giver, node: OverAggregate, calls: Calls) -> Given:
    """All rows in their order, and what has been accumulated up to each."""
    if any(call.distinct for call in calls.calls):
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
    last, in_frame, expiry, _, timers, *accumulators = parts(frame, "value")
    schemas = [field.dataType for field in frame.schema["value"].dataType.fields[_HEAD:]]  # type: ignore[attr-defined]
    acc = accumulator_columns(calls, in_frame, accumulators, schemas, giver.tables[flink_states.ACCUMULATORS])
    given: dict[str, FlinkEntries] = {
        flink_states.ACCUMULATORS: FlinkEntries(frame, acc),
        flink_states.OVER_ROWS: FlinkEntries(rows, [F.col("rows")], [F.col("time")]),
    }
    due = rows.select("key", F.col("time").alias("due"))
    if is_bounded:
        passed = frame.select("key", last.alias("last"))
        same = F.col("rows.key").eqNullSafe(F.col("frames.key"))
        waiting = rows.alias("rows").join(passed.alias("frames"), same, "left")
        waiting = waiting.where(F.col("frames.last").isNull() | (F.col("rows.time") > F.col("frames.last")))
        due = waiting.select(F.col("rows.key").alias("key"), F.col("rows.time").alias("due"))
        due = due.unionByName(frame.select("key", F.explode(timers).alias("due"))).distinct()
    optional = {
        flink_states.OVER_LAST: FlinkEntries(frame, [last]),
        flink_states.OVER_COUNT: FlinkEntries(frame, [in_frame]),
        flink_states.OVER_EXPIRY: FlinkEntries(frame.where(expiry != _NEVER), [expiry]),
    }
    given |= {name: entries for name, entries in optional.items() if name in giver.tables}
    views = distinct_views(giver, calls, 0)
    return {**given, **views, event_timers(giver): FlinkEntries(due, [F.col("due")])}


def _rows(giver: Giver) -> DataFrame:
    """The rows by their times: ``key``, ``time`` and ``rows``."""
    frame = giver.entries["rows"]
    (time,), (rows,) = (parts(frame, name) for name in ("map_key", "value"))
    row = frame.schema["value"].dataType.fields[0].dataType.elementType  # type: ignore[attr-defined]
    names = row.names[: len(giver.fields())]
    plain = F.transform(rows, lambda one: as_row(F.struct(*(one.getField(n) for n in names)), giver.types()))
    time = time.cast("bigint").alias("time")
    return frame.select("key", time, plain.alias("rows"), F.lit(giver.now).alias("accessed"))
