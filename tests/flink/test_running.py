"""The program that reads and writes savepoints, as it is run: what it counts, and why it failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flinkplan.flink import java
from flinkplan.state.form import StateError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script in the place of Java")


def _replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a script in the place of Java."""
    program = tmp_path / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(java, "program", lambda name: str(program))
    monkeypatch.setattr(java, "savepoint_jar", lambda jars: Path("savepoint.jar"))


def test_entries_are_counted_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replaced(tmp_path, monkeypatch, "echo 16384; echo 'a line of a job'; echo 20000")
    counts: list[int] = []
    java.run_java([], [], counted=counts.append)
    assert counts == [16384, 20000]


def test_what_it_says_of_a_failure_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replaced(tmp_path, monkeypatch, "echo 16384; echo 'no memory' >&2; exit 3")
    with pytest.raises(StateError, match="has failed: no memory"):
        java.run_java([], [])
