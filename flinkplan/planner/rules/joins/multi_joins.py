"""Regular joins on one common key as a single join of several inputs.

Sources: ``JoinToMultiJoinRule``, ``AttributeBasedJoinKeyExtractor``.
"""

from __future__ import annotations

from ....plan.record import replace
from ....plan.settings import is_on
from ....plan.specs import JoinType
from ...algebra.logical import Join, MultiJoin
from ...algebra.rel import Rel
from ...metadata.join_kinds import interval_bounds, is_lookup
from ...metadata.multi_joins import common_keys
from ...rex.expressions import TRUE
from ..rule import Config, rule


@rule(on=Join, configured=True)
def merge_joins(rel: Join, config: Config) -> Rel:
    """Merge inner and left joins into multi-joins, where the option or a hint asks for it."""
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
