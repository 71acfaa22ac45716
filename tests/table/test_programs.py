"""Python programs that import PyFlink are compiled with flinkplan's modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.table.programs import compile_program
from flinkplan.udf import as_pyflink

PROGRAM = """
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import udf


@udf(result_type=DataTypes.BIGINT())
def double(i):
    return i * 2


env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
env.execute_sql("CREATE TABLE orders (id BIGINT) WITH ('connector' = 'datagen')")
env.execute_sql("CREATE TABLE sink (id BIGINT) WITH ('connector' = 'print')")
env.create_temporary_system_function("twice", double)
"""
JOB = 'env.from_path("orders").select(call("twice", col("id"))).execute_insert("sink")\n'


@pytest.fixture(autouse=True)
def without_pyflink() -> Iterator[None]:
    """No module of PyFlink is imported before a test, nor stays behind it."""
    as_pyflink.uninstall()  # other tests of this process may have left it
    yield
    assert not as_pyflink.is_installed()


def compiled(folder: Path, text: str, **options: object) -> str:
    file = folder / "program.py"
    file.write_text(text)
    plan = compile_program(str(file), **options)  # type: ignore[arg-type]
    return " ".join(type(node).__name__ for node in plan.nodes)


def test_a_program_is_run_until_its_first_job(tmp_path: Path) -> None:
    text = PROGRAM + JOB + "raise SystemExit('not reached')\n"
    assert compiled(tmp_path, text) == "TableSourceScan PythonCalc Sink"


def test_a_function_pipeline_is_enough(tmp_path: Path) -> None:
    text = (
        "def pipeline(env):\n"
        "    env.execute_sql(\"CREATE TABLE a (id BIGINT) WITH ('connector' = 'datagen')\")\n"
        "    env.execute_sql(\"CREATE TABLE b (id BIGINT) WITH ('connector' = 'print')\")\n"
        '    return env.from_path("a").insert_into("b")\n'
    )
    assert compiled(tmp_path, text) == "TableSourceScan Sink"


def test_options_reach_the_environment(tmp_path: Path) -> None:
    text = PROGRAM + "assert env.get_config().get('pipeline.name', '') == 'mine'\n" + JOB
    assert compiled(tmp_path, text, options={"pipeline.name": "mine"}) == "TableSourceScan PythonCalc Sink"


@pytest.mark.parametrize(
    "text, words, line",
    [
        ("x = 1\n", "starts no job", None),
        ("x = 1\ny = x / 0\n", "ZeroDivisionError", 2),
        ("\nfrom pyflink.table import Tabel\n", "did you mean 'Table'", 2),
        ("import pyflink.ml\n", "pyflink.ml", 1),
        (PROGRAM + 'env.from_path("order")\n', "order", PROGRAM.count("\n") + 1),
        (
            PROGRAM + 'env.from_path("orders").select(double(col("id"))).execute_insert("sink")\n',
            "not registered",
            None,
        ),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, words: str, line: int | None) -> None:
    with pytest.raises(FlinkplanError) as raised:
        compiled(tmp_path, text)
    error = raised.value.errors[0]
    assert words in f"{error.message} {error.hint}"
    if line is not None:
        assert str(error.where).endswith(f"program.py:{line}")


def test_modules_beside_a_program_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "beside_a_program.py").write_text("NAME = 'orders'\n")
    text = PROGRAM + "from beside_a_program import NAME\n" + JOB.replace('"orders"', "NAME")
    try:
        assert compiled(tmp_path, text) == "TableSourceScan PythonCalc Sink"
        assert str(tmp_path) not in sys.path
    finally:
        sys.modules.pop("beside_a_program", None)
