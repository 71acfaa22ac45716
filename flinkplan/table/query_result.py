"""The rows of a SELECT."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..plan.document import Plan
from ..plan.errors import FlinkplanError
from ..plan.nodes import Sink
from ..plan.text.content import Content
from ..plan.text.tableau import MAX_WIDTH, changes, final
from .result import ResultKind, TableResult, html_table
from .rows import Row, RowIterator, RowKind

if TYPE_CHECKING:
    from ..executor.jobs.collecting import Collector
    from ..executor.jobs.job import Job

    Start = Callable[[Collector], Job]

POLL_SECONDS = 0.1
NOTEBOOK_CHANGES = 1000
"""The maximum number of changes that a notebook shows."""


class JobRows(RowIterator):
    """The rows of a job as they arrive; the job is stopped when this is closed or garbage-collected.

    After ``seconds`` there are no more rows, even if the job still runs.
    """

    def __init__(self, job: Job, collector: Collector, seconds: float | None = None) -> None:
        self._job = job
        self._end = end = None if seconds is None else time.monotonic() + seconds
        self._rows = collector.rows(lambda: _is_over(end) or job.wait(POLL_SECONDS))
        self._dropped = weakref.finalize(self, _stopper().put, job)
        self._dropped.atexit = False  # the job ends together with its JVM

    def __next__(self) -> Row:
        if _is_over(self._end):
            raise StopIteration
        kind, values = next(self._rows)
        return Row.of_kind(RowKind(kind), *values)

    def close(self) -> None:
        """Stop the job, if it still runs."""
        self._dropped.detach()
        self._job.stop()

    def left(self) -> list[Row]:
        """The final rows after all changes.  The query must end."""
        content = Content()
        for row in self:
            content.change(row)
        return list(content)


def _is_over(end: float | None) -> bool:
    return end is not None and time.monotonic() >= end


@cache
def _stopper() -> SimpleQueue[Job]:
    """A queue of jobs to stop, on its own thread, so that garbage collection does not wait.

    Stopping a job that has ended has no effect.
    """
    jobs: SimpleQueue[Job] = SimpleQueue()

    def stop() -> None:
        while True:
            with contextlib.suppress(Exception):  # nobody waits for the result
                jobs.get().stop()

    Thread(target=stop, name="flinkplan stopper", daemon=True).start()
    return jobs


class QueryResult(TableResult):
    """The result of a SELECT; each access to its rows starts a job.

    ``max_width`` is the printed width of columns whose type has no maximum length.  ``zone`` is the session's time
    zone.  ``is_final``: the rows are what the query comes to in the end, as in batch mode, and none is taken back.
    """

    def __init__(
        self, plan: Plan, start: Start, max_width: int = MAX_WIDTH, zone: str = "UTC", *, is_final: bool = False
    ) -> None:
        super().__init__()
        self.max_width = max_width
        self._zone = zone
        self._is_final = is_final
        self._start = start
        (sink,) = (node for node in plan.nodes if isinstance(node, Sink))
        table = sink.dynamic_table_sink.table.resolved_table
        assert table is not None  # the plan of a query by itself is complete
        self.columns = tuple(
            (column.name, column.data_type) for column in table.schema.columns if column.data_type is not None
        )

    def get_result_kind(self) -> ResultKind:
        return ResultKind.SUCCESS_WITH_CONTENT

    def collect(self) -> JobRows:
        """The rows, with their kinds, as Python values: ``Decimal``, ``datetime``, ``bytes``, lists, dicts, tuples."""
        return self._run(as_text=False)

    def texts(self, seconds: float | None = None) -> JobRows:
        """The rows, with their kinds, as texts: each value as ``CAST(… AS STRING)``, ``None`` for NULL.

        After ``seconds`` the job is stopped.
        """
        return self._run(as_text=True, seconds=seconds)

    def start(self, collector: Collector) -> Job:
        """Start a job whose rows ``collector`` takes."""
        self._job = job = self._start(collector)
        return job

    def _run(self, *, as_text: bool, seconds: float | None = None) -> JobRows:
        from ..executor.jobs.collecting import Collector

        collector = Collector(as_text=as_text)
        return JobRows(self.start(collector), collector, seconds)

    def lines(self, limit: int | None = None, seconds: float | None = None) -> Iterator[str]:
        """The lines of a table of the changes, each as soon as it arrives.

        At most ``limit`` changes are shown, and only those that arrive within ``seconds``.
        """
        with self.texts(seconds) as rows:
            lines = final if self._is_final else changes
            yield from lines(self.columns, islice(rows, limit), self.max_width)

    def print(self) -> None:
        """Print the rows as a table, while they arrive."""
        for line in self.lines():
            print(line, flush=True)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """The HTML for notebooks: the rows after the first changes."""
        content = Content()
        with self.texts() as rows:
            for row in islice(rows, NOTEBOOK_CHANGES):
                content.change(row)
        names = [name for name, _ in self.columns]
        return html_table(names, content)

    def to_pandas(self) -> Any:
        """The final rows as a pandas ``DataFrame``.  The query must end.

        Raises :class:`FlinkplanError` where pandas or PyArrow is not installed.
        """
        from .pandas_frames import rows_frame

        for package in ("pandas", "pyarrow"):
            try:
                import_module(package)
            except ImportError:
                raise FlinkplanError(
                    f"to_pandas() needs {package}, which is not installed", hint="pip install 'flinkplan[python]'"
                ) from None
        return rows_frame(self.columns, self.collect().left(), self._zone)
