"""Regular joins on one common key as a single join of several inputs.

Sources: ``JoinToMultiJoinRule``, ``AttributeBasedJoinKeyExtractor``.
"""

from __future__ import annotations

from itertools import accumulate

from ...plan.record import replace
from ...plan.settings import is_on
from ...plan.specs import JoinType
from ..algebra.logical import Join, MultiJoin, Rel
from ..algebra.physical import MultiJoin as PhysicalMultiJoin
from ..metadata.join_kinds import interval_bounds, join_keys
from ..rex.expressions import TRUE
from .lookup_joins import is_lookup
from .rule import Config, rule

Attribute = tuple[int, int]
"""An input and a column of it."""


@rule(on=Join, configured=True)
def merge_joins(rel: Join, config: Config) -> Rel:
    """Inner and left joins become joins of several inputs, where the option or a hint asks for it."""
    return _merge(rel) if rel.is_hinted or is_on(config, "table.optimizer.multi-join.enabled") else rel


def _merge(rel: Join) -> Rel:
    if rel.type not in (JoinType.INNER, JoinType.LEFT) or is_lookup(rel):
        return rel
    types = (*rel.left.types, *rel.right.types)
    width = rel.left.width
    bounds, _ = interval_bounds(rel.condition, types, width)
    if bounds is not None:
        return rel
    ttls = dict(rel.ttl.by_input) if rel.ttl else {}
    joined = MultiJoin(
        operands=(rel.left, rel.right),
        kinds=(JoinType.INNER, rel.type),
        conditions=(TRUE, rel.condition),
        ttls=(ttls.get(0), ttls.get(1)),
        names=rel.names,
    )
    if not isinstance(rel.left, MultiJoin):
        return joined
    longer = replace(
        rel.left,
        operands=(*rel.left.operands, rel.right),
        kinds=(*rel.left.kinds, rel.type),
        conditions=(*rel.left.conditions, rel.condition),
        ttls=(*rel.left.ttls, ttls.get(1)),
        names=rel.names,
    )
    return longer if common_keys(longer)[0] else joined


def starts(rel: MultiJoin | PhysicalMultiJoin) -> list[int]:
    """The place of each input's first column."""
    return [0, *accumulate(o.width for o in rel.operands)][:-1]


def equalities(rel: MultiJoin | PhysicalMultiJoin) -> list[tuple[Attribute, Attribute]]:
    """The columns that the conditions equate: one of an earlier input, then one of the input that is joined."""
    first = starts(rel)

    def attribute(column: int) -> Attribute:
        place = max(i for i, start in enumerate(first) if start <= column)
        return place, column - first[place]

    found = []
    for i, condition in enumerate(rel.conditions):
        keys = join_keys(condition, first[i])
        pairs = zip(keys.left, keys.right, strict=True)
        found += [(attribute(left), (i, right)) for left, right in pairs]
    return found


def common_keys(rel: MultiJoin | PhysicalMultiJoin) -> tuple[tuple[int, ...], ...]:
    """For each input the columns that equal columns of every other input."""
    groups: list[set[Attribute]] = []
    for pair in equalities(rel):
        touched = [g for g in groups if not g.isdisjoint(pair)]
        groups = [g for g in groups if g not in touched] + [set(pair).union(*touched)]
    everywhere = range(len(rel.operands))
    shared = [g for g in groups if {i for i, _ in g} == set(everywhere)]
    shared.sort(key=lambda group: min(group))
    return tuple(tuple(min(c for i, c in group if i == place) for group in shared) for place in everywhere)
