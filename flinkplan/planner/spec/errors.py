"""Errors in a spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...plan.errors import ErrorGroup, FlinkplanError, Location
from ..sql.errors import snippet
from ..sql.source import Span

T = TypeVar("T")


class SpecError(FlinkplanError):
    """YAML that is no spec: ``span`` is the place in the file."""

    def __init__(self, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message, where=span.location, hint=hint, snippet=snippet(span))
        self.span = span


class Findings:
    """Errors gathered so that they are reported in one go."""

    def __init__(self) -> None:
        self._errors: list[FlinkplanError] = []

    def add(self, error: FlinkplanError) -> None:
        """Note an error, or each one of a group."""
        self._errors.extend(error.errors if isinstance(error, ErrorGroup) else (error,))

    def attempt(self, build: Callable[..., T], *arguments: object) -> T | None:
        """What ``build`` gives; ``None`` where it raised an error, which is noted."""
        try:
            return build(*arguments)
        except FlinkplanError as error:
            self.add(error)
            return None

    def raise_if_any(self) -> None:
        """Raise what was found, in the order of the file."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise ErrorGroup(sorted(self._errors, key=_place))


def _place(error: FlinkplanError) -> tuple[int, int]:
    where = error.where
    return (where.line or 0, where.column or 0) if isinstance(where, Location) else (0, 0)
