"""``compile`` and ``explain`` of Python programs, and of scripts with Python functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import flinkplan

FUNCTIONS = (
    "from pyflink.table import DataTypes\nfrom pyflink.table.udf import udf\n\n\n"
    "@udf(result_type=DataTypes.BIGINT())\ndef double(i):\n    return i * 2\n"
)
TABLES = (
    "CREATE TABLE a (id BIGINT) WITH ('connector' = 'datagen')",
    "CREATE TABLE b (id BIGINT) WITH ('connector' = 'print')",
)
SCRIPT = (
    "CREATE TEMPORARY FUNCTION twice AS 'cli_functions.double' LANGUAGE PYTHON;\n"
    + ";\n".join(TABLES)
    + ";\nINSERT INTO b SELECT twice(id) FROM a;\n"
)
PROGRAM = (
    "from pyflink.table import EnvironmentSettings, TableEnvironment\n"
    "from pyflink.table.expressions import call, col\n"
    "from cli_functions import double\n\n"
    "env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())\n"
    "env.create_temporary_function('twice', double)\n"
    + "".join(f'env.execute_sql("{table}")\n' for table in TABLES)
    + "env.from_path('a').select(call('twice', col('id'))).execute_insert('b')\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a program, a script and the module of their function."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"cli_functions.py": FUNCTIONS, "program.py": PROGRAM, "script.sql": SCRIPT}.items():
        (tmp_path / name).write_text(text)
    yield tmp_path
    sys.modules.pop("cli_functions", None)


def test_a_program_compiles_to_the_plan_of_the_script(folder: Path) -> None:
    assert flinkplan("compile", "program.py", "-o", "a.json").code == 0
    sys.modules.pop("cli_functions")
    assert flinkplan("compile", "script.sql", "--py-files", "cli_functions.py", "-o", "b.json").code == 0
    assert "stream-exec-python-calc_1" in (folder / "a.json").read_text()
    shown = flinkplan("explain", "a.json")
    assert "select=[twice(id) AS _c0]" in shown.out
    assert "select=[twice(id) AS EXPR$0]" in flinkplan("explain", "b.json").out
    assert flinkplan("explain", "program.py").out == shown.out


def test_functions_of_a_script_are_loaded_only_from_files_that_are_named(folder: Path) -> None:
    refused = flinkplan("compile", "script.sql")
    assert refused.code != 0
    assert "no Python files are named" in refused.err
    assert "cli_functions" not in sys.modules
    (folder / "pyproject.toml").write_text('[tool.flinkplan]\npy-files = ["."]\n')
    assert flinkplan("compile", "script.sql", "-o", "plan.json").code == 0


def test_a_plan_imports_nothing(folder: Path) -> None:
    assert flinkplan("compile", "program.py", "-o", "plan.json").code == 0
    sys.modules.pop("cli_functions")
    for command in (["validate", "plan.json"], ["explain", "plan.json"], ["diff", "plan.json", "plan.json"]):
        assert flinkplan(*command).code == 0
    assert "cli_functions" not in sys.modules


def test_errors_of_a_program(folder: Path) -> None:
    (folder / "program.py").write_text(PROGRAM.replace("from_path('a')", "from_path('aa')"))
    failed = flinkplan("compile", "program.py")
    assert failed.code != 0
    assert "there is no table or view 'aa'" in failed.err
    assert "program.py:9" in failed.err


def test_a_plan_that_calls_functions_is_executed_only_with_files_that_are_named(folder: Path) -> None:
    assert flinkplan("compile", "script.sql", "--py-files", "cli_functions.py", "-o", "plan.json").code == 0
    refused = flinkplan("execute", "plan.json")
    assert refused.code == 3
    assert "the plan calls the Python function twice, and nobody has said where it is" in refused.err
    assert "--function twice=MODULE.NAME" in refused.err
    unknown = flinkplan("execute", "plan.json", "--py-files", "cli_functions.py")
    assert unknown.code == 3
    assert "nobody has said where it is" in unknown.err
    named = ("--py-files", "cli_functions.py", "--function", "twice=cli_functions.no")
    missing = flinkplan("execute", "plan.json", *named)
    assert missing.code == 3
    assert "the module 'cli_functions' has no function 'no'" in missing.err
