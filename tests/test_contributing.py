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
CREATE TABLE o (s STRING) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT SOUNDEX(s) FROM t;
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


def test_a_scalar_function_compiles(copy: Path) -> None:
    (copy / "pipeline.sql").write_text(SCRIPT, "utf-8")
    assert '"$SOUNDEX$1"' in run(
        copy, "-c", "from flinkplan.cli.main import main; main()", "compile", "pipeline.sql", "-o", "-"
    )


@pytest.mark.spark
def test_a_scalar_function_is_computed(copy: Path) -> None:
    assert "1 passed" in run(copy, "-m", "pytest", "-q", "tests/executor/expressions/test_against_flink.py")
