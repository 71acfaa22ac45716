"""The rules on Flink's state against what Flink did, and with ``make truth-flink`` against what it does now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.compat.diff import Platforms, Source, diff_texts
from flinkplan.compat.rules import RULES
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import dumps
from tests.compat.savepoints.restarts import FOUND, Found, ask, plans
from tests.compat.savepoints.runner import __file__ as RUNNER_FILE
from tests.compat.truths import ON_FLINK, Truth
from tests.parity.flink import PYTHON_VARIABLE, Flink

SAFE = (Verdict.COSMETIC, Verdict.COMPATIBLE)


@pytest.fixture(scope="module")
def flink() -> Iterator[Flink | None]:
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        yield None
        return
    with Flink(python, Path(RUNNER_FILE)) as started:
        yield started


TOLD = [truth for truth in ON_FLINK if os.environ.get(PYTHON_VARIABLE) or Found.read(truth.name)]
"""What was asked already, or all of it where Flink is there to be asked."""


@pytest.mark.parametrize("truth", TOLD, ids=lambda truth: truth.name)
def test_the_verdict_is_what_flink_does(truth: Truth, flink: Flink | None) -> None:
    if flink is not None:
        ask(truth, flink).write(truth.name)
    recorded = Found.read(truth.name)
    assert recorded is not None
    old, new = map(dumps, plans(truth))
    judged = diff_texts(Source("old", old), Source("new", new), platforms=Platforms(engines=("flink",)), locate=False)
    assert set(truth.rules) <= {f.rule for f in judged.judged}
    if recorded.verdict == "restored":
        assert (judged.flink in SAFE) is not truth.is_hidden
    elif not truth.other_history:
        assert judged.flink not in SAFE
    if recorded.verdict == "misread" and not truth.other_history:
        assert judged.flink in (Verdict.CORRUPTING, Verdict.PARTIAL)
    if recorded.verdict == "refused":
        assert judged.flink is Verdict.INCOMPATIBLE


def test_nothing_is_kept_that_nobody_asks_for() -> None:
    assert {file.stem for file in FOUND.glob("*.json")} <= {truth.name for truth in ON_FLINK}


ASKED = {rule for truth in ON_FLINK if Found.read(truth.name) for rule in truth.rules}


OF_OLDER_RELEASES = {"ttl-switched-before-2.2"}
"""Rules on releases before the one that is asked, whose notes say what they do."""


OF_BATCH_PLANS = {"batch-results-changed", "batch-results-unknown", "runtime-mode-changed"}
"""Rules on plans of batch mode, whose jobs have no savepoint that could be asked about."""


def test_every_rule_was_asked_of_flink_or_says_unknown() -> None:
    certain = {r.id for r in RULES.values() if r.flink is not Verdict.UNKNOWN}
    assert certain - ASKED == OF_OLDER_RELEASES | OF_BATCH_PLANS
