"""The rules as a whole: their ids, their words, and that no field of any node goes unjudged."""

from __future__ import annotations

import re

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.rules import FIELD_JUDGES, RULES, ChangeRule
from flinkplan.compat.validation import RULES as VALIDATION
from flinkplan.compat.verdicts import Effect, Verdict, strongest, worst
from flinkplan.plan.document import dumps
from flinkplan.plan.nodes import ExecNode, OpaqueNode, node_classes
from tests.compat.truths import TRUTHS, Truth

KNOWN = [cls for cls in node_classes() if not issubclass(cls, OpaqueNode)]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_says_why_and_what_to_do(rule: ChangeRule) -> None:
    assert re.fullmatch(r"[a-z0-9.]+(-[a-z0-9.]+)*", rule.id)
    assert "**Example.**" in rule.explanation
    assert "**Fix.**" in rule.explanation
    assert not rule.summary.endswith(".")


def test_ids_are_apart_from_those_of_validate() -> None:
    assert RULES.keys() & VALIDATION.keys() == set()


@pytest.mark.parametrize("cls", KNOWN, ids=lambda cls: cls.metadata.name)
def test_fields_declared_as_judged_have_a_judge(cls: type[ExecNode]) -> None:
    assert [name for name in cls.metadata.judged if not _is_judged(cls, name)] == []


def _is_judged(cls: type[ExecNode], name: str) -> bool:
    follows = name in ("local_agg_input_row_type",)
    return follows or (cls, name) in FIELD_JUDGES


def test_verdicts_are_ordered() -> None:
    assert worst([]) is Verdict.COSMETIC
    assert worst([Verdict.UNKNOWN, Verdict.PARTIAL]) is Verdict.UNKNOWN
    assert worst([Verdict.UNKNOWN, Verdict.INCOMPATIBLE]) is Verdict.INCOMPATIBLE
    assert strongest([Effect.NO, Effect.UNKNOWN]) is Effect.UNKNOWN
    assert strongest([Effect.UNKNOWN, Effect.YES]) is Effect.YES


BACKED = {rule for truth in TRUTHS for rule in truth.rules}


def test_restarts_back_rules_that_exist() -> None:
    assert RULES.keys() >= BACKED


def test_a_restart_backs_every_rule_about_a_checkpoint() -> None:
    certain = {r.id for r in RULES.values() if r.spark not in (Verdict.COSMETIC, Verdict.UNKNOWN)}
    assert certain - BACKED == set()


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_the_rules_that_a_restart_backs_apply_to_it(truth: Truth) -> None:
    old, new = map(dumps, truth.plans)
    diff = diff_texts(Source("old", old), Source("new", new), locate=False)
    assert set(truth.rules) <= {f.rule for f in diff.judged}
    assert truth.refused is None or diff.spark is Verdict.INCOMPATIBLE
