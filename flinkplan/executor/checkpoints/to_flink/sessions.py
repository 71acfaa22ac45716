"""Aggregations over sessions, as :mod:`..from_flink.sessions` reads them.

A kernel keeps the rows of sessions, and Flink what they have accumulated: so the kernel itself aggregates the rows of
each open session.

Source: Flink's ``MergingWindowProcessFunction``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.savepoint import flink_states
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...build.stream import DELETE, END, KIND, ROW, SEQUENCE, START, UPDATE_BEFORE
from ...jvm.spark import F, sql
from ..from_flink.aggregates import COUNTED, Calls
from ..from_flink.sessions import BOUNDS, LAST_NUMBER
from .aggregates import accumulator_columns, shared_views, view_entries
from .givers import FlinkEntries, Given, Giver, as_row, parts, timers_of
from .slices import Slicing
from .views import EXTREMES, kept_values, view_of_counts, view_of_values, viewed, with_extreme

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def sessions(giver: Giver, calls: Calls, slicing: Slicing) -> Given:
    """What each open session has accumulated."""
    if giver.operator.kernel != "SessionAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of sessions is not given to Flink yet")
    opened = _opened(giver).withColumn("accessed", F.lit(giver.now))
    opened = opened.withColumn("due", slicing.fires(F.col("end")).cast("bigint"))
    stored = opened.schema["accumulators"].dataType
    schemas = [field.dataType for field in stored.fields]  # type: ignore[attr-defined]
    accumulators = parts(opened, "accumulators")
    bounds = [F.col(name) for name in BOUNDS]
    views: dict[str, FlinkEntries] = {}
    extremes: dict[int, Column] = {}
    for number, own in viewed(calls).items():
        function = function_name(calls.calls[number])
        if function not in COUNTED:
            views |= view_of_values(
                number, own, opened, kept_values(accumulators[number], schemas[number].names), BOUNDS
            )
            continue
        counts = _seen(giver, calls, number, opened).where("value.n <> 0")
        count = F.lit(1).cast("bigint") if calls.calls[number].distinct else F.col("value.n")
        counts = counts.select("*", count.alias("n"), F.lit(giver.now).alias("accessed"))
        views |= view_of_counts(number, own, counts, BOUNDS)
        if function in EXTREMES:
            opened = with_extreme(opened, counts, f"extreme{number}", function, BOUNDS)
            extremes[number] = F.col(f"extreme{number}")
    table = giver.tables[flink_states.WINDOW_ACCUMULATORS]
    value = accumulator_columns(calls, F.col("count"), accumulators, schemas, table, wholes=extremes)
    for view, sharing in shared_views(calls).items():
        frames = [_seen(giver, calls, call.number, opened).withColumn("accessed", F.lit(giver.now)) for call in sharing]
        views |= view_entries(giver, view, sharing, frames, BOUNDS)
    return {
        **views,
        flink_states.WINDOW_ACCUMULATORS: FlinkEntries(opened, value, (), bounds),
        flink_states.SESSIONS: FlinkEntries(opened, bounds, bounds),
        timers_of(giver, slicing.windowing.is_proctime): FlinkEntries(opened, [F.col("due")], (), bounds),
    }


def session_rows(giver: Giver, slicing: Slicing) -> Given:
    """The rows of each open session, numbered by key as they came."""
    if giver.operator.kernel != "WindowRows":
        raise StateError(f"what {giver.operator.kernel} keeps of windows is not given to Flink yet")
    value = F.col("value")
    rows = giver.entries["rows"].select(
        "key",
        *(value.getField(field).alias(name) for field, name in zip((START, END), BOUNDS, strict=True)),
        value.getField(SEQUENCE).alias("sequence"),
        "position",
        as_row(value.getField(ROW), giver.types()).alias("row"),
        F.lit(giver.now).alias("accessed"),
    )
    by_time = sql.Window.partitionBy("key").orderBy("start", "end")
    before = F.max("end").over(by_time.rowsBetween(sql.Window.unboundedPreceding, -1))
    begins = F.when(before.isNull() | (F.col("start") > before), 1).otherwise(0)
    rows = rows.withColumn("begins", begins).withColumn("session", F.sum("begins").over(by_time))
    session = sql.Window.partitionBy("key", "session")
    by_arrival = sql.Window.partitionBy("key").orderBy("sequence", "position")
    rows = rows.withColumn("number", F.row_number().over(by_arrival).cast("bigint") - 1)
    counts = rows.groupBy("key").agg(F.count("*").alias("count"), F.max("accessed").alias("accessed"))
    for name, bound in (("start", F.min("start")), ("end", F.max("end"))):
        rows = rows.withColumn(f"session_{name}", bound.over(session))
    bounds = [F.col(f"session_{name}") for name in BOUNDS]
    opened = rows.groupBy("key", *(f"session_{name}" for name in BOUNDS)).agg(F.max("accessed").alias("accessed"))
    opened = opened.withColumn("due", slicing.fires(F.col("session_end")).cast("bigint"))
    return {
        flink_states.SESSIONS: FlinkEntries(opened, bounds, bounds),
        flink_states.SESSION_ROWS: FlinkEntries(rows, parts(rows, "row"), [F.col("number")], bounds),
        flink_states.SESSION_COUNTS: FlinkEntries(counts, [F.col("count")]),
        timers_of(giver, slicing.windowing.is_proctime): FlinkEntries(opened, [F.col("due")], (), bounds),
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


def _seen(giver: Giver, calls: Calls, call: int, opened: DataFrame) -> DataFrame:
    """The values that the call of a number has seen: ``key``, ``start``, ``end``, ``map_key``, ``value`` (a count)."""
    rows, value = giver.entries["rows"], F.col("value")
    names: list[str] = rows.schema["value"].dataType.names  # type: ignore[attr-defined]
    own = calls.calls[call]
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
    times = F.when(F.col("session.call") == call, F.col("session.count")).otherwise(F.lit(0))
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
