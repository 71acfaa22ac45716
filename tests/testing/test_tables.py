"""The tables of a plan in a test, and the files with its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.errors import FlinkplanError
from flinkplan.testing.loading import load_tests
from flinkplan.testing.model import Case, Expectation
from flinkplan.testing.planning import Pipeline, column_names, primary_key
from flinkplan.testing.tables import source_tables, with_test_tables, write_rows
from tests.cli.support import ROOT, environment

HERE = Path(__file__).parent
SUITE = load_tests(HERE / "orders.test.yaml")
PIPELINE = Pipeline(SUITE.pipeline, {}, ())


@pytest.mark.parametrize("case", SUITE.cases, ids=lambda case: case.name)
def test_plans_are_executable_without_their_connectors(case: Case, tmp_path: Path) -> None:
    for step in case.steps:
        for expected in step.expected:
            plan = PIPELINE.plan_of(expected)
            tables = source_tables(plan)
            for name in tables:
                (tmp_path / name).mkdir(exist_ok=True)
            for name, (rows, _) in step.given.items():
                if name in tables:
                    write_rows(tmp_path, tables[name], rows, 0)
            check_executable(with_test_tables(plan, tmp_path), {}, {}, ())


def test_the_plan_of_a_sink_is_its_part() -> None:
    [totals] = SUITE.cases[0].steps[0].expected
    plan = PIPELINE.plan_of(totals)
    assert len(plan.nodes) < len(PIPELINE.plan.nodes)
    assert (column_names(plan), primary_key(plan)) == (["product", "n", "total", "average_rate"], (0,))


def written(folder: Path, given: str) -> list[object]:
    """The rows of a test as they are written into the files of the tables."""
    file = folder / "a.test.yaml"
    file.write_text(f"version: 1\npipeline: p\ntests:\n  - name: a\n    given: {given}\n    expect: {{s: []}}\n")
    tables = source_tables(PIPELINE.plan) | source_tables(PIPELINE.plan_of(_expecting("families")))
    [(name, (rows, _))] = load_tests(file).cases[0].steps[0].given.items()
    write_rows(folder, tables[name], rows, 3)
    return [json.loads(line) for line in (folder / name / "part-00003").read_text().splitlines()]


def _expecting(view: str) -> Expectation:
    return next(e for case in SUITE.cases for step in case.steps for e in step.expected if e.name == view)


def test_inserts_are_rows_in_json(tmp_path: Path) -> None:
    [row] = written(tmp_path, "{orders: [{id: 1, price: 1.10, ts: 2024-01-01 00:00:00}]}")
    none = dict.fromkeys(("product", "amount", "rate", "sent"))
    assert row == {"id": 1, "price": "1.10", "ts": "2024-01-01 00:00:00", **none}


def test_changes_are_messages_of_debezium(tmp_path: Path) -> None:
    rows = "[{product: a}, {-U: {product: a}}, {+U: {product: b}}, {+U: {product: c}}, {-D: {product: b}}]"
    messages = written(tmp_path, f"{{products: {rows}}}")
    assert [(m["op"], bool(m["before"]), bool(m["after"])) for m in messages] == [  # type: ignore[index]
        ("c", False, True),
        ("u", True, True),
        ("c", False, True),
        ("d", True, False),
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{orders: [{di: 1}]}", "'orders' has no column 'di'"),
        ("{orders: [{id: x}]}", "orders.id: 'x' is not a whole number"),
        ("{orders: [{-D: {id: 1}}]}", "has no rows of the kind -D"),
        ("{products: [{family: x}]}", "products.product has no value"),
        ("{orders: {columns: [id], rows: [[1, 2]]}}", "has 2 values, and there are 1 columns"),
    ],
)
def test_rows_that_a_table_cannot_have(tmp_path: Path, given: str, words: str) -> None:
    with pytest.raises(FlinkplanError) as raised:
        written(tmp_path, given)
    assert words in str(raised.value)
    assert "a.test.yaml:5:" in str(raised.value)


def test_pytest_collects_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.test.yaml").write_text("version: 1\npipeline: p\ntests: [{name: b, expect: {s: []}}]\n")
    (tmp_path / "other.test.yaml").write_text("hosts: all\n")
    command = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, *command, "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        check=False,
    )
    assert "a.test.yaml::b" in done.stdout, done.stdout + done.stderr
    assert "1 test collected" in done.stdout
