"""Cuts cases in the middle: their jobs begin here and go on on real Flink from the state that was moved there::

    python -m tests.parity.state_flink OUT_FOLDER [PATTERN…]

Each case's rows are cut at a random place.  What the first half wrote here and the second half on Flink must be what
Flink wrote of all rows.  ``OUT_FOLDER/results.json`` says of each case what is wrong, nothing if it is right, and of
those that are refused why.  ``FLINK_PYTHON`` names a Python with apache-flink.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.executor.checkpoints.job_state import CheckpointState
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.empty_savepoint import RunnablePlan, empty_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan import document
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import TableSourceScan
from tests.parity.batches import add_batch, batch_of, lines_of
from tests.parity.compare import compare_rows
from tests.parity.corpus import Case, cases
from tests.parity.flink import PYTHON_VARIABLE, Flink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFUSED = "refused: "
_SEED = 41


def cut(case: Case, work: Path, seed: int) -> None:
    """Let each table have a first part of its rows; the others are in ``rest``, as files that are to come."""
    chance = random.Random(f"{case.name} {seed}")
    share = chance.uniform(0.2, 0.8)
    for number, table in enumerate(lines_of(case.folder / "data")):
        place = min(max(1, round(share * len(table))), len(table))
        add_batch(batch_of([table], 0, place), work / "data", number)
        add_batch(batch_of([table], place, len(table)), work / "rest", 1000 + number)


def first_half(case: Case, work: Path, spark: SparkSession) -> None:
    """Run a case here over the rows that are there, and add the others."""
    job = execute(document.load(case.plan_file), _options(case, work, spark))
    job.wait()
    (work / "out").mkdir(exist_ok=True)
    (work / "out").rename(work / "first")
    (work / "out").mkdir()
    if (work / "rest").exists():
        shutil.copytree(work / "rest", work / "data", dirs_exist_ok=True)


def _options(case: Case, work: Path, spark: SparkSession) -> JobOptions:
    return JobOptions(
        checkpoint=str(work / "checkpoint"),
        variables={"CASE": str(work)},
        options=case.session_options,
        mode=Mode.AVAILABLE_NOW,
        spark=spark,
    )


def second_half(case: Case, work: Path, flink: Flink) -> str:
    """What is wrong when the case has gone on on Flink."""
    plan = work / "plan.json"
    plan.write_text(case.plan_file.read_text("utf-8").replace("${CASE}", str(work)), "utf-8")
    request = {"plan": str(plan), "options": case.session_options, "savepoint": str(work / "savepoint")}
    if error := flink.ask(request)["error"]:
        return f"Flink: {error}"
    for number, half in enumerate(("first", "out")):
        for file in (f for f in (work / half).rglob("*") if f.is_file()):
            path = file.relative_to(work / half)
            if not any(part.startswith((".", "_")) for part in path.parts):
                target = work / "all" / path.parent / f"{number}-{path.name}"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
    return "; ".join(compare_rows(case.pipeline, case.expected, work / "all")[:4])


def is_stream(case: Case) -> bool:
    """Whether a case reads files and so can be cut."""
    if not (case.compiles and case.runs):
        return False
    return any(isinstance(node, TableSourceScan) for node in document.load(case.plan_file).nodes)


def run(chosen: Sequence[Case], out: Path, spark: SparkSession, python: str) -> dict[str, str]:
    """What is wrong with each case."""
    results: dict[str, str] = {}
    plans = [RunnablePlan(document.load(case.plan_file), case.session_options) for case in chosen]
    moved = []
    for case, empty in zip(chosen, empty_savepoints(plans, python), strict=True):
        work = out / case.name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        with empty:
            try:
                cut(case, work, _SEED)
                first_half(case, work, spark)
                options = _options(case, work, spark)
                with CheckpointState(
                    document.load(case.plan_file), str(work / "checkpoint"), empty.manifest.operators, spark, options
                ) as state:
                    write_savepoint(state, work / "savepoint", python)
                moved.append(case)
            except FlinkplanError as e:
                results[case.name] = f"{REFUSED}{e.where}: {e.message}"
            except Exception as e:
                results[case.name] = f"{type(e).__name__}: {str(e)[:300]}"
                (work / "error.txt").write_text(traceback.format_exc())
        print(case.name, results.get(case.name, "moved"), flush=True)
    with Flink(python) as flink:
        for case in moved:
            results[case.name] = second_half(case, out / case.name, flink)
            print(case.name, results[case.name] or "right", flush=True)
    return results


def main(arguments: Sequence[str]) -> int:
    """Run the cases that patterns choose; the exit code says whether none has wrong rows."""
    from flinkplan.executor.jvm.session import session

    python = os.environ.get(PYTHON_VARIABLE)
    if not arguments or not python:
        print(__doc__, file=sys.stderr)
        return 2
    out, *patterns = arguments
    chosen = [c for c in cases() if (not patterns or any(fnmatchcase(c.name, p) for p in patterns)) and is_stream(c)]
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    results = run(chosen, Path(out), spark, python)
    Path(out, "results.json").write_text(json.dumps(results, indent=1))
    kinds = Counter("right" if not r else "refused" if r.startswith(REFUSED) else "wrong" for r in results.values())
    print(dict(kinds))
    return 1 if kinds["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
