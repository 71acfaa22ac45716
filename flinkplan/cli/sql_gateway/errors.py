"""Errors as the gateway of Flink answers with them: texts of Java exceptions."""

from __future__ import annotations

from ...executor.errors import ExecutionError
from ...plan.errors import PARSE, TABLE, VALIDATION, FlinkplanError, UnsupportedError
from ...planner.sql.errors import SqlSyntaxError

_GATEWAY = "org.apache.flink.table.gateway"
SQL_EXECUTION = f"{_GATEWAY}.service.utils.SqlExecutionException"
_SQL_GATEWAY = f"{_GATEWAY}.api.utils.SqlGatewayException"

_CLASSES: tuple[tuple[type[FlinkplanError], str], ...] = (
    (SqlSyntaxError, PARSE),
    (UnsupportedError, TABLE),
    (ExecutionError, "org.apache.flink.runtime.client.JobExecutionException"),
)


class GatewayError(FlinkplanError):
    """An error of the gateway itself, with the class that Flink's gateway throws."""

    def __init__(self, message: str, java_class: str = SQL_EXECUTION) -> None:
        super().__init__(message)
        self.in_flink = (java_class, message)


def exception_text(error: Exception, action: str) -> str:
    """The text of an exception on the server, in which clients look for the last ``Caused by``."""
    java_class, message = cause(error)
    wrapped = f"{_SQL_GATEWAY}: {_SQL_GATEWAY}: Failed to {action}."
    return (
        f"<Exception on server side:\n{wrapped}\nCaused by: {SQL_EXECUTION}: Failed to execute the operation.\n"
        f"Caused by: {java_class}: {message}\n\nEnd of exception on server side>"
    )


def cause(error: Exception) -> tuple[str, str]:
    """The class of Flink's exception for an error and its message."""
    if not isinstance(error, FlinkplanError):
        return "java.lang.IllegalStateException", f"internal error: {type(error).__name__}: {error}"
    first = error.errors[0]
    if first.in_flink is not None:
        return first.in_flink
    java_class = next((name for kind, name in _CLASSES if isinstance(first, kind)), VALIDATION)
    if isinstance(first, SqlSyntaxError):
        place = first.span.location
        token, column = first.span.text.split("\n")[0], place.column or 1
        if not token:  # Flink's parser counts the end of a text as its last character
            token, column = "<EOF>", column - 1
        return java_class, f'Encountered "{token}" at line {place.line}, column {column}.\n{error}'
    return java_class, str(error)
