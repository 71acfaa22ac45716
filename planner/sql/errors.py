"""Errors in SQL text."""

from __future__ import annotations

from ...plan.errors import FlinkplanError, Location
from .source import Source, Span

_WIDTH = 100


class SqlSyntaxError(FlinkplanError):
    """SQL text that is not Flink SQL: ``span`` is the place, ``snippet`` its line with a caret."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message, where=span.location, hint=hint, snippet=snippet(span))
        self.span = span


def snippet(span: Span) -> str:
    """The source line of a span with carets below the span."""
    return _underline(span.source, span.location)


def render(error: FlinkplanError, text: str) -> str:
    """An error with the line of ``text`` it stands on and carets below the place."""
    where = error.where
    if error.snippet is None and isinstance(where, Location) and where.line is not None:
        line = _underline(Source(text, where.file), where)
        return str(FlinkplanError(error.message, where=where, hint=error.hint, snippet=line))
    return str(error)


def _underline(source: Source, where: Location) -> str:
    line = source.line_text(where.line or 1)
    column = where.column or 1
    width = (where.end_column or column + 1) - column
    number = str(where.line)
    if column > _WIDTH:
        line, column = "…" + line[column - _WIDTH // 2 - 1 :], _WIDTH // 2 + 2
    if len(line) > 2 * _WIDTH:
        line = line[: 2 * _WIDTH] + "…"
    width = max(1, min(width, len(line) - column + 1))
    indent = "".join("\t" if char == "\t" else " " for char in line[: column - 1])
    return f"  {number} | {line}\n  {' ' * len(number)} | {indent}{'^' * width}"
