"""Apache Flink in a process beside the tests, to execute plans compiled here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from flinkplan.testing.flink import RUNNER
from tests.parity.compare import compare_rows
from tests.parity.corpus import Case
from tests.parity.levels import compile_case

PYTHON_VARIABLE = "FLINK_PYTHON"
"""The environment variable that names a Python with apache-flink."""


class Flink:
    """A context manager over one long-lived Flink, in place of which there is another one when it has ended.

    ``python`` is an interpreter that has apache-flink, ``runner`` the script in it that answers requests.
    """

    def __init__(self, python: str, runner: Path = RUNNER) -> None:
        self._python = python
        self._runner = runner

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile()
        self._process = self._started()
        return self

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self._python, str(self._runner)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._log.close()

    def execute(self, plan: Path, options: dict[str, str]) -> str:
        """Execute a plan to its end; what is wrong in Flink's words, empty if nothing is."""
        error: str = self.ask({"plan": str(plan), "options": options})["error"]
        return error

    def printed(self, start: int) -> list[str]:
        """The lines that the process has printed from a place of its output on, which is :attr:`place` at first."""
        return os.pread(self._log.fileno(), self.place - start, start).decode("utf-8").splitlines()

    @property
    def place(self) -> int:
        """Where the process's output ends."""
        return os.fstat(self._log.fileno()).st_size

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The runner's answer to a request.

        Raises :class:`RuntimeError` with the last of what the process said if it has died.
        """
        if self._process.poll() is not None:
            self._process = self._started()
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process.wait()
            self._log.seek(0)
            raise RuntimeError(f"{self._python} ended:\n{self._log.read().decode(errors='replace')[-2000:]}")
        found: dict[str, Any] = json.loads(answer)
        return found


def check_flink_rows(case: Case, flink: Flink, work: Path) -> str:
    """Our plan, executed by Flink in the folder ``work``, writes what Flink's own plan did, or fails as it did."""
    compiled = compile_case(case)
    if isinstance(compiled, Exception):
        return str(compiled)
    shutil.copytree(case.folder / "data", work / "data", dirs_exist_ok=True)
    plan = work / "plan.json"
    plan.write_text(compiled.replace("${CASE}", str(work)), "utf-8")
    error = flink.execute(plan, case.session_options)
    if error or not case.runs:
        return error if case.runs else "" if error else "ran to the end, though Flink's own plan fails"
    return "; ".join(compare_rows(case.pipeline, case.folder / "expected", work / "out")[:4])
