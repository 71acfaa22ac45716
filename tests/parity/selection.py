"""The parameters of the parity tests: cases, with those marked that are known not to pass yet."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from tests.parity.corpus import REAL_TIME, STREAMS, Case, cases, reason_pending


def at_levels(*levels: str) -> list[ParameterSet]:
    """One parameter set ``(case, level)`` for each case measured at each of the levels."""
    return [_parameters(case, level) for case in cases() for level in levels if level in case.levels()]


def _parameters(case: Case, level: str) -> ParameterSet:
    reason = None if STREAMS or REAL_TIME else reason_pending(case, level)  # what is listed is what batches do
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
    return pytest.param(case, level, id=f"{case.name}-{level}", marks=marks)
