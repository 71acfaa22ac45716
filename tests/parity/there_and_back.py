"""Reads savepoints of Flink, writes them again, and compares what is in them, for cases of Flink's restore tests::

    python -m tests.parity.there_and_back CASES_FOLDER

A case is a folder with ``_metadata``, the savepoint, and ``state.txt``, which says what is in it.  Every entry must be
as there, and as before once the savepoint was written from its tables; so must serializers, UIDs and parallelism.
Entries of MATCH_RECOGNIZE are bytes and compared only there and back.  ``FLINK_PYTHON`` names a Python with
apache-flink.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from flinkplan.flink.savepoint import read_savepoints
from flinkplan.flink.writing import write_savepoint
from flinkplan.plan.errors import FlinkplanError
from flinkplan.state.form import JobState
from tests.flink.state_text import Texts, actual, expected

_NOT_DECODED = ("nfaState", "sharedBuffer")
"""What the names of the states of MATCH_RECOGNIZE begin with."""


def main(folder: str) -> int:
    """Print what differs and how many cases are right; the exit code."""
    cases = sorted(file.parent for file in Path(folder).glob("*/_metadata"))
    before: dict[Path, tuple[Texts, Any]] = {}
    wrong: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as written:
        for case, savepoint in zip(cases, read_savepoints(cases), strict=True):
            with savepoint:
                try:
                    before[case] = (actual(savepoint), _described(savepoint))
                    write_savepoint(savepoint, Path(written, case.name))
                except FlinkplanError as e:
                    wrong[case.name] = str(e)
                    continue
            differing = _differing(before[case][0], expected(case / "state.txt"))
            if differing:
                wrong[case.name] = f"not as in state.txt: {', '.join(differing)}"
        again = [case for case in cases if Path(written, case.name).exists()]
        for case, savepoint in zip(again, read_savepoints([Path(written, c.name) for c in again]), strict=True):
            with savepoint:
                if (actual(savepoint), _described(savepoint)) != before[case]:
                    wrong[case.name] = "there and back it is another one"
    for name, reason in wrong.items():
        print(f"{name}: {reason}")
    print(f"{len(cases) - len(wrong)} of {len(cases)} cases are right")
    return 1 if wrong else 0


def _differing(found: Texts, wanted: Texts) -> list[str]:
    """The states that differ, but for those whose values are not decoded."""
    return [
        f"{operator} {name}"
        for operator, name in sorted(found.keys() | wanted.keys())
        if found.get((operator, name)) != wanted.get((operator, name))
        and not name.startswith(("nfaState", "sharedBuffer"))
    ]


def _described(state: JobState) -> Any:
    """How operators and states are written, in no order."""
    operators = sorted((o.hash, o.uid, o.parallelism, o.max_parallelism) for o in state.manifest.operators)
    return operators, sorted((o.hash, t.name, str(t.written_by)) for o, t in state.manifest.tables())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
