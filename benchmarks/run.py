"""Measures executed plans against the same queries on Spark's native operators, and on Flink where it is given.

    benchmarks/run.py [--cache DIR] [--repetitions N] [--rounds N] [--flink PYTHON] [--only NAME]

All figures are of one run on one machine; what counts is their ratio.  ``--flink`` names the Python of a virtual
environment that has apache-flink.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from data import Dataset, build
from jobs import BENCHMARKS, Benchmark
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.planner import compile_script

HERE = Path(__file__).parent
BACKENDS = ("hashmap", "rocksdb")


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        yield Path(folder)


def timed(run: Callable[[], None]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def run_plan(benchmark: Benchmark, data: Dataset) -> float:
    """Seconds from starting the compiled plan to its end."""
    plan = compile_script(benchmark.sql(data))
    with scratch() as folder:
        return timed(lambda: void(execute(plan, JobOptions(checkpoint=str(folder), spark=session())).wait()))


def run_native(benchmark: Benchmark, data: Dataset) -> float:
    """Seconds from starting the handwritten query to its end."""
    spark = session()
    # the encoding of Spark's own stateful operators; a plan sets what it needs when it starts
    spark.conf.set("spark.sql.streaming.stateStore.encodingFormat", "unsaferow")
    with scratch() as folder:

        def run() -> None:
            query = (
                benchmark.native(spark, data)
                .writeStream.format("noop")
                .outputMode(benchmark.native_mode)
                .option("checkpointLocation", str(folder))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()

        return timed(run)


def run_flink(benchmark: Benchmark, data: Dataset, rounds: int, python: str, backend: str) -> list[float]:
    """Seconds of each of the last ``rounds`` of the job on Flink, in one JVM, which has run it before."""
    with scratch() as folder:
        script = folder / "job.sql"
        script.write_text(benchmark.sql(data), encoding="utf-8")
        command = [python, str(HERE / "flink_job.py"), str(script), backend, str(rounds + 1)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [float(line.split()[0]) for line in done.stdout.splitlines()[-rounds:]]


def void(_: object) -> None:
    """Drop a result."""


def measure(benchmark: Benchmark, data: Dataset, rounds: int, flink: str | None) -> dict[str, float]:
    """Median seconds of each way to run the job; the first round only warms up."""
    runs: dict[str, list[float]] = {"flinkplan": [], "native": []}
    for _ in range(rounds + 1):
        runs["flinkplan"].append(run_plan(benchmark, data))
        runs["native"].append(run_native(benchmark, data))
    found = {name: median(seconds[1:]) for name, seconds in runs.items()}
    if flink:
        for backend in BACKENDS:
            found[f"flink {backend}"] = median(run_flink(benchmark, data, rounds, flink, backend))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure executed plans against native Spark and Flink.")
    parser.add_argument("--cache", type=Path, default=Path("out/bench"), help="folder for the data")
    parser.add_argument("--repetitions", type=int, default=9, help="of a year's 336,776 flights")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds; the median counts")
    parser.add_argument("--flink", help="a Python with apache-flink")
    parser.add_argument("--only", help="run the benchmarks whose name holds this text")
    args = parser.parse_args()
    data = build(args.cache, repetitions=args.repetitions)
    console = Console()
    table = Table("job", "flinkplan s", "native Spark s", "ratio", "aim", title=f"{data.flight_rows:,} flights")
    for backend in BACKENDS if args.flink else ():
        table.add_column(f"Flink {backend} s")
        table.add_column("flinkplan / Flink")
    for benchmark in BENCHMARKS:
        if args.only and args.only not in benchmark.name:
            continue
        seconds = measure(benchmark, data, args.rounds, args.flink)
        ours, native = seconds["flinkplan"], seconds["native"]
        row = [benchmark.name, f"{ours:.1f}", f"{native:.1f}", f"{ours / native:.2f}", f"≤ {benchmark.aim}"]
        for backend in BACKENDS if args.flink else ():
            theirs = seconds[f"flink {backend}"]
            row += [f"{theirs:.1f}", f"{ours / theirs:.2f}"]
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
