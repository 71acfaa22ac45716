"""Operators that wait for the watermark, as :mod:`..from_flink.timed` and :mod:`..from_flink.rows` read them.

Source: Flink's ``TemporalRowTimeJoinOperator``, ``TimeIntervalJoin`` and ``RowTimeSortOperator``.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ....plan.nodes import IntervalJoin, TemporalJoin, TemporalSort
from ....plan.savepoint import flink_states
from ....state.form import StateError
from ...build.stream import ROW, SEQUENCE, TIME
from ...jvm.spark import F, sql
from .givers import FlinkEntries, Given, Giver, as_row, event_timers, gives, parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LEFT, _RIGHT = flink_states.TEMPORAL_ROWS


@gives(TemporalJoin, empty=(flink_states.TEMPORAL_CLEANUP,))
def temporal_join(giver: Giver) -> Given:
    """The left rows that wait, numbered as they have come, and the versions of the right side."""
    if giver.operator.kernel != "TemporalJoin":
        raise StateError("joins by the clock are not given to Flink yet")
    left, right = (_by_time(giver, side, index) for index, side in enumerate((_LEFT, _RIGHT)))
    number = (
        F.row_number().over(
            sql.Window.partitionBy("key").orderBy(F.col("entry").getField(_names(left)[2]), "time", "place")
        )
        - 1
    )
    left = left.withColumn("index", number.cast("bigint"))
    last = left.groupBy("key").agg((F.max("index") + 1).alias("next"))
    first = reduce(lambda one, other: one.union(other), (side.select("key", "time") for side in (left, right)))
    due = first.groupBy("key").agg(F.min("time").alias("due"))
    kinds = [F.col("entry").getField(_names(side)[1]) for side in (left, right)]
    return {
        _LEFT: FlinkEntries(left, parts(left, "row"), [F.col("index")], kind=kinds[0]),
        _RIGHT: FlinkEntries(right, parts(right, "row"), [F.col("time")], kind=kinds[1]),
        flink_states.TEMPORAL_NEXT: FlinkEntries(last, [F.col("next")]),
        flink_states.TEMPORAL_TIMER: FlinkEntries(due, [F.col("due")]),
        event_timers(giver): FlinkEntries(due, [F.col("due")]),
    }


def _names(frame: DataFrame) -> list[str]:
    """The names of the fields of what is kept of a row."""
    names: list[str] = frame.schema["entry"].dataType.names  # type: ignore[attr-defined]
    return names


@gives(IntervalJoin)
def interval_join(giver: Giver) -> Given:
    """The rows of both sides by their times, and whether they have found a match."""
    node = giver.node
    assert isinstance(node, IntervalJoin)
    bounds = node.interval_join_spec.window_bounds
    waits = (-bounds.left_lower_bound, bounds.left_upper_bound)
    given: dict[str, FlinkEntries] = {}
    timers = []
    for index, side in enumerate((_LEFT, _RIGHT)):
        rows = _by_time(giver, side, index)
        pair = F.struct("place", F.struct("row", F.col("entry").getField(_names(rows)[1])).alias("pair"))
        lists = rows.groupBy("key", "time").agg(F.sort_array(F.collect_list(pair)).alias("all"))
        pairs = F.transform("all", lambda one: one["pair"])
        given[flink_states.INTERVAL_ROWS[index]] = FlinkEntries(lists, [pairs], [F.col("time")])
        due = rows.groupBy("key").agg((F.min("time") + (waits[index] + 1)).alias("due"))
        given[flink_states.INTERVAL_TIMERS[1 - index]] = FlinkEntries(due, [F.col("due")])
        timers.append(due)
    united = reduce(lambda one, another: one.union(another), timers).distinct()
    return {**given, event_timers(giver): FlinkEntries(united, [F.col("due")])}


def _by_time(giver: Giver, side: str, index: int) -> DataFrame:
    """The rows that a kernel keeps by time: ``key``, ``time``, ``place``, ``entry`` and the ``row`` in it."""
    frame = giver.entries[side]
    (time,), (rows,) = (parts(frame, name) for name in ("map_key", "value"))
    each = frame.select("key", time.cast("bigint").alias("time"), F.posexplode(rows).alias("place", "entry"))
    row = each.schema["entry"].dataType.names[0]  # type: ignore[attr-defined]
    own: Column = as_row(F.col("entry").getField(row), giver.types(index))
    return each.select("*", own.alias("row"), F.lit(giver.now).alias("accessed"))


@gives(TemporalSort)
def temporal_sort(giver: Giver) -> Given:
    """The rows that wait, and the time of the last one that came out."""
    node = giver.node
    assert isinstance(node, TemporalSort)
    rows = giver.entries["rows"]
    value = F.col("value")
    row = as_row(value.getField(ROW), giver.types())
    place = F.struct(value.getField(SEQUENCE).alias("sequence"), F.col("position").alias("position"))
    time = value.getField(TIME).cast("bigint").alias("time")
    waiting = rows.select("key", time, place.alias("place"), row.alias("row"))
    lists = waiting.groupBy("key", "time").agg(F.sort_array(F.collect_list(F.struct("place", "row"))).alias("all"))
    lists = lists.withColumn("rows", F.transform("all", lambda one: one["row"]))
    last = giver.entries["last"]
    return {
        flink_states.SORTED_BY_TIME: FlinkEntries(lists, [F.col("rows")], [F.col("time")]),
        flink_states.OVER_LAST: FlinkEntries(last, parts(last, "value")),
        event_timers(giver): FlinkEntries(lists, [F.col("time")]),
    }
