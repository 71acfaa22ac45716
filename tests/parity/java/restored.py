"""Asks Flink which rows process table functions write before and after a savepoint::

    python -m tests.parity.java.restored

The cases are those of Flink's own restore tests, in other words.  The environment variable ``FLINK_PYTHON`` names a
Python with apache-flink.  Writes ``flink.json`` beside the cases.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flinkplan.flink.home import PYTHON, flink_jars
from tests.parity.flink import Flink
from tests.parity.java.cases import RESTORED, Case

PHASES = ("before", "after")
_RUNNER = Path(__file__).parents[1] / "savepoint_runner.py"


def sinks(cases: Iterable[Case]) -> str:
    """The statements that make their tables, which take upserts where they have a key."""
    return "".join(f"CREATE TABLE {case.sink} ({case.columns}) WITH ('connector' = 'blackhole');\n" for case in cases)


def main() -> int:
    """Ask all cases."""
    with tempfile.TemporaryDirectory() as name, Flink(os.environ[PYTHON], _RUNNER) as flink:
        folder = Path(name)
        RESTORED.compile_jar(folder, flink_jars())
        answers = {}
        for case in RESTORED.cases:
            script = RESTORED.definitions(folder) + sinks([case]) + case.insert
            places = {phase: str(RESTORED.folder / phase) for phase in PHASES}
            work = folder / case.name
            work.mkdir()
            answer = flink.ask({"script": script, **places, "work": str(work)})
            if answer["error"]:
                print(f"{case.name}: {answer['error']}", file=sys.stderr)
            answers[case.name] = {phase: sorted(answer.get(phase, ())) for phase in PHASES}
    (RESTORED.folder / "flink.json").write_text(json.dumps(answers, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
