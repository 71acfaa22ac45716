"""Top-N and LIMIT, as :mod:`..from_flink.ranks` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import Limit, Rank, SortLimit
from ....plan.savepoint import flink_states
from ....plan.specs import ConstantRankRange, SortSpec, VariableRankRange
from ....state.form import StateError
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from .givers import FlinkEntries, Given, Giver, as_row, gives, parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_NO_END = 2**63 - 1


@gives(Rank, SortLimit, Limit)
def rank(giver: Giver) -> Given:
    """The rows of each partition, as each of Flink's functions keeps them."""
    node = giver.node
    assert isinstance(node, Rank | SortLimit | Limit)
    if giver.operator.kernel != "TopN":
        raise StateError(f"what {giver.operator.kernel} keeps is not given to Flink yet")
    rows = _rows(giver, node.ttl_ms())
    order = node.order_by if isinstance(node, Rank | SortLimit) else SortSpec(())
    row = F.col("row")
    sort_key = [row.getField(field_name(f.index)) for f in order.fields]
    by_arrival = [*_ordering(order, row), F.col("arrival")]
    tables = giver.tables
    given: dict[str, FlinkEntries] = {}
    if isinstance(node.rank_range, VariableRankRange):  # of a partition all rows say the same
        end = F.coalesce(row.getField(field_name(node.rank_range.end_index)).cast("bigint"), F.lit(0))
        ends = rows.groupBy("key").agg(F.first(end).alias("end"), F.max("accessed").alias("accessed"))
        given[flink_states.RANK_END] = FlinkEntries(ends, [F.col("end")])
    elif isinstance(node.rank_range, ConstantRankRange):
        end = F.lit(node.rank_range.end)
    else:
        end = F.lit(_NO_END)
    if flink_states.SORTED in tables:
        lists = _lists(rows, sort_key)
        counts = lists.groupBy("key").agg(
            F.map_from_entries(F.collect_list(F.struct("sort_key", F.size("rows").cast("bigint")))).alias("counts"),
            F.max("accessed").alias("accessed"),
        )
        sorted_rows = FlinkEntries(lists, [F.col("rows")], parts(lists, "sort_key"))
        return {
            **given,
            flink_states.SORTED: sorted_rows,
            flink_states.SORTED_COUNTS: FlinkEntries(counts, [F.col("counts")]),
        }
    rows = _first(rows, by_arrival, end)
    if flink_states.TOP_1 in tables:
        return {**given, flink_states.TOP_1: FlinkEntries(rows, parts(rows, "row"))}
    if flink_states.APPENDED in tables:
        lists = _lists(rows, sort_key)
        return {**given, flink_states.APPENDED: FlinkEntries(lists, [F.col("rows")], parts(lists, "sort_key"))}
    if flink_states.UPDATED in tables:
        place = _number(rows, ["key", *sort_key], [F.col("arrival")])
        rows = rows.withColumn("place", place)
        return {**given, flink_states.UPDATED: FlinkEntries(rows, [row, F.col("place")], parts(rows, "map_key"))}
    raise StateError(f"Flink's operator keeps {', '.join(tables)}")


def _rows(giver: Giver, ttl: int) -> DataFrame:
    """The rows of all partitions: ``key``, ``map_key`` (by which one is found), ``row``, ``arrival``, ``accessed``."""
    first, others = giver.state("rankState-first", ttl), giver.state("rankState", ttl)
    assert first is not None and others is not None
    others = others.select(
        "key", F.col("value").getField("row").alias("row"), F.explode("value.arrivals").alias("arrival"), "accessed"
    )
    first = first.select("key", F.explode("value.rows").alias("place"), "accessed")
    first = first.select("key", F.col("place.row").alias("row"), F.col("place.arrival").alias("arrival"), "accessed")
    rows = first.unionByName(others).withColumn("row", as_row(F.col("row"), giver.types()))
    node = giver.node
    strategy = getattr(node, "rank_strategy", None)
    by = getattr(strategy, "primary_keys", None)
    if by is None:
        return rows
    return rows.withColumn(
        "map_key", F.struct(*(F.col("row").getField(field_name(i)).alias(field_name(n)) for n, i in enumerate(by)))
    )


def _ordering(order: SortSpec, row: Column) -> list[Column]:
    ordered = []
    for field in order.fields:
        column = row.getField(field_name(field.index))
        direction = "asc" if field.is_ascending else "desc"
        ordered.append(getattr(column, f"{direction}_nulls_{'last' if field.null_is_last else 'first'}")())
    return ordered


def _number(rows: DataFrame, by: list[str | Column], order: list[Column]) -> Column:
    return F.row_number().over(sql.Window.partitionBy(*by).orderBy(*order))


def _first(rows: DataFrame, order: list[Column], end: Column) -> DataFrame:
    """The rows that have one of the ranks: Flink keeps no others."""
    return rows.withColumn("$rank", _number(rows, ["key"], order)).where(F.col("$rank") <= end).drop("$rank")


def _lists(rows: DataFrame, sort_key: list[Column]) -> DataFrame:
    """The rows of each partition and place in the order, as they have arrived."""
    keyed = rows.select(
        "key",
        F.struct(*(c.alias(field_name(i)) for i, c in enumerate(sort_key))).alias("sort_key"),
        "arrival",
        "row",
        "accessed",
    )
    grouped = keyed.groupBy("key", "sort_key").agg(
        F.sort_array(F.collect_list(F.struct("arrival", "row"))).alias("all"), F.max("accessed").alias("accessed")
    )
    return grouped.withColumn("rows", F.transform("all", lambda one: one["row"])).drop("all")
