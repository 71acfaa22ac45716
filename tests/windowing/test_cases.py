"""What Flink emits comes out of Python classes as well, wherever batches begin and end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parity.datastream.comparing import differences
from tests.parity.datastream.pipeline import Case

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
    assert differences(case, Stream(case).run([events])) == [], "one batch"
    borders = range(1, len(events))
    assert differences(case, Stream(case).run(list(batches(events, borders)))) == [], "a batch an event"
