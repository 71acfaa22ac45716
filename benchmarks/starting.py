"""Measures what a bounded job over ten rows takes: as a process from its start to its end, and in a session.

    benchmarks/starting.py [--rounds N] [--only group,join]

The second process of a user leaves an archive of classes, from which later ones start; three run before all that count.
"""

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median

from measuring import FLINKPLAN, Round, process, run
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jvm.session import session
from flinkplan.plan.document import save
from flinkplan.planner import compile_script

ROWS = 10
UNMEASURED = 3
"""How many processes run first: the second one leaves the archive as it ends."""
COLUMNS = "id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
QUERIES = {
    "filter": ("id INT, v INT", "SELECT id, v FROM events WHERE v > 3"),
    "group": ("k STRING, n BIGINT, s INT", "SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k"),
    "join": ("id INT, v INT", "SELECT a.id, b.v FROM events a JOIN events b ON a.id = b.v"),
    "window": (
        "s TIMESTAMP(3), k STRING, n BIGINT",
        "SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
        "GROUP BY window_start, window_end, k",
    ),
}
"""The columns and the text of each query over ``events``."""


def build(folder: Path) -> None:
    """The ten rows, in one file."""
    rows = ({"id": i, "k": f"k{i % 3}", "v": i, "ts": f"2024-01-01 00:00:{i:02}"} for i in range(ROWS))
    (folder / "events").mkdir()
    (folder / "events" / "0.json").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def script(name: str, folder: Path) -> str:
    """The script of a query, which writes files."""
    columns, query = QUERIES[name]
    files, changes = (f"'connector' = 'filesystem', 'format' = '{name}'" for name in ("json", "debezium-json"))
    return (
        f"CREATE TABLE events ({COLUMNS}) WITH ({files}, 'path' = '{folder / 'events'}');\n"
        f"CREATE TABLE results ({columns}) WITH ({changes}, 'path' = '{folder / 'results'}');\n"
        f"INSERT INTO results {query};\n"
    )


def cold(name: str, folder: Path, rounds: int) -> list[Round]:
    """What each round took as a process."""
    plan = folder / f"{name}.json"
    save(compile_script(script(name, folder)), plan)
    return [process([str(FLINKPLAN), "execute", "--quiet", str(plan)])[0] for _ in range(rounds)]


def middle(rounds: list[Round]) -> str:
    """The medians."""
    return f"{median(r.seconds for r in rounds):.2f} ({median(r.processor for r in rounds):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(QUERIES)
    table = Table(title=f"{ROWS} rows: seconds (of processor time)")
    for column in ("query", "process", "first in a session", "warm"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as directory:
        folder = Path(directory)
        build(folder)
        cold(names[0], folder, UNMEASURED)
        processes = {name: cold(name, folder, given.rounds) for name in names}
        session("local[2]")
        for name in names:
            first, *others = run(script(name, folder), given.rounds + 1)
            table.add_row(name, middle(processes[name]), middle([first]), middle(others))
    Console().print(table)


if __name__ == "__main__":
    main()
