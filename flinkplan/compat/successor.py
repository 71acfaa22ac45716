"""The plan of a changed pipeline as the successor of the plan before it, so that a job goes on from its savepoint.

Flink finds the state of an operator by its UID, which a compiled plan makes of the node's id: ``5_join``.  Each
compilation counts ids anew.  A successor gives operators that stay the ids they had, and new ones ids that nothing
before them has had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..plan.document import FLINK_VERSION, Plan, loads, place
from ..plan.errors import FlinkplanError
from ..plan.history import fresh_ids, highest_id, with_highest_id, with_notes_of
from ..plan.names import node_names
from ..plan.nodes import ExecNode, OverAggregate
from ..plan.record import Record, replace
from ..plan.specs import StateMetadata
from .alignment import Mend, align
from .comparing import compare
from .diff import Source
from .inheritance import heirs
from .upgrade import migrate
from .validation import check_plan


def read_predecessor(source: Source) -> Plan:
    """The plan to succeed, as the newest release writes it.

    Raises :class:`PlanError` or :class:`UnsupportedError` where the text is no plan, or one of a later release.
    """
    plan = loads(source.text, source.name)
    try:
        check_plan(plan)
        return migrate(plan, FLINK_VERSION).plan
    except FlinkplanError as e:
        place(e, source.text, source.name)
        raise


class CarriedTtl(Record):
    """A TTL of the old plan that is not what the pipeline says.

    ``state`` says whose; ``told`` what the pipeline says, ``None`` where the new plan has no such state; ``kept``
    whether the old one is in the new plan.
    """

    state: str
    ttl: str | int
    told: str | int | None
    kept: bool


class Successor(Record):
    """A plan that takes over the state of an older one.

    ``kept`` are the nodes, in the new plan, that have their old ids, ``fresh`` the others; ``gone`` are the old nodes
    that have no successor; ``mends`` are what was put into the old order, by id in the new plan.
    """

    plan: Plan
    kept: tuple[ExecNode, ...]
    fresh: tuple[ExecNode, ...]
    gone: tuple[ExecNode, ...]
    ttls: tuple[CarriedTtl, ...]
    mends: tuple[Mend, ...]


def succeed(old: Plan, new: Plan) -> Successor:
    """The new plan with the ids, versions, TTLs and notes of those nodes of the old one that it still has.

    Where the order of columns, keys or aggregates is all that changed, the new plan has the old order and a projection
    above (:mod:`.alignment`).
    A newer version of a node need not restore what an older one kept.  Where the pipeline says no TTL, the old plan's
    stays; where both say one, the old plan's too, unless it keeps all states equally long: then nobody has set one by
    hand, and the pipeline's counts.  Raises :class:`UnsupportedError` where the plans are too large to compare.
    """
    alignment = align(old, new)
    new = alignment.plan
    pairs = heirs(compare(old, new))
    free = iter(fresh_ids(old, len(new.nodes) - len(pairs)))
    ids = {node.id: pairs[node.id].id if node.id in pairs else next(free) for node in new.nodes}
    by_hand = len({state.ttl_ms for node in old.nodes for state in node.states}) > 1
    nodes = tuple(replace(_restoring(node, pairs.get(node.id), by_hand), id=ids[node.id]) for node in new.nodes)
    edges = tuple(replace(e, source=ids[e.source], target=ids[e.target]) for e in new.edges)
    highest = max(highest_id(old), *ids.values())
    plan = with_highest_id(replace(new, nodes=nodes, edges=edges), highest)
    taken = {node.id for node in pairs.values()}
    return Successor(
        plan,
        tuple(n for n in plan.nodes if n.id in taken),
        tuple(n for n in plan.nodes if n.id not in taken),
        tuple(n for n in old.nodes if n.id not in taken),
        tuple(_carried(old, new, plan, pairs)),
        tuple(Mend(ids[mend.node], mend.what) for mend in alignment.mends),
    )


def _restoring(node: ExecNode, old: ExecNode | None, by_hand: bool) -> ExecNode:
    """The node with its counterpart's TTLs and notes, and of the version whose state it is to restore."""
    if old is None:
        return node
    changed: dict[str, Any] = {}
    if node.is_stateful and old.is_stateful:
        changed["version"] = min(node.version, old.version)
    if isinstance(node, OverAggregate) and isinstance(old, OverAggregate) and old.unbounded_over_version:
        changed["unbounded_over_version"] = old.unbounded_over_version
    if node.states and old.states:
        before = {state.index: state for state in old.states}
        changed["state"] = tuple(_kept(before.get(s.index, s), s, by_hand) for s in node.states)
    return with_notes_of(replace(node, **changed), old)


def _kept(old: StateMetadata, new: StateMetadata, by_hand: bool) -> StateMetadata:
    """The new state with the TTL that counts."""
    stays = by_hand or not new.ttl_ms
    return replace(new, ttl=old.ttl) if stays else new


def _carried(old: Plan, new: Plan, made: Plan, pairs: Mapping[int, ExecNode]) -> Iterator[CarriedTtl]:
    """The TTLs that differ from what the pipeline says, and those whose state is gone."""
    names = node_names(old)
    told = {before.id: new.by_id[after] for after, before in pairs.items()}
    for node in old.nodes:
        said = {s.index: s for s in told[node.id].states} if node.id in told else {}
        kept = {s.index: s for s in made.by_id[node.id].states} if node.id in told else {}
        for state in node.states:
            twin = said.get(state.index)
            if twin is None or twin.ttl_ms != state.ttl_ms:
                is_kept = twin is not None and kept[state.index].ttl_ms == state.ttl_ms
                yield CarriedTtl(f"{names[node.id]}.{state.name}", state.ttl, twin.ttl if twin else None, is_kept)
