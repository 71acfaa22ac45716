"""Top-N and LIMIT.

Source: Flink's ``AppendOnlyTopNFunction``, ``FastTop1Function``, ``UpdatableTopNFunction`` and
``RetractableTopNFunction``.
"""

from __future__ import annotations

from ....plan.nodes import Limit, Rank, SortLimit
from ....plan.savepoint import flink_states
from ....plan.specs import UpdateFastStrategy
from ...jvm.spark import F
from ...jvm.types import field_name
from .carriers import Carried, Carrier, carries
from .tables import FlinkTable

_LISTS = (flink_states.SORTED, flink_states.APPENDED)


@carries(Rank, SortLimit, Limit, implied=(flink_states.SORTED_COUNTS, flink_states.RANK_END))
def rank(carrier: Carrier) -> Carried:
    """The rows of each partition, and how they have arrived among those that are equal in the order."""
    node = carrier.node
    assert isinstance(node, Rank | SortLimit | Limit)
    rows = next(
        (table for name in (*_LISTS, flink_states.TOP_1, flink_states.UPDATED) if (table := carrier.table(name))), None
    )
    if rows is None:
        return {}
    frame = rows.frame
    match rows.table.name:
        case name if name in _LISTS:
            lists = frame["value"].getField(field_name(0))
            frame = frame.select("*", F.posexplode(lists).alias("arrival", "row"))
        case name if name == flink_states.UPDATED:
            frame = frame.select("*", rows.row.alias("row"), frame["value"].getField(field_name(1)).alias("arrival"))
        case _:
            frame = frame.select("*", frame["value"].alias("row"), F.lit(0).alias("arrival"))
    strategy = node.rank_strategy
    whole = range(len(carrier.fields()))
    by = strategy.primary_keys if isinstance(strategy, UpdateFastStrategy) else whole
    row = F.col("row")
    placed = frame.select(
        carrier.key(FlinkTable(rows.table, frame)).alias("key"),
        F.struct(*(row.getField(field_name(i)) for i in by)).alias("map_key"),
        "row",
        F.col("arrival").cast("bigint"),
        *(["accessed"] if "accessed" in frame.columns else []),
    )
    accessed = [F.max("accessed").alias("accessed")] if "accessed" in placed.columns else []
    grouped = placed.groupBy("key", "map_key").agg(
        F.first("row").alias("row"), F.sort_array(F.collect_list("arrival")).alias("arrivals"), *accessed
    )
    value = F.struct("row", "arrivals").alias("value")
    kept = grouped.select("key", "map_key", value, *(["accessed"] if accessed else []))
    return dict([carrier.entries("rankState", node.ttl_ms(), kept)])
