"""Cuts cases in the middle: their jobs begin here and go on on real Flink from the state that was moved there::

    python -m tests.parity.state_flink OUT_FOLDER [--number N] [--seed SEED] [PATTERN…]

Each case's rows are cut at a random place.  What the first half wrote here and the second half on Flink must be what
Flink wrote of all rows.  Of the cases that ``PATTERN`` chooses, ``N`` are drawn so that all kinds of nodes occur, each
as often as the others.  ``OUT_FOLDER/results.json`` says of each case what is wrong, nothing if it is right, and of
those that are refused why.  ``FLINK_PYTHON`` names a Python with apache-flink.

All plans are shown to Flink in one JVM, savepoints are written several at a time, and all second halves run in one
cluster.  A case that ends one of these processes, or takes too long, is wrong; those behind it run in a new one.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import sys
import time
import traceback
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from flinkplan.executor.checkpoints.job_state import CheckpointState
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.empty_savepoint import RunnablePlan, empty_savepoints
from flinkplan.flink.savepoint import Savepoint
from flinkplan.flink.writing import SavepointWriter
from flinkplan.plan import document
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import TableSourceScan
from tests.parity.batches import UNLIKE, add_batch, batch_of, is_timed, lines_of
from tests.parity.compare import compare_rows
from tests.parity.corpus import Case, cases
from tests.parity.flink import PYTHON_VARIABLE, Flink
from tests.parity.local_spark import LocalSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BRIEF = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""For JVMs that run many small jobs: they do not compile what they have to thoroughly."""

HALF_SECONDS = 240
"""How long a case may take to begin and to hand over its state."""

REFUSED = "refused: "
REMARKED = "with a remark: "
"""What the results begin with of cases whose rows are known to be others, and why."""
OTHER_ROWS = "other rows after a warning: "
"""What they begin with where rows differ in a plan with watermarks, of which the command warns that they begin anew.
Each of them is to be looked at: the difference may have another cause."""

_AT_A_TIME = 10
_FILE_METADATA = '"file.'
"""What a plan has that reads the names of files."""


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
    wrong = "; ".join(compare_rows(case.pipeline, case.expected, work / "all")[:4])
    if not wrong:
        return ""
    if case.name in UNLIKE:
        return f"{REMARKED}{UNLIKE[case.name]}"
    if shortest_ttl_ms(document.load(case.plan_file)) < HALF_SECONDS * 1000:
        return f"{REMARKED}state expires between the halves: {wrong}"
    return f"{OTHER_ROWS}{wrong}" if is_timed(case) else wrong


def shortest_ttl_ms(plan: Plan) -> float:
    """The shortest TTL of a plan's states, in milliseconds; infinite if none expires."""
    return min((state.ttl_ms for node in plan.nodes for state in node.states if state.ttl_ms), default=math.inf)


def is_stream(case: Case) -> bool:
    """Whether a case reads files and so can be cut, and does not read what these are called."""
    if not (case.compiles and case.runs) or _FILE_METADATA in case.plan_file.read_text("utf-8"):
        return False
    return any(isinstance(node, TableSourceScan) for node in document.load(case.plan_file).nodes)


def drawn(chosen: Sequence[Case], number: int, seed: int) -> list[Case]:
    """A sample of cases: each kind of node in turn, the rarest first, chooses one that has such a node."""
    left = list(chosen)
    random.Random(seed).shuffle(left)
    kinds = {case.name: {type(node).__name__ for node in document.load(case.plan_file).nodes} for case in left}
    frequency = Counter(kind for own in kinds.values() for kind in own)
    sample: list[Case] = []
    while left and len(sample) < number:
        for kind in sorted(frequency, key=lambda kind: (frequency[kind], kind)):
            case = next((case for case in left if kind in kinds[case.name]), None)
            if case is not None and len(sample) < number:
                sample.append(case)
                left.remove(case)
    return sample


class Cuts:
    """Cuts cases and goes on with them; ``results`` says of each what is wrong."""

    def __init__(self, out: Path, python: str, seed: int) -> None:
        self._out = out
        self._spark = LocalSpark()
        self._python = python
        self._seed = seed
        self.results: dict[str, str] = {}

    def run(self, chosen: Sequence[Case]) -> None:
        """Run cases, some at a time, so that it is soon known what is wrong."""
        plans = [RunnablePlan(document.load(case.plan_file), case.session_options) for case in chosen]
        pairs = zip(chosen, empty_savepoints(plans, self._python), strict=True)
        with Flink(self._python) as flink:
            while some := list(islice(pairs, _AT_A_TIME)):
                self._run(some, flink)

    def _run(self, pairs: Sequence[tuple[Case, Savepoint]], flink: Flink) -> None:
        with SavepointWriter(self._python) as writer:
            moved = [case for case, empty in pairs if self._has_begun(case, empty, writer)]
            errors = dict(writer.write()) if moved else {}
        for case in moved:
            work = self._out / case.name
            error = errors[work / "savepoint"]
            self._note(case, f"not written: {error}" if error else _gone_on(case, work, flink))

    def _note(self, case: Case, result: str) -> None:
        self.results[case.name] = result
        print(f"{time.strftime('%H:%M:%S')} {case.name} {result or 'right'}", flush=True)
        (self._out / "results.json").write_text(json.dumps(self.results, indent=1))

    def _has_begun(self, case: Case, empty: Savepoint, writer: SavepointWriter) -> bool:
        """Run the first half of a case and hand over its state; whether it can be moved."""
        work = self._out / case.name
        shutil.rmtree(work, ignore_errors=True)
        (work / "savepoint").mkdir(parents=True)
        with empty:
            try:
                cut(case, work, self._seed)
                with self._spark.at_most(HALF_SECONDS) as spark:
                    first_half(case, work, spark)
                    options, plan = _options(case, work, spark), document.load(case.plan_file)
                    operators = empty.manifest.operators
                    with CheckpointState(plan, str(work / "checkpoint"), operators, spark, options) as state:
                        writer.add(state, work / "savepoint")
                return True
            except FlinkplanError as e:
                self._note(case, REFUSED + "; ".join(f"{each.where}: {each.message}" for each in e.errors))
            except Exception as e:
                (work / "error.txt").write_text(traceback.format_exc())
                ended = "Spark ended: " if self._spark.has_ended else ""
                self._note(case, f"{ended}{type(e).__name__}: {str(e)[:300]}")
        return False


def _gone_on(case: Case, work: Path, flink: Flink) -> str:
    try:
        return second_half(case, work, flink)
    except (RuntimeError, OSError) as e:
        return f"Flink ended: {str(e)[:300]}"


def main(arguments: Sequence[str]) -> int:
    """Run the cases that patterns choose; the exit code says whether none has wrong rows."""
    parser = ArgumentParser(prog="python -m tests.parity.state_flink", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--number", type=int)
    parser.add_argument("--seed", type=int, default=41)
    given = parser.parse_args(arguments)
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        parser.error(f"{PYTHON_VARIABLE} names no Python with apache-flink")
    chosen = [c for c in cases() if _is_chosen(c.name, given.patterns) and is_stream(c)]
    sample = chosen if given.number is None else drawn(chosen, given.number, given.seed)
    os.environ.setdefault("JAVA_TOOL_OPTIONS", BRIEF)
    cuts = Cuts(given.out, python, given.seed)
    cuts.run(sample)
    return report(cuts.results, f"seed {given.seed}")


def report(results: Mapping[str, str], title: str) -> int:
    """Print what is not right, and how many of each kind there are; 1 if some are wrong or differ after a warning."""
    kinds = Counter(map(_kind, results.values()))
    for name, result in results.items():
        if result:
            print(f"{name}: {result}")
    print(f"{title}, {len(results)} cases:", ", ".join(f"{n} {kind}" for kind, n in kinds.items()))
    return 1 if kinds["wrong"] or kinds[_name(OTHER_ROWS)] else 0


def _is_chosen(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _kind(result: str) -> str:
    if not result:
        return "right"
    return next((_name(start) for start in (REFUSED, REMARKED, OTHER_ROWS) if result.startswith(start)), "wrong")


def _name(start: str) -> str:
    return start.removesuffix(": ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
