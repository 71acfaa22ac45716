"""ALTER TABLE and ALTER VIEW.

A table is written as its CREATE statement, the statement is changed, and the table is made anew, so that
keys, watermarks and computed columns are checked as in any other table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.errors import VALIDATION
from ...plan.findings import did_you_mean
from ...plan.record import replace
from ..binder.context import Context
from ..binder.errors import BindError
from ..catalog.catalog import Table, View
from ..catalog.errors import CatalogError
from ..sql import ast, parse_script
from .create import create_table, create_view
from .expression_text import quoted, sql_text
from .partitions import alter_partitions
from .text import create_table_text


def alter_table(context: Context, node: ast.AlterTable) -> None:
    """Change, rename or partition a table of the catalog.  Raises an error where it cannot be changed so."""
    catalog, names = context.catalog, node.name.names
    if catalog.find(names) is None:
        if node.if_exists:
            return
        message = f"Table {catalog.qualify(names)} doesn't exist or is a temporary table."
        hint = did_you_mean(names[-1], catalog.names())
        raise CatalogError(f"there is no table '{node.name}'", hint=hint, in_flink=message)
    table = catalog.get(names, Table)
    if isinstance(node.change, (ast.AddPartitions, ast.DropPartitions)):
        alter_partitions(catalog, table, node.change)
    elif isinstance(node.change, ast.RenameTable):
        catalog.add(replace(table, identifier=catalog.qualify(node.change.name.names)))
        catalog.drop(names, Table, temporary=table.temporary)
    else:
        catalog.add(_altered(context, table, node), replace=True)


def alter_view(context: Context, node: ast.AlterView) -> None:
    """Rename a view of the catalog, or give it another query.  Raises an error where that cannot be done."""
    catalog, names = context.catalog, node.name.names
    if catalog.find(names) is None:
        message = f"View {catalog.qualify(names)} doesn't exist or is a temporary view."
        hint = did_you_mean(names[-1], catalog.names())
        raise CatalogError(f"there is no view '{node.name}'", hint=hint, in_flink=message)
    view = catalog.get(names, View)
    if node.query is not None:
        definition = ast.CreateView(node.name, node.query, temporary=view.temporary, span=node.span)
        catalog.add(create_view(context, definition), replace=True)
    elif node.rename_to is not None:
        catalog.add(replace(view, identifier=catalog.qualify(node.rename_to.names)))
        catalog.drop(names, View, temporary=view.temporary)


def _altered(context: Context, table: Table, node: ast.AlterTable) -> Table:
    """The table after a change of its options or its schema.

    Raises :class:`BindError` if the change cannot be made, or a computed column or watermark reads a dropped column.
    """
    (statement,) = parse_script(create_table_text(table)).statements
    assert isinstance(statement, ast.CreateTable)
    changed = _CHANGES[type(node.change)](statement, node.change)
    try:
        return create_table(context, changed)
    except BindError as error:
        if error.span.source is node.span.source:
            raise
        message = f"the change does not suit the table: {error.message}"
        raise BindError(message, node.span, error.hint, in_flink=error.in_flink) from None


def _set_options(table: ast.CreateTable, change: ast.SetOptions) -> ast.CreateTable:
    keys = {option.key for option in change.options}
    return replace(table, options=(*(o for o in table.options if o.key not in keys), *change.options))


def _reset_options(table: ast.CreateTable, change: ast.ResetOptions) -> ast.CreateTable:
    if not change.keys:
        in_flink = (VALIDATION, "ALTER TABLE RESET does not support empty key")
        raise BindError("RESET needs the key of an option", change.span, in_flink=in_flink)
    if "connector" in change.keys:
        in_flink = (VALIDATION, "ALTER TABLE RESET does not support changing 'connector'")
        raise BindError("a table keeps its 'connector'", change.span, "SET another one", in_flink=in_flink)
    return replace(table, options=tuple(o for o in table.options if o.key not in change.keys))


def _rename_column(table: ast.CreateTable, change: ast.RenameColumn) -> ast.CreateTable:
    position = _position(table, change.column, f"The column `{change.column}` does not exist in the base table.")
    if any(c.name.name == change.name.name for c in table.columns):
        in_flink = _failed(f"The column `{change.name}` already existed in table schema.")
        raise BindError(f"there is a column '{change.name}' already", change.name.span, in_flink=in_flink)
    _check_unread(table, change.column)
    columns = list(table.columns)
    columns[position] = replace(columns[position], name=change.name)
    return replace(table, columns=tuple(columns))


def _check_unread(table: ast.CreateTable, name: ast.Identifier) -> None:
    """Raise :class:`BindError` where another part of the table refers to a column."""
    column = name.name
    reason = None
    for each in table.columns:
        if isinstance(each, ast.ComputedColumn) and column in _read(each.expression):
            reason = f"is referenced by computed column `{each.name}`."
    if any(column == part.name for key in table.primary_keys for part in key.columns):
        reason = reason or "is used as the primary key."
    if any(column == part.name for part in table.partitioned_by):
        reason = reason or "is used as the partition keys."
    if any(column == w.column[0].name or column in _read(w.expression) for w in table.watermarks):
        reason = reason or "is referenced by watermark expression."
    if reason is not None:
        raise BindError(
            f"'{name}' is read by a computed column, a watermark or a key",
            name.span,
            "write the change into the CREATE TABLE",
            in_flink=_failed(f"The column `{name}` {reason}"),
        )


def _read(expression: ast.Expression) -> set[str]:
    """The columns that an expression reads."""
    return {part.names[0] for part in expression.walk() if isinstance(part, ast.ColumnRef)}


def _change_schema(table: ast.CreateTable, change: ast.ChangeSchema) -> ast.CreateTable:
    if change.unique_keys:
        raise BindError(
            "Flink has no UNIQUE constraint",
            change.unique_keys[0].span,
            "declare a PRIMARY KEY … NOT ENFORCED",
            in_flink=(
                "org.apache.flink.sql.parser.error.SqlValidateException",
                "UNIQUE constraint is not supported yet",
            ),
        )
    keys = ", ".join(quoted(name.name) for key in table.primary_keys for name in key.columns)
    strategies = [f"{quoted(w.column[0].name)} AS {sql_text(w.expression)}" for w in table.watermarks]
    for part, present, added, in_flink, defined in (
        ("PRIMARY KEY", table.primary_keys, change.primary_keys, "primary key constraint", f"[{keys}]"),
        ("WATERMARK", table.watermarks, change.watermarks, "watermark", f"strategy {' '.join(strategies)}"),
    ):
        if added and bool(present) != change.modify:
            has, verb = ("has no", "ADD") if change.modify else ("has a", "MODIFY")
            missing = f"The current table does not define any {in_flink}. You might want to add a new one."
            existing = f"The current table has already defined the {in_flink} {defined}. "
            existing += "You might want to drop it before adding a new one."
            reason = _failed(missing if change.modify else existing)
            raise BindError(f"the table {has} {part}", added[0].span, f"write {verb} instead", in_flink=reason)
    for placed in change.columns:
        table = _modified(table, placed) if change.modify else _added(table, placed)
    return replace(
        table,
        primary_keys=change.primary_keys or table.primary_keys,
        watermarks=change.watermarks or table.watermarks,
    )


def _added(table: ast.CreateTable, placed: ast.PlacedColumn) -> ast.CreateTable:
    name = placed.column.name
    if any(c.name.name == name.name for c in table.columns):
        is_placed = placed.first or placed.after is not None
        in_flink = _failed(
            f"Try to add a column `{name}` which already exists in the table."
            if is_placed
            else f"Column `{name}` already exists in the table."
        )
        raise BindError(f"there is a column '{name}' already", name.span, "write MODIFY instead", in_flink=in_flink)
    return _placed(table, placed, len(table.columns))


def _modified(table: ast.CreateTable, placed: ast.PlacedColumn) -> ast.CreateTable:
    name = placed.column.name
    position = _position(table, name, f"Column `{name}` does not exist in the table.")
    former = table.columns[position]
    if placed.column.comment is None:
        placed = replace(placed, column=replace(placed.column, comment=former.comment))
    rest = (*table.columns[:position], *table.columns[position + 1 :])
    return _placed(replace(table, columns=rest), placed, position)


def _placed(table: ast.CreateTable, placed: ast.PlacedColumn, position: int) -> ast.CreateTable:
    """The table with the column where FIRST or AFTER say, else at a position."""
    if placed.first:
        position = 0
    elif placed.after is not None:
        missing = f"Referenced column `{placed.after}` by 'AFTER' does not exist in the table."
        position = _position(table, placed.after, missing) + 1
    return replace(table, columns=(*table.columns[:position], placed.column, *table.columns[position:]))


def _drop_columns(table: ast.CreateTable, change: ast.DropColumns) -> ast.CreateTable:
    names = [name.name for name in change.columns]
    for name in change.columns:
        if names.count(name.name) > 1:
            in_flink = _failed(f"Duplicate column `{name}`.")
            raise BindError(f"the column '{name}' is listed twice", name.span, in_flink=in_flink)
        position = _position(table, name, f"The column `{name}` does not exist in the base table.")
        _check_unread(replace(table, columns=tuple(c for c in table.columns if c.name.name not in names)), name)
        table = replace(table, columns=(*table.columns[:position], *table.columns[position + 1 :]))
    return table


def _drop_key(table: ast.CreateTable, change: ast.DropKey) -> ast.CreateTable:
    known = [str(key.name) for key in table.primary_keys]
    if not known:
        in_flink = _failed("The current table does not define any primary key.")
        raise BindError("the table has no PRIMARY KEY", change.span, in_flink=in_flink)
    if change.name is not None and change.name.name not in known:
        in_flink = _failed(
            f"The current table does not define a primary key constraint named '{change.name}'. Available constraint "
            f"name: ['{known[0]}']."
        )
        hint = did_you_mean(change.name.name, known)
        raise BindError(f"there is no constraint '{change.name}'", change.name.span, hint, in_flink=in_flink)
    return replace(table, primary_keys=())


def _drop_watermark(table: ast.CreateTable, change: ast.DropWatermark) -> ast.CreateTable:
    if not table.watermarks:
        in_flink = _failed("The current table does not define any watermark strategy.")
        raise BindError("the table has no WATERMARK", change.span, in_flink=in_flink)
    return replace(table, watermarks=())


def _change_distribution(table: ast.CreateTable, change: ast.ChangeDistribution) -> ast.CreateTable:
    if change.modify and table.distribution is None:
        in_flink = _failed("The current table does not define any distribution. You might want to add a new one.")
        raise BindError("the table is not distributed", change.span, "write ADD instead", in_flink=in_flink)
    if not change.modify and table.distribution is not None:
        in_flink = _failed(
            "The current table has already defined the distribution. You can modify it or drop it before adding a new "
            "one."
        )
        raise BindError("the table is distributed already", change.span, "write MODIFY instead", in_flink=in_flink)
    return replace(table, distribution=change.distribution)


def _drop_distribution(table: ast.CreateTable, change: ast.DropDistribution) -> ast.CreateTable:
    if table.distribution is None:
        in_flink = _failed("The current table does not define any distribution.")
        raise BindError("the table is not distributed", change.span, in_flink=in_flink)
    return replace(table, distribution=None)


def _position(table: ast.CreateTable, name: ast.Identifier, in_flink: str) -> int:
    known = [c.name.name for c in table.columns]
    if name.name not in known:
        hint = did_you_mean(name.name, known)
        raise BindError(f"there is no column '{name}'", name.span, hint, in_flink=_failed(in_flink))
    return known.index(name.name)


def _failed(reason: str) -> tuple[str, str]:
    """The class and the message of Flink's exception."""
    return VALIDATION, f"Failed to execute ALTER TABLE statement.\n{reason}"


_CHANGES: dict[type[ast.TableChange], Callable[[ast.CreateTable, Any], ast.CreateTable]] = {
    ast.SetOptions: _set_options,
    ast.ResetOptions: _reset_options,
    ast.RenameColumn: _rename_column,
    ast.ChangeSchema: _change_schema,
    ast.DropColumns: _drop_columns,
    ast.DropKey: _drop_key,
    ast.DropWatermark: _drop_watermark,
    ast.ChangeDistribution: _change_distribution,
    ast.DropDistribution: _drop_distribution,
}
