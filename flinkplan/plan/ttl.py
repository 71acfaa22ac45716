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

    ``node_name`` is the operator's name, such as ``join``, or ``join#2`` for the second of them from the sources: a
    name that stays when the pipeline is compiled again.  ``ttl`` is as written, ``None`` where the plan says nothing.
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
        """What ``--set`` calls it."""
        return f"{self.node_name}.{self.name}"


class Edit(Record):
    """Set the states that ``target`` addresses to ``ttl_ms``."""

    target: str
    ttl_ms: int


class Change(Record):
    """A state whose TTL was set."""

    state: State
    ttl: str


def parse_edit(text: str) -> Edit:
    """Read ``join.leftState=3s``, ``5.*=1 h`` or ``leftState=0 ms``.  Raises :class:`PlanError` or a duration error."""
    target, equals, ttl = text.rpartition("=")
    if not equals or not target.strip():
        raise PlanError(f"'{text}' is not of the form NODE.STATE=TTL", hint="for example join.leftState='3 h'")
    return Edit(target.strip(), parse_duration(ttl.strip()))


def state_names(cls: type[ExecNode], inputs: int) -> tuple[str, ...]:
    """The names of a node's states in index order; some have one for each input."""
    return tuple(state.name for state in cls.declared_states(inputs))


def states(plan: Plan) -> Iterator[State]:
    """Every state with a TTL, in the order of the plan."""
    names = node_names(plan)
    for position, node in enumerate(plan.nodes):
        written = {state.index: state for state in node.states}
        if not written and not node.is_stateful:
            continue
        for index, declared in enumerate(node.declared_states(len(plan.inputs(node)))):
            entry = written.get(index)
            name, ttl = (entry.name, entry.ttl) if entry else (declared.name, None)
            yield State(node, position, names[node.id], index, name, ttl, declared.expiry)


def forgetful(plan: Plan) -> Iterator[tuple[ExecNode, ExecNode, int, int]]:
    """Operators that forget sooner than the nearest stateful ones upstream: both, the shortest TTL of the one, and the
    longest of the other, in milliseconds; 0 is for ever.
    """
    nearest: dict[int, dict[int, ExecNode]] = {}
    for node in plan.nodes:
        upstream = {n.id: n for i in plan.inputs(node) for n in nearest[i.id].values()}
        if node.states and node.is_stateful:
            shortest = min((s.ttl_ms for s in node.states if s.ttl_ms), default=0)
            for other in upstream.values():
                longest = 0 if any(s.ttl_ms == 0 for s in other.states) else max(s.ttl_ms for s in other.states)
                if shortest and (not longest or shortest < longest):
                    yield node, other, shortest, longest
            upstream = {node.id: node}
        nearest[node.id] = upstream


def set_ttls(text: str, edits: Sequence[Edit], file: str | None = None) -> tuple[str, list[Change]]:
    """The plan's text with the edits made, the later ones over the earlier, and what they changed.

    Everything else stays as it is, byte for byte.  Raises :class:`PlanError` where the text is no plan or an edit
    addresses nothing.
    """
    plan = loads(text, file)
    known = list(states(plan))
    wanted: dict[tuple[int, int], Change] = {}
    for edit in edits:
        for state in _addressed(known, edit.target):
            wanted[state.position, state.index] = Change(state, format_duration(edit.ttl_ms))
    positions = Positions(text, file)
    replacements: dict[str, str] = {}
    for position in sorted({at for at, _ in wanted}):
        node_changes = [change for (at, _), change in wanted.items() if at == position]
        node_states = [state for state in known if state.position == position]
        replacements |= _replacements(node_changes, node_states, positions)
    return positions.replace(replacements), list(wanted.values())


def _addressed(known: list[State], target: str) -> list[State]:
    node, dot, name = target.rpartition(".")
    found = [s for s in known if fnmatchcase(s.name, name) and (not dot or _is_node(s, node))]
    if not found:
        hint = nearest(target, [s.address for s in known]) or f"the states are {_listed(known)}"
        raise PlanError(f"'{target}' addresses no state of the plan", hint=hint)
    return found


def _is_node(state: State, pattern: str) -> bool:
    names: Iterable[str] = (
        str(state.node.id),
        state.node_name,
        state.node_name.partition("#")[0],
        state.node.type,
        state.node.description,
    )
    return any(fnmatchcase(name, pattern) for name in names)


def _listed(known: list[State]) -> str:
    return ", ".join(s.address for s in known[:12]) + (" …" if len(known) > 12 else "") if known else "none"


def _replacements(changes: list[Change], states: list[State], positions: Positions) -> dict[str, str]:
    """The texts to put in place of a node's TTLs, or of its whole state array where it has no entries."""
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
    if (at := pointer("nodes", position, "state")) in positions.extents:
        return {at: pretty(entries, positions.indentation(at))}
    at = pointer("nodes", position, "outputType")
    before = positions.text[positions.extents[at].start : positions.extents[at].end]
    indent = positions.indentation(at)
    return {at: f'{before},\n{indent}"state" : {pretty(entries, indent)}'}
