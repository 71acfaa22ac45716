"""Tests on Flink, in whose place stands a program that answers as it does."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.types.parser import parse_type
from flinkplan.testing import flink
from flinkplan.testing.flink import FlinkOutcome, FlinkRunner, from_json
from flinkplan.testing.loading import load_tests
from flinkplan.testing.running import pipeline_of

PIPELINE = """
CREATE TABLE a (k STRING, v INT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'h:1',
  'format' = 'json');
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o SELECT k, COUNT(*) FROM a GROUP BY k;
"""
TESTS = """version: 1
pipeline: p.sql
tests:
  - name: right
    given: {a: [{k: x, v: 1}, {k: x, v: 2}]}
    expect: {o: [{k: x, n: 2}]}
  - name: wrong
    given: {a: [{k: x, v: 1}]}
    expect: {o: [{k: x, n: 1}]}
  - name: fails
    given: {a: [{k: fail, v: 1}]}
    expect: {o: []}
  - name: open
    given: {a: [{k: x, v: 1}]}
    expect: {o: []}
    end-of-input: false
  - name: changes
    given: {a: [{k: x, v: 1}]}
    expect: {o: {changelog: [{k: x, n: 1}]}}
"""
PROGRAM = """
import json, sys
from pathlib import Path
for line in sys.stdin:
    plan = json.loads(Path(json.loads(line)["plan"]).read_text())
    tables = [n.get("scanTableSource") or n.get("dynamicTableSink") for n in plan["nodes"]]
    paths = [t["table"]["resolvedTable"]["options"]["path"] for t in tables if t]
    if "fail" in "".join(file.read_text() for file in Path(paths[0]).iterdir()):
        print(json.dumps({"error": "Division by zero"}), flush=True)
        continue
    Path(paths[-1]).mkdir()
    changes = [(None, {"k": "x", "n": 1}, "c"), ({"k": "x", "n": 1}, None, "d"), (None, {"k": "x", "n": 2}, "c")]
    messages = [json.dumps({"before": b, "after": a, "op": op}) for b, a, op in changes]
    (Path(paths[-1]) / "part-0").write_text("\\n".join(messages))
    print(json.dumps({"error": ""}), flush=True)
"""


def test_where_flink_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.sql").write_text(PIPELINE)
    (tmp_path / "p.test.yaml").write_text(TESTS)
    (tmp_path / "runner.py").write_text(PROGRAM)
    monkeypatch.setattr(flink, "RUNNER", tmp_path / "runner.py")
    suite = load_tests(tmp_path / "p.test.yaml")
    pipeline = pipeline_of(suite)
    with FlinkRunner(sys.executable) as runner:
        right, wrong, fails, *others = (runner.outcome(suite, case, pipeline) for case in suite.cases)
    assert right == FlinkOutcome()
    assert [each.summary for each in wrong.differences] == ["o: 1 row missing, 1 row unexpected"]
    assert fails.error == "Division by zero"
    assert [each.not_run for each in others] == [
        "its input does not end",
        "nothing is expected of it but changes in their order, or numbers",
    ]


@pytest.mark.parametrize(("python", "message"), [("/nowhere/python", "cannot be run"), ("/bin/false", "does not run")])
def test_there_is_no_flink(python: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PIPELINE)
    (tmp_path / "p.test.yaml").write_text(TESTS)
    suite = load_tests(tmp_path / "p.test.yaml")
    with pytest.raises(FlinkplanError, match=message), FlinkRunner(python) as runner:
        runner.outcome(suite, suite.cases[0], pipeline_of(suite))


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (None, "INT", None),
        (1, "INT", 1),
        ("2024-01-01 10:00:00.5", "TIMESTAMP(3)", datetime(2024, 1, 1, 10, 0, 0, 500_000)),
        ("2024-01-01 10:00:00Z", "TIMESTAMP(3) WITH LOCAL TIME ZONE", datetime(2024, 1, 1, 10, tzinfo=UTC)),
        ("AP8=", "VARBINARY(10)", b"\x00\xff"),
        (Decimal("1.50"), "DECIMAL(10, 2)", Decimal("1.50")),
        (Decimal("0.5"), "DOUBLE", 0.5),
        ([{"a": 1}], "ARRAY<ROW<`a` INT>>", [(1,)]),
        ({"k": "2024-01-01 10:00:00"}, "MAP<VARCHAR(9), TIMESTAMP(3)>", {"k": datetime(2024, 1, 1, 10)}),
    ],
)
def test_values(value: Any, type_: str, expected: Any) -> None:
    assert from_json(value, parse_type(type_)) == expected
