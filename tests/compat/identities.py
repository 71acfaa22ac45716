"""Plans with the ids of others."""

from __future__ import annotations

from collections.abc import Mapping

from flinkplan.compat.matching import match
from flinkplan.plan.document import Plan
from flinkplan.plan.history import fresh_ids
from flinkplan.plan.record import replace


def with_old_ids(old: Plan, new: Plan) -> Plan:
    """The new plan as it is, but with the ids of those nodes of the old one that it still has."""
    pairs = {p.new.id: p.old.id for p in match(old, new).pairs if p.old.metadata.name == p.new.metadata.name}
    fresh = iter(fresh_ids(old, len(new.nodes) - len(pairs)))
    return with_ids(new, {n.id: pairs[n.id] if n.id in pairs else next(fresh) for n in new.nodes})


def with_ids(plan: Plan, ids: Mapping[int, int]) -> Plan:
    """A plan whose nodes have these ids."""
    nodes = tuple(replace(node, id=ids[node.id]) for node in plan.nodes)
    edges = tuple(replace(edge, source=ids[edge.source], target=ids[edge.target]) for edge in plan.edges)
    return replace(plan, nodes=nodes, edges=edges)
