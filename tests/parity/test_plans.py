"""Every plan of the corpus loads and saves unchanged; every script compiles to Flink's plan."""

from __future__ import annotations

import pytest

from tests.parity.corpus import Case, cases, pending
from tests.parity.levels import check_compiled, check_loaded
from tests.parity.results import Recorder
from tests.parity.selection import at_levels


@pytest.mark.parametrize(("case", "level"), at_levels("loaded"))
def test_loads_and_saves_unchanged(case: Case, level: str, recorder: Recorder) -> None:
    wrong = recorder.record(level, case.name, check_loaded(case))
    assert not wrong, wrong


@pytest.mark.parametrize(("case", "level"), at_levels("shape", "content", "text"))
def test_compiles_as_flink_does(case: Case, level: str, recorder: Recorder) -> None:
    wrong = recorder.record(level, case.name, check_compiled(case, level))
    assert not wrong, wrong


def test_the_pending_list_names_cases() -> None:
    listed = {name for entries in pending().values() for name in entries}
    assert listed <= {case.name for case in cases()}
