"""Errors of meaning: SQL that parses but cannot be bound."""

from __future__ import annotations

from ...plan.errors import FlinkplanError, UnsupportedError
from ..sql.errors import snippet
from ..sql.source import NO_SPAN, Span


class BindError(FlinkplanError):
    """SQL that means nothing against the catalog; ``span`` is the place."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        placed = span is not NO_SPAN
        super().__init__(
            message,
            where=span.location if placed else None,
            hint=hint,
            snippet=snippet(span) if placed else None,
        )
        self.span = span


def unsupported(what: str, span: Span, hint: str | None = None) -> UnsupportedError:
    """The error for SQL that Flink takes and flinkplan does not."""
    return UnsupportedError(f"{what} is not supported", where=span.location, hint=hint, snippet=snippet(span))
