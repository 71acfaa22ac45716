"""What streams report, and those whose workers come up late."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.jobs.progress import Counts, progress_of, read_report
from flinkplan.executor.jobs.queries import StreamQuery
from flinkplan.plan.document import Plan
from flinkplan.state.checkpoint import CheckpointRecord

from .building import query_of
from .plans import passthrough

LATE = "Timed out while waiting for the Python worker to connect back"


class Handle:
    """A query of Spark's that ends as it is told, or is over."""

    def __init__(self, failure: str | None) -> None:
        self._failure = failure
        self._jsq = self

    def awaitTermination(self, _: int) -> bool:
        if self._failure is not None:
            raise StreamingQueryException(self._failure)
        return True

    def exception(self) -> Any:
        return self

    def isDefined(self) -> bool:
        return False


def query(*failures: str | None) -> StreamQuery:
    handles = iter([Handle(failure) for failure in failures])
    target = SimpleNamespace(failure=None, close=lambda: None)
    record: Any = CheckpointRecord("/nowhere")
    plan, start = query_of(Plan("2.3", (), ())), lambda: next(handles)
    return StreamQuery("o", plan, {}, record, start, target)  # type: ignore[arg-type]


def test_a_worker_that_comes_up_late_is_waited_for_again() -> None:
    started = query(f"[STREAM_FAILED] {LATE}", f"[STREAM_FAILED] {LATE}", None)
    assert [started.ended(1) for _ in range(3)] == [False, False, True]


def test_one_that_never_comes_fails() -> None:
    started = query(*[LATE] * 10)
    with pytest.raises(ExecutionError, match=LATE):
        for _ in range(10):
            started.ended(1)


def test_another_failure_is_told_at_once() -> None:
    with pytest.raises(ExecutionError, match="something else"):
        query("something else").ended(1)


def test_reports_without_rates_are_read() -> None:
    """Spark leaves out rates over no time, of which there are more where a clock stands still."""
    source = {"description": "files", "startOffset": None, "endOffset": {"logOffset": 0}, "numInputRows": 3}
    report = {
        "timestamp": "2024-01-01T00:00:00.000Z",
        "batchId": 7,
        "durationMs": {"addBatch": 0, "triggerExecution": 0},
        "stateOperators": [],
        "sources": [source],
    }
    query = query_of(passthrough({"connector": "datagen"}))
    told = progress_of("o", read_report(json.dumps(report)), Counts(), query, {}, tracks_rows=True)
    assert (told.batch, told.rows_read, told.rows_per_second, told.is_idle) == (7, 3, 3000, False)
