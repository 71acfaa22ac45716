"""Operators that keep rows by key: deduplication, normalization, and what makes upserts for a sink."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ....plan.nodes import ChangelogNormalize, Deduplicate, Sink, TemporalSort
from ....plan.savepoint import flink_states
from ....state.form import Kind, StateError
from ...build.stream import KIND, ROW, SEQUENCE, TIME
from ...jvm.spark import F
from ...jvm.types import field_name
from .carriers import Carried, Carrier, carries
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACES = 1 << 20
"""More than there are rows of one time and key."""


@carries(Deduplicate)
def deduplicate(carrier: Carrier) -> Carried:
    """The row of each key, or that there was one."""
    node = carrier.node
    assert isinstance(node, Deduplicate)
    if carrier.operator.kernel == "KeepFirst":
        return _first_rows(carrier, node)
    table = carrier.table(flink_states.LAST_ROWS)
    if table is None:
        return {}
    value = table.row if node.keeps_rows else F.lit(True)
    return dict([carrier.put("deduplicateState", node.ttl_ms(), table, F.struct(value))])


def _first_rows(carrier: Carrier, node: Deduplicate) -> Carried:
    """The first row of each key, which waits for the watermark, or that it has come out.

    Source: Flink's ``RowTimeDeduplicateKeepFirstRowFunction``.
    """
    waiting, emitted = carrier.table(flink_states.WAITING_ROW), carrier.table(flink_states.HAS_EMITTED)
    schema = carrier.operator.variable("deduplicateState").value
    entries: dict[str, DataFrame] = {}
    frames = []
    if emitted is not None:
        frames.append(emitted.frame.select(carrier.key(emitted).alias("key"), F.lit(None).alias(ROW)))
    if waiting is not None:
        frames.append(waiting.frame.select(carrier.key(waiting).alias("key"), waiting.row.alias(ROW)))
        times = [field.type.is_rowtime for field in carrier.fields()]
        time = F.unix_millis(F.col(ROW).getField(field_name(times.index(True)))).alias("time")
        entries |= carrier.due(frames[-1].select("key", time))
    if not frames:
        return entries
    rows = reduce(lambda one, other: other.unionByName(one), frames)
    value = F.struct(ROW, F.lit(0), F.col(ROW).isNull()).cast(schema).alias("value")
    return {**entries, **dict([carrier.entries("deduplicateState", 0, rows.select("key", value))])}


@carries(ChangelogNormalize)
def normalize(carrier: Carrier) -> Carried:
    """The last row of each key."""
    node = carrier.node
    assert isinstance(node, ChangelogNormalize)
    table = carrier.table(flink_states.LAST_ROWS)
    if table is None:
        return {}
    return dict([carrier.put("changelogNormalizeState", node.ttl_ms(), table, F.struct(table.row))])


@carries(Sink)
def materialize_upserts(carrier: Carrier) -> Carried:
    """The rows of each primary key, in the order in which they have come."""
    node = carrier.node
    assert isinstance(node, Sink)
    if carrier.operator.kernel != "UpsertMaterialize":
        raise StateError("what a sink keeps of conflicts is not carried over yet")
    table = carrier.table(flink_states.MATERIALIZED)
    if table is None:
        return {}
    rows = table.frame["value"].getField(field_name(0))
    return dict([carrier.put("sinkMaterializeState", node.ttl_ms(), table, F.struct(rows))])


@carries(TemporalSort)
def temporal_sort(carrier: Carrier) -> Carried:
    """The rows that wait, and the time of the last one that came out."""
    node = carrier.node
    assert isinstance(node, TemporalSort)
    entries: dict[str, DataFrame] = {}
    last = carrier.table(flink_states.OVER_LAST)
    if last is not None:
        entries |= dict([carrier.put("last", 0, last, F.struct(last.frame["value"].getField(field_name(0))))])
    table = carrier.table(flink_states.SORTED_BY_TIME)
    if table is None:
        return entries
    if table.table.kind is Kind.LIST:  # by the clock, whose rows come out a millisecond later
        rows = table.frame.select("*", F.col("position").alias("place"), table.row.alias(ROW), F.lit(0).alias(TIME))
    else:
        time = table.frame["map_key"].getField(field_name(0))
        lists = table.frame["value"].getField(field_name(0))
        rows = table.frame.select("*", F.posexplode(lists).alias("place", ROW), time.alias(TIME))
    placed = rows.select(carrier.key(FlinkTable(table.table, rows)).alias("key"), "place", ROW, TIME)
    held = {TIME: F.col(TIME), ROW: F.col(ROW), SEQUENCE: F.col("place").cast("bigint"), KIND: F.lit(0)}
    value = carrier.input_row("rows", held).alias("value")
    position = (F.col(TIME) * _PLACES + F.col("place")).alias("position")
    entries |= dict([carrier.entries("rows", 0, placed.select("key", value, position))])
    due = placed.groupBy("key").agg(F.min(TIME).alias("time"))
    return {**entries, **carrier.due(due)}
