"""What ``migrate`` makes of a checkpoint goes on with the rows that the new plan would have had from the beginning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.compat.migrated import of_truth
from tests.compat.savepoints.restarts import Found
from tests.compat.truths import ON_FLINK, Truth

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.nightly("each change runs five jobs")]

BROKEN = [truth for truth in ON_FLINK if (found := Found.read(truth.name)) is not None and found.verdict != "restored"]
"""The changes after which Flink by itself does not go on rightly."""
_ELSEWHERE = {"time-zone-changed", "source-connector-changed"}
"""Changes of the session or of tables, which the plans alone do not have."""


@pytest.mark.parametrize("truth", [t for t in BROKEN if t.name not in _ELSEWHERE], ids=lambda truth: truth.name)
def test_a_migrated_job_has_the_rows_of_a_new_one(truth: Truth, spark: SparkSession, tmp_path: Path) -> None:
    outcome = of_truth(truth, tmp_path, spark)
    if outcome.refused:
        pytest.skip(outcome.refused)
    assert outcome.is_right, outcome
