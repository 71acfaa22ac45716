"""Rules on the UIDs and types by which Flink finds state in a savepoint, and the verdict on Flink of every change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...plan.nodes import ExecNode, Sink
from ...plan.record import replace
from ..comparing import Comparison
from ..edits import Keep, Replace
from ..savepoint import Fate, Holder, restore
from ..verdicts import Effect, Verdict
from .model import ChangeRule, Judgement, plan_judge, rule

_KEEP = "compile with the ids of the old plan: `flinkplan compile pipeline.sql --like OLD -o NEW`"

RENUMBERED = rule(
    "nodes-renumbered",
    "nodes with state in a savepoint have other ids",
    "Flink finds state by UIDs, which begin with the id of the node: that of node 5 is `5_join`. State that is not "
    "found is lost, positions of sources included, and Flink does not start with state that no operator claims. A "
    "checkpoint of `flinkplan execute` does not depend on ids.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COSMETIC,
    results=Effect.YES,
    example="The pipeline was compiled again, and the join is node 17 instead of node 5.",
    fix=f"{_KEEP[0].upper()}{_KEEP[1:]}.",
)
STATELESS_RENUMBERED = rule(
    "stateless-nodes-renumbered",
    "nodes without state have other ids",
    "Ids do not affect what a plan does, and each compilation assigns new ones. These nodes have no state in a "
    "savepoint.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="The pipeline was compiled again, and a filter is node 7 instead of node 2.",
    fix="Nothing to do.",
)
TAKEN = rule(
    "id-of-another-node",
    "a node has the old id of another node with state",
    "Flink finds state by UIDs, which begin with the id of the node, so the node gets the state of the other one. "
    "If the types differ, Flink does not start; if they agree, the node misreads the state.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.COSMETIC,
    results=Effect.YES,
    example="The pipeline was compiled again, and node 5, a GROUP BY, is now another GROUP BY of the query.",
    fix=f"{_KEEP[0].upper()}{_KEEP[1:]}.",
)
UNNAMED = rule(
    "uids-generated",
    "operators have no UIDs",
    "With `table.exec.uid.generation` = DISABLED, Flink generates UIDs from the shape of the whole job. If an "
    "operator is added, removed or chained differently, other operators may get other UIDs.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COSMETIC,
    results=Effect.UNKNOWN,
    example="`SET 'table.exec.uid.generation' = 'DISABLED'`.",
    fix="Leave the option at PLAN_ONLY.",
)
LEFT_BEHIND = rule(
    "state-left-behind",
    "a node no longer has an operator with state in the savepoint",
    "Flink refuses a savepoint with state that no operator claims, unless started with --allowNonRestoredState.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="The sink no longer materializes upserts, or no longer compacts its files.",
    fix="Start with --allowNonRestoredState if this state is not needed.",
)
CHANGED = rule(
    "state-changed",
    "the state of an operator has other types or another meaning",
    "Flink stores rows and keys by position, with their types, and compares only the types. It refuses other types, "
    "and misreads other values of the same types. This rule applies where no other rule explains the change.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.COSMETIC,
    results=Effect.YES,
    example="A column that an aggregation groups by became NOT NULL.",
    fix="Start without state, or do not change the input of the operator.",
    by_layout=True,
)


@plan_judge
def identities(c: Comparison) -> Iterator[Judgement]:
    """Operators with state in a savepoint that Flink does not find by their UID."""
    if all(isinstance(edit, Keep) and edit.old == edit.new for edit in c.edits):
        return
    if not c.uids.are_given(c.old.plan) or not c.uids.are_given(c.new.plan):
        yield Judgement(UNNAMED, "Flink generates UIDs from the shape of the job")
        return
    for edit in c.pairs():
        missing = c.uids.kept(edit.old).keys() - c.uids.kept(edit.new).keys()
        if missing and not isinstance(edit, Replace) and edit.old.metadata.name == edit.new.metadata.name:
            yield Judgement(LEFT_BEHIND, f"{', '.join(sorted(missing))} is left behind", edit.old, edit.new)
    lost = [(e, names) for e in c.pairs() if not isinstance(e, Replace) and (names := _lost(c, e.old, e.new))]
    if lost:
        messages = [f"{_kind(e.new)} {e.old.id} → {e.new.id} ({old}, looked for as {new})" for e, (old, new) in lost]
        edit = max((e for e, _ in lost), key=lambda e: e.old.is_stateful)
        yield Judgement(RENUMBERED, "; ".join(messages), edit.old, edit.new, "/id")
    reported = {e.new.id for e, _ in lost}
    moved = [e for e in c.pairs() if e.old.id != e.new.id and e.new.id not in reported]
    if moved:
        count = "one node has another id" if len(moved) == 1 else f"{len(moved)} nodes have other ids"
        first = moved[0]
        message = f"{count}, such as the {_kind(first.new)} {first.old.id} → {first.new.id}"
        yield Judgement(STATELESS_RENUMBERED, message, first.old, first.new, "/id")
    yield from _misassigned(c)


def _lost(c: Comparison, old: ExecNode, new: ExecNode) -> tuple[str, str] | None:
    """The first pair of an old and a new UID of the node's operators that differ."""
    new_uids = c.uids.kept(new)
    pairs = ((uid, new_uids[name]) for name, uid in c.uids.kept(old).items() if name in new_uids)
    return next(((old_uid, new_uid) for old_uid, new_uid in pairs if old_uid != new_uid), None)


def _misassigned(c: Comparison) -> Iterator[Judgement]:
    """Nodes that would get the state of another old node."""
    became = c.became()
    olds = dict(c.uids.holders(c.old.plan))
    for uid, (new, _) in c.uids.holders(c.new.plan):
        if uid not in olds:
            continue
        old, _ = olds[uid]
        if became.get(old.id) is new or isinstance(new, Sink):
            continue
        fate = restore(Holder(old, c.old), Holder(new, c.new))
        is_refused = fate.verdict is Verdict.INCOMPATIBLE
        verdict = Verdict.INCOMPATIBLE if is_refused else Verdict.CORRUPTING
        message = f"would be given the state of the old node {old.id} ({uid}): {old.description or old.type}"
        yield Judgement(TAKEN, message, new=new, pointer="/id", flink=verdict)


def on_flink(c: Comparison, judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """The judgements with their verdicts on Flink, and further ones for state whose fate no judgement explains."""
    fates = dict(_fates(c))
    explained: dict[tuple[int, int], Verdict] = {}
    for judgement in judgements:
        verdict = _verdict(c, judgement, fates)
        if judgement.old and judgement.new:
            ids = judgement.old.id, judgement.new.id
            explained[ids] = max(verdict, explained.get(ids, verdict))
        yield replace(judgement, flink=verdict)
    for edit in c.pairs():
        ids = edit.old.id, edit.new.id
        if (
            ids in fates
            and not fates[ids].is_lost
            and fates[ids].verdict > max(Verdict.COMPATIBLE, explained.get(ids, Verdict.COSMETIC))
        ):
            yield Judgement(CHANGED, fates[ids].why, edit.old, edit.new, flink=fates[ids].verdict)


def _fates(c: Comparison) -> Iterator[tuple[tuple[int, int], Fate]]:
    """The fate of the state of each operator that is in both plans, by its old and new id."""
    is_named = c.uids.are_given(c.old.plan) and c.uids.are_given(c.new.plan)
    for edit in c.pairs():
        old, new = Holder(edit.old, c.old), Holder(edit.new, c.new)
        if old.layout is None and new.layout is None:
            continue
        fate = restore(old, new, one_by_one=c.one_by_one)
        if old.layout and new.layout and is_named:
            old_uid, new_uid = (
                c.uids.of(node, layout.transformation)
                for node, layout in ((edit.old, old.layout), (edit.new, new.layout))
            )
            if old_uid != new_uid:
                fate = Fate(Verdict.INCOMPATIBLE, f"stored as {old_uid}, looked for as {new_uid}", is_lost=True)
        yield (edit.old.id, edit.new.id), fate


def _verdict(c: Comparison, judgement: Judgement, fates: Mapping[tuple[int, int], Fate]) -> Verdict:
    """The verdict on Flink, from the rule or from the fate of the operator's state."""
    rule_: ChangeRule = judgement.rule
    if c.one_by_one and rule_.one_by_one is not None:
        return rule_.one_by_one
    declared = judgement.flink or rule_.flink
    fate = fates.get((judgement.old.id, judgement.new.id)) if judgement.old and judgement.new else None
    if fate is None:
        return declared
    if rule_.by_layout and judgement.flink is None:
        return fate.verdict
    is_refused = declared is Verdict.CORRUPTING and fate.verdict is Verdict.INCOMPATIBLE
    return Verdict.INCOMPATIBLE if is_refused else declared


def _kind(node: ExecNode) -> str:
    return node.metadata.short_name
