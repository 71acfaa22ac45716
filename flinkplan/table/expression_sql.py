"""Expressions of the Table API as text in SQL: for the schemas of tables, which are made by CREATE TABLE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from ..plan.errors import UnsupportedError
from ..planner.ddl.expression_text import quoted, quoted_string
from .expression import Expression
from .udf import DeclaredFunction

_INFIX = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")


def expression_sql(value: Any) -> str:
    """The text of an expression, or of a constant.  Text is taken as it is, for it is SQL already at the outside.

    Raises :class:`UnsupportedError` for an expression that has no such text.
    """
    return value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, Expression):
        return _constant(value)
    write = _WRITERS.get(value._name)
    if write is None:
        raise _no_text(str(value))
    return write(*value._args)


def _no_text(what: str) -> UnsupportedError:
    return UnsupportedError(f"{what} cannot stand in a schema", hint="write the expression as text, in SQL")


def _constant(value: Any) -> str:
    match value:
        case bool():
            return str(value).upper()
        case int() | Decimal():
            return str(value)
        case float():
            return format(value, "E")
        case str():
            return quoted_string(value)
        case None:
            return "NULL"
    raise _no_text(repr(value))


def _literal(value: Any, data_type: Any) -> str:
    return _constant(value) if data_type is None else f"CAST({_constant(value)} AS {data_type})"


def _list(values: tuple[Any, ...], separator: str = ", ") -> str:
    return separator.join(map(_text, values))


def _infix(operator: str) -> Callable[..., str]:
    return lambda left, right: f"({_text(left)} {operator} {_text(right)})"


def _call(function: Any, *args: Any) -> str:
    if isinstance(function, DeclaredFunction):
        raise _no_text("a function that is not registered")
    return f"{'.'.join(map(quoted, function.split('.')))}({_list(args)})"


def _cast(operand: Any, data_type: Any, is_try: bool) -> str:
    return f"{'TRY_CAST' if is_try else 'CAST'}({_text(operand)} AS {data_type})"


def _interval(unit: str, operand: Any) -> str:
    number = operand._args[0] if isinstance(operand, Expression) and operand._name == "lit" else operand
    if not isinstance(number, int):
        raise _no_text("an interval that is no constant")
    return f"INTERVAL '{number / 1000}' SECOND(3)" if unit == "MILLI" else f"INTERVAL '{number}' {unit}"


def _round(function: str, operand: Any, unit: Any) -> str:
    return f"{function}({_text(operand)}{'' if unit is None else f' TO {unit.name}'})"


_WRITERS: Mapping[str, Callable[..., str]] = {
    "col": quoted,
    "lit": _literal,
    "as": lambda operand, *names: _text(operand),
    "call": _call,
    "call_sql": lambda text: f"({text})",
    "sql": lambda function, *args: f"{function}({_list(args)})",
    **{operator: _infix(operator) for operator in _INFIX},
    "and": lambda *operands: f"({_list(operands, ' AND ')})",
    "or": lambda *operands: f"({_list(operands, ' OR ')})",
    "not": lambda operand: f"(NOT {_text(operand)})",
    "negate": lambda operand: f"(- {_text(operand)})",
    "test": lambda test, operand: f"({_text(operand)} {test})",
    "case": lambda condition, yes, no: f"CASE WHEN {_text(condition)} THEN {_text(yes)} ELSE {_text(no)} END",
    "cast": _cast,
    "to": lambda root, operand: f"CAST({_text(operand)} AS {root})",
    "get": lambda operand, field: f"{_text(operand)}.{quoted(field)}",
    "at": lambda operand, index: f"{_text(operand)}[{_text(index)}]",
    "round": _round,
    "extract": lambda unit, operand: f"EXTRACT({unit.name} FROM {_text(operand)})",
    "in": lambda operand, *values: f"({_text(operand)} IN ({_list(values)}))",
    "interval": _interval,
}
