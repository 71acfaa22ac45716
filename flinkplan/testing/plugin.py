"""The plugin of pytest: it collects the files that ``flinkplan test`` runs, ``*.test.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .model import Case, Suite
    from .planning import Pipeline

_SUFFIXES = (".test.yaml", ".test.yml")
_PIPELINE = re.compile(rb"^pipeline\s*:", re.MULTILINE)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of tests; others may have files of such names too, which name no pipeline."""
    if file_path.name.lower().endswith(_SUFFIXES) and _PIPELINE.search(file_path.read_bytes()):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class CaseFailure(Exception):
    """A test whose rows are not those that it expects, or that cannot be run."""


class SuiteFile(pytest.File):
    """A file of tests."""

    def collect(self) -> Iterator[pytest.Item]:
        from ..compat.settings import read_settings
        from ..plan.errors import FlinkplanError
        from .loading import load_tests
        from .running import pipeline_of

        try:
            suite = load_tests(self.path)
        except FlinkplanError as error:
            raise self.CollectError(str(error)) from None
        pipeline = pipeline_of(suite, read_settings(self.path.parent).code)
        for case in suite.cases:
            yield CaseItem.from_parent(self, name=case.name, suite=suite, case=case, pipeline=pipeline)


class CaseItem(pytest.Item):
    """One test."""

    def __init__(self, *, suite: Suite, case: Case, pipeline: Pipeline, **given: Any) -> None:
        super().__init__(**given)
        self._suite, self._case, self._pipeline = suite, case, pipeline

    def runtest(self) -> None:
        """Run the test on the one session of the process."""
        from .reporting import failure_text
        from .running import run_suite

        py_files = self._pipeline.py_files
        for outcome in run_suite(self._suite, py_files, lambda case: case is self._case, self._pipeline):
            if not outcome.passed:
                raise CaseFailure(failure_text(outcome))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The differences, without a traceback."""
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the test in its file."""
        line = self._case.span.location.line
        return self.path, None if line is None else line - 1, f"{self.path.name}: {self.name}"
