"""Rules on aggregations, by group, by window and over rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...plan.nodes import (
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    OverAggregate,
    WindowAggregate,
)
from ...plan.specs import AggregateCall
from ..columns import Scope, Shown
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..lineage import Lineage
from ..verdicts import Effect, Verdict
from .keys import judged_keys
from .model import ChangeRule, Judgement, arrows, field_judge, rule

ADDED = rule(
    "aggregate-added",
    "an aggregate was added",
    "The other aggregates go on from their values; the new one starts as if no row had come before.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SELECT k, SUM(a)` became `SELECT k, SUM(a), MAX(b)`.",
    mend="Start without state if the new aggregate must count the rows before.",
)
CHANGED = rule(
    "aggregate-changed",
    "an aggregate was changed",
    "It counts as one removed and another added: the others go on, the new one starts as if no row had come before.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SUM(a)` became `SUM(b)`.",
    mend="Start without state if the new aggregate must count the rows before.",
)
REMOVED = rule(
    "aggregate-removed",
    "an aggregate was removed",
    "Its values are dropped; the others go on.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SELECT k, SUM(a), MAX(b)` became `SELECT k, SUM(a)`.",
    mend="Keep the aggregate and drop its column behind the aggregation.",
)
REORDERED = rule(
    "aggregates-reordered",
    "the same aggregates stand in another order",
    "Each goes on from its value.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.NO,
    example="`SELECT k, SUM(a), MAX(b)` became `SELECT k, MAX(b), SUM(a)`.",
    mend="Put them back in their old order.",
)
DISTINCT = rule(
    "distinct-aggregate-changed",
    "a DISTINCT aggregate was added, changed or removed",
    "The values seen so far are kept for all DISTINCT aggregates of one column together, in a form that depends on "
    "which there are.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`COUNT(DISTINCT user_id)` was added.",
    mend="Start without state, or compute the new aggregate in a query of its own.",
)
RETRACTION = rule(
    "retraction-changed",
    "an aggregation began or ceased to take rows back",
    "What can be taken back needs more in state: a count of rows, and for MIN and MAX all values.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The aggregation reads a changelog (debezium-json) where it read inserts only (json).",
    mend="Start without state.",
)
OVER = rule(
    "over-window-changed",
    "the window of an OVER aggregation changed",
    "Rows are kept by partition and in the order of the window, as long as its frame needs them.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`ROWS BETWEEN 2 PRECEDING` became `5 PRECEDING`.",
    mend="Start without state.",
)

judged_keys("grouping", GroupWindowAggregate, WindowAggregate, GlobalWindowAggregate)


@dataclass(frozen=True, slots=True)
class _Call:
    """An aggregate call as far as it matters: what it computes and whether it can take rows back."""

    shown: Shown
    distinct: bool
    retracts: bool

    @property
    def text(self) -> str:
        return str(self.shown.shown)


def _calls(node: Any, lineage: Lineage) -> list[_Call]:
    calls: Sequence[AggregateCall] = node.agg_calls
    retracts = getattr(node, "agg_call_need_retractions", ())
    scope = Scope(node, lineage)
    padded = [*retracts, *[False] * len(calls)]
    return [_Call(scope.call(c), c.distinct, padded[i]) for i, c in enumerate(calls)]


@field_judge("agg_calls", GroupAggregate, GlobalGroupAggregate, GroupWindowAggregate, WindowAggregate)
@field_judge("agg_calls", GlobalWindowAggregate)
@field_judge("agg_call_need_retractions", GroupAggregate, GlobalGroupAggregate)
def aggregate_calls(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Which aggregates came, went, changed or moved; told once, whichever of the fields differ."""
    fields = [change.field for change in edit.changes]
    if changes[0].field != "agg_calls" and "agg_calls" in fields:
        return
    old, new = _calls(edit.old, c.old), _calls(edit.new, c.new)
    yield from _compared(edit, old, new, changes, "/aggCalls")


def _compared(
    edit: Update, old: list[_Call], new: list[_Call], changes: tuple[FieldChange, ...], at: str
) -> Iterator[Judgement]:
    removed = _less(old, new)
    added = _less(new, old)

    def say(rule_: ChangeRule, message: str) -> Judgement:
        return Judgement(rule_, message, edit.old, edit.new, at, changes=changes)

    if not removed and not added:
        yield say(REORDERED, f"{_listed(old)} → {_listed(new)}")
        return
    for call in [c for c in removed if c.shown in [a.shown for a in added]]:
        twin = next(a for a in added if a.shown == call.shown)
        yield say(RETRACTION, f"{call.text} {'takes' if twin.retracts else 'no longer takes'} rows back")
        removed.remove(call)
        added.remove(twin)
    for gone, come in _in_place(old, new, removed, added):
        yield say(DISTINCT if gone.distinct or come.distinct else CHANGED, f"{gone.text} → {come.text}")
        removed.remove(gone)
        added.remove(come)
    for call in removed:
        yield say(DISTINCT if call.distinct else REMOVED, f"{call.text} was removed")
    for call in added:
        yield say(DISTINCT if call.distinct else ADDED, f"{call.text} was added")


def _less(calls: list[_Call], others: list[_Call]) -> list[_Call]:
    """The calls that are not among ``others``, each of which accounts for one."""
    left = list(others)
    rest = []
    for call in calls:
        if call in left:
            left.remove(call)
        else:
            rest.append(call)
    return rest


def _in_place(
    old: list[_Call], new: list[_Call], removed: list[_Call], added: list[_Call]
) -> list[tuple[_Call, _Call]]:
    """Calls that gave way to others in the same place."""
    return [(o, n) for o, n in zip(old, new, strict=False) if o in removed and n in added]


def _listed(calls: list[_Call]) -> str:
    return ", ".join(call.text for call in calls)


@field_judge("over_spec", OverAggregate)
def over_windows(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """What is computed over rows, and over which rows."""
    window = tuple(ch for ch in changes if "/aggCalls" not in ch.pointer and "/constants" not in ch.pointer)
    window = tuple(ch for ch in window if not ch.pointer.endswith("/originalInputFields"))
    if window:
        yield Judgement(OVER, arrows(window), edit.old, edit.new, window[0].pointer, changes=window)
        return
    old, new = _over_calls(edit.old, c.old), _over_calls(edit.new, c.new)
    if old != new:
        yield from _compared(edit, old, new, changes, "/overSpec/groups")


def _over_calls(node: Any, lineage: Lineage) -> list[_Call]:
    scope = Scope(node, lineage)
    return [
        _Call(scope.call(call), call.distinct, False) for group in node.over_spec.groups for call in group.agg_calls
    ]
