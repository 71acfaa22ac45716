"""Measures `flinkplan compile` against Flink's own COMPILE PLAN, over the samples.

    benchmarks/compiling.py [SAMPLE …] [--rounds N] [--flink PYTHON]

*process* is the whole command, from starting its interpreter to the plan on disk; *warm* is the compilation in a
process that has compiled the script before.  ``--flink`` names the Python of a virtual environment that has
apache-flink, which pays for its JVM in each process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from flinkplan.plan.document import dumps
from flinkplan.planner import compile_script
from flinkplan.planner.sql import ast, parse_script

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "sample_plans"
DEFAULT = ("order-shipping", "hourly-departures", "long-delays")
WARM_UP = 5


def timed(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def process(command: Sequence[str]) -> list[str]:
    """Run a command; the lines that it printed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def own_seconds(script: Path, rounds: int, folder: Path) -> tuple[float, float]:
    """Median seconds of the whole command and of a warm compilation."""
    command = [str(Path(sys.executable).with_name("flinkplan")), "compile", str(script), "--force", "-o"]
    whole = median(timed(lambda: process([*command, str(folder / "plan.json")])) for _ in range(rounds))
    text = script.read_text(encoding="utf-8")
    warm = [timed(lambda: dumps(compile_script(text))) for _ in range(WARM_UP + rounds)]
    return whole, median(warm[WARM_UP:])


def flink_seconds(script: Path, rounds: int, folder: Path, python: str) -> tuple[float, float]:
    """The same of Flink."""
    job = folder / "job.json"
    job.write_text(json.dumps(flink_job(script.read_text(encoding="utf-8"))), encoding="utf-8")
    command = [python, str(HERE / "flink_compile.py"), str(job)]
    whole = median(timed(lambda: process([*command, "1"])) for _ in range(rounds))
    warm = [float(line) for line in process([*command, str(WARM_UP + rounds)])[-rounds:]]
    return whole, median(warm)


def flink_job(script: str) -> dict[str, object]:
    """A script in the parts that Flink takes apart from each other."""
    statements = parse_script(script).statements
    jobs = [s for s in statements if isinstance(s, (ast.Insert, ast.StatementSet))]
    options = [s for s in statements if isinstance(s, ast.SetOption)]
    definitions = [s for s in statements if s not in jobs and s not in options]
    return {
        "options": {option.key: option.value for option in options},
        "definitions": [definition.span.text for definition in definitions],
        "job": jobs[0].span.text.removeprefix("EXECUTE "),
    }


def row(sample: str, rounds: int, flink: str | None) -> list[str]:
    """The table's row for one sample."""
    script = SAMPLES / sample / "pipeline.sql"
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        whole, warm = own_seconds(script, rounds, Path(folder))
        cells = [sample, f"{whole:.2f} s", f"{warm * 1000:.0f} ms"]
        if flink:
            their_whole, their_warm = flink_seconds(script, rounds, Path(folder), flink)
            cells += [f"{their_whole:.2f} s", f"{their_warm * 1000:.0f} ms"]
            cells += [f"{whole / their_whole:.2f}", f"{warm / their_warm:.2f}"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure flinkplan compile against Flink's COMPILE PLAN.")
    parser.add_argument("samples", nargs="*", default=DEFAULT, help="folders of sample_plans")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds; the median counts")
    parser.add_argument("--flink", help="a Python with apache-flink")
    args = parser.parse_args()
    table = Table("script", "flinkplan process", "warm")
    for column in ("Flink process", "warm", "ratio of processes", "ratio warm") if args.flink else ():
        table.add_column(column)
    for sample in args.samples:
        table.add_row(*row(sample, args.rounds, args.flink))
    Console().print(table)


if __name__ == "__main__":
    main()
