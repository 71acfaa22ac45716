"""What Flink emits comes out of Python classes as well, wherever batches begin and end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from tests.parity.datastream.comparing import differences
from tests.parity.datastream.pipeline import Case
from tests.parity.datastream.running import is_drained

from .stream import Stream, batches

FOLDER = Path(__file__).parents[1] / "parity" / "datastream" / "cases"
CASES: list[Case] = [
    case
    for file in sorted(FOLDER.glob("*.jsonl"))
    for case in map(json.loads, file.read_text("utf-8").splitlines())
    if len(case["operators"]) == 1 and "error" not in case["expected"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_as_in_flink(case: Case) -> None:
    events = case["events"]
    assert differences(case, Stream(case).run([events])) == [], "one micro-batch"
    borders = range(1, len(events))
    assert differences(case, Stream(case).run(list(batches(events, borders)))) == [], "a micro-batch an event"


@pytest.mark.parametrize("case", [c for c in CASES if is_drained(c)], ids=lambda case: case["name"])
def test_as_in_flink_in_a_batch(case: Case) -> None:
    assert differences(case, Stream(case).run_at_once()) == []


REFUSED = {
    case["name"]: case
    for case in map(json.loads, (FOLDER / "error.jsonl").read_text("utf-8").splitlines())
    if case["name"] not in ("error-null-key", "error-tumbling-never", "error-dynamic-gap-negative")
}
"""What classes refuse when they are made: a NULL key and a gap are found in rows."""


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused_as_in_flink(case: Case) -> None:
    with pytest.raises(FlinkplanError, match=r"cannot make window_classes:|cannot be merged, as these windows must be"):
        Stream(case)


def test_a_gap_that_is_none_fails_when_a_row_has_it() -> None:
    lines = (FOLDER / "error.jsonl").read_text("utf-8").splitlines()
    (case,) = (case for case in map(json.loads, lines) if case["name"] == "error-dynamic-gap-negative")
    with pytest.raises(ValueError, match="Dynamic session time gap must satisfy 0 < gap"):
        Stream(case).run([case["events"]])
