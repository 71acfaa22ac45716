"""Goes on from savepoints that real Flink takes of small jobs, and compares with how Flink itself goes on::

    python -m tests.parity.savepoints CASES_FOLDER OUT_FOLDER [PATTERN …]

A case is a folder ``NAME`` with a script, ``pipeline.sql`` or ``old.sql``, and with rows of its sources in
``before/TABLE`` and ``after/TABLE``, as :mod:`.savepoint_runner` reads them.  What Flink makes of a case is kept in
``OUT_FOLDER/NAME`` and not asked for again.  Of the rows behind the savepoint those count that are not taken back.  The
environment variable ``FLINK_PYTHON`` names a Python with apache-flink.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.checkpoints.move import write_checkpoint
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.flink.savepoint import Savepoint, read_savepoints
from flinkplan.plan.document import loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.record import replace
from flinkplan.state.form import JobState

from .flink import PYTHON_VARIABLE, Flink
from .restore import Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RUNNER = Path(__file__).with_name("savepoint_runner.py")
_ROWS = "rows.json"
_SCRIPTS = ("pipeline.sql", "old.sql")


class Case:
    """A case in a folder, and the folder ``work`` with what Flink makes of it."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self.work = work
        self.script = next((folder / name).read_text("utf-8") for name in _SCRIPTS if (folder / name).exists())

    @property
    def options(self) -> dict[str, str]:
        """What the script sets."""
        return dict(re.findall(r"^\s*SET\s+'([^']+)'\s*=\s*'([^']*)'", self.script, re.MULTILINE))

    @property
    def answer(self) -> Mapping[str, Any]:
        """What Flink said: its rows before and after the savepoint, or an error."""
        content: dict[str, Any] = json.loads((self.work / _ROWS).read_text("utf-8"))
        return content

    def ask(self, flink: Flink) -> None:
        """Have Flink take the savepoint, and go on from it."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        places = {phase: str(self.folder / phase) for phase in ("before", "after")}
        answer = flink.ask({"script": self.script, **places, "work": str(self.work)})
        (self.work / _ROWS).write_text(json.dumps(answer, indent=1) + "\n", "utf-8")


def net(rows: Iterable[str]) -> Counter[str]:
    """How often each row was added less how often it was taken back, by its text without kind."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[2:]] += 1 if row[0] == "+" else -1
    return Counter({row: count for row, count in counts.items() if count})


def go_on(case: Case, state: JobState, spark: SparkSession, folder: Path) -> list[str]:
    """What the sinks of a case get behind its savepoint."""
    data = folder / "data"
    shutil.copytree(case.work / "data", data, ignore=lambda at, names: [n for n in names if n.startswith("before-")])
    text = (case.work / "plan.json").read_text("utf-8").replace(str(case.work / "data"), str(data))
    plan = loads(text, str(case.work / "plan.json"))
    options = JobOptions(mode=Mode.AVAILABLE_NOW, spark=spark, options=case.options)
    checkpoint = str(folder / "checkpoint")
    write_checkpoint(plan, state, checkpoint, spark, options)
    rows = Rows()
    execute(plan, replace(options, checkpoint=checkpoint, collector=rows)).wait()
    return [text for _, text in rows.texts()]


def compare(case: Case, state: Savepoint, spark: SparkSession, *, debug: bool = False) -> str:
    """What is other than in Flink, or why it was refused; empty: nothing."""
    folder = Path(tempfile.mkdtemp(prefix="savepoints-"))
    try:
        with state:
            rows = go_on(case, state, spark, folder)
    except FlinkplanError as e:
        return f"refused: {e.where}: {e.message}" if e.where else f"refused: {e.message}"
    except Exception as e:
        if debug:
            traceback.print_exc()
        return f"failed: {type(e).__name__}: {str(e)[:500]}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    expected, actual = net(case.answer["after"]), net(rows)
    return "" if actual == expected else f"wrong: {dict(actual)}, expected {dict(expected)}"


def main(arguments: Sequence[str]) -> int:
    from flinkplan.executor.jvm.session import session

    python = os.environ.get(PYTHON_VARIABLE)
    if len(arguments) < 2 or python is None:
        print(__doc__, file=sys.stderr)
        return 2
    folder, out, *patterns = arguments
    folders = sorted({script.parent for name in _SCRIPTS for script in Path(folder).glob(f"*/{name}")})
    cases = [Case(each, (Path(out) / each.name).absolute()) for each in folders]
    cases = [c for c in cases if not patterns or any(fnmatchcase(c.name, p) for p in patterns)]
    unknown = [case for case in cases if not (case.work / _ROWS).exists()]
    if unknown:
        with Flink(python, _RUNNER) as flink:
            for case in unknown:
                case.ask(flink)
    for case in cases:
        if error := case.answer.get("error"):
            print(f"{case.name}: Flink does not run it: {error}")
    cases = [case for case in cases if not case.answer.get("error")]
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    differing = 0
    for case, state in zip(cases, read_savepoints([case.work / "savepoint" for case in cases], python), strict=True):
        difference = compare(case, state, spark, debug="DEBUG" in os.environ)
        differing += bool(difference)
        print(f"{case.name}: {difference or 'right'}", flush=True)
    print(f"{len(cases) - differing} of {len(cases)} are right")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
