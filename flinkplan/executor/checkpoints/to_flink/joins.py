"""Regular joins, as :mod:`..from_flink.joins` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import Join, MultiJoin
from ....plan.record import replace
from ....plan.savepoint import flink_states
from ....plan.types.parser import parse_type
from ....state.form import ROW_KIND, StateError, StateTable
from ...jvm.spark import F
from ...jvm.types import field_name
from .givers import FlinkEntries, Given, Giver, gives, parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROW, _COUNT, _MATCHES = "row", "count", "associations"


@gives(Join)
def join(giver: Giver) -> Given:
    """The rows of both sides, with how often they are there and how many of the other side match them."""
    node = giver.node
    assert isinstance(node, Join)
    given = {}
    for index, side in enumerate(("left", "right")):
        frame = giver.state(f"{side}State", node.ttl_ms(index))
        if frame is not None:
            name = flink_states.JOINED[index]
            given[name] = _side(frame, giver.tables[name])
    return given


@gives(MultiJoin)
def multi_join(giver: Giver) -> Given:
    """The rows of all inputs, with how often they are there.

    Source: Flink's ``MultiJoinStateViews``, where the rows of inputs behind the first one stand by their join keys.
    """
    node = giver.node
    assert isinstance(node, MultiJoin)
    given = {}
    for index in range(len(giver.plan.inputs(node))):
        frame, name = giver.state(f"input-state-{index}", node.ttl_ms(index)), flink_states.multi_join_input(index)
        if frame is not None:
            given[name] = _joined_input(node, index, frame, giver.tables[name])
    return given


def _joined_input(node: MultiJoin, index: int, frame: DataFrame, table: StateTable) -> FlinkEntries:
    entries = _side(frame, table)
    unique = node.unique_key(index)
    row = entries.value if unique else entries.map_key
    own = [row[column] for column in unique] if unique else list(row)
    join_key = [row[column] for column in node.join_key(index)]
    if not join_key:
        return replace(entries, map_key=own)
    if unique and set(unique) <= set(node.join_key(index)):
        return replace(entries, map_key=join_key)
    if len(parse_type(table.map_key[0].type).fields) != len(join_key):
        raise StateError(f"the join key of input {index} has other columns in Flink")
    return replace(entries, map_key=[_struct(join_key), _struct(own)])


def _struct(columns: list[Column]) -> Column:
    return F.struct(*(column.alias(field_name(i)) for i, column in enumerate(columns)))


def has_counter(table: StateTable) -> bool:
    """Whether a row's value is a tuple whose second part is a number of matches."""
    value = [c for c in table.value if c.name != ROW_KIND]
    is_tuple = len(value) == len(table.value) == 2
    return is_tuple and (parse_type(value[0].type).root == "ROW" or bool(table.map_key))


def _side(frame: DataFrame, table: StateTable) -> FlinkEntries:
    if _ROW in frame.schema["value"].dataType.names:  # type: ignore[attr-defined]
        row: list[Column] = parts(frame, "value", _ROW)
        value = [F.col("value").getField(_ROW), F.col("value").getField(_MATCHES)] if has_counter(table) else row
        return FlinkEntries(frame, value, parts(frame, "map_key") if "map_key" in frame.columns else ())
    if "map_key" in frame.columns:
        count, matches = F.col("value").getField(_COUNT), F.col("value").getField(_MATCHES)
        return FlinkEntries(frame, [count, matches] if has_counter(table) else [count], parts(frame, "map_key"))
    counted = frame.groupBy("key", "value").agg(
        F.count("*").cast("int").alias("n"), F.max("accessed").alias("accessed")
    )
    counters = [F.col("n"), F.lit(0)] if has_counter(table) else [F.col("n")]
    return FlinkEntries(counted, counters, parts(counted, "value"))
