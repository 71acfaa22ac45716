"""How far one case gets: each level's check returns what is wrong, or the empty text."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from flinkplan.executor.job import JobOptions, execute
from flinkplan.plan import document
from flinkplan.plan.errors import FlinkplanError
from tests.parity.compare import PlanComparison, compare_plans, compare_rows
from tests.parity.corpus import SESSION_OPTIONS, STREAMS, Case


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
            streams=STREAMS,
        )
        execute(document.load(case.plan_file), options).wait()
    except Exception as e:
        return _words(e) if case.runs or not isinstance(e, FlinkplanError) else ""
    if not case.runs:
        return "ran to the end, though Flink fails"
    return "; ".join(compare_rows(case.pipeline, case.expected, work / "out")[:4])


def _words(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return first if isinstance(error, FlinkplanError) else f"{type(error).__name__}: {first}"
