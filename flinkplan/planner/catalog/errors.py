"""Errors of the catalog."""

from __future__ import annotations

from ...plan.errors import VALIDATION, FlinkplanError, Location

CATALOG = "org.apache.flink.table.catalog.exceptions.CatalogException"
TABLE_EXISTS = "org.apache.flink.table.catalog.exceptions.TableAlreadyExistException"
NO_DATABASE = "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException"
FUNCTION_EXISTS = "org.apache.flink.table.catalog.exceptions.FunctionAlreadyExistException"
NO_FUNCTION = "org.apache.flink.table.catalog.exceptions.FunctionNotExistException"
"""The classes of exceptions of Flink's catalogs."""


class CatalogError(FlinkplanError):
    """An object is missing, or exists already.

    ``in_flink`` is the message of Flink's exception, ``of_class`` the exception's class.
    """

    def __init__(
        self,
        message: str,
        *,
        where: Location | str | None = None,
        hint: str | None = None,
        in_flink: str | None = None,
        of_class: str = VALIDATION,
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        if in_flink is not None:
            self.in_flink = (of_class, in_flink)


class FaultyDefinition(CatalogError):
    """The definition of a name is wrong; statements that refer to it cannot be checked until it is fixed."""
