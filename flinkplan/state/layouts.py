"""Whether the states of a savepoint have the types that the operators of a plan keep: else they belong to another plan.

Source: ``RowDataSerializer.RowDataSerializerSnapshot``, by which Flink compares types when it restores a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..plan.nodes import ExecNode, MultiJoin
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
        if not isinstance(node, MultiJoin) and not _is_key(layout.key, key):  # whose layout has the keys of each join
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
    """Whether a table begins with a state's values, in its map key, its value or a row within these.

    A row may stand there without the key that a layout has before it.
    """
    within = [t for _, t in values_within(table.map_key)]
    value = [t for _, t in values_within(table.value)]
    rows = [row for column in (*table.map_key, *table.value) for row in _rows(parse_type(column.type))]
    begins = any(_are_same(state.values, types[: len(state.values)]) for types in ([*within, *value], value, *rows))
    return begins or any(bool(row) and _are_same(state.values[-len(row) :], row) for row in (value, *rows))


def _rows(t: LogicalType) -> Iterator[list[LogicalType]]:
    """The types of the fields of each row within a type: of pairs, lists and maps."""
    if t.root == "ROW":
        yield [field.type for field in t.fields if field.name != ROW_KIND]
        for field in t.fields:
            yield from _rows(field.type)
    elif t.root in ("ARRAY", "MAP", "MULTISET"):
        for child in t.children:
            yield from _rows(child)


def _are_same(values: Sequence[Value], types: Sequence[LogicalType]) -> bool:
    return len(values) == len(types) and all(has_type(v, t) for v, t in zip(values, types, strict=True))


def _texts(types: Sequence[LogicalType]) -> str:
    return ", ".join(map(str, types))


def _kept(values: Sequence[Value]) -> str:
    return ", ".join(value.type for value in values)
