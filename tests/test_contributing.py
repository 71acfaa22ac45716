"""The examples of CONTRIBUTING.md, applied to a copy of the project."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SCRIPT = """
CREATE TABLE t (s STRING) WITH ('connector' = 'datagen');
CREATE TABLE n (i INT) WITH ('connector' = 'numbers', 'up-to' = '3');
CREATE TABLE o (s STRING) WITH ('connector' = 'blackhole');
CREATE TABLE b (b BOOLEAN) WITH ('connector' = 'blackhole');
BEGIN STATEMENT SET;
INSERT INTO o SELECT SOUNDEX(s) FROM t;
INSERT INTO b SELECT BOOL_AND(i < 3) FROM n;
END;
"""
AGGREGATE = """
import pytest
from pyspark.sql import SparkSession

from flinkplan import EnvironmentSettings, TableEnvironment


@pytest.mark.spark
def test_all_are_true_or_not(spark: SparkSession) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE n (i INT) WITH ('connector' = 'numbers', 'up-to' = '3')")
    with env.execute_sql("SELECT BOOL_AND(i < 4), BOOL_AND(i < 3) FROM n").collect() as rows:
        assert tuple(list(rows)[-1]) == (True, False)
"""
TRIGGER = """
import pytest
from pyspark.sql import SparkSession

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.datastream import EachRowTrigger, GlobalWindows, create_temporary_view, to_data_stream


@pytest.mark.spark
def test_each_row_fires(spark: SparkSession) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE n (i INT) WITH ('connector' = 'numbers', 'up-to' = '3')")
    windows = to_data_stream(env, "n").window_all(GlobalWindows.create()).trigger(EachRowTrigger.create())
    create_temporary_view(env, "w", windows.aggregate(n="COUNT(*)"))
    with env.execute_sql("SELECT n FROM w").collect() as rows:
        assert sorted(tuple(row) for row in rows) == [(1,), (2,), (3,)]
"""
PIPELINE = """
version: 1
tables:
  n: {columns: {i: INT}, with: {connector: numbers, up-to: 3}}
  o: {columns: {n: BIGINT}, with: {connector: blackhole}}
windows:
  w: {from: n, assign: global, trigger: each-row, aggregate: {n: COUNT(*)}}
inserts:
  - {into: o, query: SELECT n FROM w}
"""
DEDUPLICATED = """
CREATE TABLE t (a INT, b STRING, c INT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv');
CREATE TABLE o (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
INSERT INTO o SELECT DISTINCT a, {} FROM t;
"""
DISTINCT = """
import pytest

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import loads
from tests.executor.jobs import Place


@pytest.mark.spark
def test_a_row_comes_once_also_after_a_restart(place: Place) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, folder in (("t", "in"), ("o", "out")):
        options = ", ".join(f"'{key}' = '{value}'" for key, value in place.files(folder).items())
        env.execute_sql(f"CREATE TABLE {name} (a INT, b STRING) WITH ({options})")
    plan = loads(env.compile_plan_sql("INSERT INTO o SELECT DISTINCT a, b FROM t").as_json_string())
    one, two = {"a": 1, "b": "x"}, {"a": 2, "b": "x"}
    place.put("1", one, one)
    place.run(plan, Mode.AVAILABLE_NOW)
    place.put("2", two, one, two)
    place.run(plan, Mode.AVAILABLE_NOW)
    assert place.rows() == [one, two]
"""
COMMANDS = """
import sys

from flinkplan.cli.main import run

codes = [run(command.split()) for command in sys.argv[1:]]
print()
print(*codes)
"""
COMPLETE = ("plan/test_nodes.py", "planner/algebra/test_dispatch.py", "executor/test_registry.py")
"""Tests that ask whether each node is known everywhere."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the diffs of the page applied, its table of values, and what is generated made anew."""
    tmp_path = tmp_path_factory.mktemp("project")
    ignored = shutil.ignore_patterns("__pycache__", "*.jar", "flink")
    shutil.copytree(ROOT / "flinkplan", tmp_path / "flinkplan", ignore=shutil.ignore_patterns("__pycache__", "*.jar"))
    tests = Path("tests/executor/expressions")
    shutil.copytree(ROOT / tests, tmp_path / tests, ignore=ignored)
    shared = (file for file in (ROOT / tests.parent).glob("*.py") if not file.name.startswith("test_"))
    for file in (ROOT / "pyproject.toml", ROOT / "tests/conftest.py", *shared):
        shutil.copy(file, tmp_path / file.relative_to(ROOT))
    for diff in blocks("diff"):
        subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff, text=True, check=True)
    (table,) = blocks("json")
    (tmp_path / tests / "flink").mkdir()
    (tmp_path / tests / "flink/soundex.json").write_text(table, "utf-8")
    run(tmp_path, "-m", "flinkplan.schemas.generate")
    return tmp_path


def run(copy: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def flinkplan(copy: Path, *commands: str) -> tuple[str, list[int]]:
    """What several commands print, one after the other in one process, and their exit codes."""
    output = run(copy, "-c", COMMANDS, *commands)
    *printed, codes = output.splitlines()
    return "\n".join(printed), list(map(int, codes.split()))


def files(heading: str) -> list[str]:
    """The files that the example below a heading changes."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\+\+\+ b/(.*)$", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "count"),
    [
        ("How to add a scalar function", 2),
        ("How to add an aggregate function", 3),
        ("How to add an exec node", 6),
        ("How to add a connector", 4),
        ("How to add a trigger, an assigner or an evictor", 4),
    ],
)
def test_little_is_to_be_touched(heading: str, count: int) -> None:
    assert len(set(files(heading))) == count


@pytest.mark.programs
def test_what_was_added_compiles(copy: Path) -> None:
    (copy / "pipeline.sql").write_text(SCRIPT, "utf-8")
    plan, _ = flinkplan(copy, "compile pipeline.sql -o -")
    assert '"$SOUNDEX$1"' in plan
    assert '"$BOOL_AND$1"' in plan
    assert '"numbers"' in plan


@pytest.mark.programs
def test_a_trigger_that_was_added_is_known_to_pipelines(copy: Path) -> None:
    (copy / "pipeline.yaml").write_text(PIPELINE, "utf-8")
    plan, _ = flinkplan(copy, "compile pipeline.yaml -o -")
    assert "trigger=[EachRowTrigger()]" in plan


@pytest.mark.programs
def test_a_node_that_was_added_is_known_to_all_commands(copy: Path) -> None:
    for name, column in (("old", "b"), ("new", "CAST(c AS STRING)")):
        (copy / f"{name}.sql").write_text(DEDUPLICATED.format(column), "utf-8")
    output, codes = flinkplan(
        copy,
        *("compile old.sql -o old.json", "compile new.sql -o new.json", "validate old.json"),
        *("diff old.json new.json", "ttl old.json", "explain --physical old.json", "explain --rules old.sql"),
    )
    assert codes == [0, 0, 0, 1, 0, 0, 0]
    assert '"stream-exec-distinct_1"' in (copy / "old.json").read_text("utf-8")
    assert "note[own-node]: node 3 stream-exec-distinct_1" in output
    assert "(keys-changed)" in output
    assert "deduplicateState" in output
    assert "3 Distinct  kernel rank.Deduplicate" in output
    assert "+   Distinct(key=[a, b])" in output


@pytest.mark.programs
def test_a_node_that_was_added_is_complete(copy: Path) -> None:
    for file in (ROOT / "tests/planner/outlines.py", *(ROOT / "tests" / name for name in COMPLETE)):
        copied = copy / file.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copied)
    run(copy, "-m", "pytest", "-q", *(f"tests/{name}" for name in COMPLETE))


@pytest.mark.spark
def test_what_was_added_runs(copy: Path) -> None:
    (copy / "tests/executor/test_bool_and.py").write_text(AGGREGATE, "utf-8")
    (copy / "tests/executor/test_each_row.py").write_text(TRIGGER, "utf-8")
    (copy / "tests/executor/test_distinct.py").write_text(DISTINCT, "utf-8")
    written = ("test_bool_and.py", "test_each_row.py", "test_distinct.py")
    added = ("expressions/test_against_flink.py", "test_numbers.py", *written)
    assert "5 passed" in run(copy, "-m", "pytest", "-q", *(f"tests/executor/{name}" for name in added))
