"""Calls of process table functions in the Table API.

Source: ``Table.process``, ``PartitionedTable`` and ``TableEnvironment.fromCall`` of Flink in Java: PyFlink has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from ..plan.functions import Function, Kind
from ..plan.functions.process import ON_TIME, UID
from ..plan.functions.user import UserFunction
from ..planner.algebra.rel import Rel
from ..planner.binder.context import Context
from ..planner.binder.process_tables import bind_process_table
from ..planner.sql import ast
from .expression import Expression
from .grouped import T
from .naming import ValidationError, function_of_call
from .resolving import Resolver
from .udf import declared_function


class PartitionedTable(Generic[T]):
    """A table whose rows a process table function sees key by key."""

    def __init__(
        self, table: T, query: ast.Query, columns: Sequence[Expression], order: Sequence[Expression] = ()
    ) -> None:
        self._table = table
        self._query = query
        self._columns = tuple(columns)
        self._order = tuple(order)

    def order_by(self, *fields: Expression) -> PartitionedTable[T]:
        """The same with the rows of a key in an order that begins with their time."""
        return PartitionedTable(self._table, self._query, self._columns, fields)

    def as_argument(self, name: str) -> Expression:
        """A named argument of a function."""
        return Expression("argument", self, name)

    def process(self, function: Any, *arguments: Any) -> T:
        """The rows that a process table function gives; see ``Table.process``."""
        return self._table._table(called(self._table._resolver().context, function, self, arguments))

    def _argument(self) -> ast.TableArgument:
        keys = tuple(_column(column, "partition_by") for column in self._columns)
        return ast.TableArgument(self._query, keys, tuple(map(_sorted, self._order)))


def called(context: Context, function: Any, table: Any, arguments: Sequence[Any]) -> Rel:
    """The result of a call with ``table``, if there is one, as its first table, and with further arguments.

    ``function`` is the name of a registered function, or one itself.  Arguments have names, or stand in the order of
    those that are left.  Raises :class:`ValidationError` where they do not fit.
    """
    resolver = Resolver(context, (), ())
    known = function_of_call(resolver.context, function if isinstance(function, str) else _declared(function))
    process = known.process if isinstance(known, UserFunction) and known.kind is Kind.PROCESS_TABLE else None
    if process is None:
        raise ValidationError(f"{known.name} is no process table function")
    names = [argument.name for argument in process.arguments]
    given: dict[str, ast.Expression] = {}
    if table is not None:
        first = next((argument.name for argument in process.arguments if argument.is_table), None)
        if first is None:
            raise ValidationError(f"{known.name} takes no table")
        given[first] = _value(resolver, table)
    left = [name for name in names if name not in given]
    for argument in arguments:
        if isinstance(argument, Expression) and argument._name == "argument":
            value, name = argument._args
        elif not left:
            raise ValidationError(f"{known.name} takes {len(names)} arguments: {', '.join(names)}")
        else:
            value, name = argument, left.pop(0)
        if name in given or name not in (*names, ON_TIME, UID):
            what = "is given twice" if name in given else f"is none of {', '.join((*names, ON_TIME, UID))}"
            raise ValidationError(f"the argument {name} of {known.name} {what}")
        given[name] = _value(resolver, value)
        left = [each for each in left if each != name]
    return bound(resolver, known, given)


def bound(resolver: Resolver, function: Function, given: dict[str, ast.Expression]) -> Rel:
    """The relation of a call with named arguments."""
    named = tuple(ast.NamedArgument(ast.Identifier(name), value) for name, value in given.items())
    call = ast.FunctionCall(ast.Name((ast.Identifier(function.name),)), named)
    return bind_process_table(resolver.context, call, function, None)


def _declared(function: Any) -> Any:
    declared = declared_function(function)
    if declared is None:
        raise TypeError(f"{function!r} is no process table function: its class should extend ProcessTableFunction")
    return declared


def _value(resolver: Resolver, value: Any) -> ast.Expression:
    if isinstance(value, Expression) or not hasattr(value, "_argument"):
        return resolver.argument(value)
    table: ast.TableArgument = value._argument()
    return table


def _column(column: Any, what: str) -> ast.Expression:
    if not isinstance(column, Expression) or column._name != "col":
        raise ValidationError(f"{what} takes columns, not '{column}'")
    return ast.ColumnRef((ast.Identifier(column._args[0]),))


def _sorted(field: Any) -> ast.SortItem:
    ascending = field._args[1] if isinstance(field, Expression) and field._name == "order" else True
    operand = field._args[0] if isinstance(field, Expression) and field._name == "order" else field
    return ast.SortItem(_column(operand, "order_by"), descending=not ascending)
