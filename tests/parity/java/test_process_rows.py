"""Process table functions give the rows that Flink has written: in a batch, and in streams that start again.

Those in Java need Flink; the same functions in Python (``process/ptfs.py``) do not.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.flink.home import HOME, PYTHON, flink_jars
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.ttl import parse_edit, set_ttls
from flinkplan.planner.script import compile_statements, parse_pipeline
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.plan_functions import bind_to_files
from tests.parity.java.cases import PROCESS, PTFS, content
from tests.parity.java.test_rows import PARAMETERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from flinkplan.executor.prepare.modes import Mode

BOUNDED = """
    row-echo-query row-twice-window row-typed row-kinds named opened series retracted-group upserted-id
    greeter-of-greeter map-state all-states-null-key count-all pass-set together totals-join periodic-ltz-rowtime
    reminders-no-time windowed sorted-no-time chosen-time batches timeout-window named2-session three-ways overall
    running-sum averages-join exploded-of-timers typed-pair
"""
"""A case of each feature, each of another function, so that they are one job."""

STREAMED = """
    row-state map-state list-state all-states-most timeout cancelling late late-once sorted-desc throttle pass-set
    opened periodic-hop late-split-tumble row-echo together averages
"""
"""Cases with states and timers, and of each kind of Flink's own restore tests."""

SHARED = """
    greeter-of-greeter named series retracted-group map-state all-states-null-key count-all pass-set totals-join
    windowed sorted-no-time chosen-time timeout-window three-ways
    row-state list-state timeout late sorted-desc throttle periodic-hop together averages
"""
"""Those that functions in Python are tried with, too: each has processes of its own."""

pytestmark = pytest.mark.spark

HAS_FLINK = bool(os.environ.get(PYTHON) or os.environ.get(HOME))
NEEDS_FLINK = [pytest.mark.flink, pytest.mark.skipif(not HAS_FLINK, reason=f"needs Flink: {PYTHON} or {HOME}")]


@pytest.fixture(scope="module", params=[pytest.param("java", marks=NEEDS_FLINK), "python"])
def code(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The jar of the functions, or their module in Python."""
    if request.param == "python":
        return str(PROCESS.folder / f"{PTFS}.py")
    return str(PROCESS.compile_jar(tmp_path_factory.mktemp("process"), flink_jars()))


def test_rows_are_those_of_flink(spark: SparkSession, tmp_path: Path, code: str) -> None:
    PROCESS.copy_data(tmp_path)
    names = chosen(BOUNDED, code)
    run(spark, compiled(tmp_path, names, code))
    assert contents(tmp_path, names) == flinks(names)


def test_streams_go_on_from_checkpoints(spark: SparkSession, tmp_path: Path, code: str) -> None:
    from flinkplan.executor.prepare.modes import Mode

    names = chosen(STREAMED, code)
    plan = compiled(tmp_path, names, code)
    shutil.copytree(PROCESS.folder / "data/f", tmp_path / "data/f")
    lines = (PROCESS.folder / "data/e/e.json").read_text("utf-8").splitlines(keepends=True)
    for first, last, mode in ((0, 7, Mode.AVAILABLE_NOW), (7, 19, Mode.AVAILABLE_NOW), (19, 30, Mode.BOUNDED)):
        put(tmp_path, f"{first:02}", lines[first:last])
        run(spark, plan, tmp_path / "checkpoint", mode)
    assert contents(tmp_path, names) == flinks(names)


def test_states_expire(spark: SparkSession, tmp_path: Path, code: str) -> None:
    """By Spark's own TTL, and by the times that are kept beside states where there are timers."""
    from flinkplan.executor.prepare.modes import Mode

    plan = compiled(tmp_path, ["row-state", "all-states-timed"], code)
    if code.endswith(".py"):  # whose plan has the TTLs
        plan = loads(set_ttls(dumps(plan), [parse_edit("*.total=1 h")])[0])
        plan = bind_to_files(plan, [code], named={"row_state": "ptfs.RowState", "all_states": "ptfs.AllStates"})
    hour = 3_600_000
    for number, hours in enumerate((0, 0.9, 2.5, 200)):
        row = {"id": number, "k": "a", "v": number, "ts": f"2024-01-01 00:0{number}:00"}
        put(tmp_path, str(number), [json.dumps(row) + "\n"])
        run(spark, plan, tmp_path / "checkpoint", Mode.AVAILABLE_NOW, 1_700_000_000_000 + int(hours * hour))
    rows = [json.loads(line)["after"] for line in lines_of(tmp_path, "row-state")]
    assert sorted(row["t"] for row in rows) == ["0 [0]", "1 [0, 1]", "2 [2]", "3 [3]"]
    rows = [json.loads(line)["after"] for line in lines_of(tmp_path, "all-states-timed")]
    third = 1 if code.endswith(".py") else 3
    assert sorted((len(row["names"]), row["n"]) for row in rows) == [(1, 1), (2, 2), (3, third), (4, 1)]


def chosen(names: str, code: str) -> list[str]:
    """The names of cases that are tried with functions in a jar, or in Python."""
    return [name for name in names.split() if not code.endswith(".py") or name in SHARED.split()]


def compiled(folder: Path, names: Sequence[str], code: str) -> Plan:
    """The plan of some cases, in one statement set."""
    out = folder / "rows"
    cases = [PROCESS.by_name[name] for name in names]
    tables, inserts = ("".join(parts) for parts in zip(*((c.table(out), c.insert) for c in cases), strict=True))
    definitions = PROCESS.definitions(folder, PTFS if code.endswith(".py") else None)
    script = f"{definitions}{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;"
    return compile_statements(parse_pipeline(script, "all.sql"), PARAMETERS, load=FunctionLoader(lambda: [code]))


def put(folder: Path, name: str, lines: Sequence[str]) -> None:
    """Add a file to the table ``e``, and to those over the same folder."""
    path = folder / "data/e" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8")


def run(
    spark: SparkSession, plan: Plan, checkpoint: Path | None = None, mode: Mode | None = None, clock: int | None = None
) -> None:
    """Run a plan to its end."""
    from flinkplan.executor.jobs.job import JobOptions, execute
    from flinkplan.table.java_jars import function_jars

    further: dict[str, Any] = {} if checkpoint is None else {"checkpoint": str(checkpoint), "streams": True}
    options = JobOptions(spark=spark, options=PARAMETERS, java_jars=function_jars, mode=mode, clock=clock, **further)
    execute(plan, options).wait()


def lines_of(folder: Path, name: str) -> Iterator[str]:
    """The lines in the files of a sink."""
    for path in sorted((folder / "rows" / name).rglob("*")):
        if path.is_file() and not path.name.startswith((".", "_")):
            yield from path.read_text("utf-8").splitlines()


def contents(folder: Path, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """What the rows of each sink come to."""
    return {name: content(lines_of(folder, name)) for name in names}


def flinks(names: Sequence[str]) -> dict[str, dict[str, int]]:
    """The same of what Flink has written."""
    return {name: PROCESS.by_name[name].flink["content"] for name in names}
