"""Measures what twice as many rows of one key cost: a bounded job and a stream of micro-batches, by operator.

    benchmarks/skew.py [--rows N] [--batches N] [--only join,group] [--rounds N] [--flink PYTHON] [--data DIR]

All rows have one key.  Each query runs over N of them and over twice as many, in one session; a stream has them in
so many micro-batches, and in twice as many.  A figure is the least of the seconds of all rounds but the first one.
``--flink`` names the Python of a virtual environment that has apache-flink: it runs the bounded jobs, with its state on
the heap, and the streams with its state in RocksDB.
"""

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path

from measuring import Report, least, run, run_flink, script_over, two_or_more

from flinkplan.executor.jvm.session import session
from flinkplan.executor.prepare.modes import Mode

START = datetime(2024, 1, 1, tzinfo=UTC)
BETWEEN = timedelta(milliseconds=1)
END = START + timedelta(days=1)
COLUMNS = "k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
COUNTS = "SELECT v, MAX(k) AS k, COUNT(*) AS n FROM many GROUP BY v"
TUMBLE = "TABLE(TUMBLE(TABLE many, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
SESSION = "TABLE(SESSION(TABLE many PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
QUERIES = {
    "join": ("k INT, v INT, w INT", "SELECT m.k, m.v, f.v FROM many m JOIN few f ON m.k = f.k"),
    "outer join": ("k INT, v INT, w INT", "SELECT m.k, m.v, f.v FROM many m LEFT JOIN few f ON m.k = f.k"),
    "semi join": ("k INT, v INT", "SELECT k, v FROM many WHERE k IN (SELECT k FROM few)"),
    "join of groups": ("v INT, n BIGINT", f"SELECT m.v, m.n FROM ({COUNTS}) m JOIN few f ON m.k = f.k"),
    "group": ("k INT, n BIGINT, s INT", "SELECT k, COUNT(*), SUM(v) FROM many GROUP BY k"),
    "group of DISTINCT": ("k INT, n BIGINT", "SELECT k, COUNT(DISTINCT v) FROM many GROUP BY k"),
    "group of groups": ("k INT, n BIGINT, v INT", f"SELECT k, MAX(n), MIN(v) FROM ({COUNTS}) GROUP BY k"),
    "Top-N": (
        "k INT, v INT",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM many) WHERE n <= 10",
    ),
    "Top-N of groups": (
        "k INT, v INT",
        f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n, v) AS r FROM ({COUNTS})) "
        "WHERE r <= 10",
    ),
    "window": (
        "k INT, n BIGINT, s INT",
        f"SELECT k, COUNT(*), SUM(v) FROM {TUMBLE} GROUP BY window_start, window_end, k",
    ),
    "window of DISTINCT": (
        "k INT, n BIGINT",
        f"SELECT k, COUNT(DISTINCT v) FROM {TUMBLE} GROUP BY window_start, window_end, k",
    ),
    "session window": (
        "k INT, n BIGINT, s INT",
        f"SELECT k, COUNT(*), SUM(v) FROM {SESSION} GROUP BY window_start, window_end, k",
    ),
    "window Top-N": (
        "k INT, v INT",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v) AS n "
        f"FROM {TUMBLE}) WHERE n <= 10",
    ),
    "OVER all before": ("k INT, s INT", "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM many"),
    "OVER rows": (
        "k INT, s INT, t TIMESTAMP(3)",
        "SELECT k, SUM(v) OVER w, MIN(ts) OVER w FROM many "
        "WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW)",
    ),
    "OVER a time": (
        "k INT, s INT, t TIMESTAMP(3)",
        "SELECT k, SUM(v) OVER w, MIN(ts) OVER w FROM many "
        "WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW)",
    ),
}
"""The columns and the text of each query over ``many`` rows and ``few``, one."""


def build(folder: Path, rows: int, files: int) -> Path:
    """The folders of the tables ``many`` and ``few``; behind all rows of the first comes one that closes windows."""
    made = folder / f"{rows}-in-{files}"
    if not made.exists():
        hidden = folder / f".{made.name}"
        for table in ("many", "few"):
            (hidden / table).mkdir(parents=True)
        share = -(-rows // files)
        for number in range(files):
            lines = (_line(1, i * 7919 % rows, START + i * BETWEEN) for i in range(rows)[number * share :][:share])
            (hidden / "many" / f"{number:04}.csv").write_text("".join(lines), "utf-8")
        (hidden / "many" / f"{files:04}.csv").write_text(_line(2, 0, END), "utf-8")
        (hidden / "few" / "0000.csv").write_text(_line(1, 0, START), "utf-8")
        hidden.rename(made)
    return made


def _line(key: int, value: int, at: datetime) -> str:
    return f"{key},{value},{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}\n"


def script(name: str, data: Path) -> str:
    """The script of a query, whose rows go nowhere."""
    return script_over(data, ("many", "few"), COLUMNS, *QUERIES[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=two_or_more, default=3)
    parser.add_argument("--flink")
    parser.add_argument("--data", type=Path, default=Path("out/skew"))
    given = parser.parse_args()
    data = given.data.absolute()
    half, whole = (build(data, given.rows * by, given.batches * by) for by in (1, 2))
    session("local[2]")
    for stream in (False, True):
        how: dict[str, object] = {"mode": Mode.AVAILABLE_NOW, "files_per_batch": 1} if stream else {}
        kind = f"in {given.batches * 2} micro-batches" if stream else "bounded"
        beside = ["half", *(["Flink", "Flink, half"] if given.flink else [])]
        report = Report(f"{2 * given.rows:,} rows of one key, {kind}: seconds (of processor time)", beside)
        for name in given.only.split(",") if given.only else QUERIES:
            least_half = least(run(script(name, half), given.rounds, **how))
            ours = run(script(name, whole), given.rounds, **how)
            others = {"half": least_half}
            if given.flink:
                for column, folder in (("Flink", whole), ("Flink, half", half)):
                    others[column] = least(run_flink(script(name, folder), given.rounds, given.flink, stream=stream))
            report.add(name, ours, others)
        report.print()


if __name__ == "__main__":
    main()
