"""Java functions give the rows that Flink has written: all in one job, compiled from a jar that the test makes."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.flink.home import HOME, PYTHON, flink_jars
from flinkplan.plan.document import Plan
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from tests.parity.java.cases import JAVA, Case, content

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALCULATED = """
    shout-null add-mixed add-smallint join-text discount-expr later-ltz later-date later-time lengths-array lengths-map
    make-row make-row-field norm class-of class-of-times hinted-int hinted-none echo-int opened reversed reversed-bytes
    null-if-negative greet-default
"""
"""Cases that compute columns of each row of the same table: these are one query, into one sink."""

OTHERS = """
    split-left numbers points wavg-retract wavg-filter wavg-distinct wavg-hop wavg-session wavg-over-rows
    distincts-retract collected-tumble last-row async-nested join-condition count-all-retract stats-cumulate
"""
"""One of each operator that calls functions."""

PARAMETERS = {"pipeline.global-job-parameters": "prefix:p1", "table.local-time-zone": "UTC"}
CALCULATIONS = [JAVA.by_name[name] for name in CALCULATED.split()]
QUERIES = [JAVA.by_name[name] for name in OTHERS.split()]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.flink,
    pytest.mark.skipif(not (os.environ.get(PYTHON) or os.environ.get(HOME)), reason=f"needs Flink: {PYTHON} or {HOME}"),
]


def test_rows_are_those_of_flink(spark: SparkSession, tmp_path: Path) -> None:
    from flinkplan.executor.jobs.job import JobOptions, execute
    from flinkplan.table.java_jars import function_jars

    JAVA.copy_data(tmp_path)
    plan = compiled(tmp_path, str(JAVA.compile_jar(tmp_path, flink_jars())))
    execute(plan, JobOptions(spark=spark, options=PARAMETERS, java_jars=function_jars)).wait()
    rows = [list(json.loads(line)["after"].values()) for line in lines(tmp_path, "calculated")]
    first = 0
    for case in CALCULATIONS:
        end = first + len(columns_of(case))
        assert counted(row[first:end] for row in rows) == case.flink["content"], case.name
        first = end
    for case in QUERIES:
        assert content(lines(tmp_path, case.name)) == case.flink["content"], case.name


def compiled(folder: Path, jar: str) -> Plan:
    """The plan of all cases, in one statement set."""
    out = folder / "rows"
    types = [column.split(" ", 1)[1] for case in CALCULATIONS for column in columns_of(case)]
    wide = ", ".join(f"c{i} {t}" for i, t in enumerate(types))
    options = f"'connector' = 'filesystem', 'path' = 'file://{out}/calculated', 'format' = 'debezium-json'"
    tables = [f"CREATE TABLE calculated ({wide}) WITH ({options});\n", *(case.table(out) for case in QUERIES)]
    expressions = ", ".join(case.query.removeprefix("SELECT ").removesuffix(" FROM a") for case in CALCULATIONS)
    inserts = [f"INSERT INTO calculated SELECT {expressions} FROM a;\n", *(case.insert for case in QUERIES)]
    script = f"{JAVA.definitions(folder)}{''.join(tables)}EXECUTE STATEMENT SET BEGIN\n{''.join(inserts)}END;"
    return compile_statements(parse_pipeline(script, "all.sql"), PARAMETERS, load=FunctionLoader(lambda: [jar]))


def columns_of(case: Case) -> list[str]:
    """The columns of a case's table, t to w, each with its type."""
    return re.split(r", (?=[t-w] )", case.columns)


def counted(rows: Iterator[list[Any]]) -> dict[str, int]:
    """How often each row is there."""
    counts = Counter(json.dumps(row, ensure_ascii=False) for row in rows)
    return dict(sorted(counts.items()))


def lines(folder: Path, name: str) -> Iterator[str]:
    """The lines in the files of a sink."""
    for path in (folder / "rows" / name).rglob("*"):
        if path.is_file() and not path.name.startswith((".", "_")):
            yield from path.read_text("utf-8").splitlines()
