"""Whether a plan may go on from a checkpoint; asked before Spark is started, which finds out too late."""

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
    """A checkpoint that the plan cannot go on from."""

    exit_code = 1


CHECKPOINT_SETTING = Rule(
    "checkpoint-setting",
    Severity.WARNING,
    "a setting of Spark has no effect: the checkpoint has fixed another value",
    "Of some settings, such as spark.sql.shuffle.partitions, Spark keeps the value that a stream's first batch had.",
)


def ignored_settings(record: CheckpointRecord, conf: Mapping[str, str]) -> Iterator[Finding]:
    """Which of the settings given Spark passes over as it goes on from a checkpoint."""
    for name in record.queries:
        for key, value in record.settings(name).items():
            if conf.get(key, value) != value:
                yield Finding(
                    CHECKPOINT_SETTING.id,
                    CHECKPOINT_SETTING.severity,
                    f"{key} is {value} for the sink {name}, as the checkpoint has fixed it, not {conf[key]}",
                    hint=f"to change it start with a new checkpoint: --checkpoint DIR; else leave out --conf {key}",
                )


def check_restart(
    checkpoint: str | None, plan: Plan, exceptions: Exceptions, options: Mapping[str, str] | None = None
) -> Diff | None:
    """The difference from the plan that made the checkpoint; ``None`` where there is no checkpoint, or none yet.

    ``options`` are those of the session that is to execute the plan; what they decide counts as part of the plan.

    Raises :class:`PlanError` for state entries that mean nothing, :class:`RestartError` where state would be lost,
    misread or refused by Spark, or the job has ended.
    """
    check_plan(plan)
    if checkpoint is None:
        return None
    record = CheckpointRecord(checkpoint)
    if not record.exists:
        if record.has_queries:
            raise RestartError(
                "the checkpoint does not say which plan made it",
                where=checkpoint,
                hint=f"put that plan at {record.plan_file}, or start with a new checkpoint: --checkpoint DIR",
            )
        return None
    if record.has_ended:
        raise RestartError(
            "the job of this checkpoint has ended: all its input was read and every window fired",
            where=checkpoint,
            hint="start with a new checkpoint: --checkpoint DIR. A job that is to go on is run with "
            "--mode available-now, which keeps windows open",
        )
    now = session_options(options or {})
    before = record.session_options
    before = now if before is None else before
    recorded = record.plan()
    old = Source(f"{checkpoint} (recorded)", dumps(with_session_options(recorded, before)), str(record.plan_file))
    asked = Platforms(engines=("spark",))
    found = diff_texts(
        old, Source("the plan", dumps(with_session_options(plan, now))), exceptions, asked=asked, locate=False
    )
    if found.spark > Verdict.COMPATIBLE:
        if dumps(recorded) == dumps(plan):
            how, last = "in a session with other options", f"set what was set: {_settings(before, now)}"
        else:
            how, last = "by another plan", f"keep what state depends on: flinkplan compile PIPELINE --like {checkpoint}"
        raise RestartError(_message(found, how), where=checkpoint, hint=_ways_out(found, last))
    return found


def _settings(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The options that bring a session back to what it was."""
    options = {key: before.get(key, DEFAULTS[key]) for key in sorted({*before, *now})}
    return " ".join(f"--set {key}={value}" for key, value in options.items() if now.get(key, DEFAULTS[key]) != value)


def _grave(found: Diff) -> list[ChangeFinding]:
    return [f for f in found.judged if f.change_rule.spark > Verdict.COMPATIBLE]


def _message(found: Diff, how: str) -> str:
    """``the checkpoint was made by another plan …``, with a line for each finding that stands in the way."""
    lines = [f"the checkpoint was made {how}, and its state is {found.spark} with this one"]
    for finding in _grave(found):
        name = f"{finding.name}: " if finding.name else ""
        lines.append(f"  {finding.change_rule.spark}: {name}{finding.message} ({finding.rule})")
    return "\n".join(lines)


def _ways_out(found: Diff, last: str) -> str:
    allowed = " ".join(f"--allow {f.rule}@{f.name}" if f.name else f"--allow {f.rule}" for f in _grave(found))
    return f"either go on all the same: {allowed}\n  or start without state: --checkpoint NEW-DIR\n  or {last}"
