"""Values of accumulators that another aggregation of the old plan keeps, over the same rows by the same key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...plan.nodes import ExecNode, GlobalGroupAggregate, GroupAggregate
from ...plan.types.widening import holds
from ..lineage import Lineage
from .accumulator_values import Accumulator
from .context import Impossible, Pairing
from .recipe_steps import OfSibling

Accumulators = Callable[[ExecNode, Lineage], Sequence[Accumulator]]
"""The values of the accumulators of an aggregation of one of the plans."""


def sibling_value(pairing: Pairing, wanted: Accumulator, accumulators: Accumulators) -> OfSibling | None:
    """Where another aggregation keeps a value of the new accumulator; ``None`` where none does."""
    key = pairing.key_order()
    if wanted.has_view or wanted.call.is_distinct or len(key) != len(pairing.old_layout.key):
        return None
    for sibling in _siblings(pairing):
        try:
            own_key = sibling.key_order()
        except Impossible:
            continue
        if len(own_key) != len(sibling.old_layout.key):
            continue
        for each in accumulators(sibling.old, sibling.comparison.old):
            is_same = (each.function, each.part, each.call) == (wanted.function, wanted.part, wanted.call)
            if is_same and not each.has_view and holds(each.type, wanted.type, null=True):
                layout = sibling.old_layout
                return OfSibling(sibling.old.id, layout.transformation, layout.states[0].name, each.place, key, own_key)
    return None


def _siblings(pairing: Pairing) -> Iterator[Pairing]:
    """The other aggregations of the old plan over the rows of the new one, which keep them as long."""
    rows = pairing.rows.new.read_by(pairing.new)
    for old in pairing.comparison.old.plan.nodes:
        if _is_aggregation(old) and old.id != pairing.old.id and _is_aggregation(pairing.new):
            is_kept_as_long = [s.ttl for s in old.states] == [s.ttl for s in pairing.old.states]
            if is_kept_as_long and pairing.rows.old.read_by(old) == rows:
                yield Pairing(pairing.comparison, pairing.rows, old, pairing.new)


def _is_aggregation(node: ExecNode) -> bool:
    return isinstance(node, GroupAggregate | GlobalGroupAggregate)
