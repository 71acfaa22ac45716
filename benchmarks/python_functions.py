"""Measures Python functions against the same functions written by hand for PySpark.

    benchmarks/python_functions.py [--rows N] [--rounds N]

Both read the same file of Parquet, compute one column and count what it holds, one after the other in one session.  A
general function is compared with an Arrow UDF that calls it for each value, a pandas function with a ``pandas_udf``.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.planner import compile_script
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.udf.as_pyflink import install

FUNCTIONS = """
from pyflink.table import DataTypes
from pyflink.table.udf import udf

@udf(result_type=DataTypes.BIGINT())
def general(n):
    return n * 2 + 1

@udf(result_type=DataTypes.STRING())
def text(s):
    return s.upper() + "!"

@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def pandas(n):
    return n * 2 + 1
"""

SCRIPT = """
CREATE TABLE t (n BIGINT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'parquet');
CREATE TABLE o (v {type}) WITH ('connector' = 'blackhole');
CREATE TEMPORARY FUNCTION f AS 'measured.{function}' LANGUAGE PYTHON;
INSERT INTO o SELECT f({column}) FROM t;
"""

JOBS = {"general": ("n", "BIGINT"), "text": ("s", "STRING"), "pandas": ("n", "BIGINT")}


def write(folder: Path, rows: int) -> None:
    """The input, and the module of the functions."""
    (folder / "t").mkdir()
    numbers = pa.array(range(rows), pa.int64())
    pq.write_table(pa.table({"n": numbers, "s": numbers.cast(pa.string())}), folder / "t" / "a.parquet")
    (folder / "measured.py").write_text(FUNCTIONS, "utf-8")


def ours(folder: Path, function: str, spark: SparkSession) -> Callable[[], None]:
    """Runs the plan."""
    column, t = JOBS[function]
    script = SCRIPT.format(folder=folder, function=function, column=column, type=t)
    plan = compile_script(script, load=FunctionLoader(lambda: [str(folder / "measured.py")]))

    def run() -> None:
        execute(plan, JobOptions(spark=spark)).wait()

    return run


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

    column, _ = JOBS[function]
    called = {"general": general, "text": text, "pandas": pandas}[function]

    def run() -> None:
        frame = spark.read.parquet(str(folder / "t"))
        frame.select(called(frame[column])).write.format("noop").mode("overwrite").save()

    return run


def seconds(run: Callable[[], None], rounds: int) -> Iterator[float]:
    """The seconds of each round, after one to warm up."""
    run()
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        yield time.perf_counter() - begin


def main() -> None:
    """Measure all jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    install(replace=True)
    table = Table("function", "flinkplan s", "by hand s", "ratio", "aim", title=f"{options.rows:,} rows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, options.rows)
        spark = session()
        for function in JOBS:
            mine = median(seconds(ours(folder, function, spark), options.rounds))
            theirs = median(seconds(by_hand(folder, function, spark), options.rounds))
            table.add_row(function, f"{mine:.2f}", f"{theirs:.2f}", f"{mine / theirs:.2f}", "≤ 1.2")
    Console().print(table)


if __name__ == "__main__":
    main()
