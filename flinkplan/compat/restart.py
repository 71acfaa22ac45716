"""Whether a plan can continue from a checkpoint.

This is checked before Spark starts: Spark itself notices a mismatch too late, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..plan.document import Plan, dumps
from ..plan.errors import FlinkplanError
from ..plan.findings import Finding, Rule, Severity
from ..plan.session import DEFAULTS, session_options, with_session_options
from ..state.checkpoint import CheckpointRecord
from .diff import ChangeFinding, Diff, Exceptions, Platforms, Source, diff_texts
from .validation import check_plan
from .verdicts import Verdict


class RestartError(FlinkplanError):
    """A checkpoint that the plan cannot continue from."""

    exit_code = 1


CHECKPOINT_SETTING = Rule(
    "checkpoint-setting",
    Severity.WARNING,
    "a setting of Spark has no effect: the checkpoint has fixed another value",
    "Spark keeps the value that some settings, such as spark.sql.shuffle.partitions, had in a stream's first batch.",
)


def ignored_settings(record: CheckpointRecord, conf: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each setting of ``conf`` that Spark ignores when it continues from a checkpoint."""
    for name in record.queries:
        for key, value in record.settings(name).items():
            if conf.get(key, value) != value:
                yield Finding(
                    CHECKPOINT_SETTING.id,
                    CHECKPOINT_SETTING.severity,
                    f"{key} stays {value} for the sink {name}, as fixed by the checkpoint; {conf[key]} has no effect",
                    hint=f"to change it, start with a new checkpoint: --checkpoint DIR; else leave out --conf {key}",
                )


def check_restart(
    checkpoint: str | None, plan: Plan, exceptions: Exceptions, options: Mapping[str, str] | None = None
) -> Diff | None:
    """The difference from the plan that made the checkpoint; ``None`` where there is no checkpoint yet.

    ``options`` are those of the session that will execute the plan; they are compared as part of the plan.

    Raises :class:`PlanError` for a plan with invalid state entries, and :class:`RestartError` where state would be
    lost, misread or refused by Spark, or the job has ended.
    """
    check_plan(plan)
    if checkpoint is None:
        return None
    record = CheckpointRecord(checkpoint)
    if not record.exists:
        if record.has_queries:
            raise RestartError(
                "the checkpoint has no record of the plan that made it",
                where=checkpoint,
                hint=f"copy that plan to {record.plan_file}, or start with a new checkpoint: --checkpoint DIR",
            )
        return None
    if record.has_ended:
        raise RestartError(
            "the job of this checkpoint has ended: all its input was read and every window fired",
            where=checkpoint,
            hint="start with a new checkpoint: --checkpoint DIR. To continue a job later, run it with "
            "--mode available-now, which keeps windows open",
        )
    now = session_options(options or {})
    before = record.session_options
    before = now if before is None else before
    recorded = record.plan()
    old = Source(f"{checkpoint} (recorded)", dumps(with_session_options(recorded, before)), str(record.plan_file))
    platforms = Platforms(engines=("spark",))
    diff = diff_texts(
        old, Source("the plan", dumps(with_session_options(plan, now))), exceptions, platforms=platforms, locate=False
    )
    if diff.spark > Verdict.COMPATIBLE:
        if dumps(recorded) == dumps(plan):
            origin, fix = "in a session with other options", f"set the same options: {_settings(before, now)}"
        else:
            origin, fix = (
                "by another plan",
                f"keep it in the new plan: flinkplan compile PIPELINE --like {checkpoint}, or carry it over: "
                f"flinkplan migrate {checkpoint} PLAN -o DIR",
            )
        raise RestartError(_message(diff, origin), where=checkpoint, hint=_hint(diff, fix))
    return diff


def _settings(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The arguments that give a session the options it had before."""
    options = {key: before.get(key, DEFAULTS[key]) for key in sorted({*before, *now})}
    return " ".join(f"--set {key}={value}" for key, value in options.items() if now.get(key, DEFAULTS[key]) != value)


def _blocking(diff: Diff) -> list[ChangeFinding]:
    return [f for f in diff.judged if f.change_rule.spark > Verdict.COMPATIBLE]


def _message(diff: Diff, origin: str) -> str:
    """``the checkpoint was made by another plan …``, with a line for each finding that prevents a restart."""
    lines = [f"the checkpoint was made {origin}, and its state is {diff.spark} with this one"]
    for finding in _blocking(diff):
        name = f"{finding.name}: " if finding.name else ""
        lines.append(f"  {finding.change_rule.spark}: {name}{finding.message} ({finding.rule})")
    return "\n".join(lines)


def _hint(diff: Diff, fix: str) -> str:
    allowed = " ".join(f"--allow {f.rule}@{f.name}" if f.name else f"--allow {f.rule}" for f in _blocking(diff))
    return f"either continue anyway: {allowed}\n  or start without state: --checkpoint NEW-DIR\n  or {fix}"
