"""Cases in event time run in batches that begin and end anywhere: what is late, and what becomes of it, is the same.

Flink runs row by row, so that the rows that it wrote are those of any batches.  How many rows come too late is compared
with the run of all rows at once.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.prepare.known.pushed_watermarks import with_assigners
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan import document
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import WatermarkAssigner
from tests.parity import physical
from tests.parity.compare import compare_rows
from tests.parity.corpus import Case, cases
from tests.parity.selection import SUMS_OF_BUCKETS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAYS = ("rows", "random", "restarts")
"""One row a batch; batches of random sizes; the same, and the job starts again and again."""
RESTARTS = 3
UNLIKE: Mapping[str, str] = {
    "window-float-sums-in-phases": "a first phase adds up the floating-point numbers of a batch, and rounds",
    "window-slices-in-order": "a first phase hands on its lists where a batch ends, as Flink's does at a checkpoint",
    "window-tumble-avg-split-keyed": SUMS_OF_BUCKETS,
    "window-union-of-two-sources": "which rows are late is a race of two sources",
}
"""Cases that are others in batches, and why."""

Batch = dict[Path, list[bytes]]
"""The lines that come to files of tables, relative to the folder of the data."""


def is_timed(case: Case) -> bool:
    """Whether anything of a case goes by watermarks; what goes by the clock is another in every run."""
    return case.runs and case.compiles and _has_watermarks(document.load(case.plan_file))


def _has_watermarks(plan: Plan) -> bool:
    return any(isinstance(node, WatermarkAssigner) for node in with_assigners(plan).nodes)


def timed_cases() -> list[Case]:
    """The cases that can be compared."""
    return [case for case in cases() if is_timed(case)]


@dataclass
class Late:
    """Counts the rows that come too late, by sink."""

    counts: Counter[str] = field(default_factory=Counter)

    def batch_done(self, progress: QueryProgress) -> None:
        self.counts[progress.sink] += progress.rows_dropped


def check_batches(case: Case, way: str, work: Path, spark: SparkSession, at_once: Counter[str]) -> str:
    """What is wrong with the rows of a case in batches of one of the ``WAYS``, or with how many of them come too late,
    which are ``at_once`` where all are read at once."""
    try:
        late, number = Late(), 0
        for run in runs(case, way):
            for batch in run:
                add_batch(batch, work / "data", number)
                number += 1
            _run(case, work, spark, late, Mode.AVAILABLE_NOW)
        _run(case, work, spark, late, Mode.BOUNDED)
    except FlinkplanError as e:
        return str(e).splitlines()[0]
    wrong = compare_rows(case.pipeline, case.expected, work / "out")[:4]
    if +late.counts != at_once:
        wrong.append(f"late rows: {dict(+late.counts)}, at once {dict(at_once)}")
    return "; ".join(wrong)


def late_at_once(case: Case, work: Path, spark: SparkSession) -> Counter[str]:
    """How many rows of a case come too late where all are read at once, by sink."""
    shutil.copytree(case.folder / "data", work / "data")
    late = Late()
    _run(case, work, spark, late, Mode.BOUNDED)
    return +late.counts


def _run(case: Case, work: Path, spark: SparkSession, late: Late, mode: Mode) -> None:
    options = JobOptions(
        checkpoint=str(work / "checkpoint"),
        variables={"CASE": str(work)},
        options=case.session_options,
        mode=mode,
        files_per_batch=1,
        listener=late,
        spark=spark,
    )
    job = execute(plan := document.load(case.plan_file), options)
    job.wait()
    if wrong := physical.differences(plan, job, page=False):
        raise FlinkplanError("; ".join(wrong))


def runs(case: Case, way: str) -> list[list[Batch]]:
    """The batches of each run of a job, all of which together have the rows of the case in their order."""
    chance = random.Random(f"{case.name} {way}")
    tables = lines_of(case.folder / "data")
    most = max(len(lines) for lines in tables)
    ends = range(1, most + 1) if way == "rows" else sorted({*chance.choices(range(1, most + 1), k=most // 3 + 1), most})
    batches = [batch_of(tables, start, end) for start, end in zip([0, *ends], ends, strict=False)]
    if way != "restarts":
        return [batches]
    cuts = sorted(chance.sample(range(1, len(batches)), min(RESTARTS, len(batches) - 1)))
    return [batches[start:end] for start, end in zip([0, *cuts], [*cuts, len(batches)], strict=True)]


def lines_of(folder: Path) -> list[list[tuple[Path, bytes]]]:
    """The lines of each table, in the order of its files, with the files that they are of."""
    tables: dict[str, list[tuple[Path, bytes]]] = {}
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        path = file.relative_to(folder)
        lines = file.read_bytes().removesuffix(b"\n").split(b"\n")
        tables.setdefault(path.parts[0], []).extend((path, line) for line in lines)
    return list(tables.values())


def batch_of(tables: Sequence[list[tuple[Path, bytes]]], start: int, end: int) -> Batch:
    batch: Batch = {}
    for path, line in (each for table in tables for each in table[start:end]):
        batch.setdefault(path, []).append(line)
    return batch


def add_batch(batch: Batch, folder: Path, number: int) -> None:
    """Lets a batch have files of its own of each table, which come behind those that are there."""
    for index, (path, lines) in enumerate(batch.items()):
        name = f"part-{number:05}-{index:03}"
        file = folder / path / name if len(path.parts) == 1 else folder / path.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        os.utime(file, (number, number))
