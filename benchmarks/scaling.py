"""Measures what the model in docs/scaling.md is made of: what rows, keys and batches cost, and the bytes of a key.

    benchmarks/scaling.py [--rows N] [--only group,join,...] [--partitions 2,8,32] [--data DIR]

Each operator runs as a stream of four micro-batches over so many rows, once of 1,000 keys and once where each row has
a key of its own.  What a row costs is the processor time of the first beyond that of a stream over a row a batch; what
a key costs is how much more the second takes.  Bytes are those of the state's changelogs behind the second, which Spark
compresses, for each key.

What a batch costs is measured with batches of ten rows in each number of partitions.  All is of a second round in the
same session.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from measuring import script_over, timed
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import PARTITIONS, session
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

BATCHES = 4
FEW = 1000
MULTIPLIER = 2_654_435_761
COLUMNS = "k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
QUERIES = {
    "group": ("k BIGINT, n BIGINT, s INT", "SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k"),
    "count distinct": ("k BIGINT, n BIGINT", "SELECT k, COUNT(DISTINCT v) FROM events GROUP BY k"),
    "join": ("k BIGINT, v INT, w INT", "SELECT e.k, e.v, n.v FROM events e JOIN names n ON e.k = n.k"),
    "last row": (
        "k BIGINT, v INT",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM events) WHERE r = 1",
    ),
    "Top-3": (
        "k BIGINT, v INT",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM events) WHERE r < 4",
    ),
    "OVER": (
        "k BIGINT, s INT",
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM events",
    ),
    "session window": (
        "k BIGINT, n BIGINT",
        "SELECT k, COUNT(*) FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY k, window_start, window_end",
    ),
}
"""The columns and the text of each query over ``events``, and one row of ``names`` for each key."""


class Cost(NamedTuple):
    """Of a stream: seconds, those of processor time, and bytes of changelogs."""

    seconds: float
    processor: float
    state: int


def build(folder: Path, rows: int, keys: int, files: int) -> Path:
    """The folder of the tables, in so many files each."""
    made = folder / f"{rows}-rows-{keys}-keys-in-{files}"
    if not made.exists():
        hidden = folder / f".{made.name}"
        for table, count in (("events", rows), ("names", keys)):
            (hidden / table).mkdir(parents=True)
            for number in range(files):
                lines = (_line(i, keys) for i in range(count * number // files, count * (number + 1) // files))
                (hidden / table / f"{number:04}.csv").write_text("".join(lines), encoding="utf-8")
        hidden.rename(made)
    return made


def _line(number: int, keys: int) -> str:
    second = number // 1000
    at = f"2024-01-01 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{number % 1000:03}"
    return f"{number * MULTIPLIER % keys},{number % 1000},{at}\n"


def measure(name: str, data: Path, partitions: int = 2) -> Cost:
    """What a query's stream costs in its second round."""
    plan = compile_script(script_over(data, ("events", "names"), COLUMNS, *QUERIES[name]))
    spark, state = session(), 0
    spark.conf.set(PARTITIONS, str(partitions))

    def work() -> None:
        nonlocal state
        with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
            how = JobOptions(
                checkpoint=folder,
                spark=spark,
                mode=Mode.AVAILABLE_NOW,
                files_per_batch=1,
            )
            execute(plan, how).wait()
            state = sum(file.stat().st_size for file in Path(folder).rglob("*.changelog"))

    _, second = timed(2, work)
    return Cost(second.seconds, second.processor, state)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--only", default=",".join(QUERIES))
    parser.add_argument("--partitions", default="2,8,32")
    parser.add_argument("--data", type=Path, default=Path("out/scaling"))
    given = parser.parse_args()
    folder = given.data.absolute()
    console = Console(width=120)
    operators = Table(title=f"{given.rows:,} rows in {BATCHES} micro-batches, processor time")
    for column in ("operator", "s of few keys", "µs a row", "s of a key a row", "µs a key", "bytes a key", "load"):
        operators.add_column(column, justify="right")
    for name in filter(None, given.only.split(",")):
        load = f"{os.getloadavg()[0]:.1f}"
        many = measure(name, build(folder, given.rows, given.rows, BATCHES))
        few = measure(name, build(folder, given.rows, FEW, BATCHES))
        least = measure(name, build(folder, BATCHES, BATCHES, BATCHES))  # last, as the JVM compiles meanwhile
        cells = [
            f"{few.processor:.1f}",
            f"{(few.processor - least.processor) / given.rows * 1e6:.1f}",
            f"{many.processor:.1f}",
            f"{(many.processor - few.processor) / given.rows * 1e6:.1f}",
            f"{many.state / given.rows:.0f}",
            load,
        ]
        operators.add_row(name, *cells)
        print(name, *cells, sep="  ", file=sys.stderr, flush=True)
    batches = Table(title="a batch of ten rows")
    for column in ("operator", "partitions", "ms", "ms of processor time", "load"):
        batches.add_column(column, justify="right")
    count = 20
    for name in ("group", "join"):
        for partitions in map(int, filter(None, given.partitions.split(","))):
            taken = measure(name, build(folder, 10 * count, 10, count), partitions)
            cells = [f"{1000 * taken.seconds / count:.0f}", f"{1000 * taken.processor / count:.0f}"]
            batches.add_row(name, f"{partitions}", *cells, f"{os.getloadavg()[0]:.1f}")
            print(name, partitions, *cells, time.strftime("%H:%M:%S"), sep="  ", file=sys.stderr, flush=True)
    console.print(operators)
    console.print(batches)


if __name__ == "__main__":
    main()
