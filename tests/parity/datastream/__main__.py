"""Runs window cases: ``python -m tests.parity.datastream CASES_FOLDER OUT_FOLDER``.

Writes ``OUT_FOLDER/NAME.json`` for each ``CASES_FOLDER/NAME.json``: what was emitted, or why the case was refused.
``--python`` says all that is built in by Python classes.
``--cuts each`` ends a run before each event and goes on from its checkpoint, ``--cuts random`` before some of them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .pipeline import Case
from .running import is_drained, run_case, run_together


def main() -> None:
    """Run the cases of a folder in one Spark session."""
    from flinkplan.executor.jvm.session import Lifetime, session

    parser = argparse.ArgumentParser(prog="python -m tests.parity.datastream", description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cuts", choices=["none", "each", "random"], default="none")
    parser.add_argument("--together", type=int, default=10, help="how many cases to run as one job")
    parser.add_argument("--only", default="", help="run the cases whose name has this in it")
    parser.add_argument("--python", action="store_true", help="say what is built in by Python classes")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    conf = {"spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false"}
    spark = session("local[2]", conf, lifetime=Lifetime.SECONDS)
    cases = [json.loads(file.read_text("utf-8")) for file in sorted(arguments.cases.glob("*.json"))]
    cases = [case for case in cases if arguments.only in case["name"]]
    python = arguments.python
    with tempfile.TemporaryDirectory() as folder:
        for some in _groups(cases, arguments.together if arguments.cuts == "none" else 1):
            began = time.monotonic()
            if len(some) > 1:
                found = run_together(some, Path(folder) / "job", spark, python=python)
            else:
                (case,) = some
                cuts = _cuts(len(case["events"]), arguments.cuts)
                found = {case["name"]: run_case(case, Path(folder) / "job", spark, cuts, python=python)}
            for name, actual in found.items():
                (arguments.out / f"{name}.json").write_text(json.dumps(actual, ensure_ascii=False), "utf-8")
            print(f"{', '.join(found)}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    spark.stop()


def _groups(cases: list[Case], size: int) -> Iterator[list[Case]]:
    """Cases that are run as one job: those whose input ends, some at a time."""
    drained = [case for case in cases if size > 1 and is_drained(case)]
    yield from (drained[i : i + size] for i in range(0, len(drained), size))
    yield from ([case] for case in cases if case not in drained)


def _cuts(count: int, kind: str) -> list[int]:
    if kind == "none":
        return []
    if kind == "each":
        return list(range(1, count))
    chance = random.Random(count)
    return sorted(chance.sample(range(1, count), min(3, count - 1))) if count > 1 else []


main()
