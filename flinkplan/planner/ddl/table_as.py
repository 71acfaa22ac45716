"""CREATE TABLE … AS: the table's columns are those of the statement and of its query.  Source: ``MergeTableAsUtil``."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.errors import VALIDATION
from ...plan.findings import did_you_mean
from ...plan.record import replace
from ...plan.types import LogicalType
from ..binder.context import Context
from ..binder.datatypes import resolve_type
from ..binder.errors import BindError
from ..binder.query import bind_query
from ..rex.casts import can_cast_implicitly
from ..sql import ast, parse_data_type


def split_table_as(context: Context, node: ast.CreateTable) -> tuple[ast.CreateTable, ast.Insert]:
    """The table, which has its own columns before the query's, and an INSERT.

    A column that the query has too gives it another type and leaves it where the query has it.  A mere list of names
    orders the query's columns.  Raises :class:`BindError` where the query does not fit.
    """
    query = node.query
    assert query is not None
    row_type = bind_query(context, query).row_type
    types = {f.name: f.type.regular() for f in row_type.fields}
    _check_key(node, types)
    given = {column.name.name: column for column in node.columns}
    for name in node.column_names:
        if name.name not in types:
            raise BindError(
                f"the query gives no column '{name.name}'",
                name.span,
                did_you_mean(name.name, types),
                in_flink=(VALIDATION, f"Column '{name.name}' not found in the source schema."),
            )
    for position, column in enumerate(node.columns, start=1):
        if column.name.name in types:
            _check_type(node, column, position, types[column.name.name])
    merged = [column for name, column in given.items() if name not in types]
    for queried in [name.name for name in node.column_names] or types:
        column = ast.PhysicalColumn(ast.Identifier(queried, span=query.span), parse_data_type(str(types[queried])))
        merged.append(given.get(queried, column))
    table = replace(node, columns=tuple(merged), column_names=(), query=None)
    arranged = row_type.field_names if node.columns or node.column_names else ()
    targets = tuple(ast.Name((ast.Identifier(name, span=query.span),)) for name in arranged)
    return table, ast.Insert(node.name, query, targets, of_new_table=True, span=node.span)


def _check_key(node: ast.CreateTable, types: Mapping[str, LogicalType]) -> None:
    given = {column.name.name for column in node.columns}
    for key in node.primary_keys:
        label = key.name.name if key.name else "PK_" + "_".join(column.name for column in key.columns)
        for column in key.columns:
            if column.name in types and column.name not in given and types[column.name].nullable:
                raise BindError(
                    f"'{column.name}' of the query may be NULL, a PRIMARY KEY needs a column that is NOT NULL",
                    column.span,
                    "use COALESCE in the query",
                    in_flink=(VALIDATION, f"Invalid primary key '{label}'. Column '{column.name}' is nullable."),
                )


def _check_type(node: ast.CreateTable, column: ast.TableColumn, position: int, source: LogicalType) -> None:
    """Raise :class:`BindError` where a column of the statement cannot take the query's of the same name."""
    name = column.name.name
    exists = f"A column named '{name}' already exists in the source schema. "
    if isinstance(column, ast.ComputedColumn) or (isinstance(column, ast.MetadataColumn) and column.virtual):
        kind = "Computed" if isinstance(column, ast.ComputedColumn) else "Virtual metadata"
        raise BindError(
            f"the query has a column '{name}' too, which cannot be computed",
            column.name.span,
            "give one of them another name",
            in_flink=(VALIDATION, f"{exists}{kind} columns cannot overwrite columns from source."),
        )
    in_key = any(name == part.name for key in node.primary_keys for part in key.columns)
    target = resolve_type(column.type)
    target = target.with_nullability(nullable=target.nullable and not in_key)
    if not can_cast_implicitly(source.nullable_(), target.nullable_()) or source.nullable > target.nullable:
        raise BindError(
            f"the column '{name}' is {target}, the query gives {source}",
            column.name.span,
            "CAST it in the query, or leave NOT NULL out",
            in_flink=(
                VALIDATION,
                f"Incompatible types for sink column '{name}' at position {position}. The source column has type "
                f"'{source}', while the target column has type '{target}'.",
            ),
        )
