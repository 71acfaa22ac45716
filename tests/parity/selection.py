"""The parameters of the parity tests: cases, with those marked that are known not to pass yet."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from tests.parity.corpus import REAL_TIME, STREAMS, Case, cases, reason_pending

_PARTS = "lists of windows whose parts merge have them in another order where a checkpoint comes between"
SUMS_OF_BUCKETS = "the sums of buckets, floating-point numbers, are added up in another order"
_IN_STREAMS = {"window-tumble-avg-split-keyed": SUMS_OF_BUCKETS}
_READ_TWICE = "a table that both inputs of a join read has two readers, and which of them is ahead is a race"
_IN_REAL_TIME = {
    **_IN_STREAMS,
    "join-interval-self-left-late": _READ_TWICE,
    "join-signed-zero-keys": _READ_TWICE,
    "window-join-key-behind-other-condition": _READ_TWICE,
    "window-semi-join-hop-late": _READ_TWICE,
    "window-session-merges-in-order": _PARTS,
    "window-slices-in-order": _PARTS,
    "window-union-of-two-sources": "which rows are late is a race of two sources",
}
"""Cases that are right in batches alone, and why; the list of what is pending is of batches."""


def at_levels(*levels: str) -> list[ParameterSet]:
    """One parameter set ``(case, level)`` for each case measured at each of the levels."""
    return [_parameters(case, level) for case in cases() for level in levels if level in case.levels()]


def _parameters(case: Case, level: str) -> ParameterSet:
    in_mode = _IN_REAL_TIME if REAL_TIME else _IN_STREAMS if STREAMS else None
    reason = reason_pending(case, level) if in_mode is None else in_mode.get(case.name)
    marks = [pytest.mark.xfail(strict=in_mode is None, reason=reason)] if reason else []
    return pytest.param(case, level, id=f"{case.name}-{level}", marks=marks)
