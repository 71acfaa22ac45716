"""Finds the orders of columns, keys and aggregates that the operators of a changed plan need to read old state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from ..plan.document import Plan
from ..plan.nodes import Exchange, ExecNode
from ..plan.record import Record
from .columns import Scope
from .comparing import Comparison
from .edits import Keep, Move, Update
from .lineage import Lineage
from .moving import Order, identity
from .reordering import calls_of, mirrors, retractions_of
from .stored import Stored, stored


class RequiredOrders(Record):
    """The orders that an operator needs; ``None`` where any order will do.

    ``inputs`` are the orders of the columns of each input; ``keys`` and ``calls`` the orders of keys and aggregates if
    they changed, by their positions in the new plan.  ``is_fixed`` says that the operator can only read inputs as
    compiled, ``is_swapped`` that its inputs changed places.
    """

    inputs: tuple[Order | None, ...]
    keys: Order | None = None
    calls: Order | None = None
    is_fixed: bool = False
    is_swapped: bool = False

    def without_orders(self) -> RequiredOrders:
        """The same without required orders, except for a node whose inputs are fixed."""
        return self if self.is_fixed else RequiredOrders((None,) * len(self.inputs), is_swapped=self.is_swapped)


def required_orders(c: Comparison) -> dict[int, RequiredOrders]:
    """The required orders of each node of the new plan, by its id."""
    pairs = {e.new.id: e for e in c.pairs() if isinstance(e, Keep | Update | Move)}
    return {node.id: _required(c, node, pairs.get(node.id)) for node in c.new.plan.nodes}


def _required(c: Comparison, new: ExecNode, edit: Keep | Update | Move | None) -> RequiredOrders:
    widths = [len(i.fields) for i in c.new.plan.inputs(new)]
    if new.metadata.order.is_fixed:
        return RequiredOrders(tuple(map(identity, widths)), is_fixed=True)
    if edit is None or not new.is_stateful or not edit.old.is_stateful:
        return RequiredOrders((None,) * len(widths))
    is_swapped = isinstance(edit, Move)
    if is_swapped and not mirrors(edit.old, new):
        return RequiredOrders(tuple(map(identity, widths)))
    old_rows, old_keys = _rows_and_keys(edit.old, c.old)
    new_rows, new_keys = _rows_and_keys(new, c.new)
    if is_swapped:
        old_rows, old_keys = old_rows[::-1], old_keys[::-1]
    rows: list[Order | None] = [None] * len(widths)
    for side, (before, after) in enumerate(zip(old_rows, new_rows, strict=False)):
        rows[side] = reordered(_columns(before), _columns(after)) or identity(widths[side])
    keys = {reordered(_columns(o), _columns(n)) for o, n in zip(old_keys, new_keys, strict=False)}
    return RequiredOrders(
        tuple(rows),
        _unless_same(keys.pop()) if len(keys) == 1 else None,
        _unless_same(reordered(_calls(edit.old, c.old), _calls(new, c.new))),
        is_swapped=is_swapped,
    )


def reordered(old: Sequence[Hashable], new: Sequence[Hashable]) -> Order | None:
    """The position in ``new`` of each value of ``old``; ``None`` where the values are not the same."""
    if Counter(old) != Counter(new):
        return None
    free = list(range(len(new)))
    order = []
    for value in old:
        position = next(i for i in free if new[i] == value)
        free.remove(position)
        order.append(position)
    return tuple(order)


def _unless_same(order: Order | None) -> Order | None:
    return None if order is None or order == identity(len(order)) else order


def _rows_and_keys(node: ExecNode, lineage: Lineage) -> tuple[list[Stored], list[Stored]]:
    """The rows and the keys that a node stores."""
    states = list(stored(node, lineage))
    return [s for s in states if not s.is_key], [s for s in states if s.is_key]


def _columns(state: Stored) -> list[Hashable]:
    return [(column.meaning, column.type) for column in state.columns]


def _calls(node: ExecNode, lineage: Lineage) -> list[Hashable]:
    scope = Scope(node, lineage)
    return list(zip(map(scope.call, calls_of(node)), retractions_of(node), strict=True))


def is_shuffled_before_next_state(plan: Plan, node: ExecNode) -> bool:
    """Whether there is an exchange on each path from a node to the next stateful one."""
    seen: set[int] = set()
    stack: list[ExecNode] = list(plan.outputs(node))
    while stack:
        current = stack.pop()
        if current.id in seen or isinstance(current, Exchange):
            continue
        seen.add(current.id)
        if current.is_stateful:
            return False
        stack.extend(plan.outputs(current))
    return True
