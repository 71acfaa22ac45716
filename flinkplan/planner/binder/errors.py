"""Errors of binding: SQL that parses, but is wrong against the catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ...plan.errors import FlinkplanError, UnsupportedError, combined_error
from ...plan.types.readable import readable
from ..sql.errors import snippet
from ..sql.source import NO_SPAN, Span

R = TypeVar("R")
T = TypeVar("T")


class BindError(FlinkplanError):
    """SQL that cannot be bound against the catalog; ``span`` is its place.

    Message and hint name types as people write them: ``STRING``, not ``VARCHAR(2147483647)``.  ``in_flink`` is the
    class and the message of Flink's exception.
    """

    def __init__(
        self, message: str, span: Span, hint: str | None = None, *, in_flink: tuple[str, str] | None = None
    ) -> None:
        super().__init__(readable(message), hint=None if hint is None else readable(hint))
        self.in_flink = in_flink
        self.span = span
        placed(self, span)


def placed(error: FlinkplanError, span: Span) -> FlinkplanError:
    """The error, at a place of the text unless it names one already."""
    if error.where is None and span is not NO_SPAN:
        error.where = span.location
        error.snippet = snippet(span)
    return error


def each_of(items: Iterable[tuple[T, Span]], function: Callable[[T], R]) -> list[R]:
    """The results of the function for each item.

    Raises the errors of all items together; an error without a place gets the item's span.
    """
    results: list[R] = []
    errors: list[FlinkplanError] = []
    for item, span in items:
        try:
            results.append(function(item))
        except FlinkplanError as error:
            errors.append(placed(error, span))
    if errors:
        raise combined_error(errors)
    return results


def unsupported(feature: str, span: Span, hint: str | None = None, *, reason: str = "") -> UnsupportedError:
    """The error for SQL that Flink takes and flinkplan does not, for a reason that may be given."""
    message = f"{feature} is not supported" + (f": {reason}" if reason else "")
    return UnsupportedError(message, where=span.location, hint=hint, snippet=snippet(span))


def untyped_null(span: Span) -> BindError:
    """The error for a NULL where nothing says of which type it is."""
    return BindError("NULL alone has no type here", span, "write CAST(NULL AS STRING), or another type")
