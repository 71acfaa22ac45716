"""Compiles and executes cases: at once, or in several runs that go on from a checkpoint."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.jobs.job import JobOptions, Mode, execute
from flinkplan.executor.prepare.python_classes import PythonCode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script

from .. import physical
from .pipeline import Case, event_lines, pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Actual = dict[str, Any]


def run_case(
    case: Case,
    folder: Path,
    spark: SparkSession,
    cuts: Sequence[int] = (),
    *,
    python: bool = False,
    restarts: bool = True,
) -> Actual:
    """What a case emits, in the form that ``compare.py`` reads.

    ``cuts``: before which entries of ``events`` a run ends, from whose checkpoint the next one goes on; without
    ``restarts`` a batch alone ends there, and the next one follows at once.
    ``python``: what is built in is said by Python classes.
    """
    try:
        _execute([case], folder, spark, cuts, python, restarts)
    except FlinkplanError as e:
        return {"error": e.message}
    return _written(folder).get(case["name"], {"main": [], "late": []})


def run_together(
    cases: Sequence[Case], folder: Path, spark: SparkSession, *, python: bool = False, streams: bool = True
) -> dict[str, Actual]:
    """What each of some cases emits, run as one job; ``streams``: in micro-batches, else in a batch.

    All of them must be of input that ends, since the job has one watermark of Spark.  Where the job fails, either half
    is run by itself.
    """
    try:
        _execute(cases, folder, spark, (), python, streams=streams)
    except FlinkplanError as e:
        if len(cases) == 1:
            return {cases[0]["name"]: {"error": e.message}}
        half = len(cases) // 2
        parts = (
            run_together(part, folder, spark, python=python, streams=streams) for part in (cases[:half], cases[half:])
        )
        return {name: found for part in parts for name, found in part.items()}
    found = _written(folder)
    return {case["name"]: found.get(case["name"], {"main": [], "late": []}) for case in cases}


def is_drained(case: Case) -> bool:
    """Whether the input ends."""
    return bool(case.get("end", "drain") == "drain")


def _execute(
    cases: Sequence[Case],
    folder: Path,
    spark: SparkSession,
    cuts: Sequence[int],
    python: bool,
    restarts: bool = True,
    streams: bool = True,
) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    classes = Path(__file__).with_name("window_classes.py")
    plan = compile_script(json.dumps(pipeline(cases, folder, python)), file=str(classes.with_name("case.yaml")))
    code = PythonCode(files=(str(classes),) if python else ())
    for case in cases:
        (folder / "in" / case["name"]).mkdir(parents=True)
    count = max(len(case["events"]) for case in cases)
    ends = [*(c for c in cuts if 0 < c < count), count]
    for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for case in cases:
            part = folder / "in" / case["name"] / f"part-{number:04}.json"
            part.write_text("".join(f"{line}\n" for line in event_lines(case)[start:end]), encoding="utf-8")
            os.utime(part, (number, number))
        if not restarts and end < count:
            continue
        ends_input = end == count and is_drained(cases[0])
        checkpoint = str(folder / "checkpoint") if streams else None
        options = JobOptions(checkpoint=checkpoint, spark=spark, python=code, files_per_batch=1)
        if ends_input and not restarts:
            _run(plan, replace(options, mode=Mode.AVAILABLE_NOW))
        _run(plan, replace(options, mode=Mode.BOUNDED if ends_input else Mode.AVAILABLE_NOW))


def _run(plan: Plan, options: JobOptions) -> None:
    job = execute(plan, options)
    job.wait()
    if wrong := physical.differences(plan, job, page=False):
        raise AssertionError("; ".join(wrong))


def _written(folder: Path) -> dict[str, Actual]:
    """The rows of each case in the order in which they were written."""
    files = sorted((folder / "out").glob("part-*"), key=lambda path: path.name.rsplit("-", 2)[1:])
    found: dict[str, Actual] = {}
    for line in (line for file in files for line in file.read_text("utf-8").splitlines()):
        written = json.loads(line)
        row = {key: _value(value) for key, value in json.loads(written["row_text"]).items()}
        outputs = found.setdefault(written["case_name"], {"main": [], "late": []})
        output, _, operator = written["output"].partition(" ")
        outputs[output].append({"operator": int(operator), "row": row} if operator else row)
    return found


def _value(value: Any) -> Any:
    """A timestamp as milliseconds; anything else as it is."""
    if isinstance(value, str) and len(value) >= 19 and value[4] == value[7] == "-" and value[13] == ":":
        return round(datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp() * 1000)
    return value
