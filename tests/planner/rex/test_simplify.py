"""Conditions, and what is left of them where they are simplified; searches, and the ranges that they are made of."""

from __future__ import annotations

import pytest

from flinkplan.plan.rex import Call, RexNode
from flinkplan.planner.algebra.logical import Filter
from flinkplan.planner.algebra.rel import Rel
from flinkplan.planner.rex import folding, sargs, simplify
from flinkplan.planner.rex.expressions import and_
from flinkplan.planner.rex.normal_forms import to_cnf
from flinkplan.planner.rex.printer import expression
from flinkplan.planner.rex.simplify import simplify_condition
from tests.planner.outlines import bind

NAMES = ("id", "k", "v", "b")


def condition(text: str) -> RexNode:
    """A condition on a table of ``id INT, k STRING, v INT, b BOOLEAN`` as the binder leaves it."""
    rel: Rel = bind(f"SELECT id FROM a WHERE {text}")
    while not isinstance(rel, Filter):
        (rel,) = rel.inputs
    return rel.condition


SIMPLIFIED = [
    ("v > 1 AND v > 2", "(v > 2)"),
    ("v > 1 AND v < 1", "false"),
    ("v > 1 OR v <= 1", "v IS NOT NULL"),
    ("v = 1 AND v <> 1", "false"),
    ("v = 1 AND v = 2", "false"),
    ("v >= 3 AND v <= 3", "(v = 3)"),
    ("v > 1 AND TRUE", "(v > 1)"),
    ("v > 1 AND FALSE", "false"),
    ("v > 1 OR TRUE", "true"),
    ("NOT (v > 1)", "(v <= 1)"),
    ("NOT (v > 1 OR k = 'x')", "((v <= 1) AND (k <> 'x'))"),
    ("NOT NOT b", "b"),
    ("b = TRUE", "b"),
    ("b <> TRUE", "NOT(b)"),
    ("b IS TRUE", "b"),
    ("v = v", "v IS NOT NULL"),
    ("v IS NULL AND v = 1", "false"),
    ("v IS NULL OR v IS NOT NULL", "true"),
    ("v = NULL", "false"),
    ("CASE WHEN b THEN TRUE ELSE FALSE END", "b"),
    ("CASE WHEN b THEN v > 1 ELSE FALSE END", "(b AND (v > 1))"),
    ("v IN (1, 2, 2)", "SEARCH(v, Sarg[1, 2])"),
    ("v NOT IN (1, 2)", "SEARCH(v, Sarg[(-∞..1), (1..2), (2..+∞)])"),
    ("v = 1 OR v = 1", "(v = 1)"),
]


@pytest.mark.parametrize(("text", "expected"), SIMPLIFIED, ids=[text for text, _ in SIMPLIFIED])
def test_condition_is_simplified(text: str, expected: str) -> None:
    assert expression(simplify_condition(condition(text)), NAMES) == expected


def test_a_sum_that_stays_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[RexNode] = []

    def fold(rex: Call) -> RexNode:
        folded.append(rex)
        return original(rex)

    original = folding.fold
    monkeypatch.setattr(simplify, "fold", fold)
    terms = " + ".join(["CAST(v AS BIGINT)", *map(str, range(1, 20))])
    simplified = simplify_condition(condition(f"{terms} > 1"))
    folded.clear()
    assert simplify_condition(and_([simplified, condition("b")])) == and_([simplified, condition("b")])
    assert len(folded) < 3


NORMAL = [
    ("(v = 1 AND k = 'x') OR b", "(((v = 1) OR b) AND ((k = 'x') OR b))"),
    ("v = 1 AND b", "((v = 1) AND b)"),
]


@pytest.mark.parametrize(("text", "expected"), NORMAL, ids=[text for text, _ in NORMAL])
def test_condition_as_terms_that_must_all_hold(text: str, expected: str) -> None:
    assert expression(to_cnf(condition(text)), NAMES) == expected


RANGES = [
    ("v = 1", "[1..1]"),
    ("v <> 1", "(..1) (1..)"),
    ("v < 1", "(..1)"),
    ("v <= 1", "(..1]"),
    ("1 < v", "(1..)"),
    ("v >= 1", "[1..)"),
    ("v IS NOT NULL", "(..)"),
    ("v IS NULL", ""),
    ("v = id", None),
    ("1 = 2", None),
    ("v + 1 = 2", "[2..2]"),
]


def shown(search: sargs.Search) -> str:
    """The ranges of a search, by blanks."""
    texts = []
    for each in search.ranges:
        lower = "(" if each.lower is None else f"{'[' if each.lower.closed else '('}{each.lower.value}"
        upper = ")" if each.upper is None else f"{each.upper.value}{']' if each.upper.closed else ')'}"
        texts.append(f"{lower}..{upper}")
    return " ".join(texts)


@pytest.mark.parametrize(("text", "expected"), RANGES, ids=[text for text, _ in RANGES])
def test_comparison_as_a_search(text: str, expected: str | None) -> None:
    search = sargs.read(condition(text))
    assert (None if search is None else shown(search)) == expected


COMBINED = [
    ("v > 1", "v < 5", "(1..5)", "(..)"),
    ("v > 1", "v > 3", "(3..)", "(1..)"),
    ("v < 1", "v > 3", "", "(..1) (3..)"),
    ("v <= 3", "v >= 3", "[3..3]", "(..)"),
    ("v < 3", "v >= 3", "", "(..)"),
    ("v < 3", "v > 3", "", "(..3) (3..)"),
    ("v = 1", "v <> 1", "", "(..)"),
    ("v <> 1", "v <> 2", "(..1) (1..2) (2..)", "(..)"),
]


@pytest.mark.parametrize(("one", "other", "both", "either"), COMBINED)
def test_two_searches_of_one_operand(one: str, other: str, both: str, either: str) -> None:
    first, second = sargs.read(condition(one)), sargs.read(condition(other))
    assert first is not None
    assert second is not None
    assert shown(sargs.intersect(first, second)) == both
    assert shown(sargs.unite(first, second)) == either
    assert shown(sargs.complement(sargs.complement(first))) == shown(first)
