"""Rules on the options that a plan fixes for its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...plan.nodes import ExecNode
from ...plan.types import LogicalType
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .fields import IDENTITY
from .model import ChangeRule, Judgement, arrow, field_judge, label, rule

TUNING = rule(
    "tuning-changed",
    "a performance option changed",
    "The option affects when and how fast rows are written, but not which state is kept.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="`table.exec.mini-batch.size` 1000 → 5000.",
    fix="Nothing to do.",
)
MINI_BATCH = rule(
    "mini-batch-switched",
    "mini-batches were switched on or off",
    "Flink uses another implementation of the operator, with a state of the same name and type. flinkplan's "
    "operators have the same state in both cases. Changes of a key in one mini-batch become one change.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="`table.exec.mini-batch.enabled` false → true.",
    fix="Nothing to do. If the aggregation is also split into two phases, see `aggregation-split`.",
)
TIME_ZONE = rule(
    "time-zone-changed",
    "windows, dates and times of day are in another time zone",
    "Windows over TIMESTAMP_LTZ start by local time, and expressions depend on it. In another time zone windows and "
    "values differ from those in state. If the plan does not fix the zone, the session's `table.local-time-zone` "
    "applies.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`table.local-time-zone` UTC → Europe/Berlin.",
    fix="Keep the old value of the option in this plan, or start without state.",
)
RESULTS = rule(
    "output-option-changed",
    "an option changed that determines which rows are written",
    "The state does not change.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`table.exec.sink.not-null-enforcer` ERROR → DROP.",
    fix="Nothing to do.",
)
UNKNOWN = rule(
    "option-unknown",
    "an unknown option changed",
    "Only options that are known to be harmless are allowed.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="An option of a newer release of Flink.",
    fix="Check the change yourself, then allow it: `--allow option-unknown@NODE`.",
)

_EMISSION = "table.exec.emit."
"""Options that decide what a window keeps beside its aggregates."""

_TUNING_OF_BATCH = ("table.exec.resource.", "table.exec.sort.", "table.exec.spill-compression.")
"""Options of batch mode about memory and files on disk."""

_RULES: Mapping[str, ChangeRule] = {
    "table.exec.mini-batch.enabled": MINI_BATCH,
    "table.exec.mini-batch.size": TUNING,
    "table.exec.rank.topn-cache-size": TUNING,
    "table.exec.sink.keyed-shuffle": TUNING,
    "table.exec.sink.upsert-materialize": TUNING,
    "table.exec.sink.not-null-enforcer": RESULTS,
    "table.exec.sink.rowtime-inserter": RESULTS,
    "table.exec.sink.type-length-enforcer": RESULTS,
    "table.exec.sink.nested-constraint-enforcer": RESULTS,
    "table.exec.deduplicate.insert-update-after-sensitive-enabled": RESULTS,
    "table.exec.deduplicate.mini-batch.compact-changes-enabled": RESULTS,
    "table.exec.source.idle-timeout": RESULTS,
    "table.local-time-zone": TIME_ZONE,
}


@field_judge("configuration", ExecNode)
def options(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Each option that differs."""
    for change in _by_option(changes):
        option = label(change.pointer)
        rule_ = IDENTITY if option.startswith(_EMISSION) else _RULES.get(option, UNKNOWN)
        if option.startswith(_TUNING_OF_BATCH):
            rule_ = TUNING
        if rule_ is TIME_ZONE and not _follows_local_time(edit):
            rule_ = TUNING
        if rule_ is TIME_ZONE and not _reaches_state(c, edit):
            rule_ = RESULTS
        if rule_ is MINI_BATCH and not edit.new.is_stateful:
            rule_ = TUNING
        yield Judgement(rule_, arrow(change), edit.old, edit.new, change.pointer, changes=(change,))


def _by_option(changes: tuple[FieldChange, ...]) -> Iterator[FieldChange]:
    """One change for each option, also if one of the nodes has no options at all."""
    for change in changes:
        if change.pointer != "/configuration":
            yield change
            continue
        old, new = change.old or {}, change.new or {}
        for key in {**old, **new}:
            yield FieldChange(change.field, f"/configuration/{key}", old.get(key), new.get(key))


def _follows_local_time(edit: Update) -> bool:
    """Whether windows are in local time, which those over TIMESTAMP are not."""
    types = [_time_type(node) for node in (edit.old, edit.new)]
    return any(t is None or t.root != "TIMESTAMP" for t in types)


def _reaches_state(c: Comparison, edit: Update) -> bool:
    """Whether the node, or one downstream of it, keeps state."""
    plan = c.new.plan
    reached = {edit.new.id: edit.new}
    pending = [edit.new]
    for node in pending:
        new = [target for target in plan.outputs(node) if target.id not in reached]
        reached.update((target.id, target) for target in new)
        pending += new
    return any(node.is_stateful for node in reached.values())


def _time_type(node: ExecNode) -> LogicalType | None:
    for name in ("windowing", "left_windowing"):
        if (windowing := getattr(node, name, None)) is not None:
            time_type: LogicalType = windowing.time_attribute_type
            return time_type
    return None
