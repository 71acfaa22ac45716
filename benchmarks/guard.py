"""Times eight short jobs on the code as it is and as it was, in turn, and fails where one has become slower.

    benchmarks/guard.py [--against REVISION] [--rounds N] [--most RATIO] [--only NAMES]

Each version runs in a process of its own with a session of its own, and waits while the other one works.  The first
rounds of each job do not count: the JVM compiles what runs often.  A job is slower when the median of its processor
time is more than ``--most`` times what it was; by default the version before is the last commit, or its parent where
nothing is changed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
ROOT = HERE.parent
ROWS, KEYS, FILES = 300_000, 10_000, 6
START = datetime(2024, 1, 1)
UNMEASURED = 3
"""How many rounds of a job come first."""
COLUMNS = "id INT, k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
QUERIES = {
    "filter": ("id INT, v INT", "SELECT id, v FROM events WHERE MOD(v, 3) = 1"),
    "group": ("k INT, n BIGINT, s INT", "SELECT k, COUNT(*), SUM(v) FROM events GROUP BY k"),
    "join": ("id INT, v INT", "SELECT e.id, n.v FROM events e JOIN names n ON e.k = n.id"),
    "window": (
        "s TIMESTAMP(3), k INT, n BIGINT",
        "SELECT window_start, k, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end, k",
    ),
    "top": (
        "k INT, v INT",
        "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM events) "
        "WHERE n < 4",
    ),
}
JOBS = {**{name: False for name in QUERIES}, **{f"{name} stream": True for name in ("group", "join", "window")}}
"""The names of the jobs, and whether each is a stream, whose state is kept."""


def build(folder: Path) -> None:
    """The rows: ``events`` in files of a micro-batch each, and a name for each key."""
    for table in ("events", "names"):
        (folder / table).mkdir()
    for file in range(FILES):
        ids = range(file * ROWS // FILES, (file + 1) * ROWS // FILES)
        lines = (f"{i},{i * 7919 % KEYS},{i * 31 % 1009},{START + timedelta(seconds=i)}\n" for i in ids)
        (folder / "events" / f"{file}.csv").write_text("".join(lines), "utf-8")
    (folder / "names" / "0.csv").write_text("".join(f"{i},{i},{i},{START}\n" for i in range(KEYS)), "utf-8")


def serve(folder: Path) -> None:
    """Run each job whose name comes in, with the code that Python finds, and tell what it took."""
    from measuring import run, script_over

    from flinkplan.executor.prepare.modes import Mode

    for line in sys.stdin:
        name = line.strip()
        columns, query = QUERIES[name.split()[0]]
        script = script_over(folder, ("events", "names"), COLUMNS, columns, query)
        stream = {"mode": Mode.AVAILABLE_NOW, "files_per_batch": 1} if JOBS[name] else {}
        (measured,) = run(script, 1, **stream)
        print(json.dumps(measured), flush=True)


class Version:
    """The code of a folder in a process that waits for the names of jobs."""

    def __init__(self, code: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "guard.py"), "--serve", str(folder)],
            env={**os.environ, "PYTHONPATH": str(code)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, job: str) -> tuple[float, float]:
        """The seconds that a job took, and those of processor time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(job, file=self._process.stdin, flush=True)
        while line := self._process.stdout.readline():
            if line.startswith("["):
                seconds, processor = json.loads(line)
                return seconds, processor
        raise SystemExit(f"{job} has failed")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """A folder with the code of a revision."""
    code = folder / "before"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(code), revision], check=True)
    try:
        yield code
    finally:
        subprocess.run([*git, "remove", "--force", str(code)], check=True)


def before() -> str:
    """The revision to compare with: the last commit if the code differs from it, else its parent."""
    changed = subprocess.run(["git", "-C", str(ROOT), "diff", "--quiet", "HEAD", "--", "flinkplan"], check=False)
    return "HEAD" if changed.returncode else "HEAD~1"


def compared(jobs: list[str], rounds: int, most: float, old: Version, new: Version) -> bool:
    """Print the ratios of all jobs; whether none has become slower."""
    good = True
    print(f"{'job':14} {'before':>16} {'now':>16} {'ratio':>14}   seconds (of processor time)")
    for job in jobs:
        taken: dict[Version, list[tuple[float, float]]] = {old: [], new: []}
        for number in range(UNMEASURED + rounds):
            for version in (old, new) if number % 2 else (new, old):
                measured = version.run(job)
                taken[version] += [measured] if number >= UNMEASURED else []
        was, now = (tuple(median(column) for column in zip(*taken[v], strict=True)) for v in (old, new))
        ratios = [b / a for a, b in zip(was, now, strict=True)]
        slower = ratios[1] > most
        good = good and not slower
        cells = [f"{seconds:.2f} ({processor:.2f})" for seconds, processor in (was, now, ratios)]
        print(f"{job:14} {cells[0]:>16} {cells[1]:>16} {cells[2]:>14}{'   slower' if slower else ''}", flush=True)
    return good


def main() -> int:
    """Compare; 1 where a job has become slower."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=1.1, metavar="RATIO")
    parser.add_argument("--only", default="", metavar="NAMES", help="jobs between commas")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return 0
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as directory:
        folder = Path(directory)
        build(folder)
        with checked_out(given.against or before(), folder) as code:
            old, new = Version(code, folder), Version(ROOT, folder)
            try:
                jobs = given.only.split(",") if given.only else list(JOBS)
                return 0 if compared(jobs, given.rounds, given.most, old, new) else 1
            finally:
                old.close()
                new.close()


if __name__ == "__main__":
    sys.exit(main())
