"""Flink's own plans, run on Spark, write the rows that Flink wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.corpus import REAL_TIME, Case
from tests.parity.levels import check_rows, check_rows_in_real_time
from tests.parity.results import Recorder
from tests.parity.selection import at_levels

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("case", "level"), at_levels("rows"))
def test_writes_what_flink_wrote(case: Case, level: str, tmp_path: Path, recorder: Recorder) -> None:
    check = check_rows_in_real_time if REAL_TIME else check_rows
    wrong = recorder.record(level, case.name, check(case, tmp_path))
    assert not wrong, wrong
