"""Java functions give the rows that Flink has written: all in one job, compiled from a jar that the test makes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.flink.home import HOME, PYTHON, flink_jars
from flinkplan.plan.document import Plan
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from tests.parity.java.cases import CASES, Case, compile_jar, content, copy_data, definitions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHOSEN = [
    "shout-null",
    "add-mixed",
    "add-smallint",
    "join-text",
    "discount-expr",
    "later-rowtime",
    "later-ltz",
    "later-date",
    "later-time",
    "lengths-array",
    "lengths-map",
    "make-row",
    "make-row-field",
    "norm",
    "class-of",
    "class-of-times",
    "hinted-int",
    "hinted-none",
    "echo-int",
    "opened",
    "reversed",
    "reversed-bytes",
    "null-if-negative",
    "greet-default",
    "split-left",
    "split-filter",
    "numbers",
    "points",
    "wavg-retract",
    "wavg-filter",
    "wavg-distinct",
    "wavg-hop",
    "wavg-session",
    "wavg-legacy",
    "wavg-over",
    "wavg-over-rows",
    "distincts-retract",
    "collected-tumble",
    "last-row",
    "async-filter",
    "join-condition",
]
"""Each function, and each operator that calls functions."""

PARAMETERS = {"pipeline.global-job-parameters": "prefix:p1", "table.local-time-zone": "UTC"}

pytestmark = [
    pytest.mark.spark,
    pytest.mark.flink,
    pytest.mark.skipif(not (os.environ.get(PYTHON) or os.environ.get(HOME)), reason=f"needs Flink: {PYTHON} or {HOME}"),
]


def test_rows_are_those_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    from flinkplan.executor.jobs.job import JobOptions, execute
    from flinkplan.table.java_jars import function_jars

    copy_data(tmp_path)
    cases = [case for case in CASES if case.name in CHOSEN]
    plan = compiled(cases, tmp_path, str(compile_jar(tmp_path, flink_jars())))
    execute(plan, JobOptions(spark=spark, options=PARAMETERS, java_jars=function_jars)).wait()
    for case in cases:
        files = (path for path in (tmp_path / "rows" / case.name).rglob("*.json") if path.is_file())
        lines = (line for path in files for line in path.read_text("utf-8").splitlines())
        assert content(lines) == case.flink["content"], case.name


def compiled(cases: list[Case], folder: Path, jar: str) -> Plan:
    """The plan of all cases, in one statement set."""
    tables = "".join(case.table(folder / "rows") for case in cases)
    inserts = "".join(case.insert for case in cases)
    script = f"{definitions(folder)}{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"
    return compile_statements(parse_pipeline(script, "all.sql"), PARAMETERS, load=FunctionLoader(lambda: [jar]))
