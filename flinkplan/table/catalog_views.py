"""The rows of SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..plan.errors import PlanError, UnsupportedError
from ..plan.findings import nearest
from ..plan.specs import Column, ResolvedSchema
from ..plan.types import LogicalType

if TYPE_CHECKING:
    from ..planner.catalog.catalog import Catalog, Table, View
    from ..planner.sql.ast import Describe, Name, Show

Rows = list[tuple[str, ...]]
Content = tuple[tuple[str, ...], Rows]
"""The column names and the rows."""


def show(catalog: Catalog, statement: Show) -> Content:
    """The rows of a SHOW.  Raises :class:`UnsupportedError` for an unsupported object, an error for a missing name."""
    list_objects = _SHOW.get(statement.what)
    if list_objects is None:
        hint = nearest(statement.what, _SHOW) or f"supported are SHOW {', '.join(_SHOW)}"
        raise UnsupportedError(f"SHOW {statement.what} is not supported", where=statement.span.location, hint=hint)
    names, rows = list_objects(catalog, statement)
    return names, list(_matching(rows, statement.pattern, statement.negated))


def _matching(rows: Rows, pattern: str | None, negated: bool) -> Iterable[tuple[str, ...]]:
    """The rows whose first cell is LIKE the pattern."""
    if pattern is None:
        return rows
    like = re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern))
    return [row for row in rows if bool(like.fullmatch(row[0])) != negated]


def _objects(catalog: Catalog, statement: Show) -> list[Table | View]:
    names = statement.name.names if statement.name else (catalog.current_catalog, catalog.current_database)
    return catalog.objects_of(*catalog.existing_database(names))


def _tables(catalog: Catalog, statement: Show) -> Content:
    return ("table name",), [(item.identifier.name,) for item in _objects(catalog, statement)]


def _views(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import View

    views = [item for item in _objects(catalog, statement) if isinstance(item, View)]
    return ("view name",), [(view.identifier.name,) for view in views]


def _columns(catalog: Catalog, statement: Show) -> Content:
    return describe_object(_existing(catalog, _required_name(statement)))


def _create_table(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import Table
    from ..planner.ddl.text import create_table_text

    return ("result",), [(create_table_text(catalog.get(_required_name(statement).names, Table)),)]


def _create_view(catalog: Catalog, statement: Show) -> Content:
    from ..planner.catalog.catalog import View
    from ..planner.ddl.text import create_view_text

    return ("result",), [(create_view_text(catalog.get(_required_name(statement).names, View)),)]


def _databases(catalog: Catalog, statement: Show) -> Content:
    owner = statement.name.names[0] if statement.name else catalog.current_catalog
    return ("database name",), [(name,) for catalog_name, name in sorted(catalog.databases) if catalog_name == owner]


def _functions(catalog: Catalog, statement: Show) -> Content:
    from ..plan.functions import all_functions

    names = {name for function in all_functions() if function.named for name in (function.name, *function.aliases)}
    return ("function name",), [(name,) for name in sorted(names)]


def _fixed(head: str, *rows: str) -> Callable[[Catalog, Show], Content]:
    return lambda catalog, statement: ((head,), [(row,) for row in rows])


_SHOW: dict[str, Callable[[Catalog, Show], Content]] = {
    "TABLES": _tables,
    "VIEWS": _views,
    "COLUMNS": _columns,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "DATABASES": _databases,
    "CATALOGS": lambda catalog, _: (("catalog name",), [(name,) for name in sorted(catalog.catalogs)]),
    "CURRENT DATABASE": lambda catalog, _: (("current database name",), [(catalog.current_database,)]),
    "CURRENT CATALOG": lambda catalog, _: (("current catalog name",), [(catalog.current_catalog,)]),
    "FUNCTIONS": _functions,
    "USER FUNCTIONS": _fixed("function name"),
    "MODULES": _fixed("module name", "core"),
    "MODELS": _fixed("model name"),
    "JARS": _fixed("jars"),
}


def _required_name(statement: Show) -> Name:
    if statement.name is None:
        raise PlanError(f"SHOW {statement.what} needs a name", where=statement.span.location)
    return statement.name


def describe(catalog: Catalog, statement: Describe) -> Content:
    """The rows of a DESCRIBE, as Flink prints them.

    Raises :class:`PlanError` for an unknown table or view, :class:`UnsupportedError` for another kind of object.
    """
    if statement.kind != "TABLE":
        raise UnsupportedError(f"DESCRIBE {statement.kind} is not supported", where=statement.span.location)
    return describe_object(_existing(catalog, statement.name))


def _existing(catalog: Catalog, name: Name) -> Table | View:
    from ..plan.findings import did_you_mean

    item = catalog.find(name.names)
    if item is None:
        hint = did_you_mean(name.names[-1], catalog.names())
        raise PlanError(f"there is no table or view '{name}'", where=name.span.location, hint=hint)
    return item


def describe_object(item: Table | View) -> Content:
    """The columns of a table or view; the column of comments is left out if there are none."""
    from ..planner.catalog.catalog import Table

    if isinstance(item, Table):
        schema = item.resolved.schema
        rows = [_described(column, schema) for column in schema.columns]
    else:
        rows = [_cells(f.name, f.type) for f in item.row_type.fields]
    names = ("name", "type", "null", "key", "extras", "watermark", "comment")
    width = len(names) if any(row[-1] for row in rows) else len(names) - 1
    return names[:width], [row[:width] for row in rows]


def _described(column: Column, schema: ResolvedSchema) -> tuple[str, ...]:
    from ..planner.ddl.text import metadata_text

    key = schema.primary_key
    watermark = next((w for w in schema.watermark_specs or () if w.rowtime_attribute == column.name), None)
    extras = metadata_text(column).strip()
    column_type = column.data_type
    if column.expression is not None:
        extras = f"AS {column.expression.serializable_string}"
        column_type = column.expression.rex_node.type
    assert column_type is not None
    return _cells(
        column.name,
        column_type,
        f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else "",
        extras,
        watermark.expression.serializable_string if watermark else "",
        column.comment or "",
    )


def _cells(
    name: str, column_type: LogicalType, key: str = "", extras: str = "", watermark: str = "", comment: str = ""
) -> tuple[str, ...]:
    from ..plan.types.readable import readable

    nullable = str(column_type.nullable).upper()
    return name, readable(str(column_type.nullable_())), nullable, key, extras, watermark, comment
