"""The report of a job's run as a page, which is written when the job has ended, or served while it runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..options import write_output
from ..progress import as_json
from ..serving import LOOPBACK, Answer, serving
from .page import report_page

if TYPE_CHECKING:
    from ...executor.jobs.progress import QueryProgress

MAX_BATCHES = 4000
"""The maximum number of batches in a report; with more, the older half is merged two by two."""
_SUMS = ("rows_read", "rows_written", "rows_dropped", "duration_ms")


class Report:
    """Keeps the progress of a job, batch by batch; ``diagnose`` tells why rows do not come out of it."""

    def __init__(self, title: str, diagnose: Callable[[], Sequence[Mapping[str, Any]]] = list) -> None:
        self._title = title
        self._diagnose = diagnose
        self._batches: list[dict[str, Any]] = []
        self._state = "running"
        self._last: list[Mapping[str, Any]] = []
        self._lock = threading.Lock()

    def batch_done(self, progress: QueryProgress) -> None:
        """Add a batch."""
        if progress.is_idle:
            return
        with self._lock:
            self._batches.append(as_json(progress))
            if len(self._batches) > MAX_BATCHES:
                self._batches = _merged(self._batches)

    def job_ended(self, diagnoses: Callable[[], Sequence[Mapping[str, Any]]]) -> None:
        """Keep what is wrong with a job that has ended."""
        found = [*self._last, *diagnoses()]
        with self._lock:
            self._last = found

    def diagnoses(self) -> list[Mapping[str, Any]]:
        """Why rows do not come out of the jobs that have ended and of those that run."""
        return [*self._last, *self._diagnose()]

    def ended(self, how: str) -> None:
        """Note how the job ended."""
        with self._lock:
            self._state = how

    def data(self) -> dict[str, Any]:
        """The data that the page shows."""
        diagnoses = self.diagnoses()
        with self._lock:
            batches = list(self._batches)
            return {"title": self._title, "state": self._state, "batches": batches, "diagnoses": diagnoses}

    def write(self, path: str) -> None:
        """Write the page to a file, completely or not at all, or to standard output for ``-``."""
        write_output(report_page(self.data()), path)


def _merged(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The batches, of which the older half is merged two by two for each sink: counts are summed, the rest is kept
    of the later batch.
    """
    old, new = batches[: MAX_BATCHES // 2], batches[MAX_BATCHES // 2 :]
    unpaired: dict[str, dict[str, Any]] = {}
    merged: list[dict[str, Any]] = []
    for batch in old:
        first = unpaired.pop(batch["sink"], None)
        if first is None:
            unpaired[batch["sink"]] = batch
        else:
            merged.append({**batch, **{key: first[key] + batch[key] for key in _SUMS}})
    return [*merged, *unpaired.values(), *new]


@contextmanager
def served(report: Report, port: int, host: str = LOOPBACK) -> Iterator[str]:
    """Serve the page on a port of the address ``host``, for 0 on a free one; gives its URL.

    Raises :class:`FlinkplanError` where the port is in use.
    """
    page = report_page(report.data() | {"live": True}).encode()
    answers: dict[str, Answer] = {
        "/": lambda headers: (page, "text/html; charset=utf-8"),
        "/data": lambda headers: (json.dumps(report.data()).encode(), "application/json"),
        "/diagnoses": lambda headers: (json.dumps(report.diagnoses()).encode(), "application/json"),
    }
    with serving(host, port, answers, "--ui") as address:
        yield address
