"""``diff``: from two plans to findings and a verdict."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from ..plan.document import Plan, loads, place
from ..plan.errors import FlinkplanError, Location
from ..plan.findings import Finding, Severity
from ..plan.names import node_names
from ..plan.nodes import ExecNode, Sink
from ..plan.record import Record, field, replace
from ..plan.text.positions import Positions, pointer
from .alignment import mends
from .comparing import Comparison, compare
from .edits import FieldChange, Keep
from .migrations import comparable
from .reports import Report
from .rules import PAIR_JUDGES, PLAN_JUDGES, RULES, Became, ChangeRule, Judgement
from .rules.model import severity_of
from .rules.savepoints import on_flink
from .uids import Uids
from .validation import check_plan
from .verdicts import Effect, Verdict, fate, strongest, worst


class Source(Record):
    """A plan's text and what to call it; ``file`` is a path to show it by, where there is one."""

    name: str
    text: str
    file: str | None = None


class Side:
    """A plan, and where its nodes stand in its text."""

    def __init__(self, plan: Plan, source: Source, locate: bool) -> None:
        self.plan = plan
        self.source = source
        self.names = node_names(plan)
        self._places = {node.id: i for i, node in enumerate(plan.nodes)}
        self._positions = Positions(source.text, source.file or source.name) if locate else None

    @classmethod
    def read(cls, source: Source, locate: bool) -> Side:
        plan = loads(source.text, source.name)
        try:
            check_plan(plan)
        except FlinkplanError as e:
            place(e, source.text, source.name)
            raise
        return cls(comparable(plan), source, locate)

    def pointer(self, node: ExecNode | None, inside: str) -> str:
        """The JSON pointer of a place inside a node, or of a place in the plan."""
        return inside if node is None else pointer("nodes", self._places[node.id]) + inside

    def location(self, at: str) -> Location | None:
        """The line of a JSON pointer."""
        return self._positions.location(at) if self._positions else None


class ChangeFinding(Finding):
    """A rule that applies to a change.

    ``node`` is the id in the new plan, of a removed node that in the old one; ``old_node`` and ``new_node`` are the
    ids in either.  ``name`` stays when the pipeline is compiled again.  ``allowed``: somebody has said that this is
    meant.  ``flink`` is the verdict on Flink's state, ``verdict`` the worst of those that were asked for.
    """

    name: str | None = None
    flink: Verdict = Verdict.UNKNOWN
    verdict: Verdict = Verdict.UNKNOWN
    results: Effect = Effect.UNKNOWN
    old_node: int | None = None
    new_node: int | None = None
    changes: tuple[FieldChange, ...] = ()
    allowed: bool = False

    @property
    def change_rule(self) -> ChangeRule:
        """The rule that applies."""
        return RULES[self.rule]

    @property
    def report_message(self) -> str:
        """The message, after the verdict."""
        return f"{self.verdict}: {self.message}"


class Platforms(Record):
    """The platforms whose verdicts on state count.

    ``engines`` are ``flink``, ``spark`` or both; ``one_by_one`` says that a service on top of Flink takes aggregates
    over one by one; ``options`` are those of the session that runs the plans on Flink.
    """

    engines: tuple[str, ...] = ("flink", "spark")
    one_by_one: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def worst(self, flink: Verdict, spark: Verdict) -> Verdict:
        """The worse of the verdicts that count."""
        by_engine = {"flink": flink, "spark": spark}
        return worst(by_engine[engine] for engine in self.engines)

    def told(self, flink: Verdict, spark: Verdict) -> str:
        """``Flink's state compatible, checkpoint on Spark incompatible``, as far as asked."""
        words = {"flink": f"Flink's state {fate(flink)}", "spark": f"checkpoint on Spark {fate(spark)}"}
        return ", ".join(words[engine] for engine in self.engines)


class Exceptions(Record):
    """Rules not to be told about, and rules allowed at some nodes (``RULE@NODE``, or ``RULE`` for any)."""

    ignored: Collection[str] = ()
    allowed: Collection[str] = ()

    def ignores(self, finding: ChangeFinding) -> bool:
        """Whether findings of the rule are left out."""
        return any(_names(pattern, finding) for pattern in self.ignored)

    def allows(self, finding: ChangeFinding) -> bool:
        """Whether a finding is allowed: NODE is an id, a name (``join#2``) or a type, or a pattern of these."""
        names = [str(n) for n in (finding.node, finding.old_node, finding.name, finding.node_type) if n is not None]
        for entry in self.allowed:
            rule, _, node = entry.partition("@")
            if _names(rule, finding) and (not node or any(fnmatchcase(n, node) for n in names)):
                return True
        return False


def _names(pattern: str, finding: ChangeFinding) -> bool:
    """Whether a pattern names the finding's rule; what corrupts state must be named in full."""
    if finding.verdict is Verdict.CORRUPTING:
        return pattern == finding.rule
    return fnmatchcase(finding.rule, pattern)


class Diff(Report, kw_only=True):
    """What changed between two plans, and what that means."""

    comparison: Comparison
    old: Side
    new: Side
    asked: Platforms = Platforms()
    fail_on: Verdict = Verdict.INCOMPATIBLE
    """The verdict from which on a check fails."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the command end with something else than 0."""
        if not isinstance(finding, ChangeFinding) or finding.allowed:
            return False
        return finding.verdict is Verdict.UNKNOWN or finding.verdict >= self.fail_on

    @property
    def judged(self) -> Sequence[ChangeFinding]:
        """The findings that count."""
        return [f for f in self.findings if isinstance(f, ChangeFinding) and not f.allowed]

    @property
    def flink(self) -> Verdict:
        """Whether Flink's state survives."""
        return worst(f.flink for f in self.judged)

    @property
    def spark(self) -> Verdict:
        """Whether a checkpoint of ``flinkplan execute`` survives."""
        return worst(f.change_rule.spark for f in self.judged)

    @property
    def results(self) -> Effect:
        """Whether results change."""
        return strongest(f.results for f in self.judged)

    @property
    def verdict(self) -> Verdict:
        """The worst of those that count."""
        return self.asked.worst(self.flink, self.spark)

    @property
    def summary(self) -> str:
        """``incompatible: Flink's state compatible, checkpoint on Spark incompatible, results change``."""
        results = {Effect.YES: "results change", Effect.NO: "results stay", Effect.UNKNOWN: "results may change"}
        summary = f"{self.verdict}: {self.asked.told(self.flink, self.spark)}, {results[self.results]}"
        is_all = len(self.judged) == len(self.findings)
        return summary if is_all else f"{summary}, apart from what is allowed"


def diff_texts(
    old: Source,
    new: Source,
    exceptions: Exceptions | None = None,
    *,
    asked: Platforms | None = None,
    locate: bool = True,
) -> Diff:
    """Compare the texts of two plans and judge what changed.

    ``locate``: find the lines of the findings.  Raises :class:`PlanError` or :class:`UnsupportedError` where one is
    no plan, or too large.
    """
    return diff_plans(Side.read(old, locate), Side.read(new, locate), exceptions or Exceptions(), asked or Platforms())


def diff_plans(old: Side, new: Side, exceptions: Exceptions, asked: Platforms) -> Diff:
    """Compare two plans that have been read, and judge what changed."""
    comparison = compare(old.plan, new.plan, Uids(asked.options), asked.one_by_one)
    mended = {mend.node: mend.what for mend in mends(comparison)}
    found = (_finding(j, old, new, asked, mended) for j in judge(comparison))
    findings = [f for f in found if not exceptions.ignores(f)]
    return Diff(
        "diff",
        f"{old.source.name} → {new.source.name}",
        [replace(f, allowed=True, severity=Severity.NOTE) if exceptions.allows(f) else f for f in findings],
        RULES,
        {side.source.file or side.source.name: side.source.text for side in (old, new)},
        comparison=comparison,
        old=old,
        new=new,
        asked=asked,
    )


def judge(comparison: Comparison) -> list[Judgement]:
    """All rules that apply: those on the plans as a whole, then in the order of the nodes, new before removed."""
    found = [j for judge_plan in PLAN_JUDGES for j in judge_plan(comparison)]
    for edit in comparison.pairs():
        if not _is_untouched(edit):
            found += (j for judge_pair in PAIR_JUDGES for j in judge_pair(comparison, edit))
    found = list(on_flink(comparison, found))
    new = {node.id: i for i, node in enumerate(comparison.new.plan.nodes)}
    old = {node.id: len(new) + i for i, node in enumerate(comparison.old.plan.nodes)}
    return sorted(found, key=lambda j: new[j.new.id] if j.new else old[j.old.id] if j.old else -1)


def _is_untouched(edit: Became) -> bool:
    """Whether nothing can be said about a node; what is kept or written may come from elsewhere all the same."""
    return isinstance(edit, Keep) and edit.old == edit.new and not (edit.new.is_stateful or isinstance(edit.new, Sink))


def _finding(judgement: Judgement, old: Side, new: Side, asked: Platforms, mended: Mapping[int, str]) -> ChangeFinding:
    rule = judgement.rule
    flink = judgement.flink or rule.flink
    verdict = asked.worst(flink, rule.spark)
    side = old if judgement.new is None and judgement.old is not None else new
    node = judgement.new or judgement.old
    at = side.pointer(node, judgement.pointer)
    return ChangeFinding(
        rule.id,
        rule.severity if rule.is_told and verdict <= Verdict.PARTIAL else severity_of(verdict),
        judgement.message,
        at,
        side.location(at),
        node.id if node else None,
        node.type if node else None,
        _hint(judgement, old, new, mended),
        name=side.names[node.id] if node else None,
        old_node=judgement.old.id if judgement.old else None,
        new_node=judgement.new.id if judgement.new else None,
        changes=judgement.changes,
        flink=flink,
        verdict=verdict,
        results=Effect.YES if verdict is Verdict.CORRUPTING else rule.results,
    )


_NO_MEND = "Nothing is to be done"

_OF_IDS = ("nodes-renumbered", "id-of-another-node")
_OF_ORDER = {
    *("aggregates-reordered", "window-aggregates-reordered", "key-order-changed", "inputs-swapped"),
    *("join-keys-changed", "row-columns-changed", "row-schema-changed", "sources-reordered"),
}
"""Rules on what may be put back into its old order."""


def _hint(judgement: Judgement, old: Side, new: Side, mended: Mapping[int, str]) -> str | None:
    """What can be done; ``mended`` says by node what a compilation like the old plan does."""
    rule, node = judgement.rule, judgement.new
    if rule.id in _OF_IDS:
        return f"For Flink keep the old ids: {compile_like(old.source.name, new.source.name)}"
    if rule.id in _OF_ORDER and node is not None and node.id in mended:
        command = compile_like(old.source.name, new.source.name)
        return f"Keep the order of its state: with {command} it {mended[node.id]}, and the rows stay."
    hint = judgement.hint or (None if rule.mend.startswith(_NO_MEND) else rule.mend)
    return hint if hint is None or "start without state" not in hint.lower() else f"{hint} {_ANEW}"


_ANEW = (
    "(Flink starts without state if no savepoint is named, and with --allowNonRestoredState without that of operators "
    "that are gone; Spark with a new --checkpoint folder.)"
)


_PLAIN = re.compile(r"[\w.:/~^@-]+")
"""Names that need no quotes in a shell."""


def compile_like(old: str, new: str) -> str:
    """The command that compiles a pipeline anew so that its plan goes on from the state of the old one."""
    old, new = (text if _PLAIN.fullmatch(text) else word for text, word in ((old, "OLD"), (new, "NEW")))
    return f"`flinkplan compile PIPELINE --like {old} -o {new} --force`"
