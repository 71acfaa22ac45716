"""Calls of process table functions in FROM.

Source: Flink's ``SystemTypeInference``, ``FlinkSqlCallBinding`` and ``StaticArgument``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ...plan.errors import FlinkplanError
from ...plan.findings import did_you_mean
from ...plan.functions import Function
from ...plan.functions.changelog import DECLARATIONS, process_declaration
from ...plan.functions.model import SPECIAL
from ...plan.functions.process import (
    DEFAULT,
    DESCRIPTOR,
    ON_TIME,
    ROWTIME,
    UID,
    ProcessArgument,
    ProcessDeclaration,
    Trait,
)
from ...plan.functions.user import UserFunction
from ...plan.record import Record
from ...plan.rex import Call, InputRef, Literal, RexNode, TableArgument
from ...plan.types import DESCRIPTOR as DESCRIPTOR_TYPE
from ...plan.types import STRING, TIMESTAMPS, LogicalType, TimeKind, char, row
from ..algebra.logical import ProcessTable, Values
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..metadata.process_tables import is_uid
from ..rex.casts import avoids_cast, can_cast_implicitly
from ..sql import ast
from ..sql.source import Span
from .calls import fitted
from .context import Context
from .errors import BindError
from .expressions import ExpressionBinder
from .nested import bind_inner_query
from .scope import Namespace, Scope

_MILLISECOND_DIGITS = 3

_SYSTEM = (
    ProcessArgument(ON_TIME, DESCRIPTOR_TYPE, frozenset((Trait.SCALAR,)), True),
    ProcessArgument(UID, STRING, frozenset((Trait.SCALAR,)), True),
)

Given: TypeAlias = dict[str, ast.Expression]


class _Table(Record):
    """A table that is given to a call, and where."""

    declared: ProcessArgument
    rel: Rel
    argument: TableArgument
    span: Span


def bind_process_table(context: Context, node: ast.FunctionCall, function: Function, outer: Scope | None) -> Rel:
    """The relation of a call.  Raises :class:`BindError` for arguments that the function does not take."""
    declaration = _declaration(function)
    parameters = (*declaration.arguments, *(_SYSTEM if declaration.has_system_arguments else ()))
    given = _given(node, parameters)
    tables: list[_Table] = []
    operands: list[RexNode] = []
    for parameter in parameters:
        value = given.get(parameter.name)
        if parameter.name == ON_TIME and declaration.has_system_arguments:
            operands.append(_descriptor(parameter, value))
        elif value is None:
            operands.append(_default(parameter))
        elif isinstance(value, ast.Descriptor):
            operands.append(_descriptor(parameter, value))
        elif parameter.is_table:
            table = _bind_table(context, node, parameter, value, len(tables), outer)
            tables.append(table)
            operands.append(table.argument)
        else:
            operands.append(_scalar(context, node, parameter, value, outer))
    _check_partitions(node, tables)
    if declaration.has_system_arguments:
        _check_uid(node, given.get(UID), operands[-1])
    time = _time_column(node, tables, given.get(ON_TIME)) if declaration.has_system_arguments else None
    if not isinstance(function, UserFunction):
        declaration = _of_call(function.typed(_NO_ROW, *operands), node)
    fields = row(_columns(declaration, tables, time), nullable=False)
    inputs = tuple(table.rel for table in tables) or (Values(fields=row([], nullable=False), tuples=((),)),)
    return ProcessTable(operands=inputs, call=function.typed(fields, *operands), fields=fields)


_NO_ROW = row([], nullable=False)


def _declaration(function: Function) -> ProcessDeclaration:
    declaration = function.process if isinstance(function, UserFunction) else DECLARATIONS[function]
    assert declaration is not None
    return declaration


def _of_call(call: Call, node: ast.FunctionCall) -> ProcessDeclaration:
    """What is declared of a function of Flink's, with the columns of the call."""
    try:
        declaration = process_declaration(call)
    except FlinkplanError as error:
        raise BindError(f"{node.name}: {error.message}", node.span, error.hint) from None
    assert declaration is not None
    return declaration


# ---------------------------------------------------------------- arguments


def _given(node: ast.FunctionCall, parameters: Sequence[ProcessArgument]) -> Given:
    """The arguments of a call by name; those that are left out, or DEFAULT, are not in it."""
    names = [parameter.name for parameter in parameters]
    given: Given = {}
    is_named = any(isinstance(argument, ast.NamedArgument) for argument in node.args)
    if not is_named and len(node.args) > len(names):
        raise BindError(f"{node.name} takes {len(names)} arguments at most", node.args[len(names)].span)
    for position, argument in enumerate(node.args):
        if isinstance(argument, ast.NamedArgument):
            name, value = argument.name.name, argument.value
            if name not in names:
                raise BindError(f"{node.name} has no argument {name}", argument.name.span, did_you_mean(name, names))
        elif is_named:
            raise BindError("arguments with and without names cannot be mixed", argument.span)
        else:
            name, value = names[position], argument
        if not isinstance(value, ast.DefaultArgument):
            given[name] = value
    for parameter in parameters:
        if parameter.name not in given and not parameter.is_optional:
            raise BindError(f"{node.name} lacks the argument {parameter.name}", node.span, f"it takes {parameter}")
    return given


def _default(parameter: ProcessArgument) -> Call:
    t = row([], nullable=False) if parameter.type is None else parameter.type
    return Call(DEFAULT, (), t, SPECIAL)


def _descriptor(parameter: ProcessArgument, value: ast.Expression | None) -> Call:
    if value is None:
        return _default(parameter)
    if not isinstance(value, ast.Descriptor):
        raise BindError(f"{ON_TIME} names time columns", value.span, f"write {ON_TIME} => DESCRIPTOR(column)")
    names = (Literal(c.name, char(len(c.name), nullable=False)) for c in value.columns)
    return Call(DESCRIPTOR, tuple(names), DESCRIPTOR_TYPE.not_null())


def _scalar(
    context: Context, node: ast.FunctionCall, parameter: ProcessArgument, value: ast.Expression, outer: Scope | None
) -> RexNode:
    if isinstance(value, ast.TableArgument):
        raise BindError(f"the argument {parameter.name} of {node.name} is no table", value.span, f"it is {parameter}")
    rex = ExpressionBinder(context, Scope((), outer), str(node.name)).bind(value)
    if parameter.type is None:
        return rex
    if rex.type.root == "NULL":
        return fitted(rex, parameter.type, value.span)
    if not can_cast_implicitly(rex.type, parameter.type):
        raise BindError(
            f"the argument {parameter.name} of {node.name} does not take {rex.type.nullable_()}",
            value.span,
            f"it is {parameter}",
        )
    return rex  # Flink's plans have no cast to the declared type either


def _bind_table(
    context: Context,
    node: ast.FunctionCall,
    parameter: ProcessArgument,
    value: ast.Expression,
    index: int,
    outer: Scope | None,
) -> _Table:
    if isinstance(value, ast.SubQuery):
        value = ast.TableArgument(value.query, span=value.span)
    if not isinstance(value, ast.TableArgument):
        raise BindError(
            f"the argument {parameter.name} of {node.name} is a table", value.span, f"write {parameter.name} => TABLE t"
        )
    rel = bind_inner_query(context, value.query, outer)
    _check_columns(node, parameter, rel, value)
    binder = ExpressionBinder(context, Scope((Namespace(rel.row_type, 0),), outer), str(node.name))
    partition = tuple(_column(binder, "PARTITION BY", item) for item in value.partition_by)
    order = tuple((_column(binder, "ORDER BY", item.expression), item) for item in value.order_by)
    _check_semantics(node, parameter, value)
    _check_order(parameter, rel, order)
    argument = TableArgument(
        index, partition, rel.row_type, tuple(column for column, _ in order), tuple(_direction(i) for _, i in order)
    )
    return _Table(parameter, rel, argument, value.span)


def _column(binder: ExpressionBinder, clause: str, node: ast.Expression) -> int:
    rex = binder.bind(node)
    if not isinstance(rex, InputRef):
        raise BindError(f"{clause} of a table argument takes columns", node.span)
    return rex.index


def _direction(item: ast.SortItem) -> str:
    return f"{'DESC' if item.descending else 'ASC'}_NULLS_{'LAST' if _nulls_last(item) else 'FIRST'}"


def _nulls_last(item: ast.SortItem) -> bool:
    """NULL counts as the greatest value here, unlike in queries."""
    return not item.descending if item.nulls_first is None else not item.nulls_first


# ---------------------------------------------------------------- checks


def _check_columns(node: ast.FunctionCall, parameter: ProcessArgument, rel: Rel, value: ast.TableArgument) -> None:
    """Raise :class:`BindError` where a table does not have the columns that the function declares."""
    if parameter.type is None:
        return
    expected = parameter.type.field_types
    fits = len(expected) == rel.width and all(map(can_cast_implicitly, rel.types, expected))
    if not fits:
        names = ", ".join(f"{f.name} {f.type.nullable_()}" for f in parameter.type.fields)
        raise BindError(f"the table {parameter.name} of {node.name} has other columns", value.span, f"it takes {names}")


def _check_semantics(node: ast.FunctionCall, parameter: ProcessArgument, value: ast.TableArgument) -> None:
    if not parameter.is_set:
        if value.partition_by or value.order_by:
            raise BindError(
                f"{node.name} looks at each row of {parameter.name} by itself",
                (value.partition_by or tuple(item.expression for item in value.order_by))[0].span,
                "leave PARTITION BY and ORDER BY out",
            )
        return
    if not value.partition_by and Trait.OPTIONAL_PARTITION_BY not in parameter.traits:
        raise BindError(
            f"the table {parameter.name} of {node.name} needs PARTITION BY", value.span, "write TABLE t PARTITION BY k"
        )


def _check_order(parameter: ProcessArgument, rel: Rel, order: Sequence[tuple[int, ast.SortItem]]) -> None:
    if not order:
        return
    columns = [column for column, _ in order]
    for position, (column, item) in enumerate(order):
        if column in columns[:position]:
            raise BindError(f"'{rel.names[column]}' appears twice in ORDER BY", item.span)
    first, item = order[0]
    if not _is_time(rel.types[first]):
        raise BindError(
            f"ORDER BY of the table {parameter.name} begins with a time, not with '{rel.names[first]}'",
            item.span,
            "order by a TIMESTAMP or TIMESTAMP_LTZ column with up to 3 digits first",
        )
    if item.descending or not _nulls_last(item):
        raise BindError(f"ORDER BY of the table {parameter.name} begins with a time in ascending order", item.span)


def _is_time(t: LogicalType) -> bool:
    return t.root in TIMESTAMPS and (t.precision or 0) <= _MILLISECOND_DIGITS


def _check_partitions(node: ast.FunctionCall, tables: Sequence[_Table]) -> None:
    """All tables are partitioned by columns of the same types."""
    keys = [[table.rel.types[k] for k in table.argument.partition_keys] for table in tables]
    for table, own in zip(tables[1:], keys[1:], strict=True):
        if len(own) != len(keys[0]) or not all(map(_are_alike, keys[0], own)):
            texts = ["(" + ", ".join(str(t.nullable_()) for t in each) + ")" for each in (keys[0], own)]
            raise BindError(
                f"the tables of {node.name} are partitioned by columns of other types: {' and '.join(texts)}",
                table.span,
                "partition all tables by the same number of columns, of the same types",
            )


def _are_alike(a: LogicalType, b: LogicalType) -> bool:
    return avoids_cast(a, b.nullable_()) or avoids_cast(b, a.nullable_())


def _check_uid(node: ast.FunctionCall, given: ast.Expression | None, rex: RexNode) -> None:
    if given is None:
        return
    if type(rex) is not Literal or rex.value is None or not is_uid(str(rex.value)):
        raise BindError(
            f"{UID} of {node.name} is a literal of letters, digits, - and _ that begins with a letter", given.span
        )


# ---------------------------------------------------------------- the result


def _time_column(node: ast.FunctionCall, tables: Sequence[_Table], given: ast.Expression | None) -> LogicalType | None:
    """The type of the time of the result; ``None`` where there is no ``on_time``."""
    names = [c.name for c in given.columns] if isinstance(given, ast.Descriptor) else []
    times: list[LogicalType] = []
    used: set[str] = set()
    missing: list[_Table] = []
    for table in tables:
        columns = [i for i, name in enumerate(table.rel.names) if name in names]
        if len(columns) > 1:
            raise BindError(f"{ON_TIME} names several columns of the table {table.declared.name}", node.span)
        if not columns:
            missing.append(table)
            if Trait.REQUIRE_ON_TIME in table.declared.traits:
                hint = f"write {node.name}(…, {ON_TIME} => DESCRIPTOR(ts))"
                raise BindError(f"the table {table.declared.name} of {node.name} needs a time", table.span, hint)
            continue
        (column,) = columns
        if not table.rel.types[column].is_rowtime:
            raise BindError(
                f"'{table.rel.names[column]}' of the table {table.declared.name} is no time attribute",
                node.span if given is None else given.span,
                "name a column with a WATERMARK, which is passed on as it is",
            )
        order = table.argument.order_keys
        if order and order[0] != column:
            raise BindError(f"ORDER BY of the table {table.declared.name} begins with another time", table.span)
        used.add(table.rel.names[column])
        times.append(table.rel.types[column])
    if given is not None and (unknown := [name for name in names if name not in used]):
        raise BindError(f"there is no column '{unknown[0]}' in the tables of {node.name}", given.span)
    if times and missing:
        raise BindError(
            f"{ON_TIME} names no column of the table {missing[0].declared.name}", missing[0].span, "name one of each"
        )
    return _common_time(node, times)


def _common_time(node: ast.FunctionCall, times: Sequence[LogicalType]) -> LogicalType | None:
    if not times:
        return None
    if len({t.root for t in times}) > 1:
        raise BindError(f"the times of the tables of {node.name} are of different types", node.span)
    precision = max(t.precision or 0 for t in times)
    return LogicalType(times[0].root, False, precision=precision, kind=TimeKind.ROWTIME)


def _columns(
    declaration: ProcessDeclaration, tables: Sequence[_Table], time: LogicalType | None
) -> Iterator[tuple[str, LogicalType]]:
    """Columns that are passed through, or keys of each table; those of the function; the time."""
    names: list[str] = []
    types: list[LogicalType] = []
    for table in tables:
        if table.declared.passes_columns:
            columns: Sequence[int] = range(table.rel.width)
        else:
            columns = table.argument.partition_keys if table.declared.is_set else ()
        names += [table.rel.names[i] for i in columns]
        types += [table.rel.types[i] for i in columns]
    for name, t in declaration.result_fields:
        names.append(name)
        types.append(t)
    if time is not None:
        names.append(ROWTIME)
        types.append(time)
    yield from zip(uniquify(names), types, strict=True)
