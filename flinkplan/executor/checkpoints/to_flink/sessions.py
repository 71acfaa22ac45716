"""Aggregations over sessions, as :mod:`..from_flink.sessions` reads them.

A kernel keeps the rows of sessions, and Flink what they have accumulated: so the kernel itself aggregates the rows of
each open session.

Source: Flink's ``MergingWindowProcessFunction``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....state.form import StateError
from ...build.stream import DELETE, END, KIND, SEQUENCE, START, UPDATE_BEFORE
from ...jvm.spark import F, sql
from ..from_flink.aggregates import Calls, DistinctCall
from ..from_flink.sessions import BOUNDS, LAST_NUMBER
from .aggregates import accumulator_columns, shared_views, view_entries
from .givers import FlinkEntries, Given, Giver, event_timers, parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def sessions(giver: Giver, calls: Calls, fires: Callable[[Column], Column]) -> Given:
    """What each open session has accumulated; ``fires`` gives the instant of a session with an end."""
    if giver.operator.kernel != "SessionAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of sessions is not given to Flink yet")
    if any(map(view_of, calls.calls, calls.retracts)):
        raise StateError("sessions whose values are in states of their own are not given to Flink yet")
    opened = _opened(giver).withColumn("accessed", F.lit(giver.now))
    opened = opened.withColumn("due", fires(F.col("end")).cast("bigint"))
    stored = opened.schema["accumulators"].dataType
    value = accumulator_columns(
        calls,
        F.col("count"),
        parts(opened, "accumulators"),
        [field.dataType for field in stored.fields],  # type: ignore[attr-defined]
        giver.tables[flink_states.WINDOW_ACCUMULATORS],
    )
    bounds = [F.col(name) for name in BOUNDS]
    views: dict[str, FlinkEntries] = {}
    for view, sharing in shared_views(calls).items():
        frames = [_seen(giver, calls, call, opened).withColumn("accessed", F.lit(giver.now)) for call in sharing]
        views |= view_entries(giver, view, sharing, frames, BOUNDS)
    return {
        **views,
        flink_states.WINDOW_ACCUMULATORS: FlinkEntries(opened, value, (), bounds),
        flink_states.SESSIONS: FlinkEntries(opened, bounds, bounds),
        event_timers(giver): FlinkEntries(opened, [F.col("due")], (), bounds),
    }


def _opened(giver: Giver) -> DataFrame:
    """The open sessions: ``key``, ``start``, ``end``, ``count``, ``accumulators``."""
    rows = giver.entries["rows"].groupBy("key").agg(F.collect_list("value").alias("rows"))
    standing = (
        giver.entries["accumulated"]
        .groupBy("key")
        .agg(
            F.collect_list(F.struct(F.col("map_key").alias("number"), F.col("value").alias("session"))).alias(
                "standing"
            )
        )
    )
    same = F.col("kept.key").eqNullSafe(F.col("known.key"))
    joined = rows.alias("kept").join(standing.alias("known"), same, "left").select("kept.*", "known.standing")
    none = F.array().cast(joined.schema["standing"].dataType)
    joined = joined.withColumn("standing", F.coalesce("standing", none))
    found = giver.kernel().openSessions(F.col("rows")._jc, F.col("standing")._jc)
    return joined.select("key", F.inline(sql.Column(found)))


def _seen(giver: Giver, calls: Calls, call: DistinctCall, opened: DataFrame) -> DataFrame:
    """The values that a DISTINCT call has seen: ``key``, ``start``, ``end``, ``map_key``, ``value`` (a count)."""
    rows, value = giver.entries["rows"], F.col("value")
    names: list[str] = rows.schema["value"].dataType.names  # type: ignore[attr-defined]
    own = calls.calls[call.number]
    number = F.lit(1)
    if KIND in names:
        number = F.when(value.getField(KIND).isin(UPDATE_BEFORE, DELETE), -1).otherwise(1)
    if own.filter_arg >= 0:
        number = F.when(value.getField(f"a{own.filter_arg}"), number).otherwise(0)
    arguments = F.struct(*(value.getField(f"a{i}").alias(f"a{i}") for i in own.arg_list)).alias("seen")
    start, end, sequence = (value.getField(name) for name in (START, END, SEQUENCE))
    each = rows.select(
        "key", start.alias("start"), end.alias("end"), arguments, sequence.alias("number"), number.alias("n")
    )
    standing = giver.entries["accumulated"].select(
        F.col("key").alias("key"), F.col("map_key.number").alias("number"), F.col("value").alias("session")
    )
    same = F.col("each.key").eqNullSafe(F.col("known.key")) & (F.col("each.number") == F.col("known.number"))
    joined = each.alias("each").join(standing.alias("known"), same, "left")
    times = F.when(F.col("session.call") == call.number, F.col("session.count")).otherwise(F.lit(0))
    counted = joined.select(
        "each.key",
        "each.start",
        "each.end",
        "each.seen",
        F.when(F.col("each.number") <= LAST_NUMBER, times).otherwise(F.col("each.n")).cast("bigint").alias("n"),
    )
    inside = (
        F.col("one.key").eqNullSafe(F.col("session.key"))
        & (F.col("one.start") >= F.col("session.start"))
        & (F.col("one.end") <= F.col("session.end"))
    )
    placed = counted.alias("one").join(opened.alias("session"), inside)
    placed = placed.select("session.key", "session.start", "session.end", F.col("one.seen").alias("map_key"), "one.n")
    total = placed.groupBy("key", *BOUNDS, "map_key").agg(F.sum("n").alias("n"))
    return total.select("key", *BOUNDS, "map_key", F.struct("n").alias("value"))
