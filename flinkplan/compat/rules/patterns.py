"""Rules on MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...plan.errors import UnsupportedError
from ...plan.nodes import ExecNode, Match
from ...plan.specs import UNLIMITED, MatchSpec, PatternVariable
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .fields import ROW_ORDER
from .keys import KEYS
from .model import ChangeRule, Judgement, arrows, became, field_judge, rule

PATTERN = rule(
    "pattern-changed",
    "the pattern of a MATCH_RECOGNIZE changed",
    "The state has a position in the pattern for each partial match, and the first position for each key without one. "
    "Flink finds it by the name of the variable and the number of its rows that are left. If the new pattern has no "
    "such position, the job fails; if it has all positions in the same order, it continues correctly; otherwise it "
    "continues in the middle of another pattern.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`PATTERN (A B C)` became `PATTERN (A B+ C)`.",
    fix="Start without state, or search for the new pattern in a query of its own.",
)
MATCHES = rule(
    "match-changed",
    "the conditions or the measures of a MATCH_RECOGNIZE changed",
    "Partial matches keep their rows and continue with the new conditions. Spark stores only the columns that the "
    "old query read.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`DEFINE B AS B.price < A.price` became `<=`; a measure was added.",
    fix="On Spark, start with a new checkpoint.",
)

_RULES: Mapping[str, ChangeRule] = {"partition": KEYS, "orderBy": ROW_ORDER, "pattern": PATTERN}
"""The rules on parts of a MATCH_RECOGNIZE; :data:`MATCHES` applies to all others."""


@field_judge("match_spec", Match)
def searches(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of the pattern, the order of rows, the conditions or the measures."""
    by_rule: dict[ChangeRule, list[FieldChange]] = {}
    for change in changes:
        part = change.pointer.split("/")[2]
        by_rule.setdefault(_RULES.get(part, MATCHES), []).append(change)
    for rule_, rule_changes in by_rule.items():
        is_pattern = rule_ is PATTERN
        message = _patterns(edit) if is_pattern else arrows(tuple(rule_changes))
        flink = _on_flink(edit.old, edit.new) if is_pattern else None
        pointer = rule_changes[0].pointer
        yield Judgement(rule_, message, edit.old, edit.new, pointer, changes=tuple(rule_changes), flink=flink)


def _patterns(edit: Update) -> str:
    old, new = (_pattern_text(node) for node in (edit.old, edit.new))
    return became(old, new)


def _pattern_text(node: ExecNode) -> str:
    """The pattern in the node's description."""
    _, _, rest = node.description.partition("pattern=[")
    return rest.partition("]")[0]


def _on_flink(old: ExecNode, new: ExecNode) -> Verdict:
    """The verdict on partial matches.  Source: ``NFACompiler``, and tests on Flink 2.3."""
    assert isinstance(old, Match) and isinstance(new, Match)
    try:
        old_states, new_states = _nfa_states(old.match_spec), _nfa_states(new.match_spec)
    except UnsupportedError:
        return Verdict.UNKNOWN
    if any(new_states.get(name, 0) < number for name, number in old_states.items()):
        return Verdict.INCOMPATIBLE
    has_same_start = next(iter(old_states), None) == next(iter(new_states), None)
    common = [(name, number) for name, number in new_states.items() if name in old_states]
    return Verdict.COMPATIBLE if has_same_start and common == list(old_states.items()) else Verdict.CORRUPTING


def _nfa_states(spec: MatchSpec) -> dict[str, int]:
    """The number of states of Flink's automaton for each variable, in their order."""
    return {variable.name: _number_of_states(variable) for variable in spec.variables()}


def _number_of_states(variable: PatternVariable) -> int:
    return max(variable.least, 1) + 1 if variable.most == UNLIMITED else variable.most
