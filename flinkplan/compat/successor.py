"""Makes the plan of a changed pipeline the successor of the old plan, so that a job can continue from its savepoint.

Flink finds the state of an operator by its UID, which a compiled plan derives from the node's id: ``5_join``.  Each
compilation assigns new ids.  In a successor, operators that are in both plans keep their old ids, and new ones get ids
that were never used before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..plan.document import FLINK_VERSION, Plan, loads, place
from ..plan.errors import FlinkplanError
from ..plan.history import fresh_ids, highest_id, with_highest_id, with_notes_of
from ..plan.names import node_names
from ..plan.nodes import ExecNode, OverAggregate, ProcessTableFunction
from ..plan.record import Record, replace
from ..plan.specs import StateMetadata
from .alignment import Reordering, align
from .comparing import compare
from .diff import Source
from .inheritance import heirs
from .upgrade import migrate
from .validation import check_plan


def read_predecessor(source: Source) -> Plan:
    """The old plan, converted to the newest release.

    Raises :class:`PlanError` or :class:`UnsupportedError` where the text is not a plan, or one of a later release.
    """
    plan = loads(source.text, source.name)
    try:
        check_plan(plan)
        return predecessor(plan)
    except FlinkplanError as e:
        place(e, source.text, source.name)
        raise


def predecessor(plan: Plan) -> Plan:
    """The old plan, converted to the newest release.  Raises :class:`PlanError` for one of a later release."""
    return migrate(plan, FLINK_VERSION).plan


class CarriedTtl(Record):
    """A TTL of the old plan that differs from the pipeline's.

    ``state`` is the state's name and ``ttl`` its old TTL; ``declared`` is the TTL of the pipeline, ``None`` if the new
    plan has no such state; ``kept`` says whether the new plan has the old TTL.
    """

    state: str
    ttl: str | int
    declared: str | int | None
    kept: bool


class Successor(Record):
    """A plan that restores the state of an older one.

    ``kept`` are the nodes of the new plan with their old ids, ``fresh`` the others; ``gone`` are the old nodes without
    a counterpart; ``reorderings`` tell which nodes keep their old order, by their ids in the new plan.
    """

    plan: Plan
    kept: tuple[ExecNode, ...]
    fresh: tuple[ExecNode, ...]
    gone: tuple[ExecNode, ...]
    ttls: tuple[CarriedTtl, ...]
    reorderings: tuple[Reordering, ...]


def succeed(old: Plan, new: Plan, keep_ttls: bool = True) -> Successor:
    """The new plan with the ids, versions, TTLs and notes of those nodes that the old plan has too.

    If only the order of columns, keys or aggregates changed, the new plan has the old order and a projection above it
    (:mod:`.alignment`).  Nodes keep their old versions, because a newer version may not restore the state of an older
    one. They also keep their old TTLs; but if all states of the old plan have the same TTL, nobody has set one by hand,
    and the TTLs that the pipeline declares are used, as always without ``keep_ttls``.

    Raises :class:`UnsupportedError` where the plans are too large to compare.
    """
    alignment = align(old, new)
    new = alignment.plan
    pairs = heirs(alignment.comparison or compare(old, new))
    unused_ids = iter(fresh_ids(old, len(new.nodes) - len(pairs)))
    ids = {node.id: pairs[node.id].id if node.id in pairs else next(unused_ids) for node in new.nodes}
    set_by_hand = len({state.ttl_ms for node in old.nodes for state in node.states}) > 1

    def keeps_ttl(state: StateMetadata) -> bool:
        """Whether a state of the new plan gets its old TTL."""
        return keep_ttls and (set_by_hand or not state.ttl_ms)

    nodes = tuple(replace(_restoring(node, pairs.get(node.id), keeps_ttl), id=ids[node.id]) for node in new.nodes)
    edges = tuple(replace(e, source=ids[e.source], target=ids[e.target]) for e in new.edges)
    highest = max(highest_id(old), *ids.values())
    plan = with_highest_id(replace(new, nodes=nodes, edges=edges), highest)
    kept_ids = {node.id for node in pairs.values()}
    return Successor(
        plan,
        tuple(n for n in plan.nodes if n.id in kept_ids),
        tuple(n for n in plan.nodes if n.id not in kept_ids),
        tuple(n for n in old.nodes if n.id not in kept_ids),
        tuple(_carried_ttls(old, new, plan, pairs)),
        tuple(Reordering(ids[reordering.node], reordering.description) for reordering in alignment.reorderings),
    )


def _restoring(node: ExecNode, old: ExecNode | None, keeps_ttl: Callable[[StateMetadata], bool]) -> ExecNode:
    """The node with its old counterpart's TTLs and notes, and the version that can restore its state."""
    if old is None:
        return node
    changed: dict[str, Any] = {}
    if node.is_stateful and old.is_stateful:
        changed["version"] = min(node.version, old.version)
    if isinstance(node, OverAggregate) and isinstance(old, OverAggregate) and old.unbounded_over_version:
        changed["unbounded_over_version"] = old.unbounded_over_version
    if node.states and old.states:
        old_states = {_place(old, state): state for state in old.states}
        changed["state"] = tuple(
            replace(s, ttl=old_states[_place(node, s)].ttl) if _place(node, s) in old_states and keeps_ttl(s) else s
            for s in node.states
        )
    return with_notes_of(replace(node, **changed), old)


def _place(node: ExecNode, state: StateMetadata) -> int | str:
    """What tells a state of a node from its others: Flink's operators know them by their indexes."""
    return state.name if isinstance(node, ProcessTableFunction) else state.index


def _carried_ttls(old: Plan, new: Plan, successor: Plan, pairs: Mapping[int, ExecNode]) -> Iterator[CarriedTtl]:
    """The old TTLs that differ from the pipeline's, and those whose state the new plan does not have."""
    names = node_names(old)
    counterparts = {old_node.id: new.by_id[new_id] for new_id, old_node in pairs.items()}
    for node in old.nodes:
        counterpart = counterparts.get(node.id)
        declared_states = {_place(node, s): s for s in counterpart.states} if counterpart else {}
        kept_states = {_place(node, s): s for s in successor.by_id[node.id].states} if counterpart else {}
        for state in node.states:
            declared = declared_states.get(_place(node, state))
            if declared is None or declared.ttl_ms != state.ttl_ms:
                is_kept = declared is not None and kept_states[_place(node, state)].ttl_ms == state.ttl_ms
                ttl = declared.ttl if declared else None
                yield CarriedTtl(f"{names[node.id]}.{state.name}", state.ttl, ttl, is_kept)
