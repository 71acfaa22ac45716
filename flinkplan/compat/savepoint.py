"""What becomes of an operator's state when Flink restores it from a savepoint under another node's layout.

Types are what Flink compares: where they differ, it refuses to start. Where they agree and the values came from
something else, it takes the one for the other without a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..plan.nodes import ExecNode
from ..plan.record import Record
from ..plan.savepoint.layout import Argument, Column, KeptState, Layout, Part, Value
from .columns import Scope
from .lineage import Lineage, Meaning
from .verdicts import Verdict

_ACCUMULATORS = ("accState", "window-aggs", "distinctAcc_")
"""The states that services which take aggregates over one by one do not go by position in."""


class Fate(Record):
    """What Flink does with a state, and why in a few words.

    ``is_lost``: it does not even find it; ``is_of_key``: it is the key that is another one.
    """

    verdict: Verdict
    why: str = ""
    is_lost: bool = False
    is_of_key: bool = False


RESTORED = Fate(Verdict.COMPATIBLE)


class Holder:
    """An operator: what it keeps, and what its values mean."""

    def __init__(self, node: ExecNode, lineage: Lineage) -> None:
        self.layout = node.layout([i.fields for i in lineage.plan.inputs(node)])
        self._lineage = lineage
        self._inputs = [lineage.rows[i.id] for i in lineage.plan.inputs(node)]
        self._aggregated: Sequence[Meaning] = Scope(node, lineage).aggregated.meanings

    def meanings(self, values: Sequence[Value]) -> list[Meaning | None]:
        """What the values mean, whichever rows were filtered out of them."""
        found = [self._meaning(value) for value in values]
        return [None if meaning is None else self._lineage.meanings.unfiltered(meaning) for meaning in found]

    def _meaning(self, value: Value) -> Meaning | None:
        match value.origin:
            case Column(side, index):
                return self._inputs[side][index]
            case Argument(index):
                return self._aggregated[index] if index < len(self._aggregated) else None
            case Part(call, number):
                return self._lineage.meanings.of(
                    ("part", number), [self._lineage.meanings.aggregate(call, self._aggregated)]
                )
        return None


def restore(old: Holder, new: Holder, *, one_by_one: bool = False) -> Fate:
    """What Flink does with the state of ``old`` for ``new``.

    ``one_by_one``: accumulators are taken over one by one, as services on top of Flink do, and are judged elsewhere.
    """
    before, after = old.layout, new.layout
    if before is None or after is None:
        return RESTORED if before is after else Fate(Verdict.INCOMPATIBLE, "the operator keeps nothing like it")
    if types(before.key) != types(after.key):
        change = _change(before.key, after.key)
        return Fate(Verdict.INCOMPATIBLE, f"the key has other types: {change}", is_of_key=True)
    if refused := _refused(before, after, one_by_one):
        return Fate(Verdict.INCOMPATIBLE, refused)
    states = {state.name: state for state in after.states}
    pairs = [("the key", before.key, after.key)]
    pairs += [(s.name, s.values, states[s.name].values) for s in _counting(before, one_by_one) if s.name in states]
    for name, was, is_now in pairs:
        places = zip(old.meanings(was), new.meanings(is_now), strict=True)
        if moved := [number for number, (o, n) in enumerate(places, 1) if o != n]:
            numbers = ", ".join(map(str, moved))
            return Fate(Verdict.CORRUPTING, f"{name}: of the same types, but value {numbers} means something else")
    if gone := [state.name for state in _counting(before, one_by_one) if state.name not in states]:
        return Fate(Verdict.CORRUPTING, f"{', '.join(gone)} is read no more, and the rest goes on without it")
    fresh = states.keys() - {state.name for state in before.states}
    return Fate(Verdict.PARTIAL, f"{', '.join(sorted(fresh))} is new") if fresh else RESTORED


def _counting(layout: Layout, one_by_one: bool) -> list[KeptState]:
    return [s for s in layout.states if not (one_by_one and s.name.startswith(_ACCUMULATORS))]


def _refused(before: Layout, after: Layout, one_by_one: bool) -> str:
    """Why Flink does not take a state over that is kept by the same key, if it does not."""
    if before.namespace != after.namespace:
        return f"kept by {before.namespace} before, by {after.namespace} now"
    states = {state.name: state for state in after.states}
    kept = _counting(before, one_by_one)
    if kept and not any(state.name in states for state in kept):
        return f"{', '.join(state.name for state in kept)} is read no more, and what comes in its place starts empty"
    for state in kept:
        twin = states.get(state.name)
        if twin is None:
            continue
        if types(state.values) != types(twin.values):
            return f"{state.name} has other types: {_change(state.values, twin.values)}"
        if state.form != twin.form:
            return f"{state.name} has another form: {state.form} before, {twin.form} now"
    return ""


def types(values: Sequence[Value]) -> list[str]:
    """The types of values, in order."""
    return [value.type for value in values]


def _change(old: Sequence[Value], new: Sequence[Value]) -> str:
    return f"({', '.join(types(old))}) → ({', '.join(types(new))})"
