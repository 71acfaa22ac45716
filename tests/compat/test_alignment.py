"""Operators that keep the order of their state where nothing else has changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.successor import succeed
from flinkplan.compat.validation import validate_text
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import Plan, dumps
from flinkplan.planner import compile_script
from tests.compat.orders import REORDERED, Reordered
from tests.compat.test_truth_spark import Runner, changes, put, rows
from tests.compat.truths import order, shipment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EACH = pytest.mark.parametrize("case", REORDERED, ids=lambda case: case.name)
RESTARTED = ("aggregates-below-a-join", "columns-of-ranks", "interval-sides")
"""Those that are restarted in each run of the tests: an aggregation, a join and a rank, each reordered."""
NIGHTLY = pytest.mark.nightly("others restart each kind of operator, and plans of all cases are compared")
RESTARTS = pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case.name in RESTARTED else NIGHTLY, id=case.name) for case in REORDERED],
)


def plans(case: Reordered) -> tuple[Plan, Plan]:
    """The plans of the old and the new script."""
    old, new = map(compile_script, case.scripts)
    return old, new


def judged(old: Plan, new: Plan) -> Verdict:
    diff = diff_texts(Source("old", dumps(old)), Source("new", dumps(new)), locate=False)
    return diff.verdict


@EACH
def test_the_old_order_is_kept(case: Reordered) -> None:
    old, new = plans(case)
    successor = succeed(old, new)
    told = [reordering.description for reordering in successor.reorderings]
    assert all(any(what.startswith(words) for what in told) for words in case.words), told
    assert judged(old, successor.plan) <= Verdict.COMPATIBLE
    assert not validate_text(dumps(successor.plan))
    kept = {node.id: node.type for node in old.nodes if node.is_stateful}
    assert kept.items() <= {node.id: node.type for node in successor.plan.nodes}.items()


@EACH
def test_the_order_is_kept_again(case: Reordered) -> None:
    old, new = plans(case)
    once = succeed(old, new).plan
    assert dumps(succeed(once, new).plan) == dumps(once)


@EACH
def test_what_has_not_changed_stays_as_it_is(case: Reordered) -> None:
    for plan in plans(case):
        successor = succeed(plan, plan)
        assert dumps(successor.plan) == dumps(plan)
        assert not successor.reorderings


@pytest.mark.spark
@RESTARTS
def test_rows_go_on_from_state(case: Reordered, spark: SparkSession, tmp_path: Path) -> None:
    """The new plan, in the old order, writes after a restart what it writes in a run that was never stopped."""
    old, new = plans(case)
    first = {
        "orders/a": [order(1, amount=2, price=10), order(2, product="q", amount=1, price=7)],
        "shipments/a": [shipment(1, carrier="p")],
        "products/a": [],
    }
    second = {
        "orders/b": [order(2, amount=3, price=9), order(3, amount=1, price=4)],
        "shipments/b": [shipment(2, carrier="q", cost=3), shipment(3, carrier="p")],
    }
    written = []
    for folder, started, goes_on in (("again", old, succeed(old, new).plan), ("straight", new, new)):
        runner = Runner(spark, tmp_path / folder)
        put(runner.folder, first)
        runner.run(started)
        put(runner.folder, second)
        runner.run(goes_on)
        written.append(rows(change for each in changes(runner.folder / "out").values() for change in each))
    assert written[0] == written[1]
    assert written[0]
