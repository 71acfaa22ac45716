"""Measures what a row costs where there are many keys: a bounded job and a stream, each in a process of its own.

    benchmarks/many_keys.py [--bytes N] [--keys 100000,10000000] [--only group,join] [--kinds bounded,stream]
                            [--batches N] [--data DIR]

The input has so many bytes, whatever the number of keys; a stream has it in so many micro-batches.  Memory is what
``flinkplan run`` takes by default.  What a row costs is the processor time beyond that of a job over one row.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import FLINKPLAN, Round, process, script_over
from rich.console import Console
from rich.table import Table

TEXT = "x" * 30
MULTIPLIER = 2_654_435_761
"""Keys come as multiples of a prime, so that each is as frequent as any other one and neighbours are far apart."""
COLUMNS = "k BIGINT, v INT, t STRING"
QUERIES = {
    "group": ("k BIGINT, n BIGINT, s INT, m INT", "SELECT k, COUNT(*), SUM(v), MAX(v) FROM many GROUP BY k"),
    "join": ("k BIGINT, v INT, t STRING", "SELECT m.k, m.v, o.t FROM many m JOIN known o ON m.k = o.k"),
}
"""The columns and the text of each query over ``many`` rows, and one row of ``known`` for each key."""
KINDS = {"bounded": ["--mode", "bounded"], "stream": ["--mode", "available-now", "--files-per-batch", "1"]}


class Data:
    """The folders of the tables, and how many rows there are in ``many``."""

    def __init__(self, folder: Path, size: int, keys: int, files: int) -> None:
        self.folder = folder / f"{size}-bytes-{keys}-keys-in-{files}"
        self.rows = max(size // len(_line(keys, 0)), 1)
        if not self.folder.exists():
            hidden = folder / f".{self.folder.name}"
            self._write(hidden / "many", self.rows, keys, files)
            self._write(hidden / "known", keys, keys, files)
            hidden.rename(self.folder)

    @staticmethod
    def _write(table: Path, rows: int, keys: int, files: int) -> None:
        table.mkdir(parents=True)
        share = -(-rows // files)
        for number in range(files):
            with (table / f"{number:04}.csv").open("w", encoding="utf-8") as out:
                out.writelines(_line(i * MULTIPLIER % keys, i) for i in range(rows)[number * share :][:share])

    def script(self, name: str) -> str:
        """The script of a query, whose rows go nowhere."""
        return script_over(self.folder, ("many", "known"), COLUMNS, *QUERIES[name])


def _line(key: int, number: int) -> str:
    return f"{key},{number % 1000},{TEXT}\n"


def measure(data: Data, name: str, kind: str) -> tuple[Round, int]:
    """What a query's job took as a process, and the most bytes of memory that it had."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        file = Path(folder, "job.sql")
        file.write_text(data.script(name), encoding="utf-8")
        command = [FLINKPLAN, "run", "--quiet", file, "--checkpoint", Path(folder, "checkpoint"), *KINDS[kind]]
        return process([str(part) for part in command])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--keys", default="100000,10000000")
    parser.add_argument("--only", default=",".join(QUERIES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--data", type=Path, default=Path("out/many-keys"))
    given = parser.parse_args()
    folder = given.data.absolute()
    table = Table(title=f"{given.bytes:,} bytes")
    for column in ("query", "keys", "rows", "seconds", "of processor time", "µs a row", "MB of memory"):
        table.add_column(column, justify="right")
    nothing = Data(folder, 0, 1, 1)
    for kind in given.kinds.split(","):
        for name in given.only.split(","):
            least, _ = measure(nothing, name, kind)
            for keys in map(int, given.keys.split(",")):
                data = Data(folder, given.bytes, keys, given.batches)
                try:
                    took, memory = measure(data, name, kind)
                except subprocess.CalledProcessError as e:
                    cells = [str(e.stderr).strip().splitlines()[0]]
                else:
                    micros = (took.processor - least.processor) * 1e6 / data.rows
                    cells = [f"{took.seconds:.1f}", f"{took.processor:.1f}", f"{micros:.1f}", f"{memory >> 20:,}"]
                table.add_row(f"{name}, {kind}", f"{keys:,}", f"{data.rows:,}", *cells)
                print(kind, name, keys, *cells, sep="  ", file=sys.stderr, flush=True)
    Console().print(table)


if __name__ == "__main__":
    main()
