"""Regular joins, of two inputs or several.

Source: Flink's ``JoinRecordStateViews``, ``OuterJoinRecordStateViews`` and ``MultiJoinStateViews``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import Join, MultiJoin
from ....plan.savepoint import flink_states
from ....plan.types.parser import parse_type
from ....state.form import ROW_KIND
from ...jvm.spark import F
from ...jvm.types import field_name
from ..operators import Variable
from .carriers import Carried, Carrier, carries
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_ROW = "row"
_WITH_JOIN_KEY = 2
"""How many parts the map key of an input behind the first one has: the join key, and what the rest is found by."""


@carries(Join)
def join(carrier: Carrier) -> Carried:
    """The rows of both sides, with how often they are there and how many of the other side match them."""
    node = carrier.node
    assert isinstance(node, Join)
    entries: dict[str, DataFrame] = {}
    for index, side in enumerate(("left", "right")):
        table = carrier.table(flink_states.JOINED[index])
        if table is not None:
            entries |= _side(carrier, f"{side}State", node.ttl_ms(index), table, [])
    return entries


@carries(MultiJoin)
def multi_join(carrier: Carrier) -> Carried:
    """The rows of all inputs, with how often they are there."""
    node = carrier.node
    assert isinstance(node, MultiJoin)
    entries: dict[str, DataFrame] = {}
    for index in range(len(carrier.plan.inputs(node))):
        table = carrier.table(flink_states.multi_join_input(index))
        if table is not None:
            entries |= _side(carrier, f"input-state-{index}", node.ttl_ms(index), table, _own_key(table, index))
    return entries


def _own_key(table: FlinkTable, index: int) -> list[str]:
    """What leads to the row in the map key of an input: behind the first one the join key stands before it."""
    parts = [part for part in table.table.map_key if part.name != ROW_KIND]
    rows = [part.name for part in parts if parse_type(part.type).root == "ROW"]
    return [field_name(1)] if index and len(parts) == len(rows) == _WITH_JOIN_KEY else []


def _side(carrier: Carrier, state: str, ttl: int, table: FlinkTable, path: list[str]) -> Carried:
    """The rows of one input; ``path`` leads to the row in the map key, where rows stand there."""
    variable = carrier.operator.variable(state)
    value = table.frame["value"]
    if _ROW in variable.value.names:  # found by a unique key
        matches = value.getField(field_name(1)) if table.is_pair else F.lit(0)
        entry = F.struct(table.row, F.lit(1), matches)
        return dict([carrier.put(state, ttl, table, entry, _unique_key(variable, table.row))])
    row = table.frame["map_key"]
    for name in path:
        row = row.getField(name)
    count = value.getField(field_name(0))
    if variable.kind == "list":
        copies = table.frame.select("*", row.alias(_ROW), F.explode(F.sequence(F.lit(1), count)).alias("copy"))
        return dict([carrier.put(state, ttl, FlinkTable(table.table, copies), copies[_ROW], position=F.lit(0))])
    counted = len([column for column in table.table.value if column.name != ROW_KIND]) > 1
    matches = value.getField(field_name(1)) if counted else F.lit(0)
    return dict([carrier.put(state, ttl, table, F.struct(count, matches), row)])


def _unique_key(variable: Variable, row: Column) -> Column | None:
    """The key by which a kernel finds a row; ``None`` where it keeps one alone."""
    if variable.map_key is None:
        return None
    kept: StructType = variable.value[_ROW].dataType  # type: ignore[assignment]
    return F.struct(*(row.getField(field_name(kept.names.index(name))) for name in variable.map_key.names))
