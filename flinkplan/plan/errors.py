"""Errors meant for people: what is wrong, where, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence

from .record import Record
from .secrets import without_secrets


class Location(Record):
    """A place in a text file; line and column count from 1, ``None`` where unknown."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        parts = [self.file or "<input>"]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class FlinkplanError(Exception):
    """The base of every error that a user can cause and mend.

    ``message`` says what is wrong, ``where`` the place (a :class:`Location`, or words such as
    ``node 5 (/nodes/4/state/0/ttl)``), ``hint`` how to mend it, ``snippet`` the source line with a caret.
    """

    exit_code = 3
    """What a command ends with; see docs/exit-codes.md."""

    def __init__(
        self,
        message: str,
        *,
        where: Location | str | None = None,
        hint: str | None = None,
        snippet: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.snippet = snippet

    @property
    def errors(self) -> tuple[FlinkplanError, ...]:
        """The errors that it tells of: itself, or those of a group."""
        return (self,)

    def __str__(self) -> str:
        message = without_secrets(self.message)
        lines = [f"{self.where}: {message}" if self.where else message]
        if self.snippet:
            lines.append(without_secrets(self.snippet))
        if self.hint:
            lines.append(f"hint: {without_secrets(self.hint)}")
        return "\n".join(lines)


class ErrorGroup(FlinkplanError):
    """Several errors found in one go."""

    def __init__(self, errors: Sequence[FlinkplanError]) -> None:
        self._errors = tuple(errors)
        super().__init__("\n".join(str(e) for e in self.errors))
        self.exit_code = max((e.exit_code for e in self.errors), default=3)

    @property
    def errors(self) -> tuple[FlinkplanError, ...]:
        return self._errors


class PlanError(FlinkplanError):
    """A compiled plan that cannot be read or means nothing (exit code 3)."""

    exit_code = 3


class UnsupportedError(FlinkplanError):
    """Something valid in Flink that flinkplan does not do (exit code 4)."""

    exit_code = 4


def together(errors: Sequence[FlinkplanError]) -> FlinkplanError:
    """One error for all of them: the only one itself, else a group; groups among them are taken apart."""
    flat = [each for error in errors for each in error.errors]
    return flat[0] if len(flat) == 1 else ErrorGroup(flat)
