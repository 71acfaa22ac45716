"""Flink's own plans in event time write the rows that Flink wrote, wherever batches begin and end.

A batch costs a tenth of a second and more, so that some cases alone are run here; ``make parity-batches`` runs all in
each of the ways.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.mark import ParameterSet

from tests.parity.batches import UNLIKE, WAYS, check_batches, late_at_once, timed_cases
from tests.parity.corpus import BATCHES, Case, cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CHOSEN = (
    ("window-over-late-rows", "random"),
    ("window-tumble-late-rows-dropped", "restarts"),
)
"""The case and the way of those that are always run."""
_AT_ONCE: dict[Case, Counter[str]] = {}


def _parameters() -> list[ParameterSet]:
    found = []
    chosen = {name for name, _ in CHOSEN}
    for case in timed_cases() if BATCHES else (case for case in cases() if case.name in chosen):
        for way in WAYS:
            if BATCHES or (case.name, way) in CHOSEN:
                marks = [pytest.mark.skip(UNLIKE[case.name])] if case.name in UNLIKE else []
                found.append(pytest.param(case, way, id=f"{case.name}-{way}", marks=marks))
    return found


@pytest.mark.parametrize(("case", "way"), _parameters())
def test_rows_and_late_rows_are_the_same(case: Case, way: str, tmp_path: Path, spark: SparkSession) -> None:
    if case not in _AT_ONCE:
        _AT_ONCE[case] = late_at_once(case, tmp_path / "at once", spark)
    wrong = check_batches(case, way, tmp_path / "batches", spark, _AT_ONCE[case])
    assert not wrong, wrong
