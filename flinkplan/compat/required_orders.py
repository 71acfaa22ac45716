"""In which order the state of an operator has columns, keys and aggregates, where a changed query has another order."""

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
    """What an operator is to read, keep and write in which order; ``None`` where it does not matter.

    ``inputs``: the columns of each input; ``keys`` and ``calls``: the places that keys and aggregates have in the
    changed plan, where these are others; ``is_fixed``: it can only read what it was compiled for; ``is_swapped``: its
    left input was the right one.
    """

    inputs: tuple[Order | None, ...]
    keys: Order | None = None
    calls: Order | None = None
    is_fixed: bool = False
    is_swapped: bool = False

    def without_orders(self) -> RequiredOrders:
        """The same, if the order of columns did not matter to state."""
        return self if self.is_fixed else RequiredOrders((None,) * len(self.inputs), is_swapped=self.is_swapped)


def required_orders(c: Comparison) -> dict[int, RequiredOrders]:
    """What each node of the new plan is asked for, by its id."""
    pairs = {e.new.id: e for e in c.pairs() if isinstance(e, Keep | Update | Move)}
    return {node.id: _asked(c, node, pairs.get(node.id)) for node in c.new.plan.nodes}


def _asked(c: Comparison, new: ExecNode, edit: Keep | Update | Move | None) -> RequiredOrders:
    widths = [len(i.fields) for i in c.new.plan.inputs(new)]
    if new.metadata.order.is_fixed:
        return RequiredOrders(tuple(map(identity, widths)), is_fixed=True)
    if edit is None or not new.is_stateful or not edit.old.is_stateful:
        return RequiredOrders((None,) * len(widths))
    is_swapped = isinstance(edit, Move)
    if is_swapped and not mirrors(edit.old, new):
        return RequiredOrders(tuple(map(identity, widths)))
    old_rows, old_keys = _kept(edit.old, c.old)
    new_rows, new_keys = _kept(new, c.new)
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
    """Where in ``new`` each of ``old`` stands; ``None`` where they are not the same values."""
    if Counter(old) != Counter(new):
        return None
    free = list(range(len(new)))
    order = []
    for value in old:
        found = next(i for i in free if new[i] == value)
        free.remove(found)
        order.append(found)
    return tuple(order)


def _unless_same(order: Order | None) -> Order | None:
    return None if order is None or order == identity(len(order)) else order


def _kept(node: ExecNode, lineage: Lineage) -> tuple[list[Stored], list[Stored]]:
    """The rows and the keys that a node keeps."""
    found = list(stored(node, lineage))
    return [s for s in found if not s.is_key], [s for s in found if s.is_key]


def _columns(kept: Stored) -> list[Hashable]:
    return [(column.meaning, column.type) for column in kept.columns]


def _calls(node: ExecNode, lineage: Lineage) -> list[Hashable]:
    scope = Scope(node, lineage)
    return list(zip(map(scope.call, calls_of(node)), retractions_of(node), strict=True))


def is_spread_anew(plan: Plan, node: ExecNode) -> bool:
    """Whether all that a node feeds is spread by an exchange before it is kept by key again."""
    seen: set[int] = set()
    stack: list[ExecNode] = list(plan.outputs(node))
    while stack:
        at = stack.pop()
        if at.id in seen or isinstance(at, Exchange):
            continue
        seen.add(at.id)
        if at.is_stateful:
            return False
        stack.extend(plan.outputs(at))
    return True
