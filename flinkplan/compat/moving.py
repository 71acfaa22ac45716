"""Rewrites where a node finds its columns, when those of its inputs stand in another order.

An *order* lists for each place of a row which column of the plan as compiled stands there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plan.codec import field_codecs
from ..plan.nodes import ExecNode, GlobalGroupAggregate, GlobalWindowAggregate, Join
from ..plan.record import Record, replace
from ..plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, OpaqueRex, RexNode, Sarg, transform
from ..plan.specs import AggregateCall, ContextResolvedTable, InputProperty
from ..plan.types import LogicalType, RowField
from .columns import ALL, EACH, LEFT, POSITIONS, RIGHT

Order = tuple[int, ...]

_REX = (InputRef, Literal, Sarg, Call, FieldAccess, CorrelVariable, OpaqueRex)


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
    if isinstance(node, GlobalGroupAggregate | GlobalWindowAggregate):
        changed["agg_calls"] = node.agg_calls  # they read the input of the first phase
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
        each = [_places(order) for order in orders]
        whole = _places(side_by_side(orders, range(len(orders))))
        self.rows: Mapping[str, Mapping[int, int]] = {
            ALL: whole,
            LEFT: each[0],
            RIGHT: each[-1],
            **{f"{EACH} {i}": row for i, row in enumerate(each)},
        }

    def properties(self, properties: tuple[InputProperty, ...]) -> tuple[InputProperty, ...]:
        """What is required of each input, in terms of its own columns."""
        moved = []
        for i, required in enumerate(properties):
            distribution = required.required_distribution
            if distribution.keys is not None:
                keys = self.positions(distribution.keys, f"{EACH} {i}")
                required = replace(required, required_distribution=replace(distribution, keys=keys))
            moved.append(required)
        return tuple(moved)

    def record(self, value: Any) -> Any:
        """A record with its positions moved."""
        positions = POSITIONS.get(type(value), {})
        changed = {}
        for codec in field_codecs(type(value)):
            item, row = getattr(value, codec.name), positions.get(codec.name)
            changed[codec.name] = self.value(item) if row is None else self.positions(item, row)
        return replace(value, **changed)

    def positions(self, value: Any, row: str) -> Any:
        """Positions, in tuples of any depth; others than of columns, such as -1 for none, stay."""
        if isinstance(value, tuple):
            if row == EACH:
                return tuple(self.positions(v, f"{EACH} {i}") for i, v in enumerate(value))
            return tuple(self.positions(v, row) for v in value)
        return self.rows[row].get(value, value)

    def value(self, value: Any) -> Any:
        """A field's value."""
        match value:
            case AggregateCall():
                arguments, condition = (self.positions(v, ALL) for v in (value.arg_list, value.filter_arg))
                return replace(value, arg_list=arguments, filter_arg=condition)
            case LogicalType() | ContextResolvedTable():
                return value
            case tuple():
                return tuple(self.value(v) for v in value)
        if isinstance(value, _REX):
            return transform(value, self.column)
        return self.record(value) if isinstance(value, Record) else value

    def column(self, rex: RexNode) -> RexNode:
        """A reference to a column."""
        return replace(rex, index=self.positions(rex.index, ALL)) if isinstance(rex, InputRef) else rex


def _places(order: Order) -> Mapping[int, int]:
    """Where each column stands now."""
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
