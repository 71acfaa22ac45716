"""``diff``: compares two plans and gives findings and a verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from ..plan.document import Plan, loads, place
from ..plan.errors import FlinkplanError, Location
from ..plan.findings import Finding, Severity
from ..plan.names import node_names
from ..plan.nodes import ExecNode, Sink
from ..plan.record import Record, field, replace
from ..plan.text.positions import Positions, pointer
from ..plan.uids import Uids
from .alignment import reorderings
from .comparing import Comparison, compare
from .edits import FieldChange, Keep
from .migration.advice import Carried, MigrationAdvice
from .migrations import comparable
from .reports import Report
from .rules import PAIR_JUDGES, PLAN_JUDGES, RULES, Became, ChangeRule, Judgement
from .rules.batch import changes_mode, judge_mode, without_state
from .rules.model import severity_of
from .rules.savepoints import on_flink
from .validation import check_plan
from .verdicts import Effect, Verdict, fate, strongest, worst


class Source(Record):
    """A plan's text and its name in messages; ``file`` is the path of the file, if it is in one."""

    name: str
    text: str
    file: str | None = None


Locate = Callable[[str, ExecNode | None], Location | None]
"""The place of what a finding is about in the text of a plan or pipeline: by its JSON pointer, or by its node."""


class Side:
    """One of the two plans, with the places of its nodes in the text that it was read or compiled from.

    ``is_successor`` says that the plan was compiled with the ids of the other one, as by ``compile --like``.
    """

    def __init__(self, plan: Plan, source: Source, locate: Locate, is_successor: bool = False) -> None:
        self.plan = comparable(plan)
        self.source = source
        self.is_successor = is_successor
        self.names = node_names(self.plan)
        self.location = locate
        self._places = {node.id: i for i, node in enumerate(self.plan.nodes)}

    @classmethod
    def read(cls, source: Source, locate: bool) -> Side:
        """The plan in a text.  ``locate`` says whether to look for the lines of findings, which takes time.

        Raises :class:`PlanError` for a text that is not a plan.
        """
        plan = loads(source.text, source.name)
        check_read(plan, source)
        return cls(plan, source, located_in(source) if locate else lambda pointer, node: None)

    def pointer(self, node: ExecNode | None, relative: str) -> str:
        """The JSON pointer in the plan for one relative to a node; with no node ``relative`` is that of the plan."""
        return relative if node is None else pointer("nodes", self._places[node.id]) + relative


def check_read(plan: Plan, source: Source) -> None:
    """Raise :class:`PlanError`, with its place in the text, where a plan has invalid states."""
    try:
        check_plan(plan)
    except FlinkplanError as e:
        place(e, source.text, source.name)
        raise


def located_in(source: Source) -> Locate:
    """The lines of the values of a plan."""
    positions = Positions(source.text, source.file or source.name)
    return lambda pointer, node: positions.location(pointer)


class ChangeFinding(Finding):
    """A rule that applies to a change.

    ``node`` is the id in the new plan, or for a removed node the id in the old one; ``old_node`` and ``new_node`` are
    the ids in each plan.  ``name`` is the node's name, which does not change when the pipeline is compiled again.
    ``allowed`` says that the user accepts the finding.  ``flink`` is the verdict on Flink's state, ``verdict`` the
    worst verdict of the platforms that count.  ``migration`` says, where Flink does not restore the state, whether
    ``migrate`` carries it over.
    """

    name: str | None = None
    flink: Verdict = Verdict.UNKNOWN
    verdict: Verdict = Verdict.UNKNOWN
    results: Effect = Effect.UNKNOWN
    old_node: int | None = None
    new_node: int | None = None
    changes: tuple[FieldChange, ...] = ()
    allowed: bool = False
    migration: Carried | None = None

    @property
    def change_rule(self) -> ChangeRule:
        """The rule that applies."""
        return RULES[self.rule]

    @property
    def text(self) -> str:
        """The verdict and the message."""
        return f"{self.verdict}: {self.message}"


class Platforms(Record):
    """The platforms whose verdicts on state count.

    ``engines`` are ``flink``, ``spark`` or both; ``one_by_one`` says that Flink runs in a service that restores each
    aggregate of an operator by itself; ``options`` are those of the session that runs the plans on Flink.
    """

    engines: tuple[str, ...] = ("flink", "spark")
    one_by_one: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def worst(self, flink: Verdict, spark: Verdict) -> Verdict:
        """The worse of the verdicts that count."""
        by_engine = {"flink": flink, "spark": spark}
        return worst(by_engine[engine] for engine in self.engines)

    def describe(self, flink: Verdict, spark: Verdict) -> str:
        """``Flink's state compatible, checkpoint on Spark incompatible``, for the engines that count."""
        texts = {"flink": f"Flink's state {fate(flink)}", "spark": f"checkpoint on Spark {fate(spark)}"}
        return ", ".join(texts[engine] for engine in self.engines)


class Exceptions(Record):
    """Rules whose findings are left out, and those that are allowed at a node (``RULE@NODE``) or at any (``RULE``).

    ``migrated``: findings are allowed over which ``migrate`` carries the state.
    """

    ignored: Collection[str] = ()
    allowed: Collection[str] = ()
    migrated: bool = False

    def ignores(self, finding: ChangeFinding) -> bool:
        """Whether the finding is left out."""
        return any(_matches_rule(pattern, finding) for pattern in self.ignored)

    def allows(self, finding: ChangeFinding) -> bool:
        """Whether a finding is allowed: NODE is an id, a name (``join#2``) or a type, or a pattern of these."""
        if self.migrated and finding.migration is not None and finding.migration.is_possible:
            return True
        names = [str(n) for n in (finding.node, finding.old_node, finding.name, finding.node_type) if n is not None]
        for entry in self.allowed:
            rule, _, node = entry.partition("@")
            if _matches_rule(rule, finding) and (not node or any(fnmatchcase(n, node) for n in names)):
                return True
        return False


def _matches_rule(pattern: str, finding: ChangeFinding) -> bool:
    """Whether a pattern matches the finding's rule.  A corrupting finding is only matched by its rule's full name."""
    if finding.verdict is Verdict.CORRUPTING:
        return pattern == finding.rule
    return fnmatchcase(finding.rule, pattern)


class Diff(Report, kw_only=True):
    """What changed between two plans, and what it means for state and results."""

    comparison: Comparison
    old: Side
    new: Side
    platforms: Platforms = Platforms()
    fail_on: Verdict = Verdict.INCOMPATIBLE
    """The best verdict for which the check fails."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the command exit with another code than 0."""
        if not isinstance(finding, ChangeFinding) or finding.allowed:
            return False
        return finding.verdict is Verdict.UNKNOWN or finding.verdict >= self.fail_on

    @property
    def judged(self) -> Sequence[ChangeFinding]:
        """The findings that are not allowed."""
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
        """The worst verdict of the platforms that count."""
        return self.platforms.worst(self.flink, self.spark)

    @property
    def summary(self) -> str:
        """``incompatible: Flink's state compatible, checkpoint on Spark incompatible, results change``."""
        results = {Effect.YES: "results change", Effect.NO: "results stay", Effect.UNKNOWN: "results may change"}
        summary = f"{self.verdict}: {self.platforms.describe(self.flink, self.spark)}, {results[self.results]}"
        is_all = len(self.judged) == len(self.findings)
        return summary if is_all else f"{summary}, apart from what is allowed"


def diff_texts(
    old: Source,
    new: Source,
    exceptions: Exceptions | None = None,
    *,
    platforms: Platforms | None = None,
    locate: bool = True,
) -> Diff:
    """Compare the texts of two plans and judge what changed.

    ``locate`` says whether to find the lines of the findings.  Raises :class:`PlanError` where a text is not a plan,
    :class:`UnsupportedError` where the plans are too large to compare.
    """
    return diff_plans(
        Side.read(old, locate), Side.read(new, locate), exceptions or Exceptions(), platforms or Platforms()
    )


def diff_plans(old: Side, new: Side, exceptions: Exceptions, platforms: Platforms) -> Diff:
    """Compare two plans that have been read, and judge what changed."""
    comparison = compare(old.plan, new.plan, Uids(platforms.options), platforms.one_by_one)
    restored = {r.node: r.description for r in reorderings(comparison)}
    advice = MigrationAdvice(comparison)
    all_findings = (_finding(j, old, new, platforms, restored, advice) for j in judge(comparison))
    findings = [f for f in all_findings if not exceptions.ignores(f)]
    return Diff(
        "diff",
        f"{old.source.name} → {new.source.name}",
        [replace(f, allowed=True, severity=Severity.NOTE) if exceptions.allows(f) else f for f in findings],
        RULES,
        {side.source.file or side.source.name: side.source.text for side in (old, new)},
        comparison=comparison,
        old=old,
        new=new,
        platforms=platforms,
    )


def judge(comparison: Comparison) -> list[Judgement]:
    """All judgements: first those on the plans as a whole, then by node, those of the new plan before removed ones."""
    if changes_mode(comparison):
        return [judge_mode(comparison)]
    judgements = [j for judge_plan in PLAN_JUDGES for j in judge_plan(comparison)]
    for edit in comparison.pairs():
        if not _is_untouched(edit):
            judgements += (j for judge_pair in PAIR_JUDGES for j in judge_pair(comparison, edit))
    judgements = list(on_flink(comparison, judgements))
    if comparison.new.plan.is_batch:
        judgements = list(without_state(judgements))
    new = {node.id: i for i, node in enumerate(comparison.new.plan.nodes)}
    old = {node.id: len(new) + i for i, node in enumerate(comparison.old.plan.nodes)}
    return sorted(judgements, key=lambda j: new[j.new.id] if j.new else old[j.old.id] if j.old else -1)


def _is_untouched(edit: Became) -> bool:
    """Whether no rule can apply to a node.

    One that keeps state or writes to a sink is judged even where it is equal: the columns it reads may have changed.
    """
    return isinstance(edit, Keep) and edit.old == edit.new and not (edit.new.is_stateful or isinstance(edit.new, Sink))


def _finding(
    judgement: Judgement,
    old: Side,
    new: Side,
    platforms: Platforms,
    restored: Mapping[int, str],
    advice: MigrationAdvice,
) -> ChangeFinding:
    rule = judgement.rule
    flink = judgement.flink or rule.flink
    verdict = platforms.worst(flink, rule.spark)
    side = old if judgement.new is None and judgement.old is not None else new
    node = judgement.new or judgement.old
    pointer = side.pointer(node, judgement.pointer)
    is_broken = "flink" in platforms.engines and flink in (Verdict.INCOMPATIBLE, Verdict.CORRUPTING)
    carried = advice.about(judgement.new.id if judgement.new else None) if is_broken else None
    return ChangeFinding(
        rule.id,
        rule.severity if rule.has_own_severity and verdict <= Verdict.PARTIAL else severity_of(verdict),
        judgement.message,
        pointer,
        side.location(pointer, node),
        node.id if node else None,
        node.type if node else None,
        _with_migration(_hint(judgement, old, new, restored), carried),
        name=side.names[node.id] if node else None,
        old_node=judgement.old.id if judgement.old else None,
        new_node=judgement.new.id if judgement.new else None,
        changes=judgement.changes,
        flink=flink,
        verdict=verdict,
        results=Effect.YES if verdict is Verdict.CORRUPTING else rule.results,
        migration=carried,
    )


def _with_migration(hint: str | None, carried: Carried | None) -> str | None:
    """A hint, and what ``migrate`` does about it."""
    if carried is None:
        return hint
    return carried.sentence if hint is None else f"{hint}{'' if hint.endswith(('.', ')')) else '.'} {carried.sentence}"


_NO_FIX = "Nothing to do"

_ID_RULES = ("nodes-renumbered", "id-of-another-node")
_ORDER_RULES = {
    *("aggregates-reordered", "window-aggregates-reordered", "key-order-changed", "inputs-swapped"),
    *("join-keys-changed", "row-columns-changed", "row-schema-changed", "sources-reordered"),
}
"""Rules on changes that only reorder columns, keys, aggregates or inputs, so that the old order can be restored."""


def _hint(judgement: Judgement, old: Side, new: Side, restored: Mapping[int, str]) -> str | None:
    """What the user can do; ``restored`` tells by node which order ``compile --like`` restores."""
    rule, node = judgement.rule, judgement.new
    if rule.id in _ID_RULES and new.is_successor:
        return "Nothing to fix here: it gets a new id because it cannot use the old state."
    if rule.id in _ID_RULES:
        return f"For Flink, keep the old ids: {compile_like(old.source.name, new.source.name)}"
    if rule.id in _ORDER_RULES and not new.is_successor and node is not None and node.id in restored:
        command = compile_like(old.source.name, new.source.name)
        return f"Keep the order of its state with {command}: it {restored[node.id]}, and results do not change."
    hint = judgement.hint or (None if rule.fix.startswith(_NO_FIX) else rule.fix)
    return hint if hint is None or "start without state" not in hint.lower() else f"{hint} {_START_WITHOUT_STATE}"


_START_WITHOUT_STATE = (
    "(Flink starts without any state if no savepoint is given, and without the state of removed operators with "
    "--allowNonRestoredState; Spark starts without state with a new --checkpoint directory.)"
)


_UNQUOTED = re.compile(r"[\w.:/~^@-]+")
"""Names that need no quotes in a shell."""


def compile_like(old: str, new: str) -> str:
    """The command that compiles a pipeline to a plan that can continue from the state of the old plan."""
    old, new = (name if _UNQUOTED.fullmatch(name) else word for name, word in ((old, "OLD"), (new, "NEW")))
    return f"`flinkplan compile PIPELINE --like {old} -o {new} --force`"
