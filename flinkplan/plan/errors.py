"""Errors for users: what is wrong, where, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence

from .record import Record
from .secrets import without_secrets

VALIDATION = "org.apache.flink.table.api.ValidationException"
TABLE = "org.apache.flink.table.api.TableException"
SQL_VALIDATOR = "org.apache.calcite.sql.validate.SqlValidatorException"
PARSE = "org.apache.flink.sql.parser.impl.ParseException"
"""The classes of exceptions of Flink's planner."""


class Location(Record):
    """A place in a text file; lines and columns are counted from 1 and ``None`` if unknown."""

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
    """The base of every error that a user can cause and fix.

    ``message`` says what is wrong, ``where`` the place (a :class:`Location`, or a text such as
    ``node 5 (/nodes/4/state/0/ttl)``), ``hint`` how to fix it, ``snippet`` the source line with a caret.
    ``in_flink`` is the class and the message of the exception that Flink throws, where its clients may look at them.
    """

    in_flink: tuple[str, str] | None = None

    exit_code = 3
    """The exit code of a command that fails with this error; see docs/exit-codes.md."""

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
        """This error, or the errors of a group."""
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
    """Several errors that are reported combined_error."""

    def __init__(self, errors: Sequence[FlinkplanError]) -> None:
        self._errors = tuple(errors)
        super().__init__("\n".join(str(e) for e in self.errors))
        self.exit_code = max((e.exit_code for e in self.errors), default=3)

    @property
    def errors(self) -> tuple[FlinkplanError, ...]:
        return self._errors


class PlanError(FlinkplanError):
    """A compiled plan that cannot be read or is invalid (exit code 3)."""

    exit_code = 3


class UnsupportedError(FlinkplanError):
    """Something that is valid in Flink and not supported by flinkplan (exit code 4)."""

    exit_code = 4


def combined_error(errors: Sequence[FlinkplanError]) -> FlinkplanError:
    """The error itself if there is only one, otherwise a group; nested groups are flattened."""
    flattened = [single for error in errors for single in error.errors]
    return flattened[0] if len(flattened) == 1 else ErrorGroup(flattened)
