"""The results of statements, which clients fetch in parts.

Source: Flink's ``ResultFetcher``.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...plan.errors import FlinkplanError
from ...plan.record import Record
from ...plan.types import LogicalType
from .type_json import text_converters, type_to_json

if TYPE_CHECKING:
    from ...executor.jobs.collecting import Collector
    from ...executor.jobs.job import Job

Columns = tuple[tuple[str, LogicalType], ...]

ROWS_PER_PART = 5000
"""How many rows one answer has at most."""
_PATIENCE = 0.1
"""How long in seconds a client waits for rows before it gets an answer without rows."""
_KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")

Change = tuple[int, tuple[str | None, ...], tuple[Any, ...]]
"""The number of a row's kind, the texts of its cells, and their Python values."""


class Part(Record):
    """One part of a result; ``is_end`` says that there are no more rows, and the part has none."""

    changes: tuple[Change, ...]
    next_token: int | None
    is_end: bool = False


class Rows:
    """Rows that are all there."""

    def __init__(self, rows: Sequence[Sequence[str | None]], values: Sequence[Sequence[Any]] | None = None) -> None:
        pairs = zip(rows, rows if values is None else values, strict=True)
        self._rows: list[Change] = [(0, tuple(texts), tuple(cells)) for texts, cells in pairs]

    def take(self) -> tuple[list[Change], bool]:
        """The next rows, and whether there may be more."""
        taken, self._rows = self._rows[:ROWS_PER_PART], self._rows[ROWS_PER_PART:]
        return taken, bool(taken)

    def close(self) -> None:
        """Release what makes the rows."""
        self._rows = []


class JobRows:
    """The rows of a query's job as they arrive."""

    def __init__(self, job: Job, collector: Collector, width: int) -> None:
        self._job = job
        self._collector = collector
        self._width = width
        self._has_ended = False

    def take(self) -> tuple[list[Change], bool]:
        """The next rows, and whether there may be more.  Raises the error of a job that fails."""
        rows = self._collector.waiting_rows(ROWS_PER_PART)
        if not rows and not self._has_ended:
            self._has_ended = self._job.wait(_PATIENCE)
            rows = self._collector.waiting_rows(ROWS_PER_PART)
        changes = [(kind, cells[: self._width], cells[self._width :]) for kind, cells in rows]
        return changes, bool(rows) or not self._has_ended

    def close(self) -> None:
        """Stop the job, if it still runs."""
        self._collector.close()
        self._job.stop()


class Result:
    """What a statement gives: columns, and rows that are fetched by a token which counts the parts.

    The part before can be fetched once more, as a client does that has not got an answer.
    """

    def __init__(
        self,
        columns: Columns,
        rows: Rows | JobRows,
        *,
        has_content: bool = True,
        is_query: bool = False,
        job_id: str | None = None,
    ) -> None:
        self.columns = columns
        self.kind = "SUCCESS_WITH_CONTENT" if has_content else "SUCCESS"
        self.is_query = is_query
        self.job_id = job_id
        self._rows = rows
        self._token = 0
        self._previous = Part((), None, is_end=True)
        self._has_ended = False
        self._lock = Lock()

    def fetch(self, token: int) -> Part:
        """The part of a token.  Raises :class:`FlinkplanError` for a token that is neither the next nor the last."""
        with self._lock:
            if token == self._token:
                return self._next()
            if token == self._token - 1:
                return self._previous
            expected = f"{self._token}" if not self._token else f"{self._token - 1} or {self._token}"
            raise FlinkplanError(f"Expecting token to be {expected}, but found {token}.")

    def _next(self) -> Part:
        changes, is_more = ([], False) if self._has_ended else self._rows.take()
        if not is_more:
            self._has_ended = True
            return Part((), None, is_end=True)
        self._token += 1
        self._previous = Part(tuple(changes), self._token)
        return self._previous

    def close(self) -> None:
        """Stop the job of a query."""
        self._rows.close()

    def rows_json(self, part: Part, row_format: str) -> dict[str, Any]:
        """A part as JSON, its values as JSON or as texts."""
        convert = text_converters([t for _, t in self.columns])
        data = []
        for kind, texts, values in part.changes:
            cells: list[Any] = list(texts)
            if row_format == "JSON":
                cells = [
                    None if text is None else to_json(text, value)
                    for to_json, text, value in zip(convert, texts, values, strict=True)
                ]
            data.append({"kind": _KINDS[kind], "fields": cells})
        columns = [{"name": name, "logicalType": type_to_json(t), "comment": None} for name, t in self.columns]
        return {"columns": columns, "rowFormat": row_format, "data": data}
