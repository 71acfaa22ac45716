"""Flink's own plans, run on Spark, write the rows that Flink wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.parity.corpus import REAL_TIME, Case
from tests.parity.levels import ABREAST, check_rows, check_rows_in_real_time, real_time_session
from tests.parity.results import Recorder
from tests.parity.selection import at_levels

pytestmark = pytest.mark.spark

Check = Callable[[Case, Path], str]


@pytest.fixture(scope="module")
def check(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Check]:
    """What is wrong with a case; in real-time mode, where jobs mostly wait, several of the chosen ones run at once."""
    if not REAL_TIME:
        yield check_rows
        return
    real_time_session()
    tests = [t for t in request.session.items if isinstance(t, pytest.Function) and "check" in t.fixturenames]
    pool = ThreadPoolExecutor(ABREAST)
    cases = [case for test in tests if isinstance(case := test.callspec.params["case"], Case)]
    found = {c: pool.submit(check_rows_in_real_time, c, tmp_path_factory.mktemp(c.name)) for c in cases}
    yield lambda case, folder: found[case].result()
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("case", "level"), at_levels("rows"))
def test_writes_what_flink_wrote(case: Case, level: str, tmp_path: Path, recorder: Recorder, check: Check) -> None:
    wrong = recorder.record(level, case.name, check(case, tmp_path))
    assert not wrong, wrong
