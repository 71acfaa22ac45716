"""How far one case gets: each level's check returns what is wrong, or the empty text."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.jvm.session import PARTITIONS, REAL_TIME_CONF, session
from flinkplan.executor.prepare.job_plan import prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.query import QueryPlan
from flinkplan.executor.prepare.real_time import check_real_time
from flinkplan.executor.prepare.watermarks import waits_for_watermark
from flinkplan.plan import document
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.record import replace
from tests.parity import physical
from tests.parity.compare import PlanComparison, compare_journal, compare_plans, compare_rows
from tests.parity.corpus import PARTITIONED, SESSION_OPTIONS, STREAMS, Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ABREAST = 6
"""How many cases run at once in real-time mode."""
SLOTS = 16 * ABREAST
"""How many tasks: no plan of a case has more than sixteen."""
OTHER_JOURNALS = {
    "rank-order-by-offset-fetch": "behind an OFFSET Flink takes rows back to put the same in again, place by place",
}
"""Cases whose changes are others than Flink's, which come to the same, and why."""
PATIENCE = 120.0
"""Seconds that a plan has for its rows in real-time mode."""


def check_loaded(case: Case) -> str:
    """Flink's plan loads, and saves as the same text."""
    text = case.plan_file.read_text("utf-8")
    try:
        return "" if document.dumps(document.loads(text)) == text else "saved with another text"
    except FlinkplanError as e:
        return _words(e)


def check_compiled(case: Case, level: str) -> str:
    """The script compiles to Flink's plan, as far as ``level`` asks; where Flink refuses it, so do we."""
    result = compile_case(case)
    if not case.compiles:
        return "" if isinstance(result, FlinkplanError) else "compiled, though Flink refuses it"
    if isinstance(result, Exception):
        return _words(result)
    comparison = compare_case(case)
    return "" if getattr(comparison, level) else comparison.why


@cache
def compile_case(case: Case) -> str | Exception:
    """The text of our plan, or what came instead."""
    script = case.pipeline.replace("${CASE}", str(case.folder))
    try:
        from flinkplan.planner import compile_script

        plan = compile_script(script, file=str(case.folder / "pipeline.sql"), options=SESSION_OPTIONS)
        return document.dumps(plan).replace(str(case.folder), "${CASE}")
    except Exception as e:
        return e


@cache
def compare_case(case: Case) -> PlanComparison:
    """Flink's plan and ours, which must have compiled."""
    ours = compile_case(case)
    assert isinstance(ours, str)
    return compare_plans(case.plan_file.read_text("utf-8"), ours)


def check_rows(case: Case, work: Path) -> str:
    """Flink's plan, run on Spark in the folder ``work``, writes Flink's rows; where Flink fails, so do we."""
    shutil.copytree(case.folder / "data", work / "data", dirs_exist_ok=True)
    try:
        options = JobOptions(
            checkpoint=str(work / "checkpoint"),
            variables={"CASE": str(work)},
            options=case.session_options,
            conf={PARTITIONS: "3"} if PARTITIONED else {},
            streams=STREAMS,
        )
        job = execute(plan := document.load(case.plan_file), options)
        job.wait()
    except Exception as e:
        return _words(e) if case.runs or not isinstance(e, FlinkplanError) else ""
    if not case.runs:
        return "ran to the end, though Flink fails"
    wrong = compare_rows(case.pipeline, case.expected, work / "out")
    return "; ".join((wrong or physical.differences(plan, job))[:4])


@cache
def real_time_session() -> SparkSession:
    """The session of all cases in real-time mode."""
    return session(f"local[{SLOTS}]", {**REAL_TIME_CONF, PARTITIONS: "1"})


def check_rows_in_real_time(case: Case, work: Path) -> str:
    """The same of the plan in real-time mode, its files looked after.

    Half of the rows are there when it starts, some come later.  It is stopped in the middle of a batch, and has the
    rest of them when it starts again.  Windows that only the end of input closes stay open.

    Skips the test where the plan does not run in that mode, or Flink fails.
    """
    if not case.runs:
        pytest.skip("Flink fails")
    plan = _looking_after_files(case)
    queries = prepare(plan, Mode.REAL_TIME).queries
    try:
        check_real_time(queries.values())
    except FlinkplanError as e:
        pytest.skip(_words(e))
    options = JobOptions(
        checkpoint=str(work / "checkpoint"),
        variables={"CASE": str(work)},
        options=case.session_options,
        mode=Mode.REAL_TIME,
        checkpoint_interval=5.0,
        spark=real_time_session(),
    )
    is_open = any(waits_for_watermark(n, query) for query in queries.values() for n in query.plan.nodes)
    feed = _Feed(case.folder / "data", work / "data")
    feed.up_to(0.5)
    try:
        batches = _Batches()
        job = execute(plan, replace(options, listener=batches))
        try:
            _wait(job, lambda: batches.count >= len(queries))
            feed.up_to(0.75)
            job.wait(0.5)
        finally:
            job.stop()
        feed.up_to(1)
        batches = _Batches()
        job = execute(plan, replace(options, listener=batches))
        try:
            _wait(job, lambda: batches.count >= 2 * len(queries) and (is_open or not _wrong_rows(case, work)))
        finally:
            job.stop()
    except FlinkplanError as e:
        return _words(e)
    wrong = [w for w in _wrong_rows(case, work) if not (is_open and ": missing" in w)]
    wrong = wrong or _wrong_journals(case, work, queries, is_open)
    return "; ".join((wrong or physical.differences(plan, job, page=False))[:4])


def _wrong_rows(case: Case, work: Path) -> list[str]:
    return compare_rows(case.pipeline, case.expected, work / "out")


def _wrong_journals(case: Case, work: Path, queries: Mapping[str, QueryPlan], is_open: bool) -> list[str]:
    """What is wrong with the order of changes, where one source alone and no mini-batches make it."""
    if case.name in OTHER_JOURNALS or case.session_options.get("table.exec.mini-batch.enabled", "").lower() == "true":
        return []
    found = []
    for file in sorted(case.expected.glob("*.jsonl")):
        single = [name for name, query in queries.items() if name == file.stem and _scans(query.plan) == 1]
        found += compare_journal(file, work / "out" / file.stem, is_open=is_open) if single else []
    return found


def _scans(plan: Plan) -> int:
    return sum(isinstance(node, TableSourceScan) for node in plan.nodes)


class _Batches:
    """Counts the batches of a job."""

    count = 0

    def batch_done(self, progress: QueryProgress) -> None:
        self.count += 1


def _wait(job: Job, done: Callable[[], bool]) -> None:
    """Let a job work until something is so, or it has had its time."""
    end = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < end:
        job.wait(0.5)


class _Feed:
    """Adds the lines of a folder's files to files elsewhere; those of each table in the order of its files."""

    def __init__(self, folder: Path, target: Path) -> None:
        tables: dict[str, list[tuple[Path, bytes]]] = {}
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            path = file.relative_to(folder)
            lines = file.read_bytes().removesuffix(b"\n").split(b"\n")
            tables.setdefault(path.parts[0], []).extend((target / path, line + b"\n") for line in lines)
            (target / path).parent.mkdir(parents=True, exist_ok=True)
        self._tables = [(lines, len(lines)) for lines in tables.values()]

    def up_to(self, share: float) -> None:
        """Go on until this share of each table's lines is there."""
        for lines, count in self._tables:
            while count - len(lines) < share * count:
                path, line = lines.pop(0)
                with path.open("ab") as file:
                    file.write(line)


def _looking_after_files(case: Case) -> Plan:
    """Flink's plan, the files of whose sources are read as they grow."""
    content = json.loads(case.plan_file.read_text("utf-8"))
    for node in content["nodes"]:
        table = node.get("scanTableSource", {}).get("table", {}).get("resolvedTable", {})
        if table.get("options", {}).get("connector") == "filesystem":
            table["options"]["source.monitor-interval"] = "1 s"
    return document.plan_from_json(content)


def _words(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return first if isinstance(error, FlinkplanError) else f"{type(error).__name__}: {first}"
