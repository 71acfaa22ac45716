"""Measures windows of the DataStream API against SQL's of the same meaning, and Flink's where it is given.

    benchmarks/windows.py [--cache DIR] [--repetitions N] [--rounds N] [--flink VENV] [--only NAME] [--stream]

All figures are of one run on one machine; what counts is their ratio.  ``--flink`` names a virtual environment that has
apache-flink, against whose jars ``FlinkWindows.java`` is compiled: the same windows as a DataStream program over the
same files.  ``--stream`` runs bounded input in micro-batches.
"""

import argparse
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from data import FLIGHT_COLUMNS, Dataset, build
from jobs import flights_sql, sink
from rich.console import Console
from rich.table import Table
from run import scratch, timed, void

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.plan.document import Plan
from flinkplan.planner import compile_script

HERE = Path(__file__).parent
AIM = 1.2


@dataclass(frozen=True)
class Windows:
    """One kind of windows: as ``assign`` of a spec, and as a windowing table function."""

    name: str
    key: str
    assign: dict[str, str]
    function: str


KINDS = (
    Windows(
        "tumbling, 1 h by airport", "origin", {"tumbling": "1 h"}, "TUMBLE(TABLE flights, {time}, INTERVAL '1' HOUR)"
    ),
    Windows(
        "sliding, 10 h each hour by airport",
        "origin",
        {"sliding": "10 h", "slide": "1 h"},
        "HOP(TABLE flights, {time}, INTERVAL '1' HOUR, INTERVAL '10' HOUR)",
    ),
    Windows(
        "session, 6 h by plane",
        "tailnum",
        {"session": "6 h"},
        "SESSION(TABLE flights PARTITION BY tailnum, {time}, INTERVAL '6' HOUR)",
    ),
)
OUTCOME = "{key} STRING, departures BIGINT, distance INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3)"


def as_sql(kind: Windows, data: Dataset) -> Plan:
    key, function = kind.key, kind.function.format(time="DESCRIPTOR(sched_dep)")
    return compile_script(
        flights_sql(data, ", WATERMARK FOR sched_dep AS sched_dep - INTERVAL '1' MINUTE")
        + sink(OUTCOME.format(key=key))
        + f"INSERT INTO outcome SELECT {key}, COUNT(*), SUM(distance), window_start, window_end FROM TABLE({function}) "
        + f"WHERE {key} IS NOT NULL GROUP BY {key}, window_start, window_end;"
    )


def as_operator(kind: Windows, data: Dataset) -> Plan:
    csv = {"connector": "filesystem", "path": str(data.flights), "format": "csv", "csv.null-literal": ""}
    key, columns = kind.key, dict(FLIGHT_COLUMNS)
    chosen = f"{key}, departures, distance, window_start, window_end"
    spec: dict[str, Any] = {
        "version": 1,
        "tables": {
            "flights": {
                "columns": columns,
                "watermark": {"column": "sched_dep", "as": "sched_dep - INTERVAL '1' MINUTE"},
                "with": csv,
            },
            "outcome": {
                "columns": dict(column.split() for column in OUTCOME.format(key=key).split(", ")),
                "with": {"connector": "blackhole"},
            },
        },
        "views": {"known": f"SELECT {key}, distance, sched_dep FROM flights WHERE {key} IS NOT NULL"},
        "windows": {
            "windowed": {
                "from": "known",
                "key-by": key,
                "assign": kind.assign,
                "aggregate": {key: key, "departures": "COUNT(*)", "distance": "SUM(distance)"},
            }
        },
        "inserts": [{"into": "outcome", "query": f"SELECT {chosen} FROM windowed"}],
    }
    return compile_script(json.dumps(spec), file="windows.yaml")


def seconds(plan: Plan, streams: bool) -> float:
    """From starting a plan to its end."""
    with scratch() as folder:
        options = JobOptions(checkpoint=str(folder), spark=session(), streams=streams)
        return timed(lambda: void(execute(plan, options).wait()))


def flink_seconds(kinds: tuple[Windows, ...], data: Dataset, rounds: int, venv: Path) -> list[float]:
    """Median seconds of each of these as a DataStream program, in one JVM; a first round of each only warms up."""
    (lib,) = venv.glob("lib/python3*/site-packages/pyflink/lib")
    with scratch() as folder:
        (folder / "log4j2.properties").write_text("rootLogger.level = OFF\n", "utf-8")
        jars = f"{lib}/*"
        source = HERE / "FlinkWindows.java"
        subprocess.run(["javac", "-nowarn", "-d", str(folder), "-cp", jars, str(source)], check=True)
        opened = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util", "time", "nio")]
        wanted = [next(iter(kind.assign)) for kind in kinds]
        arguments = ["FlinkWindows", str(data.flights), str(rounds + 1), *wanted]
        java = ["java", "-cp", f"{folder}:{jars}", *opened, *arguments]
        done = subprocess.run(java, check=True, capture_output=True, text=True)
    lines = [list(map(float, line.split()))[1:] for line in done.stdout.splitlines()]
    return [median(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure windows against SQL's and against Flink's DataStream API.")
    parser.add_argument("--cache", type=Path, default=Path("out/bench"), help="folder for the data")
    parser.add_argument("--repetitions", type=int, default=9, help="of a year's 336,776 flights")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds; the median counts")
    parser.add_argument("--flink", type=Path, help="a virtual environment with apache-flink")
    parser.add_argument("--only", default="", help="run the kinds whose name holds this text")
    parser.add_argument("--stream", action="store_true", help="in micro-batches")
    args = parser.parse_args()
    data = build(args.cache, repetitions=args.repetitions)
    kinds = tuple(kind for kind in KINDS if args.only in kind.name)
    table = Table("windows", "windows: s", "SQL s", "ratio", "aim", title=f"{data.flight_rows:,} flights")
    console = Console()
    theirs = flink_seconds(kinds, data, args.rounds, args.flink) if args.flink else []
    for column in ("Flink s", "windows: / Flink") if args.flink else ():
        table.add_column(column)
    for place, kind in enumerate(kinds):
        plans = (as_operator(kind, data), as_sql(kind, data))
        taken = [[seconds(plan, args.stream) for plan in plans] for _ in range(args.rounds + 1)][1:]
        ours, sql = (median(column) for column in zip(*taken, strict=True))
        row = [kind.name, f"{ours:.1f}", f"{sql:.1f}", f"{ours / sql:.2f}", f"≤ {AIM}"]
        row += [f"{theirs[place]:.1f}", f"{ours / theirs[place]:.2f}"] if theirs else []
        table.add_row(*row)
        console.print(*row, sep="  ")
    console.print(table)


if __name__ == "__main__":
    main()
