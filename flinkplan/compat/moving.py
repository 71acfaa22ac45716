"""Rewrites the column positions in a node when the columns of its inputs are in another order.

An *order* gives for each position of a row the column of the compiled plan that is there.
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
"""The new position of each column."""

_NOT_MOVED: Places = {}


def identity(width: int) -> Order:
    """The unchanged order of a row with ``width`` columns."""
    return tuple(range(width))


def side_by_side(orders: Sequence[Order], sequence: Sequence[int]) -> Order:
    """The order of the concatenation of rows, which are taken in this ``sequence``."""
    starts = [sum(map(len, orders[:i])) for i in range(len(orders))]
    return tuple(starts[i] + column for i in sequence for column in orders[i])


def moved(node: ExecNode, orders: Sequence[Order]) -> ExecNode:
    """The node for inputs in these orders; its own output does not change."""
    if all(order == identity(len(order)) for order in orders):
        return node
    mover = _Mover(orders)
    properties = node.input_properties
    rewritten: ExecNode = mover.record(replace(node, input_properties=None))
    changed: dict[str, Any] = {"input_properties": properties and mover.properties(properties)}
    if isinstance(rewritten, Join):
        for name in ("left_upsert_keys", "right_upsert_keys"):
            keys = getattr(rewritten, name)
            changed[name] = keys and tuple(tuple(sorted(key)) for key in keys)
    return replace(rewritten, **changed)


def arranged(fields: Sequence[RowField], order: Order) -> tuple[RowField, ...]:
    """The columns in another order."""
    return tuple(fields[i] for i in order)


class _Mover:
    """Rewrites positions for inputs in the given ``orders``."""

    def __init__(self, orders: Sequence[Order]) -> None:
        self.each = [_places(order) for order in orders]
        self.rows: Mapping[Input | None, Places] = {
            **dict.fromkeys(
                (Input.ALL, Input.CONSTANTS, Input.BOUND), _places(side_by_side(orders, range(len(orders))))
            ),
            Input.LEFT: self.each[0],
            Input.RIGHT: self.each[-1],
        }

    def properties(self, properties: tuple[InputProperty, ...]) -> tuple[InputProperty, ...]:
        """The required properties of each input, with rewritten keys."""
        moved = []
        for i, required in enumerate(properties):
            distribution = required.required_distribution
            if distribution.keys is not None:
                keys = self.value(distribution.keys, self.each[i])
                required = replace(required, required_distribution=replace(distribution, keys=keys))
            moved.append(required)
        return tuple(moved)

    def record(self, value: Any, called: Places = _NOT_MOVED) -> Any:
        """A record with rewritten positions; ``called`` is the row that an aggregate call reads."""
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
        """A field's value with positions rewritten by ``places``; numbers that are no column, such as -1, stay."""
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
        """A reference to a column with a rewritten position; other expressions unchanged."""
        if not isinstance(rex, InputRef | PatternInputRef):
            return rex
        return replace(rex, index=self.rows[Input.ALL].get(rex.index, rex.index))


def _places(order: Order) -> Places:
    return {column: place for place, column in enumerate(order)}


def described(description: str, order: Order) -> str:
    """A description with its lists of output columns in another order."""
    for name in ("select", "fields"):
        start = description.find(f"{name}=[")
        if start < 0:
            continue
        start += len(name) + 2
        items, end = _items(description, start)
        unlisted = len(order) - len(items)
        if unlisted >= 0 and order[:unlisted] == identity(unlisted):
            reordered = ", ".join(items[i - unlisted] for i in order[unlisted:])
            return f"{description[:start]}{reordered}{description[end:]}"
    return description


def described_keys(description: str, order: Order) -> str:
    """A description with its lists of keys in another order."""
    for name in ("groupBy=[", "partitionBy=[", "partitionKeys=[", "key=[", "hash["):
        start = description.find(name)
        if start >= 0:
            start += len(name)
            items, end = _items(description, start)
            if len(items) == len(order):
                description = f"{description[:start]}{', '.join(items[i] for i in order)}{description[end:]}"
    return description


def _items(text: str, start: int) -> tuple[list[str], int]:
    """The items of a bracketed list whose content begins at ``start``, and the position of its closing bracket."""
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
