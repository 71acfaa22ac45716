"""Errors in SQL text."""

from __future__ import annotations

from ...plan.errors import FlinkplanError, Location
from ...plan.text.snippets import underline
from .source import Source, Span


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
    return underline(source.line_text(where.line or 1), where)
