"""Rules on changes of plans, the judges that apply them, and the registries of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ...plan.findings import Rule, Severity
from ...plan.nodes import ExecNode
from ...plan.record import Record, field
from ...plan.secrets import HIDDEN, masked_json
from ..comparing import Comparison
from ..edits import FieldChange, Keep, Move, Replace, Update
from ..verdicts import Effect, Verdict

_SEVERITIES = {
    Verdict.COSMETIC: Severity.NOTE,
    Verdict.COMPATIBLE: Severity.NOTE,
    Verdict.PARTIAL: Severity.WARNING,
    Verdict.UNKNOWN: Severity.ERROR,
    Verdict.INCOMPATIBLE: Severity.ERROR,
    Verdict.CORRUPTING: Severity.ERROR,
}


class ChangeRule(Rule):
    """A rule about a change of a plan.

    ``flink`` says whether the state of Apache Flink survives the change, ``spark`` whether a checkpoint of
    ``flinkplan execute`` does, ``results`` whether results change; ``fix`` is what the user can do.  ``by_layout``
    says that the verdict on Flink depends on the layout of the operator's state; ``flink`` is then the worst one
    possible.  ``one_by_one`` is the verdict for a service that restores each aggregate by itself, if it differs.
    """

    flink: Verdict
    spark: Verdict
    results: Effect
    fix: str
    by_layout: bool = False
    one_by_one: Verdict | None = None
    has_own_severity: bool = False
    """Whether the severity is declared and does not follow from the verdicts."""

    @property
    def verdict(self) -> Verdict:
        """The worse of the two."""
        return max(self.flink, self.spark)


class Judgement(Record):
    """A rule that applies to a change.

    ``pointer`` is the place in the new node, or in the old one where there is no new one; ``hint`` is the rule's fix
    for this change.  ``flink`` is the verdict on Flink where the change decides it and not the rule.
    """

    rule: ChangeRule
    message: str
    old: ExecNode | None = None
    new: ExecNode | None = None
    pointer: str = ""
    hint: str | None = None
    changes: tuple[FieldChange, ...] = field(default=())
    flink: Verdict | None = None


Became = Keep | Update | Move | Replace
FieldJudge = Callable[[Comparison, Update, tuple[FieldChange, ...]], Iterator[Judgement]]
PairJudge = Callable[[Comparison, Became], Iterator[Judgement]]
PlanJudge = Callable[[Comparison], Iterator[Judgement]]

_RULES: dict[str, ChangeRule] = {}
RULES: Mapping[str, ChangeRule] = MappingProxyType(_RULES)
"""All rules by id, in the order of their declaration."""

FIELD_JUDGES: dict[tuple[type[ExecNode], str], FieldJudge] = {}
PAIR_JUDGES: list[PairJudge] = []
PLAN_JUDGES: list[PlanJudge] = []


def severity_of(verdict: Verdict) -> Severity:
    """The severity of a finding with this verdict."""
    return _SEVERITIES[verdict]


def rule(
    id: str,
    summary: str,
    why: str,
    *,
    flink: Verdict,
    spark: Verdict,
    results: Effect,
    example: str,
    fix: str,
    severity: Severity | None = None,
    by_layout: bool = False,
    one_by_one: Verdict | None = None,
) -> ChangeRule:
    """Declare a rule.  Its severity follows from the verdicts unless given."""
    explanation = f"{why}\n\n**Example.** {example}\n\n**Fix.** {fix}"
    if id in _RULES:
        raise ValueError(f"the rule '{id}' is declared twice")
    _RULES[id] = declared = ChangeRule(
        id,
        severity or severity_of(max(flink, spark)),
        summary,
        explanation,
        flink,
        spark,
        results,
        fix,
        by_layout,
        one_by_one,
        has_own_severity=severity is not None,
    )
    return declared


def field_judge(name: str, *classes: type[ExecNode]) -> Callable[[FieldJudge], FieldJudge]:
    """Register the judge of the changes of a field of these nodes."""

    def register(judge: FieldJudge) -> FieldJudge:
        for cls in classes:
            FIELD_JUDGES[cls, name] = judge
        return judge

    return register


def pair_judge(judge: PairJudge) -> PairJudge:
    """Register a judge of the edits, each of a node of one or both plans."""
    PAIR_JUDGES.append(judge)
    return judge


def plan_judge(judge: PlanJudge) -> PlanJudge:
    """Register a judge of the plans as a whole."""
    PLAN_JUDGES.append(judge)
    return judge


def short(value: Any, length: int = 80) -> str:
    """A JSON value for a message, cut off at ``length``."""
    import json

    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= length else text[: length - 1] + "…"


def became(old: str, new: str) -> str:
    """``old → new``; equal texts stand for different columns that have the same name."""
    return f"{old} → {new}" if old != new else f"{old} comes from elsewhere"


def arrow(change: FieldChange) -> str:
    """``joinType INNER → LEFT``."""
    old, new = (short(masked_json(change.pointer, value)) for value in (change.old, change.new))
    if old == new and HIDDEN in old:
        return f"{label(change.pointer)} {old} → another {new}"
    return f"{label(change.pointer)} {became(old, new)}"


def label(pointer: str) -> str:
    """The last name in a JSON pointer, with the index behind it: ``grouping[1]``."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    tail = ""
    while len(steps) > 1 and steps[-1].isdigit():
        tail = f"[{steps.pop()}]{tail}"
    return (steps[-1] if steps else "") + tail


def arrows(changes: tuple[FieldChange, ...]) -> str:
    """The changes as one text."""
    return "; ".join(arrow(c) for c in changes)
