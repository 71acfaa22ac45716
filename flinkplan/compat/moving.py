"""Rewrites where a node finds its columns, when those of its inputs stand in another order.

An *order* lists for each place of a row which column of the plan as compiled stands there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plan.codec import field_codecs
from ..plan.nodes import ExecNode, Join
from ..plan.record import Record, replace
from ..plan.references import Input
from ..plan.rex import InputRef, PatternInputRef, RexNode, transform
from ..plan.specs import ContextResolvedTable, InputProperty
from ..plan.types import LogicalType, RowField

Order = tuple[int, ...]
Places = Mapping[int, int]
"""Where each column stands now."""

_NOT_MOVED: Places = {}


def identity(width: int) -> Order:
    """The order of a row of so many columns as it was compiled."""
    return tuple(range(width))


def side_by_side(orders: Sequence[Order], sequence: Sequence[int]) -> Order:
    """The order of rows put side by side, in this ``sequence`` of them."""
    starts = [sum(map(len, orders[:i])) for i in range(len(orders))]
    return tuple(starts[i] + column for i in sequence for column in orders[i])


def moved(node: ExecNode, orders: Sequence[Order]) -> ExecNode:
    """The node over inputs of these orders; its own output stays as it is."""
    if all(order == identity(len(order)) for order in orders):
        return node
    mover = _Mover(orders)
    properties = node.input_properties
    made: ExecNode = mover.record(replace(node, input_properties=None))
    changed: dict[str, Any] = {"input_properties": properties and mover.properties(properties)}
    if isinstance(made, Join):
        for name in ("left_upsert_keys", "right_upsert_keys"):
            keys = getattr(made, name)
            changed[name] = keys and tuple(tuple(sorted(key)) for key in keys)
    return replace(made, **changed)


def arranged(fields: Sequence[RowField], order: Order) -> tuple[RowField, ...]:
    """Columns in another order."""
    return tuple(fields[i] for i in order)


class _Mover:
    """``orders``: those of the node's inputs."""

    def __init__(self, orders: Sequence[Order]) -> None:
        self.each = [_places(order) for order in orders]
        self.rows: Mapping[Input | None, Places] = {
            **dict.fromkeys((Input.ALL, Input.CONSTANTS), _places(side_by_side(orders, range(len(orders))))),
            Input.LEFT: self.each[0],
            Input.RIGHT: self.each[-1],
        }

    def properties(self, properties: tuple[InputProperty, ...]) -> tuple[InputProperty, ...]:
        """What is required of each input, in terms of its own columns."""
        moved = []
        for i, required in enumerate(properties):
            distribution = required.required_distribution
            if distribution.keys is not None:
                keys = self.value(distribution.keys, self.each[i])
                required = replace(required, required_distribution=replace(distribution, keys=keys))
            moved.append(required)
        return tuple(moved)

    def record(self, value: Any, called: Places = _NOT_MOVED) -> Any:
        """A record with its positions moved; ``called``: the row that it reads where it is an aggregate call."""
        rows = {**self.rows, Input.CALLS: called}
        changed = {}
        for codec in field_codecs(type(value)):
            item = getattr(value, codec.name)
            if codec.input is Input.EACH:
                changed[codec.name] = item and tuple(map(self.value, item, self.each))
            else:
                changed[codec.name] = self.value(item, rows.get(codec.input, _NOT_MOVED))
        return replace(value, **changed)

    def value(self, value: Any, places: Places) -> Any:
        """A field's value, whose numbers are of these places; others, such as -1 for no column, stay."""
        match value:
            case LogicalType() | ContextResolvedTable():
                return value
            case tuple():
                return tuple(self.value(v, places) for v in value)
            case Mapping():
                return {key: self.value(v, places) for key, v in value.items()}
            case int() if not isinstance(value, bool):
                return places.get(value, value)
        if isinstance(value, RexNode):
            return transform(value, self.column)
        return self.record(value, places) if isinstance(value, Record) else value

    def column(self, rex: RexNode) -> RexNode:
        """A reference to a column."""
        if not isinstance(rex, InputRef | PatternInputRef):
            return rex
        return replace(rex, index=self.rows[Input.ALL].get(rex.index, rex.index))


def _places(order: Order) -> Places:
    return {column: place for place, column in enumerate(order)}


def described(description: str, order: Order) -> str:
    """A description whose lists of output columns stand in another order."""
    for name in ("select", "fields"):
        start = description.find(f"{name}=[")
        if start < 0:
            continue
        start += len(name) + 2
        items, end = _items(description, start)
        apart = len(order) - len(items)
        if apart >= 0 and order[:apart] == identity(apart):
            listed = ", ".join(items[i - apart] for i in order[apart:])
            return f"{description[:start]}{listed}{description[end:]}"
    return description


def described_keys(description: str, order: Order) -> str:
    """A description whose lists of keys stand in another order."""
    for name in ("groupBy=[", "partitionBy=[", "partitionKeys=[", "key=[", "hash["):
        start = description.find(name)
        if start >= 0:
            start += len(name)
            items, end = _items(description, start)
            if len(items) == len(order):
                description = f"{description[:start]}{', '.join(items[i] for i in order)}{description[end:]}"
    return description


def _items(text: str, start: int) -> tuple[list[str], int]:
    """The items of a list in brackets whose text begins at ``start``, and where it ends."""
    depth, quoted, begin = 0, False, start
    items: list[str] = []
    for i in range(start, len(text)):
        char = text[i]
        if char == "'" and not text.startswith("'w$", i):
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        if depth < 0:
            return [*items, text[begin:i]], i
        if depth == 0 and not quoted and text.startswith(", ", i):
            items.append(text[begin:i])
            begin = i + 2
    return [], len(text)
