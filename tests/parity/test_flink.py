"""Plans compiled here, executed by real Flink, write the rows that Flink's own plans write.

Run by ``make parity-flink FLINK=PYTHON``, where PYTHON has apache-flink.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.testing.flink_runner import reason
from tests.parity.corpus import Case, cases
from tests.parity.flink import PYTHON_VARIABLE, Flink, check_flink_rows


@pytest.fixture(scope="module")
def flink() -> Iterator[Flink]:
    python = os.environ.get(PYTHON_VARIABLE)
    if not python:
        pytest.skip(f"{PYTHON_VARIABLE} names no Python that has apache-flink")
    with Flink(python) as started:
        yield started


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in cases() if c.compiles])
def test_flink_executes_our_plan(case: Case, flink: Flink, tmp_path: Path) -> None:
    assert not check_flink_rows(case, flink, tmp_path)


def test_the_session_has_what_the_script_sets() -> None:
    case = next(c for c in cases() if c.name == "agg-mini-batch-size-two")
    options = case.session_options
    assert options["table.exec.mini-batch.size"] == "2"
    assert options["parallelism.default"] == "1"


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        (
            "An error occurred\n: org.a.TableException: no\n\tat b\nCaused by: java.lang.X: deep\n\tat c",
            "java.lang.X: deep",
        ),
        ("An error occurred\n: org.a.TableException: no\n\tat b", "org.a.TableException: no"),
        ("nothing known\nmore", "nothing known"),
        ("", "failed without a word"),
    ],
)
def test_the_innermost_cause_is_told(trace: str, words: str) -> None:
    assert reason(trace) == words


def test_a_dead_process_is_told(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nread line\necho no such module >&2\n", "utf-8")
    python.chmod(0o755)
    with Flink(str(python)) as broken, pytest.raises(RuntimeError, match="no such module"):
        broken.execute(tmp_path / "plan.json", {})
