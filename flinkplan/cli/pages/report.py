"""A job's run as a page: kept while it runs, written when it has ended, or served while one looks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..options import write_output
from ..progress import as_json
from ..serving import LOOPBACK, Answer, serving
from .page import report_page

if TYPE_CHECKING:
    from ...executor.jobs.progress import QueryProgress

MOST = 4000
"""How many batches are kept; beyond, every second one of the older half goes into the next."""
_SUMS = ("rows_read", "rows_written", "rows_dropped", "duration_ms")


class Report:
    """Keeps what a job says of its batches."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._batches: list[dict[str, Any]] = []
        self._state = "running"
        self._lock = threading.Lock()

    def batch_done(self, progress: QueryProgress) -> None:
        """Keep a batch."""
        if progress.is_idle:
            return
        with self._lock:
            self._batches.append(as_json(progress))
            if len(self._batches) > MOST:
                self._batches = _thinned(self._batches)

    def ended(self, how: str) -> None:
        """Say how the job ended."""
        with self._lock:
            self._state = how

    def data(self) -> dict[str, Any]:
        """What the page shows."""
        with self._lock:
            return {"title": self._title, "state": self._state, "batches": list(self._batches)}

    def write(self, path: str) -> None:
        """Write the page to a file, which appears whole or not at all, or to standard output for ``-``."""
        write_output(report_page(self.data()), path)


def _thinned(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The older half, by sink two batches in one; what is counted is added up, what is measured is the later one's."""
    old, new = batches[: MOST // 2], batches[MOST // 2 :]
    waiting: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    for batch in old:
        first = waiting.pop(batch["sink"], None)
        if first is None:
            waiting[batch["sink"]] = batch
        else:
            found.append({**batch, **{key: first[key] + batch[key] for key in _SUMS}})
    return [*found, *waiting.values(), *new]


@contextmanager
def served(report: Report, port: int, host: str = LOOPBACK) -> Iterator[str]:
    """Serve the page at a port of this machine, or of the address ``host``, at a free one for 0; its address.

    Raises :class:`FlinkplanError` where the port is taken.
    """
    page = report_page(report.data() | {"live": True}).encode()
    answers: dict[str, Answer] = {
        "/": lambda headers: (page, "text/html; charset=utf-8"),
        "/data": lambda headers: (json.dumps(report.data()).encode(), "application/json"),
    }
    with serving(host, port, answers, "--ui") as address:
        yield address
