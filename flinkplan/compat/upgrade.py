"""``upgrade``: carry a plan to a newer release, or to what its pipeline compiles to now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from ..plan.document import FLINK_VERSION, Plan
from ..plan.errors import PlanError
from ..plan.names import node_names
from ..plan.nodes import ExecNode, OverAggregate
from ..plan.record import Record, replace
from .matching import match
from .migrations import Migration, migrations, release


class Carried(Record):
    """A TTL of the old plan: ``state`` says whose; ``placed`` whether the new plan has such a state."""

    state: str
    ttl: str | int
    placed: bool


class Upgrade(Record):
    """A newer plan, the migrations that made it, and the TTLs that were carried over from the old one."""

    plan: Plan
    migrations: tuple[Migration, ...] = ()
    carried: tuple[Carried, ...] = ()


def migrate(plan: Plan, to: str) -> Upgrade:
    """The plan as the release ``to`` writes it.  Raises :class:`PlanError` for an older or unknown release."""
    old, new = release(plan.flink_version), release(to)
    if new > release(FLINK_VERSION):
        raise PlanError(f"flinkplan knows Flink up to {FLINK_VERSION}, not {to}")
    if new < old:
        raise PlanError(f"the plan is of Flink {plan.flink_version}; it cannot be carried back to {to}")
    applied = []
    for migration, migrated in migrations(plan, new):
        plan = migrated
        applied.append(migration)
    return Upgrade(replace(plan, flink_version=to), tuple(applied))


def recompiled(old: Plan, new: Plan) -> Upgrade:
    """The new plan with the ids, versions and TTLs of those nodes of the old one that it still has.

    Flink finds state by node id, and a newer version of a node need not restore what an older one kept.
    """
    pairs = {p.new.id: p.old for p in match(old, new).pairs if p.old.metadata.name == p.new.metadata.name}
    ids = _ids(old, new, pairs)
    nodes = tuple(replace(_restoring(node, pairs.get(node.id)), id=ids[node.id]) for node in new.nodes)
    edges = tuple(replace(e, source=ids[e.source], target=ids[e.target]) for e in new.edges)
    return Upgrade(replace(new, nodes=nodes, edges=edges), carried=tuple(_carried(old, new, pairs)))


def _ids(old: Plan, new: Plan, pairs: Mapping[int, ExecNode]) -> dict[int, int]:
    """The id of each new node: that of its counterpart, or one that no node has had."""
    free = count(max((n.id for n in old.nodes), default=0) + 1)
    return {n.id: pairs[n.id].id if n.id in pairs else next(free) for n in new.nodes}


def _restoring(node: ExecNode, old: ExecNode | None) -> ExecNode:
    """The node with its counterpart's TTLs, and of the version whose state it is to restore."""
    if old is None:
        return node
    changed: dict[str, Any] = {}
    if node.is_stateful and old.is_stateful:
        changed["version"] = min(node.version, old.version)
    if isinstance(node, OverAggregate) and isinstance(old, OverAggregate) and old.unbounded_over_version:
        changed["unbounded_over_version"] = old.unbounded_over_version
    if node.states and old.states:
        ttls = {state.index: state.ttl for state in old.states}
        changed["state"] = tuple(replace(s, ttl=ttls.get(s.index, s.ttl)) for s in node.states)
    return replace(node, **changed)


def _carried(old: Plan, new: Plan, pairs: Mapping[int, ExecNode]) -> Iterator[Carried]:
    """The TTLs that differ from what the pipeline says, and those whose state is gone."""
    names = node_names(old)
    counterparts = {before.id: new.by_id[after] for after, before in pairs.items()}
    for node in old.nodes:
        new_node = counterparts.get(node.id)
        there = {s.index: s for s in new_node.states} if new_node else {}
        for state in node.states:
            twin = there.get(state.index)
            if twin is None or twin.ttl_ms != state.ttl_ms:
                yield Carried(f"{names[node.id]}.{state.name}", state.ttl, twin is not None)
