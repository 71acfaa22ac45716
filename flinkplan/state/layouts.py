"""Whether the states of a savepoint have the types that the operators of a plan keep: else they belong to another plan.

Source: ``RowDataSerializer.RowDataSerializerSnapshot``, by which Flink compares types when it restores a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..plan.nodes import ExecNode
from ..plan.savepoint.layout import Inputs, KeptState, Value
from ..plan.types import LogicalType
from ..plan.types.parser import parse_type
from .form import ROW_KIND, OperatorState, StateTable
from .naming import has_type, values_within


def mismatches(operator: OperatorState, node: ExecNode, inputs: Inputs) -> Iterator[str]:
    """What of an operator's states has other types than the node keeps, a sentence each."""
    layout = node.layout(inputs)
    if layout is None:
        return
    states = {state.name: state for state in layout.states}
    for table in operator.states:
        if not table.kind.is_keyed or not table.entries or table.opaque:
            continue
        key = [parse_type(column.type) for column in table.key]
        if not _is_key(layout.key, key):
            yield f"the key of {table.name} is ({_texts(key)}), but that of the plan ({_kept(layout.key)})"
        elif (state := states.get(table.name)) is not None and not _fits(state, table):
            values = [t for _, t in (*values_within(table.map_key), *values_within(table.value))]
            yield f"{table.name} has values ({_texts(values)}), but those of the plan are ({_kept(state.values)})"


def _is_key(values: Sequence[Value], types: Sequence[LogicalType]) -> bool:
    """Whether a key has these types; a layout has the key of each input."""
    if _are_same(values, types):
        return True
    length = len(types)
    parts = [values[i : i + length] for i in range(0, len(values), length)] if length else []
    return any(_are_same(part, types) for part in parts)


def _fits(state: KeptState, table: StateTable) -> bool:
    """Whether a table begins with a state's values, in its map key or its value."""
    within = [t for _, t in values_within(table.map_key)]
    value = [part for _, t in values_within(table.value) for part in _of_pair(t)]
    return any(_are_same(state.values, types[: len(state.values)]) for types in ([*within, *value], value))


def _of_pair(t: LogicalType) -> Iterator[LogicalType]:
    """The types of the row in a pair, or in a list of pairs, as interval joins keep them; other types as they are."""
    pair = t.element if t.root == "ARRAY" else t
    row = pair.fields[0].type if pair.root == "ROW" and pair.fields else None
    if row is not None and row.root == "ROW" and ROW_KIND in row.field_names:
        yield from (field.type for field in row.fields if field.name != ROW_KIND)
    else:
        yield t


def _are_same(values: Sequence[Value], types: Sequence[LogicalType]) -> bool:
    return len(values) == len(types) and all(has_type(v, t) for v, t in zip(values, types, strict=True))


def _texts(types: Sequence[LogicalType]) -> str:
    return ", ".join(map(str, types))


def _kept(values: Sequence[Value]) -> str:
    return ", ".join(value.type for value in values)
