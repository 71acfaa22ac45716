"""OVER windows that are not ordered by time.

Source: Flink's ``NonTimeOverWindowFunction`` and what is derived from it.
"""

from __future__ import annotations

from ....plan.nodes import OverAggregate
from ....state.form import StateError
from ...expressions import to_column
from ...jvm.types import field_name
from .carriers import Carried, Carrier, carries


@carries(OverAggregate, implied=("idState", "sortedListState", "accMapState"))
def over_aggregate(carrier: Carrier) -> Carried:
    """All rows, in the order in which they have come: what is computed over them is computed anew."""
    from pyspark.sql import functions as F

    node = carrier.node
    assert isinstance(node, OverAggregate)
    if carrier.operator.kernel != "OrderedAggregate":
        raise StateError(f"node {node.id} aggregates rows in the order of time, which is not carried over yet")
    table = carrier.table("valueMapState")
    if table is None:
        return {}
    columns = [table.frame["value"].getField(field_name(i)) for i in range(len(carrier.fields()))]
    constants = [to_column(constant, columns, time_zone=carrier.time_zone) for constant in node.over_spec.constants]
    place = table.frame["map_key"].getField(field_name(0))
    return dict([carrier.put("rows", 0, table, F.struct(*columns, *constants), position=place)])
