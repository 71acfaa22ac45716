"""Rules on aggregations, by group, by window and over rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from ...plan.nodes import (
    ExecNode,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    GroupWindowAggregate,
    WindowAggregate,
)
from ...plan.record import PartlyCompared, Record
from ...plan.savepoint.accumulators import accumulator_names
from ...plan.specs import AggregateCall
from ...plan.types.readable import readable
from ..columns import Scope, Shown
from ..comparing import Comparison
from ..edits import FieldChange, Keep, Update
from ..lineage import Lineage
from ..reordering import retractions_of
from ..verdicts import Effect, Verdict
from .model import Became, ChangeRule, Judgement, became, field_judge, pair_judge, rule

_POSITIONS = (
    "Apache Flink stores the accumulators of all aggregates in one row, by position. If the types differ it does not "
    "start; if they agree it misreads the values. Services that restore each aggregate by itself do neither. "
)
_PROJECT = "add a projection above that restores the new order of the columns"
ADDED = rule(
    "aggregate-added",
    "an aggregate was added to a GROUP BY",
    f"{_POSITIONS}In a checkpoint of `flinkplan execute` the other aggregates keep their values; the new one starts "
    "empty.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.PARTIAL,
    results=Effect.YES,
    example="`SELECT k, SUM(a)` became `SELECT k, SUM(a), MAX(b)`.",
    fix="In Flink, compute the new aggregate in a query of its own, or start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
CHANGED = rule(
    "aggregate-changed",
    "an aggregate of a GROUP BY was changed",
    f"{_POSITIONS}In a checkpoint of `flinkplan execute` the other aggregates keep their values; the new one starts "
    "empty. If only the FILTER changed, the types are the same, and it applies to new rows.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.PARTIAL,
    results=Effect.YES,
    example="`SUM(a)` became `SUM(b)`.",
    fix="In Flink, keep the old aggregate and compute the new one in a query of its own, or start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
MISTAKEN = rule(
    "aggregate-mistaken",
    "an aggregate of a GROUP BY was changed, but would continue from the old value",
    f"{_POSITIONS}A checkpoint of `flinkplan execute` finds an aggregate's value by its function and the names of its "
    "arguments: these are the same, but their meaning is not.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SUM(a * 2)` became `SUM(a * 3)`.",
    fix="Start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
WIDENED = rule(
    "aggregate-widened",
    "an aggregate of a GROUP BY has a BIGINT argument instead of INT",
    f"{_POSITIONS}A checkpoint of `flinkplan execute` reads the old value as the wider type.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="The column `amount` of `SUM(amount)` was INT and is BIGINT.",
    fix="In Flink, cast the column to its old type below the aggregation, or start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
UNNAMED = rule(
    "aggregate-column-renamed",
    "the argument of an aggregate in a GROUP BY has another name",
    "In Flink only the order of the aggregates counts. A checkpoint of `flinkplan execute` finds the value of an "
    "aggregate by its function and the names of its arguments: with another name the aggregate starts empty.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.PARTIAL,
    results=Effect.YES,
    example="`SUM(x) FROM (SELECT a + b AS x …)` became `SUM(y) FROM (SELECT a + b AS y …)`.",
    fix="Give the column its old name.",
)
REMOVED = rule(
    "aggregate-removed",
    "an aggregate of a GROUP BY was removed",
    f"{_POSITIONS}In a checkpoint of `flinkplan execute` its values are dropped; the others keep theirs.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`SELECT k, SUM(a), MAX(b)` became `SELECT k, SUM(a)`.",
    fix="In Flink, keep the aggregate and drop its column after the aggregation.",
    by_layout=True,
    one_by_one=Verdict.COMPATIBLE,
)
REORDERED = rule(
    "aggregates-reordered",
    "the aggregates of a GROUP BY have another order",
    f"{_POSITIONS}In a checkpoint of `flinkplan execute` each aggregate keeps its value.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="`SELECT k, SUM(a), MAX(b)` became `SELECT k, MAX(b), SUM(a)`.",
    fix=f"In Flink put the aggregates back in their old order, and {_PROJECT}: `flinkplan compile pipeline.sql "
    "--like OLD -o NEW` does so.",
    by_layout=True,
    one_by_one=Verdict.COMPATIBLE,
)
_FIXED = (
    "A checkpoint of `flinkplan execute` stores the aggregates of windows and of OVER in a fixed format and refuses "
    "another one."
)
WINDOW_ADDED = rule(
    "window-aggregate-added",
    "an aggregate was added to a window, or to an OVER aggregation",
    f"{_POSITIONS}{_FIXED}",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SUM(a)` by TUMBLE windows became `SUM(a), COUNT(*)`.",
    fix="Compute the new aggregate in a query of its own, or start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
WINDOW_CHANGED = rule(
    "window-aggregate-changed",
    "an aggregate of a window, or of an OVER aggregation, was changed",
    f"{_POSITIONS}{_FIXED}",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SUM(a)` by TUMBLE windows became `SUM(b)`.",
    fix="Keep the old aggregate and compute the new one in a query of its own, or start without state.",
    by_layout=True,
    one_by_one=Verdict.PARTIAL,
)
WINDOW_REMOVED = rule(
    "window-aggregate-removed",
    "an aggregate of a window, or of an OVER aggregation, was removed",
    f"{_POSITIONS}{_FIXED}",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SUM(a), COUNT(*)` by TUMBLE windows became `SUM(a)`.",
    fix="Keep the aggregate and drop its column after the aggregation.",
    by_layout=True,
    one_by_one=Verdict.COMPATIBLE,
)
WINDOW_REORDERED = rule(
    "window-aggregates-reordered",
    "the aggregates of a window, or of an OVER aggregation, have another order",
    f"{_POSITIONS}{_FIXED}",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.NO,
    example="`SUM(a), COUNT(*)` by TUMBLE windows became `COUNT(*), SUM(a)`.",
    fix=f"Put them back in their old order, and {_PROJECT}.",
    by_layout=True,
    one_by_one=Verdict.COMPATIBLE,
)
_SEEN = (
    "Flink stores the distinct values of a column once for all its DISTINCT aggregates, in a format that depends on "
    "these aggregates. "
)
DISTINCT_ADDED = rule(
    "distinct-aggregate-added",
    "a DISTINCT aggregate was added",
    f"{_SEEN}A checkpoint of `flinkplan execute` stores them for each aggregate: the new one starts empty.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.PARTIAL,
    results=Effect.YES,
    example="`COUNT(DISTINCT user_id)` was added.",
    fix="In Flink, start without state, or compute the new aggregate in a query of its own.",
    by_layout=True,
    one_by_one=Verdict.INCOMPATIBLE,
)
DISTINCT_REMOVED = rule(
    "distinct-aggregate-removed",
    "a DISTINCT aggregate was removed",
    f"{_SEEN}A checkpoint of `flinkplan execute` stores them for each aggregate, and drops those of the removed one.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`COUNT(DISTINCT user_id)` was dropped.",
    fix="In Flink, keep the aggregate and drop its column after the aggregation.",
    by_layout=True,
    one_by_one=Verdict.INCOMPATIBLE,
)
DISTINCT_CHANGED = rule(
    "distinct-aggregate-changed",
    "a DISTINCT aggregate was changed, or one of a window or an OVER aggregation was added or removed",
    f"{_SEEN}If the name is the same, a checkpoint of `flinkplan execute` would use them for the new aggregate; for "
    "windows and OVER their format is fixed.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`COUNT(DISTINCT UPPER(name))` became `COUNT(DISTINCT LOWER(name))`.",
    fix="Start without state, or compute the new aggregate in a query of its own.",
    by_layout=True,
    one_by_one=Verdict.INCOMPATIBLE,
)
RETRACTION = rule(
    "retraction-changed",
    "an aggregation started or stopped to retract rows",
    "An aggregation that retracts rows needs more state: a count of rows, and for MIN and MAX all values.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The aggregation reads a changelog (debezium-json) where it read inserts only (json).",
    fix="Start without state.",
    by_layout=True,
    one_by_one=Verdict.INCOMPATIBLE,
)
SPLIT = rule(
    "aggregation-split",
    "an aggregation changed between one phase and two phases",
    "In Flink the second phase is another operator, which does not find the state of the first one. A checkpoint of "
    "`flinkplan execute` has the same accumulators in both cases.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="Mini-batches were switched on: group-aggregate became local-group-aggregate and global-group-aggregate.",
    fix="In Flink, set `table.optimizer.agg-phase-strategy` so that the aggregation does not change, or start without "
    "state.",
)


class _Call(PartlyCompared):
    """The relevant parts of an aggregate call: what it computes, and whether it retracts rows.

    ``place`` is the name of its part of the state on Spark.
    """

    shown: Shown
    distinct: bool
    retracts: bool
    place: str

    apart: ClassVar[frozenset[str]] = frozenset({"place"})

    @property
    def text(self) -> str:
        return str(self.shown.shown)


class _Rules(NamedTuple):
    """The rules of one kind of aggregation."""

    added: ChangeRule
    changed: ChangeRule
    removed: ChangeRule
    reordered: ChangeRule
    distinct_added: ChangeRule
    distinct_removed: ChangeRule


_GROUPED = _Rules(ADDED, CHANGED, REMOVED, REORDERED, DISTINCT_ADDED, DISTINCT_REMOVED)
WINDOWED = _Rules(WINDOW_ADDED, WINDOW_CHANGED, WINDOW_REMOVED, WINDOW_REORDERED, DISTINCT_CHANGED, DISTINCT_CHANGED)


def calls_of(node: ExecNode, calls: Sequence[AggregateCall], lineage: Lineage) -> list[_Call]:
    """The relevant parts of a node's aggregate calls."""
    retracts = [*retractions_of(node), *[False] * len(calls)]
    scope = Scope(node, lineage)
    places = accumulator_names(calls, scope.aggregated.fields)
    return [_Call(scope.call(c), c.distinct, retracts[i], places[i]) for i, c in enumerate(calls)]


@field_judge("agg_calls", GroupAggregate, GlobalGroupAggregate, GroupWindowAggregate, WindowAggregate)
@field_judge("agg_calls", GlobalWindowAggregate)
@field_judge("agg_call_need_retractions", GroupAggregate, GlobalGroupAggregate)
def aggregate_calls(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """The aggregates that were added, removed, changed or reordered; reported once if several fields differ."""
    fields = [change.field for change in edit.changes]
    if changes[0].field != "agg_calls" and "agg_calls" in fields:
        return
    old, new = (calls_of(n, getattr(n, "agg_calls", ()), side) for n, side in ((edit.old, c.old), (edit.new, c.new)))
    if isinstance(edit.new, GroupAggregate | GlobalGroupAggregate):
        yield from compared_calls(edit, old, new, changes, _GROUPED)
        yield from _places(edit, old, new)
    else:
        yield from compared_calls(edit, old, new, changes, WINDOWED)


def compared_calls(
    edit: Update, old: list[_Call], new: list[_Call], changes: tuple[FieldChange, ...], rules: _Rules
) -> Iterator[Judgement]:
    """The calls that were added, removed, changed or reordered."""
    pointer = changes[0].pointer
    removed, added = _without(old, new), _without(new, old)

    def judgement(rule_: ChangeRule, message: str) -> Judgement:
        return Judgement(rule_, message, edit.old, edit.new, pointer, changes=changes)

    if not removed and not added:
        yield judgement(rules.reordered, f"{_listed(old)} → {_listed(new)}")
        return
    retracting = _same_but_retraction(removed, added)
    if retracting and all(change.field != "need_retraction" for change in edit.changes):
        verb = "retract" if retracting[0][1].retracts else "no longer retract"
        yield judgement(RETRACTION, f"{_listed([call for call, _ in retracting])} {verb} rows")
    for old_call, new_call in retracting:
        removed.remove(old_call)
        added.remove(new_call)
    for old_call, new_call in _in_place(old, new, removed, added):
        mistaken = rules is _GROUPED and old_call.place == new_call.place
        is_distinct = old_call.distinct or new_call.distinct
        if is_distinct and rules is _GROUPED and not mistaken:
            continue
        changed = DISTINCT_CHANGED if is_distinct else MISTAKEN if mistaken else rules.changed
        if changed is MISTAKEN and _is_widened(old_call, new_call):
            changed = WIDENED
        yield judgement(changed, _replaced(old_call, new_call))
        removed.remove(old_call)
        added.remove(new_call)
    for call in removed:
        yield judgement(rules.distinct_removed if call.distinct else rules.removed, f"{call.text} was removed")
    for call in added:
        mistaken = rules is _GROUPED and call.place in {c.place for c in old}
        added_rule = rules.distinct_added if call.distinct else rules.added
        yield judgement(MISTAKEN if mistaken else added_rule, f"{call.text} was added")


def _is_widened(old: _Call, new: _Call) -> bool:
    """Whether the only change of a call is from INT to BIGINT."""
    (old_meaning, *old_types), (new_meaning, *new_types) = old.shown.meaning, new.shown.meaning
    types = set(zip(old_types, new_types, strict=False))
    is_same = old_meaning == new_meaning and old.retracts == new.retracts
    return is_same and all(o == n or (o, n) == _WIDER for o, n in types)


_WIDER = ("INT", "BIGINT")


def _replaced(old: _Call, new: _Call) -> str:
    """``old → new``; for calls with equal texts, their types, if these differ."""
    old_types, new_types = (readable(", ".join(dict.fromkeys(call.shown.meaning[1:]))) for call in (old, new))
    if old.text == new.text and old_types != new_types:
        return f"{old.text}: {old_types} → {new_types}"
    return became(old.text, new.text)


@pair_judge
def moved_columns(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Equal aggregates whose state has another name on Spark, also if the fields of the node are equal."""
    if isinstance(edit, Keep) and isinstance(edit.new, GroupAggregate | GlobalGroupAggregate):
        old, new = (
            calls_of(n, getattr(n, "agg_calls", ()), side) for n, side in ((edit.old, c.old), (edit.new, c.new))
        )
        yield from _places(edit, old, new)


@pair_judge
def split(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Aggregations that changed only in the number of phases."""
    if is_split(c, edit):
        yield Judgement(SPLIT, f"{edit.old.type} → {edit.new.type}", edit.old, edit.new, "/type")


def is_split(c: Comparison, edit: Became) -> bool:
    """Whether an aggregation changed only in the number of phases."""
    if {type(edit.old), type(edit.new)} != {GroupAggregate, GlobalGroupAggregate}:
        return False
    old, new = (_grouped(n, side) for n, side in ((edit.old, c.old), (edit.new, c.new)))
    return old == new and old.places == new.places


class _Aggregation(Record):
    """The keys and calls of an aggregation; ``places`` are the names of the parts of its state on Spark."""

    keys: list[Shown]
    calls: list[_Call]
    retracts: bool

    @property
    def places(self) -> list[str]:
        return [call.place for call in self.calls]


def _grouped(node: Any, lineage: Lineage) -> _Aggregation:
    keys = Scope(node, lineage).columns(node.grouping)
    return _Aggregation(keys, calls_of(node, node.agg_calls, lineage), node.need_retraction)


def _places(edit: Became, old: list[_Call], new: list[_Call]) -> Iterator[Judgement]:
    unmatched = list(old)
    for call in new:
        equal = [o for o in unmatched if o == call]
        if equal and all(o.place != call.place for o in equal):
            yield Judgement(UNNAMED, f"{equal[0].text} → {call.text}", edit.old, edit.new, "/aggCalls")
        if equal:
            unmatched.remove(next((o for o in equal if o.place == call.place), equal[0]))


def _same_but_retraction(removed: list[_Call], added: list[_Call]) -> list[tuple[_Call, _Call]]:
    """The pairs of calls that differ only in whether they retract rows."""
    return [(o, n) for o, n in ((o, next((a for a in added if a.shown == o.shown), None)) for o in removed) if n]


def _without(calls: list[_Call], others: list[_Call]) -> list[_Call]:
    """The calls without ``others``, as multisets."""
    unmatched = list(others)
    remaining = []
    for call in calls:
        if call in unmatched:
            unmatched.remove(call)
        else:
            remaining.append(call)
    return remaining


def _in_place(
    old: list[_Call], new: list[_Call], removed: list[_Call], added: list[_Call]
) -> list[tuple[_Call, _Call]]:
    """The pairs of removed and added calls at the same position."""
    return [(o, n) for o, n in zip(old, new, strict=False) if o in removed and n in added]


def _listed(calls: list[_Call]) -> str:
    return ", ".join(call.text for call in calls)
