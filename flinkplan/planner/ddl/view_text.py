"""The query of a view as Flink's SHOW CREATE VIEW writes it: with full names of tables, and all columns.

Source: ``SqlCreateViewConverter``, which keeps the text of the validated query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...plan.record import replace
from ..sql import ast
from .expression_text import quoted, sql_text

Lookup = Callable[[tuple[str, ...]], tuple[str, Sequence[str]] | None]
"""Gives the full quoted name of a table or view, and the names of its columns."""


class _Table:
    """A table of FROM: the name by which its columns are qualified, its text, and its columns."""

    def __init__(self, alias: str, text: str, columns: Sequence[str]) -> None:
        self.alias = alias
        self.text = text
        self.columns = columns


def view_query_text(query: ast.Query, lookup: Lookup) -> str | None:
    """The query with full names; ``None`` unless it selects from one table or view, by columns and conditions."""
    body = query.body
    if query != ast.Query(body):
        return None
    if isinstance(body, ast.Values):
        return "VALUES " + ",\n".join(map(sql_text, body.rows))
    if not isinstance(body, ast.Select) or not isinstance(body.from_, ast.TableRef):
        return None
    if body != ast.Select(items=body.items, from_=body.from_, where=body.where):
        return None
    table = _table(body.from_, lookup)
    items = None if table is None else list(_items(body.items, table))
    if table is None or items is None or None in items:
        return None
    lines = [f"SELECT {', '.join(map(str, items))}", f"FROM {table.text}"]
    if body.where is not None:
        where = _qualified(body.where, table)
        if where is None:
            return None
        lines.append(f"WHERE {where}")
    return "\n".join(lines)


def _table(node: ast.TableRef, lookup: Lookup) -> _Table | None:
    found = lookup(node.name.names)
    if found is None or node != ast.TableRef(node.name, node.alias) or (node.alias and node.alias.columns):
        return None
    name, columns = found
    alias = node.alias.name.name if node.alias else node.name.names[-1]
    return _Table(alias, f"{name} AS {quoted(alias)}", columns)


def _items(items: Sequence[ast.SelectItem], table: _Table) -> Iterator[str | None]:
    """The texts of the selected columns; ``None`` for what is no column."""
    for item in items:
        if isinstance(item.expression, ast.Star):
            yield from (f"{quoted(table.alias)}.{quoted(name)}" for name in table.columns)
        elif isinstance(item.expression, ast.ColumnRef):
            text = _qualified(item.expression, table)
            yield text if text is None or item.alias is None else f"{text} AS {quoted(item.alias.name)}"
        else:
            yield None


def _qualified(expression: ast.Expression, table: _Table) -> str | None:
    """The text of an expression whose columns are qualified; ``None`` where one is not of the table."""
    unknown = False

    def qualify(node: ast.Node) -> ast.Node:
        nonlocal unknown
        if not isinstance(node, ast.ColumnRef):
            unknown |= isinstance(node, ast.Query)
            return node
        names = node.names
        if names[0] == table.alias and len(names) == 2 and names[1] in table.columns:
            return node
        if len(names) == 1 and names[0] in table.columns:
            return replace(node, parts=(ast.Identifier(table.alias), *node.parts))
        unknown = True
        return node

    text = sql_text(expression.rewritten(qualify))  # type: ignore[arg-type]
    return None if unknown else text
