"""Every case is emitted as by Flink: at once, and in runs that end anywhere."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .comparing import differences
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
DRAINED = [case for case in CASES.values() if is_drained(case) and case not in REFUSED]
CUT = [case for case in CASES.values() if not is_drained(case)]
TOGETHER = 20
"""How many cases are run as one job: starting a job costs more than a case."""

GROUPS = {f"{DRAINED[i]['name']}-on": DRAINED[i : i + TOGETHER] for i in range(0, len(DRAINED), TOGETHER)}


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_as_in_flink(group: list[Case], tmp_path: Path, spark: SparkSession) -> None:
    found = run_together(group, tmp_path / "job", spark)
    assert {case["name"]: d for case in group if (d := differences(case, found[case["name"]]))} == {}


@pytest.mark.parametrize("case", [*CUT, *REFUSED], ids=lambda case: case["name"])
def test_as_in_flink_alone(case: Case, tmp_path: Path, spark: SparkSession) -> None:
    assert differences(case, run_case(case, tmp_path / "job", spark)) == []


BY_CLASSES = (
    "evictor-delta-before",
    "lateness-state-is-cleared",
    "session-late-firing-bridges",
    "trigger-continuous-watermark-jumps",
    "tumbling-late-side-output",
)


def test_as_in_flink_by_python_classes(tmp_path: Path, spark: SparkSession) -> None:
    group = [CASES[name] for name in BY_CLASSES]
    found = run_together(group, tmp_path / "job", spark, python=True)
    assert {case["name"]: d for case in group if (d := differences(case, found[case["name"]]))} == {}


def test_as_in_flink_by_python_classes_alone(tmp_path: Path, spark: SparkSession) -> None:
    case = CASES["evictor-delta-before"]
    assert differences(case, run_case(case, tmp_path / "job", spark, python=True)) == []


def test_python_classes_see_the_names_of_a_view(tmp_path: Path, spark: SparkSession) -> None:
    case = CASES["consecutive-top-of-sums"]
    assert differences(case, run_case(case, tmp_path / "job", spark, python=True)) == []


RESTARTED = (
    "consecutive-two-late-outputs",
    "evictor-written-back",
    "global-delta-purging",
    "lateness-state",
    "session-continuous-trigger-merge",
    "trigger-continuous-watermark-jumps",
)


def test_a_timer_behind_the_watermark_waits_for_it_to_move(tmp_path: Path, spark: SparkSession) -> None:
    case = CASES["random-sliding-097"]
    assert differences(case, run_case(case, tmp_path / "job", spark, [3])) == []


@pytest.mark.parametrize("name", RESTARTED)
def test_as_in_flink_over_restarts(name: str, tmp_path: Path, spark: SparkSession) -> None:
    case = CASES[name]
    places = range(1, len(case["events"]))
    cuts = sorted(random.Random(name).sample(places, min(3, len(places))))
    assert differences(case, run_case(case, tmp_path / "job", spark, cuts)) == [], f"runs that end before {cuts}"
