"""Measures functions in Python and Java against the same work done otherwise.

    benchmarks/python_functions.py [--rows N] [--keys N] [--rounds N] [--flink PYTHON] [JOB…]

All jobs read the same file of Parquet in one session, in turns with what they are compared with; the best of several
rounds counts.  A general function in Python is compared with an Arrow UDF that computes the same for each value, a
pandas function with a ``pandas_udf``, a function in Java with built-in functions that do the same; this needs Flink's
jars (``FLINK_PYTHON`` or ``FLINK_HOME``).  ``udaf`` is an aggregate function in Python over many keys, ``ptf`` a
process table function that keeps the same sum of each key, and emits it for each row.  ``--flink`` names a Python with
apache-flink, on which the jobs with Python functions run, too, but for ``ptf``: with Flink's defaults and a parallelism
of two, and ``udaf`` over no more rows than there are keys, since PyFlink takes the better part of a millisecond for
each row of a key that is not among the last thousand.  Seconds stand beside those of processor time, of which those of
PyFlink's workers are not known.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from measuring import Round, least, run_flink, taking_turns, timed, two_or_more
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.flink.home import flink_jars
from flinkplan.planner import compile_script
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.java_jars import function_jars
from flinkplan.udf.as_pyflink import install

PYTHON = """
from typing import Annotated

from pyflink.table import DataTypes, Row
from pyflink.table.udf import AggregateFunction, udaf, udf

@udf(result_type=DataTypes.BIGINT())
def general(n):
    return n * 2 + 1

@udf(result_type=DataTypes.STRING())
def text(s):
    return s.upper() + "!"

@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def pandas(n):
    return n * 2 + 1

class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, n):
        accumulator[0] += n

    def get_value(self, accumulator):
        return accumulator[0]

total = udaf(
    Total(), result_type=DataTypes.BIGINT(), accumulator_type=DataTypes.ARRAY(DataTypes.BIGINT()), name="total"
)
"""

JAVA = {
    "Text": 'public String eval(String s) { return s == null ? null : s.toUpperCase() + "!"; }',
    "Number": "public long eval(long n) { return n * 2 + 1; }",
    "Condition": "public Long eval(Long n) { return n == null || n % 3 == 0 ? null : n; }",
}

TABLES = """
CREATE TABLE t (n BIGINT NOT NULL, s STRING, k BIGINT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t',
'format' = 'parquet');
CREATE TABLE o (v {type}) WITH ('connector' = 'blackhole');
"""

PYTHON_CALLS = {"general": ("f(n)", "BIGINT"), "text": ("f(s)", "STRING"), "pandas": ("f(n)", "BIGINT")}
JAVA_CALLS = {
    "java-text": ("Text", "f(s)", "UPPER(s) || '!'", "STRING"),
    "java-number": ("Number", "f(n)", "n * 2 + 1", "BIGINT"),
    "java-condition": ("Condition", "f(n)", "CASE WHEN MOD(n, 3) = 0 THEN NULL ELSE n END", "BIGINT"),
}
AGGREGATED = "INSERT INTO o SELECT f(n) FROM t GROUP BY k;\n"
PROCESSED = "INSERT INTO o SELECT total FROM f(TABLE t PARTITION BY k);\n"
PROCESS = """
from pyflink.table.udf import ArgumentHint, ArgumentTrait, ProcessTableFunction, StateHint, udptf

@udptf(result_type="ROW<total BIGINT>")
class Running(ProcessTableFunction):
    def eval(
        self,
        state: Annotated[Row, StateHint("ROW<total BIGINT>")],
        row: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
    ):
        state.total = (state.total or 0) + row.n
        yield Row(state.total)
"""


def write(folder: Path, rows: int, keys: int) -> None:
    """The input, and the module of the functions in Python."""
    (folder / "t").mkdir()
    numbers = pa.array(range(rows), pa.int64())
    texts = pa.array([f"name {i}" for i in range(rows)])
    columns = {"n": numbers, "s": texts, "k": pa.array([i % keys for i in range(rows)], pa.int64())}
    pq.write_table(pa.table(columns), folder / "t" / "a.parquet")
    for name, table in (("csv", pa.table(columns)), ("keys", pa.table(columns).slice(0, keys))):
        (folder / name).mkdir()
        csv.write_csv(table, folder / name / "a.csv", csv.WriteOptions(include_header=False))
    (folder / "measured.py").write_text(PYTHON, "utf-8")
    (folder / "processed.py").write_text(PYTHON + PROCESS, "utf-8")  # PyFlink cannot import it


def jar(folder: Path) -> str:
    """The jar of the functions in Java."""
    for name, method in JAVA.items():
        source = "import org.apache.flink.table.functions.ScalarFunction;\n"
        source += f"public class {name} extends ScalarFunction {{ {method} }}\n"
        (folder / f"{name}.java").write_text(source, "utf-8")
    flink = ":".join(map(str, flink_jars()))
    sources = [f"{name}.java" for name in JAVA]
    subprocess.run(["javac", "--release", "17", "-cp", flink, "-d", "classes", *sources], check=True, cwd=folder)
    subprocess.run(["jar", "cf", "measured.jar", "-C", "classes", "."], check=True, cwd=folder)
    return str(folder / "measured.jar")


def ours(script: str, files: list[str], spark: SparkSession) -> Callable[[], object]:
    """Runs a script's job."""
    plan = compile_script(script, load=FunctionLoader(lambda: files, trusts_statements=True))
    options = JobOptions(spark=spark, java_jars=function_jars)
    return lambda: execute(plan, options).wait()


def by_hand(folder: Path, function: str, spark: SparkSession) -> Callable[[], None]:
    """Runs the same in PySpark."""
    import pandas as pd
    from pyspark.sql.functions import arrow_udf, pandas_udf  # type: ignore[attr-defined]

    @arrow_udf("bigint")  # type: ignore[untyped-decorator]
    def general(n: pa.Array) -> pa.Array:
        return pa.array([None if v is None else v * 2 + 1 for v in n.to_pylist()], pa.int64())

    @arrow_udf("string")  # type: ignore[untyped-decorator]
    def text(s: pa.Array) -> pa.Array:
        return pa.array([None if v is None else v.upper() + "!" for v in s.to_pylist()], pa.string())

    @pandas_udf("bigint")  # type: ignore[untyped-decorator]
    def pandas(n: pd.Series) -> pd.Series:
        return n * 2 + 1

    called = {"general": general, "text": text, "pandas": pandas}[function]
    column = "s" if function == "text" else "n"

    def run() -> None:
        frame = spark.read.parquet(str(folder / "t"))
        frame.select(called(frame[column])).write.format("noop").mode("overwrite").save()

    return run


def of_python(folder: Path, function: str, statement: str, t: str) -> str:
    """A script with a function in Python."""
    create = f"CREATE TEMPORARY FUNCTION f AS 'measured.{function}' LANGUAGE PYTHON;\n"
    return TABLES.format(folder=folder, type=t) + create + statement


class Measured:
    """A table of what jobs take beside what they are compared with; rows are told on standard error, too."""

    def __init__(self, title: str) -> None:
        self._table = Table("job", "flinkplan s", "compared with", "s", "ratio", "aim", title=title)

    def add(self, job: str, mine: list[Round], other: str, theirs: list[Round], aim: str) -> None:
        """A row; the rounds of both."""
        a, b = least(mine), least(theirs)
        ratio = f"{a.seconds / b.seconds:.2f} ({a.processor / b.processor:.2f})"
        shown = [f"{r.seconds:.2f} ({r.processor:.2f})" for r in (a, b)]
        cells = job, shown[0], other, shown[1], ratio, aim
        print(*cells, sep="  ", file=sys.stderr, flush=True)
        self._table.add_row(*cells)

    def print(self) -> None:
        """Print the table."""
        Console().print(self._table)


def main() -> None:
    """Measure the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--rounds", type=two_or_more, default=6)
    parser.add_argument("--flink", help="a Python with apache-flink")
    parser.add_argument("jobs", nargs="*", default=[*PYTHON_CALLS, *JAVA_CALLS, "udaf", "ptf"], metavar="JOB")
    options = parser.parse_args()
    install(replace=True)
    measured = Measured(f"{options.rows:,} rows, seconds (of processor time)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, options.rows, options.keys)
        spark, rounds = session(), options.rounds
        python_files = [str(folder / "measured.py")]

        def on_flink(job: str, script: str, table: str = "csv") -> None:
            """Beside PyFlink, which cannot read Parquet without Hadoop: both read CSV."""
            if options.flink:
                script = script.replace(f"{folder}/t'", f"{folder}/{table}'").replace("'parquet'", "'csv'")
                mine = timed(rounds, ours(script, python_files, spark))
                set_files = f"SET 'python.files' = '{python_files[0]}';\n"
                theirs = run_flink(set_files + script, 3, options.flink)
                measured.add(f"{job}, {table}", mine, "PyFlink", theirs, "≤ 0.5")

        for job in options.jobs:
            if job in PYTHON_CALLS:
                call, t = PYTHON_CALLS[job]
                script = of_python(folder, job, f"INSERT INTO o SELECT {call} FROM t;\n", t)
                mine, theirs = taking_turns(rounds, ours(script, python_files, spark), by_hand(folder, job, spark))
                measured.add(job, mine, "by hand", theirs, "≤ 1.2")
                on_flink(job, script)
            elif job in JAVA_CALLS:
                function, call, built_in, t = JAVA_CALLS[job]
                tables = TABLES.format(folder=folder, type=t)
                create = f"CREATE TEMPORARY FUNCTION f AS '{function}' LANGUAGE JAVA;\n"
                script = f"{tables}{create}INSERT INTO o SELECT {call} FROM t;\n"
                native = ours(f"{tables}INSERT INTO o SELECT {built_in} FROM t;\n", [], spark)
                mine, theirs = taking_turns(rounds, ours(script, [jar(folder)], spark), native)
                measured.add(job, mine, built_in, theirs, "≤ 1.1")
            elif job == "ptf":
                tables = TABLES.format(folder=folder, type="BIGINT")
                create = "CREATE FUNCTION f AS 'processed.Running' LANGUAGE PYTHON;\n"
                process = ours(tables + create + PROCESSED, [str(folder / "processed.py")], spark)
                aggregate = ours(of_python(folder, "total", AGGREGATED, "BIGINT"), python_files, spark)
                mine, theirs = taking_turns(rounds, process, aggregate)
                measured.add(job, mine, "udaf", theirs, "")
            else:
                script = of_python(folder, "total", AGGREGATED, "BIGINT")
                native = ours(script.replace("f(n)", "SUM(n)"), python_files, spark)
                mine, theirs = taking_turns(rounds, ours(script, python_files, spark), native)
                measured.add(job, mine, "SUM", theirs, "")
                on_flink(job, script, "keys")
    measured.print()


if __name__ == "__main__":
    main()
