"""Names of columns, and the row that a query without FROM reads."""

from __future__ import annotations

from ...plan.record import replace
from ...plan.rex import Literal
from ...plan.types import INT, LogicalType, row
from ..algebra.logical import Project, Values
from ..algebra.names import anonymous, uniquify
from ..algebra.rel import Rel
from ..rex.expressions import identity
from ..sql import ast
from .errors import BindError

SINGLE_ROW = Values(fields=row([("ZERO", INT.not_null())], nullable=False), tuples=((Literal(0, INT.not_null()),),))
"""The single row of a query without FROM."""


def renamed(rel: Rel, columns: tuple[ast.Identifier, ...], name: ast.Identifier) -> LogicalType:
    """The relation's row type, with the column names that an alias lists, if any."""
    fields = rel.row_type.fields
    if not columns:
        return rel.row_type
    if len(columns) != len(fields):
        raise BindError(
            f"'{name.name}' has {len(fields)} columns, {len(columns)} names are given",
            columns[0].span.to(columns[-1].span),
            f"its columns are {', '.join(f.name for f in fields)}",
        )
    return row(zip((c.name for c in columns), rel.types, strict=True), nullable=False)


def rename(rel: Rel, row_type: LogicalType) -> Rel:
    """The relation with the column names of a row type."""
    if row_type.field_names == rel.names:
        return rel
    return replace(rel, fields=row_type) if isinstance(rel, Values) else under_names(rel, row_type)


def under_names(rel: Rel, row_type: LogicalType) -> Project:
    """A projection that gives the relation the column names of a row type."""
    return Project(input=rel, exprs=identity(rel.types), names=row_type.field_names)


def column_names(names: list[str | None]) -> tuple[str, ...]:
    """Unique output names; an unnamed column is named by its position."""
    return uniquify(names, anonymous)
