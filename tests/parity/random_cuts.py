"""Begins random pipelines on one engine and goes on with them on the other::

    python -m tests.parity.random_cuts OUT_FOLDER [--number N] [--seed SEED]

:mod:`.random_pipelines` draws pipelines, their rows, where these are cut, and the engine that has the first part.
What begins here must write what Flink writes of all rows, as :mod:`.state_flink` compares it; what begins on Flink must
write what Flink does from its own savepoint, as :mod:`.savepoints` does.  Both leave their cases in ``OUT_FOLDER``.
``FLINK_PYTHON`` names a Python with apache-flink.
"""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

from flinkplan.plan.document import dumps
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

from . import savepoints
from .corpus import Case
from .flink import PYTHON_VARIABLE, Flink
from .random_pipelines import Pipeline, pipelines
from .state_flink import BRIEF, Cuts, report

_HERE = "'connector' = 'filesystem', 'path' = '${{CASE}}/data/{name}', 'format' = 'json'"
_HERE_SINK = "'connector' = 'filesystem', 'path' = '${CASE}/out/o', 'format' = 'debezium-json'"
_THERE = "'connector' = 'filesystem', 'path' = '${{DIR}}/{name}', 'format' = 'json', 'source.monitor-interval' = '1 s'"
_THERE_SINK = "'connector' = 'print'"


def write_case(pipeline: Pipeline, folder: Path) -> Case | None:
    """A pipeline that begins here, as a case of the corpus; ``None`` where it does not compile."""
    folder.mkdir(parents=True)
    script = pipeline.script(_HERE, _HERE_SINK)
    (folder / "pipeline.sql").write_text(script, "utf-8")
    try:
        (folder / "plan.json").write_text(dumps(compile_script(script)), "utf-8")
    except FlinkplanError as e:
        print(f"{folder.name}: does not compile: {e.message}")
        return None
    (folder / "oracle.json").write_text("{}")
    for table in pipeline.rows:
        first, others = pipeline.lines(table)
        (folder / "data" / table).mkdir(parents=True)
        (folder / "data" / table / "rows.json").write_text("\n".join([*first, *others]) + "\n", "utf-8")
    return Case(folder)


def write_stopped(pipeline: Pipeline, folder: Path) -> None:
    """A pipeline that begins on Flink, as :mod:`.savepoints` takes it."""
    folder.mkdir(parents=True)
    (folder / "pipeline.sql").write_text(pipeline.script(_THERE, _THERE_SINK), "utf-8")
    for table in pipeline.rows:
        for phase, lines in zip(("before", "after"), pipeline.lines(table), strict=True):
            (folder / phase / table).mkdir(parents=True)
            if lines:
                (folder / phase / table / "rows.json").write_text("\n".join(lines) + "\n", "utf-8")


def expect(cases: Sequence[Case], python: str) -> Iterator[Case]:
    """The cases that Flink runs, with the rows that it writes."""
    with Flink(python) as flink:
        for case in cases:
            work = case.folder / "whole"
            shutil.copytree(case.folder / "data", work / "data")
            plan = work / "plan.json"
            plan.write_text(case.plan_file.read_text("utf-8").replace("${CASE}", str(work)), "utf-8")
            if error := flink.execute(plan, case.session_options):
                print(f"{case.name}: Flink does not run it: {error}")
                continue
            files = sorted(f for f in (work / "out" / "o").rglob("*") if f.is_file() and not f.name.startswith("."))
            (case.folder / "expected").mkdir()
            (case.folder / "expected" / "o.jsonl").write_bytes(b"".join(file.read_bytes() for file in files))
            yield case


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(prog="python -m tests.parity.random_cuts", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--number", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        parser.error(f"{PYTHON_VARIABLE} names no Python with apache-flink")
    out: Path = options.out.absolute()
    shutil.rmtree(out, ignore_errors=True)
    here: list[Case] = []
    for number, pipeline in enumerate(pipelines(options.number, options.seed)):
        name = f"{number:03}"
        if pipeline.first == "flink":
            write_stopped(pipeline, out / "flink-first" / name)
        elif (case := write_case(pipeline, out / "spark-first" / name)) is not None:
            here.append(case)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF)
    cuts = Cuts(out / "cut", python, options.seed)
    cuts.run(list(expect(here, python)))
    wrong = report(cuts.results, f"begun here, seed {options.seed}")
    wrong |= savepoints.main([str(out / "flink-first"), str(out / "there")])
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
