"""Joins that wait for the watermark: temporal joins and interval joins.

Source: Flink's ``TemporalRowTimeJoinOperator`` and ``TimeIntervalJoin``.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ....plan.nodes import IntervalJoin, TemporalJoin
from ....plan.savepoint import flink_states
from ....state.form import StateError
from ...jvm.spark import F
from ...jvm.types import field_name
from .carriers import Carried, Carrier, carries
from .tables import KIND, FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LEFT, _RIGHT = flink_states.TEMPORAL_ROWS
_DERIVED = (flink_states.TEMPORAL_NEXT, flink_states.TEMPORAL_TIMER, flink_states.TEMPORAL_CLEANUP)
"""The states that follow from the rows, or that keys get again when they have more of them."""


@carries(TemporalJoin, implied=_DERIVED)
def temporal_join(carrier: Carrier) -> Carried:
    """The left rows that wait, and the versions of the right side."""
    node = carrier.node
    assert isinstance(node, TemporalJoin)
    if carrier.operator.kernel != "TemporalJoin":
        raise StateError(f"node {node.id} joins by the clock, which is not carried over yet")
    sides = {}
    for name, index in ((_LEFT, node.left_time_attribute_index), (_RIGHT, node.right_time_attribute_index)):
        table = carrier.table(name)
        if table is None:
            continue
        row, place = table.row, table.frame["map_key"].getField(field_name(0))
        entry = [row, F.col(KIND), *([place] if name == _LEFT else [])]
        sides[name] = _placed(carrier, table, F.unix_millis(row.getField(field_name(index))), F.struct(*entry), place)
    return _by_time(carrier, sides)


@carries(IntervalJoin, implied=flink_states.INTERVAL_TIMERS)
def interval_join(carrier: Carrier) -> Carried:
    """The rows of both sides by their times, and whether they have found a match."""
    sides = {}
    for name, state in zip((_LEFT, _RIGHT), flink_states.INTERVAL_ROWS, strict=True):
        table = carrier.table(state)
        if table is None:
            continue
        pairs = table.frame.select(
            "*", F.posexplode(table.frame["value"].getField(field_name(0))).alias("place", "pair")
        )
        time, pair = pairs["map_key"].getField(field_name(0)), F.col("pair")
        entry = F.struct(pair.getField(field_name(0)), pair.getField(field_name(1)))
        sides[name] = _placed(carrier, FlinkTable(table.table, pairs), time, entry, F.col("place"))
    return _by_time(carrier, sides)


def _placed(carrier: Carrier, table: FlinkTable, time: Column, entry: Column, place: Column) -> DataFrame:
    columns = {"key": carrier.key(table), "time": time.cast("bigint"), "place": place.cast("bigint"), "entry": entry}
    return table.frame.select(*(column.alias(name) for name, column in columns.items()))


def _by_time(carrier: Carrier, sides: dict[str, DataFrame]) -> Carried:
    """The entries of both sides as kernels keep rows by time, and the first time as that which each key waits for."""
    entries: dict[str, DataFrame] = {}
    for name, frame in sides.items():
        grouped = frame.groupBy("key", "time").agg(
            F.sort_array(F.collect_list(F.struct("place", "entry"))).alias("all")
        )
        rows = F.transform("all", lambda one: one["entry"])
        kept = grouped.select("key", F.struct("time").alias("map_key"), F.struct(rows).alias("value"))
        entries |= dict([carrier.entries(name, 0, kept)])
    if not sides:
        return {}
    times = reduce(lambda one, other: one.unionByName(other), (frame.select("key", "time") for frame in sides.values()))
    return {**entries, **carrier.due(times.groupBy("key").agg(F.min("time").alias("time")))}
