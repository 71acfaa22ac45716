"""Rules on fields that the nodes declare: those that decide what state means, and those that only change results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ...plan.nodes import (
    ChangelogNormalize,
    ExecNode,
    IntervalJoin,
    Join,
    MultiJoin,
    OpaqueNode,
    Sink,
    TemporalJoin,
    TemporalSort,
    WindowJoin,
)
from ...plan.specs import JoinType, RetractStrategy
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .aggregates import RETRACTION
from .keys import KEYS
from .model import FIELD_JUDGES, Became, ChangeRule, Judgement, arrows, field_judge, label, pair_judge, rule
from .structure import REDISTRIBUTED
from .tables import WATERMARK

STATELESS = rule(
    "stateless-node-changed",
    "an operator without state changed",
    "The operator has no state. State downstream was computed with the old version.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WHERE amount > 10` became `WHERE amount > 20`.",
    fix="Nothing to do. To get results as if it had always been so, start without state.",
)
OUTPUT = rule(
    "output-changed",
    "the output of an operator with state changed",
    "Its state does not change.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="The rank number was selected, too.",
    fix="Nothing to do.",
)
IDENTITY = rule(
    "identity-changed",
    "a field changed that determines the meaning of state, or has no rule",
    "Only changes that are known to be harmless are allowed.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example='`"keepLastRow" : true` became `false`.',
    fix="Start without state.",
)
JOIN_TYPE = rule(
    "join-type-changed",
    "a join has another type",
    "Outer joins count the matches of each row, inner joins do not, and the types of their state differ. Window "
    "joins and temporal joins store the same rows for all types.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`INNER JOIN` became `LEFT JOIN`.",
    fix="Start without state.",
    by_layout=True,
)
JOIN_KEYS = rule(
    "join-keys-changed",
    "a join has other keys",
    "The rows of a join are stored by its keys.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`ON a.id = b.id` became `ON a.id = b.id AND a.shop = b.shop`.",
    fix="Start without state.",
    by_layout=True,
)
JOIN_CONDITION = rule(
    "join-condition-changed",
    "the non-equi condition of a join changed",
    "Outer joins store the number of matches of each row under the old condition. Window joins and temporal joins "
    "store only the rows.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`AND a.price > b.price` was added.",
    fix="Start without state, or move a condition on one input into a WHERE below the join.",
)
INNER_CONDITION = rule(
    "inner-join-condition-changed",
    "the non-equi condition of an inner join changed",
    "The rows of both inputs are stored whatever the condition; from now on the new one applies.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`a JOIN b ON a.id = b.id` became `… AND a.price > b.price`.",
    fix="Nothing to do. To get results as if it had always been so, start without state.",
)
UPSERT_KEYS = rule(
    "upsert-keys-changed",
    "an input of an operator has other unique keys",
    "The unique keys determine how rows are stored: one row for each key, rows by their unique key, or rows with a "
    "count.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="A primary key was declared on the joined table.",
    fix="Start without state, or keep the old key.",
    by_layout=True,
)
INTERVAL = rule(
    "join-interval-changed",
    "the time bounds of an interval join changed",
    "The bounds determine which rows are stored and when they are removed. Flink continues with the rows that it "
    "has; with longer bounds some rows are missing. A checkpoint of `flinkplan execute` has removed more rows.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`BETWEEN o.ts AND o.ts + INTERVAL '4' HOUR` became `'6' HOUR`.",
    fix="On Spark, start with a new checkpoint.",
)
WINDOW = rule(
    "window-changed",
    "the windows changed",
    "State is stored by window. Windows of another kind, size, slide, offset or time attribute are other windows.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`TUMBLE(ts, INTERVAL '10' MINUTE)` became `'5' MINUTE`.",
    fix="Start without state.",
)
ROW_ORDER = rule(
    "order-changed",
    "the order of rows in a ranking or a sort changed",
    "The old order determined which rows were stored and which were dropped. A sort by time stores all rows until "
    "their time comes; for Flink, additional sort columns make no difference.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`ORDER BY price DESC` became `ASC`.",
    fix="Start without state.",
)
RANGE = rule(
    "rank-range-changed",
    "the range of a ranking changed",
    "Rows outside the old range were dropped already; rows outside a smaller one are still in state. The first rank "
    "of the range does not affect the state, nor does the last one if rows may be retracted, because then Flink "
    "stores all rows.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`WHERE rank <= 3` became `<= 5`.",
    fix="Start without state.",
)
STRATEGY = rule(
    "rank-strategy-changed",
    "a ranking stores its rows in another way",
    "There are different formats of state for insert-only inputs, updates by key, and retractions.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The input of a Top-N became a changelog.",
    fix="Start without state.",
    by_layout=True,
)

NORMALIZED = rule(
    "normalized-rows-changed",
    "the filter of a changelog normalization changed",
    "The operator stores the last row of each key that passes the filter; other rows count as deleted. Flink "
    "retracts stored rows correctly, but rows that did not pass the old filter are missing; without an old filter "
    "none are missing. Since Flink 2.1 a filter after the operator is moved into it.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`WHERE state = 'open'` became `WHERE state <> 'closed'`, over a source with duplicate changes.",
    fix="On Spark, start with a new checkpoint, or keep the old plan, which newer releases of Flink still support.",
)
FIRST_ROW = rule(
    "first-row-emission-changed",
    "the first row by event time is emitted at another time",
    "Since Flink 2.1 the row is held back until the watermark shows that there is no earlier one. Before, it was "
    "emitted at once and replaced by earlier rows. The new operator stores rows to emit, the old one rows that were "
    "emitted.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example='The pipeline was compiled again with Flink 2.1, which writes `"outputInsertOnly" : true`.',
    fix="Keep the old plan, which newer releases of Flink still support, or start without state.",
    by_layout=True,
)
OVER_FUNCTION = rule(
    "over-function-changed",
    "another function of Flink computes unbounded OVER windows",
    "Flink 2.1 introduced a new function. Its state has the same types, but it looks up rows that wait for the "
    "watermark in another way and loses those of the old function. Old plans keep the old function. `flinkplan "
    "execute` has only one.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example='The pipeline was compiled again with Flink 2.1, which writes `"unboundedOverVersion" : 2`.',
    fix='Keep `"unboundedOverVersion" : 1`, or leave the field out: newer releases of Flink still support the old '
    "function.",
)

_BY_STEP: dict[str, ChangeRule] = {
    "joinType": JOIN_TYPE,
    "joinTypes": JOIN_TYPE,
    "leftKeys": JOIN_KEYS,
    "rightKeys": JOIN_KEYS,
    "filterNulls": JOIN_KEYS,
    "joinAttributeMap": JOIN_KEYS,
    "nonEquiCondition": JOIN_CONDITION,
    "joinConditions": JOIN_CONDITION,
    "multiJoinCondition": JOIN_CONDITION,
    "leftUpsertKeys": UPSERT_KEYS,
    "rightUpsertKeys": UPSERT_KEYS,
    "inputUniqueKeys": UPSERT_KEYS,
    "inputUpsertKey": UPSERT_KEYS,
    "windowBounds": INTERVAL,
    "window": WINDOW,
    "windowing": WINDOW,
    "leftWindowing": WINDOW,
    "rightWindowing": WINDOW,
    "grouping": KEYS,
    "partialAggGrouping": KEYS,
    "finalAggGrouping": KEYS,
    "needRetraction": RETRACTION,
    "partialAggNeedRetraction": RETRACTION,
    "orderBy": ROW_ORDER,
    "sortSpec": ROW_ORDER,
    "orderKey": ROW_ORDER,
    "rankRange": RANGE,
    "rankStrategy": STRATEGY,
    "filterCondition": NORMALIZED,
    "outputInsertOnly": FIRST_ROW,
    "unboundedOverVersion": OVER_FUNCTION,
}
"""The rules on parts of ``identity`` fields, by the last step of the pointer that is a key of this table."""

_MATERIALIZER_FIELDS = frozenset(("input_upsert_key", "upsert_materialize_strategy"))
"""Fields without effect in sinks that store no rows."""


@pair_judge
def declared(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Judges each changed field by its own judge, or by the declarations of the node."""
    if not isinstance(edit, Update) or isinstance(edit.new, OpaqueNode):
        return
    plain: list[FieldChange] = []
    for name, group in groupby(edit.changes, key=lambda change: change.field):
        changes = tuple(group)
        if name in _MATERIALIZER_FIELDS and not edit.old.is_stateful and not edit.new.is_stateful:
            continue
        judge = FIELD_JUDGES.get((type(edit.new), name)) or FIELD_JUDGES.get((ExecNode, name))
        if judge is not None:
            yield from judge(c, edit, changes)
        elif _determines_state(edit, name):
            yield from _identity(edit, changes)
        else:
            plain += changes
    if plain:
        yield _plain(edit, tuple(plain))


def _determines_state(edit: Update, name: str) -> bool:
    """Whether a field determines the meaning of the node's state."""
    metadata = edit.new.metadata
    if name in metadata.results:
        return False
    has_no_state = bool(metadata.states) and not edit.old.is_stateful and not edit.new.is_stateful
    return not has_no_state


def _identity(edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    by_rule: dict[ChangeRule, list[FieldChange]] = {}
    for change in changes:
        steps = change.pointer.split("/")
        rule_ = next((_BY_STEP[s] for s in reversed(steps) if s in _BY_STEP), IDENTITY)
        by_rule.setdefault(rule_, []).append(change)
    for rule_, rule_changes in by_rule.items():
        message = _conditions(edit) if rule_ is JOIN_CONDITION else _operators(edit) if rule_ is NORMALIZED else None
        message = message or arrows(tuple(rule_changes))
        flink = _on_flink(rule_, edit, rule_changes)
        if rule_ is JOIN_CONDITION and _is_inner(edit.old) and _is_inner(edit.new):
            rule_ = INNER_CONDITION
        pointer = rule_changes[0].pointer
        yield Judgement(rule_, message, edit.old, edit.new, pointer, changes=tuple(rule_changes), flink=flink)


def _is_inner(node: ExecNode) -> bool:
    return isinstance(node, Join) and node.join_spec.join_type is JoinType.INNER


def _on_flink(rule_: ChangeRule, edit: Update, changes: list[FieldChange]) -> Verdict | None:
    """The verdict on Flink where it depends on the operator; ``None`` is the verdict of the rule."""
    if rule_ is RANGE and (_keeps_all(edit) or all(label(c.pointer) == "start" for c in changes)):
        return Verdict.COMPATIBLE
    if rule_ is ROW_ORDER and isinstance(edit.new, TemporalSort) and all(map(_keeps_the_first, changes)):
        return Verdict.COMPATIBLE
    if rule_ is NORMALIZED and isinstance(edit.old, ChangelogNormalize) and edit.old.filter_condition is None:
        return Verdict.COMPATIBLE
    if rule_ is INTERVAL and any(label(c.pointer) not in ("leftLowerBound", "leftUpperBound") for c in changes):
        return Verdict.CORRUPTING
    if rule_ is JOIN_CONDITION or (rule_ is JOIN_TYPE and not isinstance(edit.new, Join)):
        return Verdict.CORRUPTING if _uses_stored_matches(edit.new) else Verdict.COMPATIBLE
    return None


def _keeps_all(edit: Update) -> bool:
    """Whether a ranking stores all rows, because each of them may be retracted."""
    return all(isinstance(getattr(node, "rank_strategy", None), RetractStrategy) for node in (edit.old, edit.new))


def _keeps_the_first(change: FieldChange) -> bool:
    """Whether the first sort column, by which rows are stored until their time comes, is unchanged."""
    fields = change.pointer.partition("/fields")[2]
    if fields:
        return not fields.startswith("/0/")
    lists = [value for value in (change.old, change.new) if isinstance(value, list)]
    return len(lists) == 2 and lists[0][:1] == lists[1][:1]


def _uses_stored_matches(node: ExecNode) -> bool:
    """Whether the results of a join depend on matches that it has stored with each row.

    Window joins and temporal joins store rows only until they are joined, and multi-way joins search for matches each
    time.  Interval joins use stored matches only to pad rows with NULL.  Source: ``WindowJoinOperator``,
    ``TemporalRowTimeJoinOperator``, ``MultiJoinStateViews``, ``TimeIntervalJoin``, ``OuterJoinRecordStateViews``.
    """
    if isinstance(node, WindowJoin | TemporalJoin | MultiJoin):
        return False
    if isinstance(node, IntervalJoin):
        return node.interval_join_spec.join_spec.join_type is not JoinType.INNER
    return not _is_inner(node)


def _conditions(edit: Update) -> str | None:
    """The conditions of a join, from its descriptions."""
    old, new = (_WHERE.search(node.description) for node in (edit.old, edit.new))
    return f"{old[1]} → {new[1]}" if old and new and old[1] != new[1] else None


def _operators(edit: Update) -> str | None:
    """The descriptions of the operators, if they differ."""
    old, new = edit.old.description, edit.new.description
    return f"{old} → {new}" if old != new else None


_WHERE = re.compile(r"where=\[(.*?)\](?:, [a-zA-Z]+=\[|\)$)")


def _plain(edit: Update, changes: tuple[FieldChange, ...]) -> Judgement:
    """One judgement for all fields that only change results."""
    names = {label(c.pointer).partition("[")[0] for c in changes}
    if names <= {"watermarkExpr", "rowtimeFieldIndex"}:
        rule_ = WATERMARK
    else:
        rule_ = OUTPUT if edit.new.is_stateful else STATELESS
    if edit.old.description != edit.new.description and not isinstance(edit.new, Sink):
        message = f"{edit.old.description} → {edit.new.description}"
    else:
        message = arrows(changes)
    return Judgement(rule_, message, edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("input_properties", ExecNode)
def distributions(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of the distribution of rows."""
    yield Judgement(REDISTRIBUTED, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)
