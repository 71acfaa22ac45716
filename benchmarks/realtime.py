"""Measures how long a row takes from its file to a printed result, in real-time mode and in micro-batches.

    benchmarks/realtime.py [--rate N] [--seconds N] [--interval N] [--only NAME] [--streaming]

A thread adds lines to a file, each with the time at which it is written; the job's standard output is read as it
comes.  Checkpoints fall into the time that is measured.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from rich.console import Console
from rich.table import Table

KEYS = 1000
WARM_UP = 12.0
"""Seconds of rows before those that count: the JVM compiles what it runs often."""

EVENTS = "CREATE TABLE events (k INT, v INT, t BIGINT) WITH ({});"
FILES = "'connector' = 'filesystem', 'path' = '{}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
QUERIES = {
    "filter": ("t BIGINT", "SELECT t FROM events WHERE v >= 0"),
    "group aggregate": ("k INT, n BIGINT, t BIGINT", "SELECT k, COUNT(*), MAX(t) FROM events GROUP BY k"),
    "join": ("name STRING, t BIGINT", "SELECT name, t FROM events JOIN names ON events.k = names.k"),
    "Top-N": (
        "k INT, v INT, t BIGINT",
        "SELECT k, v, t FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM events) "
        "WHERE r <= 3",
    ),
}
"""The columns of what is printed, of which the last one is the time of a row, and the query."""


def script(name: str, folder: Path) -> str:
    """The pipeline of a query over the folder's files."""
    columns, query = QUERIES[name]
    names = f"CREATE TABLE names (k INT, name STRING) WITH ({FILES.format(folder / 'names')});"
    out = f"CREATE TABLE printed ({columns}) WITH ('connector' = 'print');"
    return f"{EVENTS.format(FILES.format(folder / 'events'))}{names}{out}INSERT INTO printed {query};"


def prepare(folder: Path) -> None:
    """The files that are there from the start."""
    for table in ("events", "names"):
        (folder / table).mkdir()
    names = (json.dumps({"k": k, "name": f"name{k}"}) for k in range(KEYS))
    (folder / "names" / "all").write_text("".join(f"{line}\n" for line in names))
    (folder / "events" / "0").touch()


def feed(file: Path, rate: int, until: float) -> None:
    """Add rows to a file at the rate, as long as there is time."""
    chosen = random.Random(1)
    started, sent = time.time(), 0
    with file.open("a") as out:
        while (now := time.time()) < until:
            due = int((now - started) * rate) - sent
            for _ in range(due):
                out.write(f'{{"k": {chosen.randrange(KEYS)}, "v": {chosen.randrange(100)}, "t": {time.time_ns()}}}\n')
            out.flush()
            sent += due
            time.sleep(0.001)


@contextmanager
def job(folder: Path, name: str, mode: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A job that prints."""
    file = folder / "job.sql"
    file.write_text(script(name, folder), encoding="utf-8")
    command = [Path(sys.executable).parent / "flinkplan", "run", file, "--checkpoint", folder / "checkpoint", "-q"]
    with subprocess.Popen([*map(str, command), *mode], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def latencies(name: str, rate: int, seconds: float, mode: list[str]) -> list[float]:
    """Milliseconds from a row's being written to its result, once the job runs."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-", ignore_cleanup_errors=True) as text:
        folder = Path(text)
        prepare(folder)
        with job(folder, name, mode) as process:
            assert process.stdout is not None
            events = folder / "events" / "0"
            events.write_text(json.dumps({"k": 1, "v": 1, "t": 0}) + "\n")
            process.stdout.readline()
            begin = time.time() + WARM_UP
            end = begin + seconds
            Thread(target=feed, args=(events, rate, end), daemon=True).start()
            found = []
            for line in process.stdout:
                now = time.time_ns()
                written = int(line.rstrip().rstrip("]").replace("[", ",").rpartition(",")[2])
                if line.startswith("+") and written >= begin * 1e9:
                    found.append((now - written) / 1e6)
                if written > (end - 0.1) * 1e9:
                    break
            return sorted(found)


def main() -> None:
    """Print a table of all queries."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=int, default=1000, help="rows a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--interval", type=int, default=10, help="seconds between checkpoints")
    parser.add_argument("--only", choices=tuple(QUERIES))
    parser.add_argument("--streaming", action="store_true", help="in micro-batches")
    arguments = parser.parse_args()
    real_time = ["--mode", "real-time", "--checkpoint-interval", f"{arguments.interval}s"]
    mode = ["--mode", "streaming"] if arguments.streaming else real_time
    table = Table(title=f"{arguments.rate} rows/s, {mode[1]}: milliseconds from file to result")
    for column in ("query", "results", "p50", "p99", "p99.9", "most"):
        table.add_column(column, justify="right")
    for name in (arguments.only,) if arguments.only else QUERIES:
        found = latencies(name, arguments.rate, arguments.seconds, mode)
        cells = (found[int((len(found) - 1) * share)] for share in (0.5, 0.99, 0.999, 1))
        table.add_row(name, f"{len(found):,}", *(f"{cell:,.0f}" for cell in cells))
    Console().print(table)


if __name__ == "__main__":
    main()
