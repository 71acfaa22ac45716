"""Java functions in streams that start again give the rows that Flink has written, and their states expire."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.flink.home import HOME, PYTHON, flink_jars
from flinkplan.plan.document import Plan
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from tests.parity.java.cases import JAVA, content
from tests.parity.java.test_rows import PARAMETERS, lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from flinkplan.executor.prepare.modes import Mode

STREAMED = """
    names-retract names-distinct names-hop names-session names-legacy-session names-over-rows names-over-range
    names-join stats-session last-row-tumble collected async-group async-retract
"""
"""Accumulators with views in the states of each operator that has them, and asynchronous calls beside them."""

PARTS = {"a": ((0, 13), (13, 26), (26, 40)), "b": ((0, 5), (5, 13), (13, 15))}
"""The lines of each table that are there when a job starts again."""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.flink,
    pytest.mark.skipif(not (os.environ.get(PYTHON) or os.environ.get(HOME)), reason=f"needs Flink: {PYTHON} or {HOME}"),
]


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(JAVA.compile_jar(tmp_path_factory.mktemp("java"), flink_jars()))


def test_streams_go_on_from_checkpoints(spark: SparkSession, tmp_path: Path, jar: str) -> None:
    from flinkplan.executor.prepare.modes import Mode

    names = STREAMED.split()
    plan = compiled(tmp_path, names, jar)
    for number, mode in enumerate((Mode.AVAILABLE_NOW, Mode.AVAILABLE_NOW, Mode.BOUNDED)):
        for table, parts in PARTS.items():
            text = (JAVA.folder / f"data/{table}/{table}.json").read_text("utf-8").splitlines(keepends=True)
            put(tmp_path, table, number, text[slice(*parts[number])])
        run(spark, plan, tmp_path / "checkpoint", mode)
    written = {name: content(lines(tmp_path, name)) for name in names}
    assert written == {name: JAVA.by_name[name].flink["content"] for name in names}


def test_accumulators_expire(spark: SparkSession, tmp_path: Path, jar: str) -> None:
    """An accumulator that no row has written for an hour is forgotten; what was emitted of it is not taken back."""
    from flinkplan.executor.prepare.modes import Mode

    plan = compiled(tmp_path, ["names"], jar, {"table.exec.state.ttl": "1 h"})
    hour = 3_600_000
    for number, (hours, key, name) in enumerate(((0, "p", "x"), (0.9, "p", "y"), (1.5, "q", "z"), (2.5, "p", "x"))):
        row = {"id": number, "k": key, "s": name, "ts": f"2024-01-01 00:00:0{number}", "i0": 0}
        put(tmp_path, "a", number, [json.dumps(row) + "\n"])
        run(spark, plan, tmp_path / "checkpoint", Mode.AVAILABLE_NOW, 1_700_000_000_000 + int(hours * hour))
    changes = [json.loads(line) for line in lines(tmp_path, "names")]
    assert sorted((c["op"], (c["before"] or c["after"])["r"]) for c in changes) == [
        ("c", "1{x=1}0"),
        ("c", "1{x=1}0"),
        ("c", "1{z=1}0"),
        ("c", "2{x=1, y=1}0"),
        ("d", "1{x=1}0"),
    ]


def compiled(folder: Path, names: Sequence[str], jar: str, options: dict[str, str] | None = None) -> Plan:
    """The plan of some cases, in one statement set."""
    out = folder / "rows"
    cases = [JAVA.by_name[name] for name in names]
    tables, inserts = ("".join(parts) for parts in zip(*((c.table(out), c.insert) for c in cases), strict=True))
    script = f"{JAVA.definitions(folder)}{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"
    session = {**PARAMETERS, **(options or {})}
    return compile_statements(parse_pipeline(script, "all.sql"), session, load=FunctionLoader(lambda: [jar]))


def put(folder: Path, table: str, number: int, lines: Sequence[str]) -> None:
    """Add a file to a table."""
    path = folder / "data" / table / f"{number}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8")


def run(spark: SparkSession, plan: Plan, checkpoint: Path, mode: Mode, clock: int | None = None) -> None:
    """Run a plan as a stream to the end of what is there."""
    from flinkplan.executor.jobs.job import JobOptions, execute
    from flinkplan.table.java_jars import function_jars

    how: dict[str, Any] = {"checkpoint": str(checkpoint), "streams": True, "mode": mode, "clock": clock}
    execute(plan, JobOptions(spark=spark, options=PARAMETERS, java_jars=function_jars, **how)).wait()
