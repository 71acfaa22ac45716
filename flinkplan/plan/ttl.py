"""The TTLs of a plan's states: list them, and set them in the plan's text without touching anything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from .document import Plan, loads, pretty
from .durations import format_duration, parse_duration
from .errors import PlanError
from .findings import nearest
from .names import node_names
from .nodes import ExecNode
from .record import Record
from .text.positions import Positions, pointer


class State(Record):
    """One state of a plan.

    ``node_name`` is the name of the operator as in :mod:`.names`; ``ttl`` is the plan's text, ``None`` if it has none.
    """

    node: ExecNode
    position: int
    node_name: str
    index: int
    name: str
    ttl: str | int | None
    meaning: str
    """What happens when an entry expires."""

    @property
    def address(self) -> str:
        """The state's name in ``--set``."""
        return f"{self.node_name}.{self.name}"


class Edit(Record):
    """A request to set the TTL of the states that ``target`` addresses to ``ttl_ms``."""

    target: str
    ttl_ms: int


class Change(Record):
    """A state whose TTL was set."""

    state: State
    ttl: str


def parse_edit(text: str) -> Edit:
    """Parse ``join.leftState=3s``, ``5.*=1 h`` or ``leftState=0 ms``.

    Raises :class:`PlanError` or :class:`~.durations.DurationError`.
    """
    target, equals, ttl = text.rpartition("=")
    if not equals or not target.strip():
        raise PlanError(f"'{text}' is not of the form NODE.STATE=TTL", hint="for example join.leftState='3 h'")
    return Edit(target.strip(), parse_duration(ttl.strip()))


def state_names(cls: type[ExecNode], inputs: int) -> tuple[str, ...]:
    """The names of a node's states in index order; some nodes have a state for each input."""
    return tuple(state.name for state in cls.declared_states(inputs))


def states(plan: Plan) -> Iterator[State]:
    """Every state that can have a TTL, in the order of the plan."""
    names = node_names(plan)
    for position, node in enumerate(plan.nodes):
        entries = {state.index: state for state in node.states}
        if not entries and not node.is_stateful:
            continue
        for index, declared in enumerate(node.ttl_states(len(plan.inputs(node)))):
            entry = entries.get(index)
            name, ttl = (entry.name, entry.ttl) if entry else (declared.name, None)
            yield State(node, position, names[node.id], index, name, ttl, declared.expiry)


def expiring_before_upstream(plan: Plan) -> Iterator[tuple[ExecNode, ExecNode, int, int]]:
    """Operators whose state expires earlier than that of the nearest stateful operators upstream.

    Yields both operators, the shortest TTL of the first and the longest of the second, in milliseconds; 0 is for ever.
    """
    nearest: dict[int, dict[int, ExecNode]] = {}
    for node in plan.nodes:
        upstream = {n.id: n for i in plan.inputs(node) for n in nearest[i.id].values()}
        if node.states and node.is_stateful:
            shortest = min((s.ttl_ms for s in node.states if s.ttl_ms), default=0)
            for source in upstream.values():
                longest = 0 if any(s.ttl_ms == 0 for s in source.states) else max(s.ttl_ms for s in source.states)
                if shortest and (not longest or shortest < longest):
                    yield node, source, shortest, longest
            upstream = {node.id: node}
        nearest[node.id] = upstream


def set_ttls(text: str, edits: Sequence[Edit], file: str | None = None) -> tuple[str, list[Change]]:
    """The plan's text after the edits, and the changes; a later edit overrides an earlier one.

    Everything else stays the same, byte for byte.  Raises :class:`PlanError` if the text is not a plan or an edit
    addresses no state.
    """
    plan = loads(text, file)
    all_states = list(states(plan))
    changes: dict[tuple[int, int], Change] = {}
    for edit in edits:
        for state in _addressed(all_states, edit.target):
            changes[state.position, state.index] = Change(state, format_duration(edit.ttl_ms))
    positions = Positions(text, file)
    replacements: dict[str, str] = {}
    for position in sorted({node_position for node_position, _ in changes}):
        node_changes = [change for (node_position, _), change in changes.items() if node_position == position]
        node_states = [state for state in all_states if state.position == position]
        replacements |= _replacements(node_changes, node_states, positions)
    return positions.replace(replacements), list(changes.values())


def _addressed(all_states: list[State], target: str) -> list[State]:
    node, dot, name = target.rpartition(".")
    matches = [s for s in all_states if fnmatchcase(s.name, name) and (not dot or _node_matches(s, node))]
    if not matches:
        hint = nearest(target, [s.address for s in all_states]) or f"the states are {_listed(all_states)}"
        raise PlanError(f"'{target}' addresses no state of the plan", hint=hint)
    return matches


def _node_matches(state: State, pattern: str) -> bool:
    names: Iterable[str] = (
        str(state.node.id),
        state.node_name,
        state.node_name.partition("#")[0],
        state.node.type,
        state.node.description,
    )
    return any(fnmatchcase(name, pattern) for name in names)


def _listed(all_states: list[State]) -> str:
    if not all_states:
        return "none"
    return ", ".join(s.address for s in all_states[:12]) + (" …" if len(all_states) > 12 else "")


def _replacements(changes: list[Change], states: list[State], positions: Positions) -> dict[str, str]:
    """By JSON pointer, the new texts of a node's TTLs, or of its whole state array if that has no entries."""
    node, position = changes[0].state.node, changes[0].state.position
    if node.states:
        places = {entry.index: place for place, entry in enumerate(node.states)}
        missing = [c.state.name for c in changes if c.state.index not in places]
        if missing:
            raise PlanError(
                f"the state array has no entry for '{missing[0]}'",
                where=positions.location(pointer("nodes", position, "state")),
                hint="flinkplan validate says what belongs there",
            )
        return {pointer("nodes", position, "state", places[c.state.index], "ttl"): f'"{c.ttl}"' for c in changes}
    ttls = {change.state.index: change.ttl for change in changes}
    entries = [{"index": s.index, "ttl": ttls.get(s.index, "0 ms"), "name": s.name} for s in states]
    if (state_array := pointer("nodes", position, "state")) in positions.extents:
        return {state_array: pretty(entries, positions.indentation(state_array))}
    output_type = pointer("nodes", position, "outputType")
    before = positions.text[positions.extents[output_type].start : positions.extents[output_type].end]
    indent = positions.indentation(output_type)
    return {output_type: f'{before},\n{indent}"state" : {pretty(entries, indent)}'}
