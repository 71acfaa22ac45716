"""Windows of the DataStream API emit what Flink emits, also where each event comes in a batch of its own.

``make parity-batches`` runs all cases whose input ends; restarts between batches are ``test_cases.py``'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.parity.corpus import BATCHES

from .comparing import differences
from .pipeline import Case
from .running import is_drained, run_case
from .test_cases import ACCEPTED, CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CHOSEN = [CASES["session-late-extends-fired"]]


@pytest.mark.parametrize(
    "case", [c for c in ACCEPTED if is_drained(c)] if BATCHES else CHOSEN, ids=lambda case: case["name"]
)
def test_as_in_flink_event_by_event(case: Case, tmp_path: Path, spark: SparkSession) -> None:
    cuts = range(1, len(case["events"]))
    assert differences(case, run_case(case, tmp_path / "job", spark, cuts, restarts=False)) == []
