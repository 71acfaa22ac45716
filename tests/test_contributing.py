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


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project with the diffs of the page applied, and its table of values."""
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
    return tmp_path


def run(copy: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(heading: str) -> list[str]:
    """The files that the example below a heading changes."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\+\+\+ b/(.*)$", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "count"),
    [
        ("How to add a scalar function", 2),
        ("How to add an aggregate function", 3),
        ("How to add a connector", 4),
        ("How to add a trigger, an assigner or an evictor", 4),
    ],
)
def test_little_is_to_be_touched(heading: str, count: int) -> None:
    assert len(set(files(heading))) == count


def test_what_was_added_compiles(copy: Path) -> None:
    (copy / "pipeline.sql").write_text(SCRIPT, "utf-8")
    plan = run(copy, "-c", "from flinkplan.cli.main import main; main()", "compile", "pipeline.sql", "-o", "-")
    assert '"$SOUNDEX$1"' in plan
    assert '"$BOOL_AND$1"' in plan
    assert '"numbers"' in plan


def test_a_trigger_that_was_added_is_known_to_pipelines(copy: Path) -> None:
    (copy / "pipeline.yaml").write_text(PIPELINE, "utf-8")
    run(copy, "-m", "flinkplan.schemas.generate")
    plan = run(copy, "-c", "from flinkplan.cli.main import main; main()", "compile", "pipeline.yaml", "-o", "-")
    assert "trigger=[EachRowTrigger()]" in plan


@pytest.mark.spark
def test_what_was_added_runs(copy: Path) -> None:
    (copy / "tests/executor/test_bool_and.py").write_text(AGGREGATE, "utf-8")
    (copy / "tests/executor/test_each_row.py").write_text(TRIGGER, "utf-8")
    added = ("expressions/test_against_flink.py", "test_bool_and.py", "test_each_row.py", "test_numbers.py")
    assert "4 passed" in run(copy, "-m", "pytest", "-q", *(f"tests/executor/{name}" for name in added))
