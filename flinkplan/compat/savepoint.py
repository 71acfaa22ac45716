"""The fate of an operator's state when Flink restores it from a savepoint with the layout of another node.

Flink compares only types. If they differ, it does not start. If they agree but the values have another meaning, Flink
misreads them without an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..plan.nodes import ExecNode
from ..plan.record import Record
from ..plan.savepoint.layout import Argument, Column, KeptState, Layout, Part, Value
from ..plan.specs import AggregateCall
from .columns import Scope
from .lineage import Lineage, Meaning
from .verdicts import Verdict

_ACCUMULATORS = ("accState", "window-aggs", "distinctAcc_")
"""The states with accumulators, which services that restore each aggregate by itself do not read by position."""


class Fate(Record):
    """What Flink does with a state, and why.

    ``is_lost`` says that Flink does not find the state, ``is_of_key`` that the key has other types.
    """

    verdict: Verdict
    why: str = ""
    is_lost: bool = False
    is_of_key: bool = False


RESTORED = Fate(Verdict.COMPATIBLE)


class Holder:
    """An operator's state: its layout and the meanings of its values."""

    def __init__(self, node: ExecNode, lineage: Lineage) -> None:
        self.layout = node.layout([i.fields for i in lineage.plan.inputs(node)])
        self._lineage = lineage
        self._inputs = [lineage.rows[i.id] for i in lineage.plan.inputs(node)]
        self._aggregated: Sequence[Meaning] = Scope(node, lineage).aggregated.meanings

    def meanings(self, values: Sequence[Value]) -> list[Meaning | None]:
        """The meanings of the values, without FILTER clauses."""
        meanings = [self._meaning(value) for value in values]
        return [None if meaning is None else self._lineage.meanings.unfiltered(meaning) for meaning in meanings]

    def exact_meanings(self, values: Sequence[Value]) -> list[Meaning | None]:
        """The meanings of the values with FILTER clauses, and before casts to types that hold all values."""
        meanings = [self._meaning(value) for value in values]
        return [None if meaning is None else self._lineage.meanings.unwidened(meaning) for meaning in meanings]

    def column_meaning(self, side: int, index: int) -> Meaning:
        """The meaning of a column of an input, before casts to types that hold all values."""
        row = self._inputs[side] if side < len(self._inputs) else ()
        meaning = row[index] if 0 <= index < len(row) else self._lineage.meanings.of(("no such column", index))
        return self._lineage.meanings.unwidened(meaning)

    def arguments(self, call: AggregateCall) -> tuple[tuple[Meaning, ...], Meaning | None]:
        """The meanings of the columns that a call reads, and that of its FILTER clause if it has one."""
        row = [self._lineage.meanings.unwidened(meaning) for meaning in self._aggregated]
        condition = row[call.filter_arg] if 0 <= call.filter_arg < len(row) else None
        return tuple(row[i] for i in call.arg_list if i < len(row)), condition

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

    ``one_by_one`` says that a service restores each accumulator by itself; other rules judge accumulators then.
    """
    before, after = old.layout, new.layout
    if before is None or after is None:
        return RESTORED if before is after else Fate(Verdict.INCOMPATIBLE, "the operator has no such state")
    if types(before.key) != types(after.key):
        change = _change(before.key, after.key)
        return Fate(Verdict.INCOMPATIBLE, f"the key has other types: {change}", is_of_key=True)
    if refused := _refused(before, after, one_by_one):
        return Fate(Verdict.INCOMPATIBLE, refused)
    states = {state.name: state for state in after.states}
    pairs = [("the key", before.key, after.key)]
    pairs += [(s.name, s.values, states[s.name].values) for s in _relevant(before, one_by_one) if s.name in states]
    for name, old_values, new_values in pairs:
        meanings = zip(old.meanings(old_values), new.meanings(new_values), strict=True)
        if changed := [number for number, (o, n) in enumerate(meanings, 1) if o != n]:
            numbers = ", ".join(map(str, changed))
            return Fate(Verdict.CORRUPTING, f"{name}: the types are the same, but value {numbers} has another meaning")
    if unread := [state.name for state in _relevant(before, one_by_one) if state.name not in states]:
        return Fate(
            Verdict.CORRUPTING, f"{', '.join(unread)} is not read any more, and the operator continues without it"
        )
    added = states.keys() - {state.name for state in before.states}
    return Fate(Verdict.PARTIAL, f"{', '.join(sorted(added))} is new") if added else RESTORED


def _relevant(layout: Layout, one_by_one: bool) -> list[KeptState]:
    return [s for s in layout.states if not (one_by_one and s.name.startswith(_ACCUMULATORS))]


def _refused(before: Layout, after: Layout, one_by_one: bool) -> str:
    """Why Flink does not restore state with the same key; empty if it does."""
    if before.namespace != after.namespace:
        return f"stored by {before.namespace} before, by {after.namespace} now"
    states = {state.name: state for state in after.states}
    old_states = _relevant(before, one_by_one)
    if old_states and not any(state.name in states for state in old_states):
        return f"{', '.join(state.name for state in old_states)} is not read any more, and the new state starts empty"
    for state in old_states:
        counterpart = states.get(state.name)
        if counterpart is None:
            continue
        if types(state.values) != types(counterpart.values):
            return f"{state.name} has other types: {_change(state.values, counterpart.values)}"
        if state.form != counterpart.form:
            return f"{state.name} has another form: {state.form} before, {counterpart.form} now"
    return ""


def types(values: Sequence[Value]) -> list[str]:
    """The types of values, in order."""
    return [value.type for value in values]


def _change(old: Sequence[Value], new: Sequence[Value]) -> str:
    return f"({', '.join(types(old))}) → ({', '.join(types(new))})"
