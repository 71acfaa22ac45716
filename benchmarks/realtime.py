"""Measures how long a row takes to its printed result: in real-time mode, in micro-batches and on Apache Flink.

    benchmarks/realtime.py [--rates N,N] [--seconds N] [--interval N] [--only NAME] [--streaming] [--flink PYTHON]
                           [--saturate ROWS]

A process of its own writes lines, each with the time at which it is written; the job's standard output is read as it
comes.  Here the lines are added to a file, for micro-batches in a new file every 50 ms.  Flink's file source does not
see lines that are added: it has the same lines through a socket, which spares it the looking.  ``--flink`` names the
Python of a virtual environment that has apache-flink; rows wait for others no longer than here, 1 ms, and its state is
on the heap.

In real-time mode no row moves from the end of one batch to the beginning of the next, while the checkpoint is made.
So there are figures of all results, and of those between checkpoints: of the rows that did not wait within such a
pause.  A pause begins when the sources have read for the interval, counted from the batch's start as the job tells it,
and ends with the first result after the next batch's start; rows that come later and wait for those before them are
of those between.

``--saturate`` adds how many rows a second a job does of so many lines that are there at once, after as many others.
"""

import argparse
import os
from collections.abc import Sequence
from statistics import median

from rich.console import Console
from rich.table import Table
from streaming import Engine, Flink, Measured, MicroBatches, Query, RealTime, latencies, throughput

SHARES = (0.5, 0.99, 0.999, 1)
"""Of the results, sorted by how long they took: the last one is the slowest."""

QUERIES = (
    Query("filter", "t BIGINT", "SELECT t FROM events WHERE v >= 0"),
    Query("group aggregate", "k INT, n BIGINT, t BIGINT", "SELECT k, COUNT(*), MAX(t) FROM events GROUP BY k"),
    Query("join", "name STRING, t BIGINT", "SELECT name, t FROM events JOIN names ON events.k = names.k"),
    Query(
        "Top-N",
        "k INT, v INT, t BIGINT",
        "SELECT k, v, t FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC) AS r FROM events) "
        "WHERE r <= 3",
    ),
    Query(
        "Top-N over group aggregate",
        "k INT, n BIGINT, t BIGINT",
        "SELECT k, n, t FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k / 10 ORDER BY n DESC) AS r "
        "FROM (SELECT k, COUNT(*) AS n, MAX(t) AS t FROM events GROUP BY k)) WHERE r <= 10",
    ),
)


def shares(milliseconds: Sequence[float]) -> list[str]:
    """What the shares of the results took at the most."""
    ordered = sorted(milliseconds)
    return [f"{ordered[int((len(ordered) - 1) * share)]:,.0f}" if ordered else "" for share in SHARES]


def cells(found: Measured) -> list[str]:
    """All results; those between checkpoints; the pauses: how many, and how long the one in the middle is."""
    pauses = [f"{len(found.pauses)}", f"{median(found.pauses):,.0f}"] if found.pauses else ["", ""]
    return [f"{len(found.all):,}", *shares(found.all), *(shares(found.between) if found.pauses else [""] * 4), *pauses]


def main() -> None:
    """Print a table of all queries."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rates", default="1000,20000", help="rows a second")
    parser.add_argument("--seconds", type=float, default=60, help="of rows that count")
    parser.add_argument("--interval", type=int, default=10, help="seconds between checkpoints")
    parser.add_argument("--only", choices=[query.name for query in QUERIES])
    parser.add_argument("--streaming", action="store_true", help="in micro-batches, too")
    parser.add_argument("--flink", metavar="PYTHON", help="on Flink, too")
    parser.add_argument("--saturate", type=int, metavar="ROWS", help="measure throughput, too")
    given = parser.parse_args()
    engines: list[Engine] = [RealTime(given.interval)]
    engines += [MicroBatches()] if given.streaming else []
    engines += [Flink(given.flink, given.interval)] if given.flink else []
    table = Table(title="milliseconds from a written line to its printed result")
    columns = ("query", "", "rows/s", "results", "p50", "p99", "p99.9", "most")
    between = ("between checkpoints: p50", "p99", "p99.9", "most", "pauses", "ms each")
    for column in (*columns, *between, *(["at most rows/s"] if given.saturate else []), "load"):
        table.add_column(column, justify="right")
    console = Console(width=200)
    for query in QUERIES:
        for engine in engines if given.only in (None, query.name) else []:
            most = [f"{throughput(engine, query, given.saturate):,.0f}"] if given.saturate else []
            for rate in map(int, given.rates.split(",")):
                load = f"{os.getloadavg()[0]:.1f}"
                found = latencies(engine, query, rate, given.seconds)
                row = [query.name, engine.name, f"{rate:,}", *cells(found), *most, load]
                table.add_row(*row)
                console.print(*row, sep="  ")
    console.print(table)


if __name__ == "__main__":
    main()
