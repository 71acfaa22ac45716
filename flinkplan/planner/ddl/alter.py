"""ALTER TABLE: the table after the change.

The table is written as its CREATE statement, the statement is changed, and the table is made anew, so that
keys, watermarks and computed columns are checked as in any other table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.findings import did_you_mean
from ...plan.record import replace
from ..binder.context import Context
from ..binder.errors import BindError
from ..catalog.catalog import Table
from ..sql import ast, parse_script
from .create import create_table
from .text import create_table_text


def altered(context: Context, table: Table, node: ast.AlterTable) -> Table:
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
        raise BindError(f"the change does not suit the table: {error.message}", node.span, error.hint) from None


def _set_options(table: ast.CreateTable, change: ast.SetOptions) -> ast.CreateTable:
    keys = {option.key for option in change.options}
    return replace(table, options=(*(o for o in table.options if o.key not in keys), *change.options))


def _reset_options(table: ast.CreateTable, change: ast.ResetOptions) -> ast.CreateTable:
    return replace(table, options=tuple(o for o in table.options if o.key not in change.keys))


def _rename_column(table: ast.CreateTable, change: ast.RenameColumn) -> ast.CreateTable:
    position = _position(table, change.column)
    if any(c.name.name == change.name.name for c in table.columns):
        raise BindError(f"there is a column '{change.name}' already", change.name.span)
    if change.column.name in _read_names(table):
        raise BindError(
            f"'{change.column}' is read by a computed column, a watermark or a key",
            change.column.span,
            "write the change into the CREATE TABLE",
        )
    columns = list(table.columns)
    columns[position] = replace(columns[position], name=change.name)
    return replace(table, columns=tuple(columns))


def _read_names(table: ast.CreateTable) -> set[str]:
    """The columns to which other parts of the table refer."""
    expressions = [c.expression for c in table.columns if isinstance(c, ast.ComputedColumn)]
    expressions += [w.expression for w in table.watermarks]
    read = {part.names[0] for e in expressions for part in e.walk() if isinstance(part, ast.ColumnRef)}
    keys = [name.name for key in table.primary_keys for name in key.columns]
    return read | {w.column[0].name for w in table.watermarks} | {*keys, *(k.name for k in table.partitioned_by)}


def _change_schema(table: ast.CreateTable, change: ast.ChangeSchema) -> ast.CreateTable:
    if change.unique_keys:
        raise BindError(
            "Flink has no UNIQUE constraint", change.unique_keys[0].span, "declare a PRIMARY KEY … NOT ENFORCED"
        )
    for part, present, added in (
        ("PRIMARY KEY", table.primary_keys, change.primary_keys),
        ("WATERMARK", table.watermarks, change.watermarks),
    ):
        if added and bool(present) != change.modify:
            has, verb = ("has no", "ADD") if change.modify else ("has a", "MODIFY")
            raise BindError(f"the table {has} {part}", added[0].span, f"write {verb} instead")
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
        raise BindError(f"there is a column '{name}' already", name.span, "write MODIFY instead")
    return _placed(table, placed, len(table.columns))


def _modified(table: ast.CreateTable, placed: ast.PlacedColumn) -> ast.CreateTable:
    position = _position(table, placed.column.name)
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
        position = _position(table, placed.after) + 1
    return replace(table, columns=(*table.columns[:position], placed.column, *table.columns[position:]))


def _drop_columns(table: ast.CreateTable, change: ast.DropColumns) -> ast.CreateTable:
    for name in change.columns:
        position = _position(table, name)
        table = replace(table, columns=(*table.columns[:position], *table.columns[position + 1 :]))
    return table


def _drop_key(table: ast.CreateTable, change: ast.DropKey) -> ast.CreateTable:
    known = [str(key.name) for key in table.primary_keys]
    if not known:
        raise BindError("the table has no PRIMARY KEY", change.span)
    if change.name is not None and change.name.name not in known:
        raise BindError(
            f"there is no constraint '{change.name}'", change.name.span, did_you_mean(change.name.name, known)
        )
    return replace(table, primary_keys=())


def _drop_watermark(table: ast.CreateTable, change: ast.DropWatermark) -> ast.CreateTable:
    if not table.watermarks:
        raise BindError("the table has no WATERMARK", change.span)
    return replace(table, watermarks=())


def _position(table: ast.CreateTable, name: ast.Identifier) -> int:
    known = [c.name.name for c in table.columns]
    if name.name not in known:
        raise BindError(f"there is no column '{name}'", name.span, did_you_mean(name.name, known))
    return known.index(name.name)


_CHANGES: dict[type[ast.TableChange], Callable[[ast.CreateTable, Any], ast.CreateTable]] = {
    ast.SetOptions: _set_options,
    ast.ResetOptions: _reset_options,
    ast.RenameColumn: _rename_column,
    ast.ChangeSchema: _change_schema,
    ast.DropColumns: _drop_columns,
    ast.DropKey: _drop_key,
    ast.DropWatermark: _drop_watermark,
}
