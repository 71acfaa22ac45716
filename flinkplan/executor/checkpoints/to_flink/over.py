"""OVER windows in event time.

Source: Flink's ``RowTimeRangeUnboundedPrecedingFunction``, ``RowTimeRangeBoundedPrecedingFunction``,
``RowTimeRowsBoundedPrecedingFunction``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import OverAggregate
from ....plan.savepoint.views import view_of
from ....plan.types import RowField
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...jvm.spark import F
from ..from_flink.aggregates import Calls
from .aggregates import accumulator_columns, distinct_views
from .givers import FlinkEntries, Given, Giver, as_row, event_timers, gives, parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NEVER = 2**63 - 1
_HEAD = 5
"""How many fields of a kernel's frame stand before the accumulators."""


@gives(OverAggregate)
def over_aggregate(giver: Giver) -> Given:
    """The rows that wait or are within the frame, and what has been accumulated of the frame."""
    node = giver.node
    assert isinstance(node, OverAggregate)
    if giver.operator.kernel != "OverAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of OVER is not given to Flink yet")
    group = node.over_spec.groups[0]
    is_bounded = group.lower_bound.kind == "BOUNDED_WINDOW"
    constants = [RowField(f"constant{i}", c.type) for i, c in enumerate(node.over_spec.constants)]
    calls = Calls(group.agg_calls, [is_bounded] * len(group.agg_calls), is_bounded, [*giver.fields(), *constants])
    if any(view_of(call, is_bounded) for call in calls.calls):
        raise StateError(f"the values of {function_name(calls.calls[0])} in OVER are not given to Flink yet")
    rows = _rows(giver)
    frame = giver.entries["frame"].withColumn("accessed", F.lit(giver.now))
    last, in_frame, expiry, _, timers, *accumulators = parts(frame, "value")
    schemas = [field.dataType for field in frame.schema["value"].dataType.fields[_HEAD:]]  # type: ignore[attr-defined]
    acc = accumulator_columns(calls, in_frame, accumulators, schemas, giver.tables["accState"])
    given: dict[str, FlinkEntries] = {
        "accState": FlinkEntries(frame, acc),
        "inputState": FlinkEntries(rows, [F.col("rows")], [F.col("time")]),
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
        "lastTriggeringTsState": FlinkEntries(frame, [last]),
        "processedCountState": FlinkEntries(frame, [in_frame]),
        "cleanupTsState": FlinkEntries(frame.where(expiry != _NEVER), [expiry]),
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
