"""Tests of pipelines run on Spark: what passes, what fails and how it is told."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.testing.loading import load_tests
from flinkplan.testing.model import Case, Suite
from flinkplan.testing.reporting import failure_text
from flinkplan.testing.running import run_suite
from tests.cli.support import flinkplan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
HERE = Path(__file__).parent
SUITES = [load_tests(HERE / f"{name}.test.yaml") for name in ("orders", "expiry", "steps")]
CASES = [(suite, case) for suite in SUITES for case in suite.cases]


@pytest.mark.parametrize(("suite", "case"), CASES, ids=[case.name for _, case in CASES])
def test_a_case_passes(spark: SparkSession, suite: Suite, case: Case) -> None:
    [outcome] = run_suite(suite, only=lambda each: each is case)
    assert outcome.passed, failure_text(outcome)


def test_the_tests_that_init_writes_pass(spark: SparkSession, tmp_path: Path) -> None:
    flinkplan("init", str(tmp_path))
    outcome = flinkplan("test", str(tmp_path))
    assert (outcome.code, outcome.err) == (0, ""), outcome.out
    assert "2 passed" in outcome.out


def test_what_fails_is_shown_and_can_be_updated(spark: SparkSession, tmp_path: Path) -> None:
    shutil.copy(HERE / "orders.sql", tmp_path)
    file = tmp_path / "a.test.yaml"
    file.write_text(
        "version: 1\npipeline: orders.sql\ntests:\n  - name: a\n    given:\n"
        "      orders: [{id: 1, product: apple, price: 1, ts: 2024-01-01 00:00:00}]\n    expect:\n"
        "      totals:\n        columns: [product, n]\n        rows:\n          - {product: apple, n: 7}\n"
    )
    report = tmp_path / "report.xml"
    outcome = flinkplan("test", str(file), "--junit", str(report))
    assert outcome.code == 1
    assert "    -  apple    7\n    +  apple    1\n" in outcome.out
    assert '<failure message="totals: 1 row missing, 1 row unexpected"' in report.read_text()
    assert flinkplan("test", str(file), "--update", "-q").code == 1
    assert "- {product: apple, n: 1}" in file.read_text()
    assert flinkplan("test", str(file)).code == 0
