"""Measures three queries over JSON lines as whole processes, beside what else one would pick: Pathway and DuckDB.

    benchmarks/peers.py [--rows 1000000,8000000] [--only count,join,window] [--kinds bounded,stream] [--rounds N]
                        [--install] [--venv DIR] [--data DIR]

``count`` counts and sums by 100,000 keys, ``join`` joins each row with one of 100,000 names, ``window`` counts and sums
by minute and one of 1,000 values.  The rows are in files of 100,000 each, and the results go nowhere.  A stream reads a
file a micro-batch here; Pathway watches the folder, and stops when it has counted all rows.  DuckDB has no streams.

A figure is the median of the rounds, of which the first does not count.  The peers have a virtual environment of their
own, which ``--install`` makes; without it, only flinkplan is measured.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from measuring import FLINKPLAN, HERE, Round, process, two_or_more
from peer_jobs import KEYS, MINUTE, QUERIES
from rich.console import Console
from rich.table import Table

ROWS_A_FILE = 100_000
MULTIPLIER = 2_654_435_761
"""Keys come as multiples of a prime, so that each is as frequent as any other one and neighbours are far apart."""
START = 1_704_067_200
ROWS_A_SECOND = 1000
PACKAGES = ("pathway==0.33.0", "duckdb==1.1.3")
PEERS = {"Pathway": ("bounded", "stream"), "DuckDB": ("bounded",)}
KINDS = {"bounded": ["--mode", "bounded"], "stream": ["--mode", "available-now", "--files-per-batch", "1"]}
COLUMNS = {
    "rows": "k BIGINT, v BIGINT, t BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 0), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "names": "k BIGINT, name STRING",
}
SELECTS = {
    "count": ("k BIGINT, n BIGINT, s BIGINT", "SELECT k, COUNT(*), SUM(v) FROM `rows` GROUP BY k"),
    "join": (
        "k BIGINT, v BIGINT, name STRING",
        "SELECT r.k, r.v, n.name FROM `rows` AS r JOIN `names` AS n ON r.k = n.k",
    ),
    "window": (
        "s TIMESTAMP(3), v BIGINT, n BIGINT, total BIGINT",
        "SELECT window_start, v, COUNT(*), SUM(k) FROM TABLE(TUMBLE(TABLE `rows`, DESCRIPTOR(ts), "
        f"INTERVAL '{MINUTE}' SECOND)) GROUP BY window_start, window_end, v",
    ),
}
"""The columns and the text of each query here; those of the peers are in ``peer_jobs.py``."""


def build(folder: Path, rows: int) -> Path:
    """The folder of the tables ``rows`` and ``names``, each in files of JSON lines."""
    made = folder / f"{rows}-rows"
    if not made.exists():
        hidden = folder / f".{made.name}"
        _write(hidden / "rows", _rows(rows))
        _write(hidden / "names", ({"k": k, "name": f"name {k}"} for k in range(KEYS)))
        hidden.rename(made)
    return made


def _rows(count: int) -> Iterator[dict[str, object]]:
    for i in range(count):
        yield {"k": i * MULTIPLIER % KEYS, "v": i % 1000, "t": START + i // ROWS_A_SECOND}


def _write(table: Path, rows: Iterator[dict[str, object]]) -> None:
    table.mkdir(parents=True)
    for number, row in enumerate(rows):
        if number % ROWS_A_FILE == 0:
            out = (table / f"{number // ROWS_A_FILE:04}.json").open("w", encoding="utf-8")
        out.write(json.dumps(row) + "\n")
        if (number + 1) % ROWS_A_FILE == 0:
            out.close()
    out.close()


def script(query: str, data: Path) -> str:
    """The script of a query here."""
    tables = (
        f"CREATE TABLE `{name}` ({columns}) WITH ('connector' = 'filesystem', 'path' = '{data / name}', "
        "'format' = 'json');"
        for name, columns in COLUMNS.items()
    )
    columns, select = SELECTS[query]
    sink = f"CREATE TABLE sink ({columns}) WITH ('connector' = 'blackhole');"
    return "\n".join([*tables, sink, f"INSERT INTO sink {select};"]) + "\n"


def ours(query: str, kind: str, data: Path) -> tuple[Round, int]:
    """What a process took here, and its memory in bytes."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        file = Path(folder, "job.sql")
        file.write_text(script(query, data), encoding="utf-8")
        command = [FLINKPLAN, "run", "--quiet", file, "--checkpoint", Path(folder, "checkpoint"), *KINDS[kind]]
        return process([str(part) for part in command])


def theirs(python: Path, peer: str, query: str, kind: str, data: Path, rows: int) -> tuple[Round, int]:
    """The same of a peer."""
    job = [str(python), str(HERE / "peer_jobs.py"), peer.lower(), query, kind, str(data), str(rows)]
    return process(job)


def peers_in(folder: Path, install: bool) -> Path | None:
    """The Python of the peers' virtual environment; ``None`` where there is none."""
    python = folder / "bin" / "python"
    if not python.exists() and install:
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python if python.exists() else None


def middle(measured: list[tuple[Round, int]]) -> tuple[Round, int]:
    """The median of all rounds but the first one."""
    rounds, memory = zip(*measured[1:], strict=True)
    return Round(*(median(column) for column in zip(*rounds, strict=True))), max(memory)


def main() -> None:
    """Print a table of all queries."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", default="1000000,8000000")
    parser.add_argument("--only", default=",".join(QUERIES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=two_or_more, default=3)
    parser.add_argument("--install", action="store_true", help="make the virtual environment of the peers")
    parser.add_argument("--venv", type=Path, default=Path("out/peers/venv"))
    parser.add_argument("--data", type=Path, default=Path("out/peers/data"))
    given = parser.parse_args()
    python = peers_in(given.venv.absolute(), given.install)
    if python is None:
        print(f"Pathway and DuckDB are left out: there is no {given.venv}; --install makes it", file=sys.stderr)
    table = Table(title="seconds (of processor time) of whole processes")
    for column in ("query", "rows", "engine", "seconds", "ours ÷ theirs", "MB of memory"):
        table.add_column(column, justify="right")
    for rows in map(int, given.rows.split(",")):
        data = build(given.data.absolute(), rows)
        for query in given.only.split(","):
            for kind in given.kinds.split(","):
                own = middle([ours(query, kind, data) for _ in range(given.rounds)])
                results = {"flinkplan": own}
                for peer in (p for p, kinds in PEERS.items() if python is not None and kind in kinds):
                    assert python is not None
                    taken = [theirs(python, peer, query, kind, data, rows) for _ in range(given.rounds)]
                    results[peer] = middle(taken)
                for engine, (took, memory) in results.items():
                    ratios = Round(*(a / b for a, b in zip(own[0], took, strict=True)))
                    ratio = "" if engine == "flinkplan" else f"{ratios.seconds:.2f} ({ratios.processor:.2f})"
                    seconds = f"{took.seconds:.1f} ({took.processor:.1f})"
                    row = [f"{query}, {kind}", f"{rows:,}", engine, seconds, ratio, f"{memory >> 20:,}"]
                    table.add_row(*row)
                    print(*row, sep="  ", file=sys.stderr, flush=True)
    Console().print(table)


if __name__ == "__main__":
    main()
