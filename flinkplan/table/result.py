"""The results of statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from html import escape
from typing import TYPE_CHECKING

from ..plan.types import BOOLEAN, STRING, LogicalType
from .rows import KeptRows, RowIterator

CloseableIterator = RowIterator
"""The name that PyFlink has for it."""

if TYPE_CHECKING:
    from ..executor.jobs.job import Job
    from .schemas import ResolvedSchema


class ResultKind(IntEnum):
    """The kind of a result."""

    SUCCESS = 0
    """The statement was executed, and has no rows."""
    SUCCESS_WITH_CONTENT = 1
    """The result has rows or a job."""


class JobClient:
    """A handle of a running job."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def cancel(self) -> None:
        """Stop the job; it continues from its checkpoint when started again."""
        self._job.stop()


class TableResult:
    """The rows of a statement such as SHOW TABLES, or the job of an INSERT."""

    def __init__(
        self,
        columns: Sequence[str] = (),
        rows: Sequence[tuple[str | None, ...]] = (),
        job: Job | None = None,
        *,
        booleans: frozenset[str] = frozenset(),
    ) -> None:
        self._columns = tuple(columns)
        self._rows = tuple(rows)
        self._job = job
        self.columns: tuple[tuple[str, LogicalType], ...] = tuple(
            (name, BOOLEAN if name in booleans else STRING) for name in self._columns
        )
        """The names and types of the columns; ``booleans`` are those that hold TRUE and FALSE."""

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the job's end; returns at once for a result without a job.

        Raises :class:`TimeoutError` after ``timeout_ms``, and the error of a job that fails.
        """
        if self._job is not None and not self._job.wait(None if timeout_ms is None else timeout_ms / 1000):
            raise TimeoutError(f"the job still runs after {timeout_ms} ms")

    def get_job_client(self) -> JobClient | None:
        """The handle of the job, if there is one."""
        return None if self._job is None else JobClient(self._job)

    def get_result_kind(self) -> ResultKind:
        """The kind of the result."""
        return ResultKind.SUCCESS_WITH_CONTENT if self._columns or self._job else ResultKind.SUCCESS

    def get_resolved_schema(self) -> ResolvedSchema:
        """The names and types of the columns."""
        from .schemas import ResolvedSchema

        return ResolvedSchema.of([name for name, _ in self.columns], [t for _, t in self.columns])

    get_table_schema = get_resolved_schema

    def collect(self) -> RowIterator:
        """The rows."""
        return KeptRows(self._rows)

    def print(self) -> None:
        """Print the rows as a table."""
        print(self)

    def _repr_html_(self) -> str:
        """The HTML for notebooks."""
        return html_table(self._columns, self._rows) if self._columns else "OK"

    def __str__(self) -> str:
        if not self._columns:
            return "OK"
        lines = [self._columns, *(tuple(cell or "" for cell in row) for row in self._rows)]
        if len(self._columns) == 1 and any("\n" in line[0] for line in lines):
            return "\n".join(line[0] for line in lines[1:])
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._columns))]
        rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
        head, *body = (
            "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |" for line in lines
        )
        return "\n".join([rule, head, rule, *body, *([rule] if body else [])])


def html_table(names: Iterable[str], rows: Iterable[Iterable[str | None]]) -> str:
    """Rows as an HTML table with escaped texts."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: str | None) -> str:
    return "<td><i>NULL</i></td>" if value is None else f"<td>{escape(value)}</td>"
