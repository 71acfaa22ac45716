"""Rules on how long states are kept, and on the rows that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...plan.document import Plan
from ...plan.durations import format_duration
from ...plan.errors import FlinkplanError
from ...plan.findings import Severity
from ...plan.names import node_names
from ...plan.nodes import ExecNode, ProcessTableFunction, TemporalJoin, node_classes
from ...plan.nodes.base import OWN
from ...plan.nodes.joins import SNAPSHOT_TTL
from ...plan.specs import StateMetadata
from ...plan.ttl import expiring_before_upstream
from ...plan.types.readable import readable
from ..comparing import Comparison
from ..edits import FieldChange, Keep, Update
from ..stored import Stored, StoredColumn, paired, stored
from ..verdicts import Effect, Verdict
from .model import Became, Judgement, became, field_judge, pair_judge, plan_judge, rule, short

_OLD_ENTRIES = (
    "In Flink the new TTL of an existing entry counts from its last write. In a checkpoint of `flinkplan execute` the "
    "entry keeps its old expiry until it is written again."
)

TTL = rule(
    "ttl-changed",
    "the TTL of a state changed",
    f"The state itself does not change. {_OLD_ENTRIES}",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`leftState 1 h → 3 h`.",
    fix="Nothing to do. If the new TTL must apply to old entries, start without state.",
    severity=Severity.WARNING,
)
TTL_ON = rule(
    "ttl-enabled",
    "a state got a TTL",
    f"Results that depend on expired rows change. {_OLD_ENTRIES} Flink 2.2 and later restore states without a TTL; "
    "their entries count as written at the restart.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`leftState 0 ms → 3 s`.",
    fix="Make sure that no later row needs an older entry.",
    severity=Severity.WARNING,
)
TTL_OFF = rule(
    "ttl-disabled",
    "the TTL of a state was removed",
    f"The state grows without limit. {_OLD_ENTRIES} Flink 2.2 and later restore states that had a TTL.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`rightState 1 d → 0 ms`.",
    fix="Make sure that the number of keys is limited.",
    severity=Severity.WARNING,
)
TTL_MIGRATION = rule(
    "ttl-switched-before-2.2",
    "a TTL was added or removed, which Flink before 2.2 does not support",
    "Before 2.2 Flink stores entries with a TTL in another format, and refuses to restore one format as the other "
    "(StateMigrationException). A checkpoint of `flinkplan execute` has one format for both.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`leftState 0 ms → 3 s` in a plan of Flink 1.20.",
    fix="Run the plan on Flink 2.2 or later. For the future, set a very long TTL instead of none from the start.",
)
TTL_UNSAID = rule(
    "ttl-left-to-job",
    "the plan does not, or did not, contain the TTL of a state",
    "The TTL of a state without an entry is the job's `table.exec.state.ttl`, which is not in the plan.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="The node's `state` array was deleted.",
    fix="Write the TTL into the plan: `flinkplan ttl PLAN --set NODE.STATE=TTL`.",
    severity=Severity.WARNING,
)
TTL_SHORTER = rule(
    "ttl-shorter-downstream",
    "the TTL of an operator is shorter than that of an operator that feeds it",
    "If an entry has expired downstream but not upstream, retractions find no row, and updates look like first rows.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="The aggregation keeps its groups for 1 d, the join that it feeds only for 1 h.",
    fix="Set a TTL that is at least as long as that of the operator upstream.",
    severity=Severity.WARNING,
)
STATE_NAME = rule(
    "state-renamed",
    "a state has another name in the plan",
    "Flink uses the index and accepts any name.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`leftState` became `left`.",
    fix="Write the name that `flinkplan validate` expects.",
    severity=Severity.WARNING,
)
ROW_SCHEMA = rule(
    "row-schema-changed",
    "the stored rows of an operator have other types",
    "Flink compares the types of the rows with those in the savepoint and refuses others. Spark refuses what it "
    "cannot read; otherwise columns that old rows do not have are NULL. Column names do not matter.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The query selects one more column, which the join must store.",
    fix="Start without state, or do not change the input of the operator.",
    by_layout=True,
)
ROW_COLUMNS = rule(
    "row-columns-changed",
    "the stored rows of an operator have other columns of the same types",
    "Neither engine notices this: the values of an old column are read as those of another one.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`SELECT o.price` became `SELECT o.discount`, both DECIMAL(10, 2).",
    fix="Start without state.",
    by_layout=True,
)
ROW_VALUES = rule(
    "row-values-changed",
    "the stored rows of an operator have columns that are computed differently",
    "Stored rows have the old values, new rows the new ones. Retractions may not find their rows, and results mix "
    "both.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`UPPER(name)` became `LOWER(name)` before the join.",
    fix="Nothing to do if mixed results are acceptable; else start without state.",
    by_layout=True,
)
KEY_TYPE = rule(
    "key-type-changed",
    "the key of an operator's state has another type",
    "Keys are stored with their types and found only by keys of the same types.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="The column grouped by was INT and is BIGINT.",
    fix="Cast the column to its old type below the operator, or start without state.",
    by_layout=True,
)


_BY_INDEX = [c for c in node_classes() if "state" in c.metadata.judged and c is not ProcessTableFunction]
"""The nodes whose states Flink knows by their indexes."""


@field_judge("state", *_BY_INDEX)
def ttls(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of TTLs and names of states."""
    if edit.old.is_stateful != edit.new.is_stateful:
        return
    old = {s.index: s for s in edit.old.states}
    for position, new in enumerate(edit.new.states):
        counterpart, pointer = old.pop(new.index, None), f"/state/{position}"
        if counterpart is None:
            yield Judgement(TTL_UNSAID, f"{new.name} is kept {kept_for(new, edit.new)}", edit.old, edit.new, pointer)
            continue
        yield from _renamed(edit, counterpart, new, pointer)
        yield from ttl_changed(c, edit, counterpart, new, f"{pointer}/ttl")
    for removed in old.values():
        message = f"{removed.name} was kept {kept_for(removed, edit.old)}"
        yield Judgement(TTL_UNSAID, message, edit.old, edit.new, "/state")


def _renamed(edit: Update, old: StateMetadata, new: StateMetadata, pointer: str) -> Iterator[Judgement]:
    if old.name != new.name:
        yield Judgement(STATE_NAME, f"{old.name} → {new.name}", edit.old, edit.new, f"{pointer}/name")


def ttl_changed(
    c: Comparison, edit: Update, old: StateMetadata, new: StateMetadata, pointer: str
) -> Iterator[Judgement]:
    """The change of the TTL of a state, if it changed."""
    before, after = _ttl_ms(old, edit.old), _ttl_ms(new, edit.new)
    if before == after:
        return
    message = f"{new.name} {format_duration(before)} → {format_duration(after)}"
    change = FieldChange("state", pointer, format_duration(before), format_duration(after))
    rule_ = TTL if before and after else TTL_ON if after else TTL_OFF
    if rule_ is not TTL and _release(c.new.plan) < (2, 2):
        rule_ = TTL_MIGRATION
    declared = edit.new.ttl_states(len(c.new.plan.inputs(edit.new)))
    expiry = next((state.expiry for index, state in enumerate(declared) if index == new.index), "it is forgotten")
    yield Judgement(rule_, message, edit.old, edit.new, pointer, _ttl_hint(expiry, before, after), changes=(change,))


@pair_judge
def snapshots(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Changes of the TTL of a join as of processing time, which Flink does not run."""
    old, new = edit.old, edit.new
    if not isinstance(old, TemporalJoin) or not isinstance(new, TemporalJoin):
        return
    before, after = old.snapshot_ttl_ms, new.snapshot_ttl_ms
    if before is None or after is None or before == after:
        return
    rule_ = TTL if before and after else TTL_ON if after else TTL_OFF
    message = f"the right side's rows {format_duration(before)} → {format_duration(after)}"
    hint = _ttl_hint("the key has no row", before, after)
    yield Judgement(rule_, message, old, new, f"/{OWN}/{SNAPSHOT_TTL}", hint)


def _ttl_hint(expiry: str, before: int, after: int) -> str:
    """The effect of another TTL on new entries, and on existing ones in a checkpoint on Spark."""
    old_expiry = f"still expire after {format_duration(before)}" if before else "never expire"
    on_spark = f"On Spark, existing entries {old_expiry}, until they are written again."
    if before and after:
        return on_spark
    return f"When an entry expires, {expiry}. {on_spark}" if after else f"The state may grow without limit. {on_spark}"


def _release(plan: Plan) -> tuple[int, ...]:
    return tuple(int(part) for part in plan.flink_version.split(".") if part.isdecimal())[:2]


def kept_for(state: StateMetadata, node: ExecNode) -> str:
    """How long a state is kept, in words."""
    millis = _ttl_ms(state, node)
    return format_duration(millis) if millis else "for ever"


def _ttl_ms(state: StateMetadata, node: ExecNode) -> int:
    try:
        return state.ttl_ms
    except FlinkplanError as e:
        e.where = f"node {node.id} ({node.type}), state {state.name}"
        raise


@plan_judge
def shorter_downstream(c: Comparison) -> Iterator[Judgement]:
    """Operators whose TTL is now shorter than that of an operator that feeds them."""
    before = {(node.id, upstream.id) for node, upstream, *_ in expiring_before_upstream(c.old.plan)}
    olds = {new.id: old for old, new in c.became().items()}
    names = node_names(c.new.plan)
    for node, upstream, shortest, longest in expiring_before_upstream(c.new.plan):
        if (olds.get(node.id), olds.get(upstream.id)) not in before:
            other = f"keeps state for {format_duration(longest)}" if longest else "keeps state for ever"
            message = f"keeps state for {format_duration(shortest)}, while {names[upstream.id]} upstream {other}"
            yield Judgement(TTL_SHORTER, message, c.old.plan.by_id.get(olds.get(node.id, -1)), node, "/state")


@pair_judge
def kept_rows(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Changes of the rows and keys that an operator stores."""
    if not isinstance(edit, Update | Keep) or not (edit.old.is_stateful and edit.new.is_stateful):
        return
    for old, new in paired(stored(edit.old, c.old), stored(edit.new, c.new)):
        yield from _stored_changes(c, edit, old, new)


def _schema_change(c: Comparison, old: Sequence[StoredColumn], new: Sequence[StoredColumn]) -> str:
    """The changes of stored columns as text."""
    before, after = {column.meaning: column for column in old}, {column.meaning: column for column in new}
    removed = [column for m, column in before.items() if m not in after]
    added = [column for m, column in after.items() if m not in before]
    retyped = [(column, after[m]) for m, column in before.items() if m in after and after[m].type != column.type]
    for column in list(removed):
        recast = next((n for n in added if _is_recast(c, column, n)), None)
        if recast is not None:
            retyped.append((column, recast))
            removed.remove(column)
            added.remove(recast)
    parts = (
        ("no longer keeps", list(map(str, removed))),
        ("also keeps", list(map(str, added))),
        ("keeps", [f"{o} → {n}" for o, n in retyped]),
    )
    texts = [f"{verb} {', '.join(columns)}" for verb, columns in parts if columns]
    return short("; ".join(texts) or f"keeps its columns in another order: {', '.join(map(str, new))}", 200)


def _is_recast(c: Comparison, old: StoredColumn, new: StoredColumn) -> bool:
    """Whether a column is the old one with another type."""
    roots = c.new.meanings.roots
    return old.type != new.type and bool(roots(old.meaning)) and roots(old.meaning) == roots(new.meaning)


def _cast(old: StoredColumn, new: StoredColumn) -> str | None:
    """The expression that gives a stored column its old type; ``None`` where there is none."""
    before, after = (readable(column.type).removesuffix(" NOT NULL") for column in (old, new))
    if before != after:
        return f"CAST({new.name} AS {before})"
    return f"COALESCE({new.name}, …)" if old.type.endswith(" NOT NULL") else None


def _type_hint(c: Comparison, old: Sequence[StoredColumn], new: Sequence[StoredColumn]) -> str | None:
    """The smallest change of the query that keeps the old types; ``None`` where more than types changed."""
    if len(old) != len(new):
        return None
    roots = c.new.meanings.roots
    casts = []
    for o, n in zip(old, new, strict=True):
        if o.type == n.type and o.meaning == n.meaning:
            continue
        cast = _cast(o, n) if o.type != n.type and roots(o.meaning) == roots(n.meaning) else None
        if cast is None:
            return None
        casts.append(cast)
    return f"Below the operator write {', '.join(casts)}, or start without state."


def _stored_changes(c: Comparison, edit: Update | Keep, old: Stored, new: Stored) -> Iterator[Judgement]:
    if old.is_key:
        for o, n in zip(old.columns, new.columns, strict=False):
            if o.meaning == n.meaning and o.type != n.type:
                hint = _type_hint(c, [o], [n])
                yield Judgement(KEY_TYPE, f"{o} → {n}", edit.old, edit.new, hint=hint)
        return
    before, after = ([column.type for column in side.columns] for side in (old, new))
    if before != after:
        message = f"{new.name} {_schema_change(c, old.columns, new.columns)}"
        hint = _type_hint(c, old.columns, new.columns)
        yield Judgement(ROW_SCHEMA, message, edit.old, edit.new, hint=hint)
        return
    moved = [(o, n) for o, n in zip(old.columns, new.columns, strict=True) if o.meaning != n.meaning]
    meanings = c.new.meanings
    for rule_, same_roots in ((ROW_COLUMNS, False), (ROW_VALUES, True)):
        named = [
            became(o.name, n.name)
            for o, n in moved
            if (meanings.roots(o.meaning) == meanings.roots(n.meaning)) is same_roots
        ]
        if named:
            yield Judgement(rule_, f"{new.name}: {', '.join(named)}", edit.old, edit.new)
