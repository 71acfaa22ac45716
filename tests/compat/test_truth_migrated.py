"""What ``migrate`` carries goes on in Flink with the rows that the new plan would have had from the beginning.

With ``make truth-migrated`` Flink is asked, and its answers are kept beside the truths.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.compat.migration.planning import plan_migration
from flinkplan.compat.migration.recipe import Allowed
from tests.compat.savepoints.restarts import MIGRATE, MIGRATED, Found, ask, plans
from tests.compat.savepoints.runner import __file__ as RUNNER_FILE
from tests.compat.truths import ON_FLINK, Truth
from tests.parity.flink import PYTHON_VARIABLE, Flink

BROKEN = [
    truth
    for truth in ON_FLINK
    if (found := Found.read(truth.name)) is not None
    and found.verdict != "restored"
    and (os.environ.get(PYTHON_VARIABLE) or Found.read(truth.name, MIGRATED))
]
"""The changes after which Flink by itself does not go on rightly, as far as it was asked about ``migrate``."""


@pytest.fixture(scope="module")
def flink() -> Iterator[Flink | None]:
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        yield None
        return
    with Flink(python, Path(RUNNER_FILE)) as started:
        yield started


@pytest.mark.parametrize("truth", BROKEN, ids=lambda truth: truth.name)
def test_what_is_carried_is_restored(truth: Truth, flink: Flink | None) -> None:
    if any(plan_migration(*plans(truth)).settled(Allowed()).refusals(Allowed())):
        assert Found.read(truth.name, MIGRATED) is None
        return
    if flink is not None:
        ask(truth, flink, MIGRATE).write(truth.name, MIGRATED)
    recorded = Found.read(truth.name, MIGRATED)
    assert recorded is not None
    assert recorded.verdict == "restored" or (recorded.verdict == "declined" and recorded.error)
