"""Every case is emitted as by Flink: at once, and in runs that end anywhere.

A case costs a second, so that of some hundred those are run here that show each part of windows; ``make
parity-windows`` runs all, and all by Python classes.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.mark import ParameterSet

from .comparing import differences
from .covering import covering
from .pipeline import Case
from .running import is_drained, run_case, run_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES: dict[str, Case] = {
    case["name"]: case
    for file in sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
    for case in map(json.loads, file.read_text("utf-8").splitlines())
}
REFUSED = [case for case in CASES.values() if "error" in case["expected"]]
ACCEPTED = [case for case in CASES.values() if case not in REFUSED]
ALL = os.environ.get("FLINKPLAN_WINDOWS") == "all"
CHOSEN = ACCEPTED if ALL else covering(ACCEPTED)
CUT = [case for case in CHOSEN if not is_drained(case)]
TOGETHER = 6
"""How many cases are run as one job: starting a job costs more than a case, and a large plan more than its parts."""


def groups(cases: Sequence[Case]) -> dict[str, Sequence[Case]]:
    """Cases whose input ends, so many at a time, by the name of the first."""
    drained = [case for case in cases if is_drained(case)]
    return {f"{drained[i]['name']}-on": drained[i : i + TOGETHER] for i in range(0, len(drained), TOGETHER)}


def found_differences(cases: Sequence[Case], found: dict[str, dict[str, list[object]]]) -> dict[str, list[str]]:
    """What differs, by case."""
    return {case["name"]: d for case in cases if (d := differences(case, found[case["name"]]))}


IN_STREAMS = pytest.mark.nightly("those that restart run in streams, too")


@pytest.mark.parametrize("streams", [False, pytest.param(True, marks=[] if ALL else IN_STREAMS)])
@pytest.mark.parametrize("group", groups(CHOSEN).values(), ids=groups(CHOSEN))
def test_as_in_flink(group: Sequence[Case], streams: bool, tmp_path: Path, spark: SparkSession) -> None:
    assert found_differences(group, run_together(group, tmp_path / "job", spark, streams=streams)) == {}


@pytest.mark.parametrize("case", [*CUT, *REFUSED], ids=lambda case: case["name"])
def test_as_in_flink_alone(case: Case, tmp_path: Path, spark: SparkSession) -> None:
    assert differences(case, run_case(case, tmp_path / "job", spark)) == []


BY_CLASSES = [
    CASES[name]
    for name in (
        "consecutive-top-of-sums",
        "evictor-delta-before",
        "lateness-state-is-cleared",
        "session-late-firing-bridges",
        "trigger-continuous-watermark-jumps",
        "tumbling-late-side-output",
    )
]
BY_CLASSES_TOGETHER = groups(ACCEPTED if ALL else BY_CLASSES)


@pytest.mark.parametrize("group", BY_CLASSES_TOGETHER.values(), ids=BY_CLASSES_TOGETHER)
def test_as_in_flink_by_python_classes(group: Sequence[Case], tmp_path: Path, spark: SparkSession) -> None:
    assert found_differences(group, run_together(group, tmp_path / "job", spark, python=True)) == {}


def test_as_in_flink_by_python_classes_over_a_restart(tmp_path: Path, spark: SparkSession) -> None:
    case = CASES["evictor-delta-before"]
    assert differences(case, run_case(case, tmp_path / "job", spark, [2], python=True)) == []


RESTARTED = [
    CASES[name]
    for name in (
        "consecutive-two-late-outputs",
        "evictor-written-back",
        "global-delta-purging",
        "lateness-state",
        "session-continuous-trigger-merge",
        "trigger-continuous-watermark-jumps",
    )
]


def test_a_timer_behind_the_watermark_waits_for_it_to_move(tmp_path: Path, spark: SparkSession) -> None:
    case = CASES["random-sliding-097"]
    assert differences(case, run_case(case, tmp_path / "job", spark, [3])) == []


IN_NIGHTLY = pytest.mark.nightly("two of them restart each kind of state that windows have")


def _restarted(case: Case) -> ParameterSet:
    chosen = ALL or case["name"] in ("consecutive-two-late-outputs", "session-continuous-trigger-merge")
    return pytest.param(case, marks=[] if chosen else IN_NIGHTLY, id=case["name"])


@pytest.mark.parametrize("case", map(_restarted, [c for c in ACCEPTED if is_drained(c)] if ALL else RESTARTED))
def test_as_in_flink_over_restarts(case: Case, tmp_path: Path, spark: SparkSession) -> None:
    places = range(1, len(case["events"]))
    cuts = sorted(random.Random(case["name"]).sample(places, min(3, len(places))))
    assert differences(case, run_case(case, tmp_path / "job", spark, cuts)) == [], f"runs that end before {cuts}"
