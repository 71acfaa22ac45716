"""SHOW and DESCRIBE: the catalog as rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..plan.errors import PlanError, UnsupportedError
from ..plan.specs import Column, ResolvedTable

if TYPE_CHECKING:
    from ..planner.catalog import Catalog
    from ..planner.sql.ast import Name

Content = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Heads and rows."""


def show(
    catalog: Catalog, what: str, names: tuple[str, ...] = (), pattern: str | None = None, negated: bool = False
) -> Content:
    """The rows of ``SHOW what``.  Raises :class:`UnsupportedError` for what is not kept."""
    from ..planner.catalog import View

    here = [
        item
        for identifier, item in catalog.objects.items()
        if (identifier.catalog, identifier.database) == (catalog.current_catalog, catalog.current_database)
    ]
    if what == "TABLES":
        return ("table name",), _matching([item.identifier.name for item in here], pattern, negated)
    if what == "VIEWS":
        return ("view name",), _matching([i.identifier.name for i in here if isinstance(i, View)], pattern, negated)
    if what == "DATABASES":
        databases = [database for owner, database in catalog.databases if owner == catalog.current_catalog]
        return ("database name",), _matching(databases, pattern, negated)
    if what == "CATALOGS":
        return ("catalog name",), _matching(list({owner for owner, _ in catalog.databases}), pattern, negated)
    if what in ("CURRENT DATABASE", "CURRENT CATALOG"):
        current = catalog.current_database if what.endswith("DATABASE") else catalog.current_catalog
        return (f"{what.lower()} name",), [(current,)]
    raise UnsupportedError(f"SHOW {what} is not supported", hint="SHOW TABLES, VIEWS, DATABASES and CATALOGS are")


def _matching(names: list[str], pattern: str | None, negated: bool) -> list[tuple[str, ...]]:
    if pattern is not None:
        like = re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern))
        names = [name for name in names if bool(like.fullmatch(name)) != negated]
    return [(name,) for name in sorted(names)]


def describe(catalog: Catalog, name: Name) -> Content:
    """The rows of ``DESCRIBE table``, as Flink prints them.  Raises :class:`PlanError` for an unknown table."""
    from ..planner.catalog import Table, did_you_mean

    found = catalog.find(name.names)
    if found is None:
        hint = did_you_mean(name.names[-1], catalog.names())
        raise PlanError(f"there is no table or view '{name}'", where=name.span.location, hint=hint)
    if not isinstance(found, Table):
        raise UnsupportedError(
            "a view cannot be described", where=name.span.location, hint="describe the tables that it reads"
        )
    heads = ("name", "type", "null", "key", "extras", "watermark")
    return heads, [_described(column, found.resolved) for column in found.resolved.schema.columns]


def _described(column: Column, table: ResolvedTable) -> tuple[str, ...]:
    schema = table.schema
    key = schema.primary_key
    watermark = next((w for w in schema.watermark_specs or () if w.rowtime_attribute == column.name), None)
    column_type = column.data_type or (column.expression and column.expression.rex_node.type)
    extras = ""
    if column.expression:
        extras = f"AS {column.expression.serializable_string}"
    elif column.kind == "METADATA":
        extras = "METADATA" + (f" FROM '{column.metadata_key}'" if column.metadata_key else "")
        extras += " VIRTUAL" if column.is_virtual else ""
    return (
        column.name,
        str(column_type.nullable_()) if column_type else "",
        str(column_type.nullable).upper() if column_type else "",
        f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else "",
        extras,
        watermark.expression.serializable_string if watermark else "",
    )
