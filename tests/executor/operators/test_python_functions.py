"""Python functions in jobs: bounded and in micro-batches, over a restart, and when they fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.plan_functions import bind_to_files
from flinkplan.udf.as_pyflink import install, uninstall

pytestmark = pytest.mark.spark

FUNCTIONS = """
import datetime
from pyflink.table import DataTypes, Row
from pyflink.table.udf import ScalarFunction, TableFunction, udf, udtf

@udf(result_type=DataTypes.STRING())
def shown(*values):
    return "|".join(repr(v) for v in values)

@udf(result_type=DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("t", DataTypes.TIMESTAMP(3))]))
def pair(n):
    return None if n is None else Row(t=datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n), a=n)

@udf(result_type=DataTypes.INT(), func_type="pandas")
def plus_one(n):
    return n + 1

@udf(result_type=DataTypes.INT())
def ratio(n):
    return 12 // n

class Counting(ScalarFunction):
    def open(self, function_context):
        self.count = 0

    def eval(self, n):
        self.count += 1
        return self.count

counting = udf(Counting(), result_type=DataTypes.INT())

@udtf(result_types=[DataTypes.INT(), DataTypes.STRING()])
def count_to(n):
    for i in range(n or 0):
        yield i, "x" * i
"""

TABLES = """
CREATE TABLE t (id INT, n INT, d DECIMAL(6, 2), a ARRAY<INT>, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json');
CREATE TABLE o ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}/o', 'format' = 'json');
{functions}
INSERT INTO o {query};
"""

ROWS: list[dict[str, Any]] = [
    {"id": 1, "n": 2, "d": 1.5, "a": [1, None], "ts": "2024-01-01 00:00:01"},
    {"id": 2, "n": None, "d": None, "a": None, "ts": None},
    {"id": 3, "n": 0, "d": -0.25, "a": [], "ts": "1969-12-31 23:59:59.5"},
]


@pytest.fixture(autouse=True)
def pyflink() -> Iterator[None]:
    install(replace=True)
    yield
    uninstall()
    sys.modules.pop("my_functions", None)


def write(folder: Path, rows: list[dict[str, Any]], name: str = "a") -> None:
    (folder / "t").mkdir(exist_ok=True)
    (folder / "t" / f"{name}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def plan(folder: Path, columns: str, query: str, *functions: str) -> Plan:
    """The plan of a query over the table ``t``, with functions of the module that is written to the folder."""
    (folder / "my_functions.py").write_text(FUNCTIONS, "utf-8")
    created = (f"CREATE TEMPORARY FUNCTION {f} AS 'my_functions.{f}' LANGUAGE PYTHON;" for f in functions)
    script = TABLES.format(folder=folder, columns=columns, query=query, functions="\n".join(created))
    return compile_script(script, load=FunctionLoader(lambda: [str(folder / "my_functions.py")]))


def read(folder: Path) -> list[dict[str, Any]]:
    files = sorted(
        file for file in (folder / "o").rglob("*") if file.is_file() and not file.name.startswith((".", "_"))
    )
    lines = (line for file in files for line in file.read_text("utf-8").splitlines())
    return sorted(map(json.loads, lines), key=lambda row: json.dumps(row, sort_keys=True))


def run(plan: Plan, spark: SparkSession, **options: Any) -> None:
    execute(plan, JobOptions(spark=spark, **options)).wait()


@pytest.mark.parametrize("streams", [False, True])
def test_values_go_to_functions_and_back(tmp_path: Path, spark: SparkSession, streams: bool) -> None:
    write(tmp_path, ROWS)
    query = (
        "SELECT id, shown(n, d, a, ts, 'x', 1.50), pair(n), plus_one(plus_one(n)), ratio(id) FROM t WHERE ratio(id) > 3"
    )
    columns = "id INT, s STRING, p ROW<a INT, t TIMESTAMP(3)>, q INT, r INT"
    run(plan(tmp_path, columns, query, "shown", "pair", "plus_one", "ratio"), spark, streams=streams)
    moment = "datetime.datetime(2024, 1, 1, 0, 0, 1)"
    assert read(tmp_path) == [
        {
            "id": 1,
            "s": f"2|Decimal('1.50')|[1, None]|{moment}|'x'|Decimal('1.50')",
            "p": {"a": 2, "t": "2024-01-01 02:00:00"},
            "q": 4,
            "r": 12,
        },
        {"id": 2, "s": "None|None|None|None|'x'|Decimal('1.50')", "p": None, "q": None, "r": 6},
        {
            "id": 3,
            "s": "0|Decimal('-0.25')|[]|datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)|'x'|Decimal('1.50')",
            "p": {"a": 0, "t": "2024-01-01 00:00:00"},
            "q": 2,
            "r": 4,
        },
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_rows_of_a_table_function(tmp_path: Path, spark: SparkSession, streams: bool) -> None:
    write(tmp_path, ROWS)
    query = "SELECT id, i, x FROM t LEFT JOIN LATERAL TABLE(count_to(n)) AS c(i, x) ON TRUE"
    run(plan(tmp_path, "id INT, i INT, x STRING", query, "count_to"), spark, streams=streams)
    assert [tuple(row.values()) for row in read(tmp_path)] == [
        (1, 0, ""),
        (1, 1, "x"),
        (2, None, None),
        (3, None, None),
    ]


def test_a_stream_goes_on_from_its_checkpoint(tmp_path: Path, spark: SparkSession) -> None:
    compiled = plan(tmp_path, "id INT, c INT", "SELECT id, counting(n) FROM t", "counting")
    for number, rows in enumerate([ROWS[:2], ROWS[2:]]):
        write(tmp_path, rows, str(number))
        run(compiled, spark, mode=Mode.AVAILABLE_NOW, checkpoint=str(tmp_path / "checkpoint"))
    assert {row["id"]: row["c"] for row in read(tmp_path)} == {1: 1, 2: 2, 3: 1}


@pytest.mark.parametrize("streams", [False, True])
def test_a_function_that_fails(tmp_path: Path, spark: SparkSession, streams: bool) -> None:
    write(tmp_path, ROWS)
    compiled = plan(tmp_path, "id INT, r INT", "SELECT id, ratio(n) FROM t WHERE n IS NOT NULL", "ratio")
    with pytest.raises(ExecutionError) as caught:
        run(compiled, spark, streams=streams)
    assert caught.value.message == "ratio(0) raised ZeroDivisionError: integer division or modulo by zero"
    line = FUNCTIONS.splitlines().index("    return 12 // n") + 1
    assert str(caught.value.where) == f"{tmp_path / 'my_functions.py'}:{line}"
    assert caught.value.hint is None


def test_a_plan_from_elsewhere_calls_what_the_user_allows(tmp_path: Path, spark: SparkSession) -> None:
    write(tmp_path, ROWS[:1])
    text = dumps(plan(tmp_path, "id INT, r INT", "SELECT id, ratio(n) FROM t", "ratio"))
    with pytest.raises(FlinkplanError, match="the plan calls the Python function ratio, and nobody has said"):
        run(loads(text), spark)
    run(bind_to_files(loads(text), [str(tmp_path / "my_functions.py")]), spark)
    assert read(tmp_path) == [{"id": 1, "r": 6}]


def test_real_time_mode_refuses_functions(tmp_path: Path, spark: SparkSession) -> None:
    write(tmp_path, ROWS)
    compiled = plan(tmp_path, "id INT, r INT", "SELECT id, ratio(n) FROM t", "ratio")
    with pytest.raises(FlinkplanError) as caught:
        run(compiled, spark, mode=Mode.REAL_TIME)
    assert any("Spark's Python workers take rows in batches" in str(error) for error in caught.value.errors)
