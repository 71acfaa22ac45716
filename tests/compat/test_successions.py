"""Jobs on Apache Flink go on under plans that were compiled ``--like`` the ones before.

``make like-flink FLINK=PYTHON`` asks Flink, where PYTHON has apache-flink, and keeps its answers; without it, what is
compiled now is held against the plans that Flink was asked about.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryFile
from typing import Any

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.successor import succeed
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import Plan, dumps
from flinkplan.planner import compile_script
from tests.compat.successions import SUCCESSIONS, Succession
from tests.parity.flink import PYTHON_VARIABLE

HERE = Path(__file__).parent
ANSWERS = HERE / "successions.json"
RUNNER = HERE / "savepoints" / "runner.py"

EACH = pytest.mark.parametrize("case", SUCCESSIONS, ids=lambda case: case.name)


def plans(case: Succession) -> tuple[Plan, Plan]:
    """The old plan and its successor."""
    old = compile_script(case.old)
    return old, succeed(old, compile_script(case.new)).plan


def digest(old: Plan, new: Plan) -> str:
    """What Flink was asked about, descriptions apart."""
    told = [json.loads(dumps(plan)) for plan in (old, new)]
    for plan in told:
        for node in plan["nodes"]:
            del node["description"]
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def net(rows: Iterable[str]) -> dict[str, int]:
    """How often each row was added less how often it was taken back."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[2:]] += 1 if row[0] == "+" else -1
    return {row: count for row, count in sorted(counts.items()) if count}


def goes_on(answer: Mapping[str, Any]) -> bool:
    """Whether the rows are those of a run that was never stopped; what came before may have been read after it."""
    first, second = answer["uninterrupted"]
    same_after = net(answer["after"]) == net(second)
    return bool(answer["after"]) and (
        same_after or net([*answer["before"], *answer["after"]]) == net([*first, *second])
    )


@EACH
def test_flink_was_asked_about_these_plans(case: Succession) -> None:
    answer = json.loads(ANSWERS.read_text("utf-8"))[case.name]
    assert answer["plans"] == digest(*plans(case)), "the plans have changed: ask Flink again by make like-flink"
    assert answer["error"] is None
    assert goes_on(answer)


@EACH
def test_diff_says_that_state_is_taken_over(case: Succession) -> None:
    old, new = map(dumps, plans(case))
    diff = diff_texts(Source("old", old), Source("new", new), locate=False)
    assert diff.flink <= Verdict.COMPATIBLE or case.name == "union-branch-added"


Ask = Callable[[Mapping[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Asks one long-lived Flink."""
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        pytest.skip(f"{PYTHON_VARIABLE} names no Python that has apache-flink")
    with (
        TemporaryFile() as log,
        subprocess.Popen([python, str(RUNNER)], stdin=PIPE, stdout=PIPE, stderr=log, text=True) as flink,
    ):
        assert flink.stdin is not None and flink.stdout is not None

        def answered(request: Mapping[str, Any]) -> dict[str, Any]:
            print(json.dumps(request), file=flink.stdin, flush=True)
            line = flink.stdout.readline() if flink.stdout else ""
            if not line:
                log.seek(0)
                raise RuntimeError(f"{python} ended:\n{log.read().decode(errors='replace')[-2000:]}")
            answer: dict[str, Any] = json.loads(line)
            return answer

        yield answered
        flink.stdin.close()


@EACH
def test_flink_goes_on(case: Succession, ask: Ask, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    old, new = plans(case)
    answer = ask(asked(case, tmp_path, dumps(old), dumps(new)))
    assert "failed" not in answer, answer["failed"]
    assert answer["error"] is None
    assert goes_on(answer)
    if request.config.getoption("--update-golden"):
        kept = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
        kept[case.name] = {"plans": digest(old, new), **answer}
        ANSWERS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", "utf-8")


def asked(case: Succession, folder: Path, old: str, new: str) -> dict[str, Any]:
    """What the runner is to do with the plans."""
    data = folder / "data"
    request: dict[str, Any] = {"work": str(folder), "data": str(data)}
    for side, text in (("old", old), ("new", new)):
        plan = folder / f"{side}.json"
        plan.write_text(text.replace("${DIR}", str(data)), "utf-8")
        request[side] = {"plan": str(plan), "options": {}}
    for phase, tables in (("before", case.before), ("after", case.after)):
        request[phase] = []
        for table, rows in tables.items():
            file = folder / f"{phase}-{table}"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            request[phase].append([str(file), f"{table}/{phase}"])
    return request
