"""The names that expressions have and name: of columns, and of functions; and expressions that are alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from ..plan.errors import PlanError
from ..plan.findings import did_you_mean
from ..plan.functions import Function, Kind
from ..plan.functions.user import PythonFunction, UserFunction
from ..plan.record import Json
from ..plan.types import DATE, STRING, LogicalType, timestamp
from ..planner.binder.context import Context
from ..planner.catalog.functions import python_function
from ..planner.sql import ast
from .data_types import logical_type
from .expression import Expression
from .udf import DeclaredFunction, DeclaredTableAggregate

CONVERSIONS = {"DATE": DATE, "TIME": LogicalType("TIME", precision=0), "TIMESTAMP": timestamp(3)}
"""The types of ``to_date`` and its siblings."""


class ValidationError(PlanError):
    """The expressions of a table do not fit."""


_OF_SQL = {
    *("APPROX_COUNT_DISTINCT", "CUME_DIST", "DENSE_RANK", "GROUPING", "GROUPING_ID", "GROUP_ID", "IF", "IS_ALPHA"),
    *("IS_DECIMAL", "IS_DIGIT", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER", "STDDEV", "VARIANCE"),
}
"""Functions that SQL alone has.  Source: ``FlinkSqlOperatorTable`` without ``BuiltInFunctionDefinitions``."""


def function_of_call(context: Context, called: str | DeclaredFunction) -> Function:
    """The function of a call: by its name, or a declared one.  Raises :class:`ValidationError` for an unknown name."""
    if isinstance(called, DeclaredFunction):
        return inline_function(called)
    function = context.function(name_of(called))
    if function is None or (called.upper() in _OF_SQL and not isinstance(function, UserFunction)):
        hint = did_you_mean(called, context.catalog.functions.names())
        raise ValidationError(
            f"there is no function '{called}'",
            hint=hint or "a function of one's own is registered by create_temporary_system_function(name, function)",
        )
    return function


def name_of(path: str) -> ast.Name:
    """A name with its parts between dots, perhaps in backquotes.  Raises :class:`SqlSyntaxError`."""
    from ..planner.sql.source import Source
    from ..planner.sql.statements import StatementParser

    if path.isidentifier():
        return ast.Name((ast.Identifier(path, True),))
    return StatementParser(Source(path)).path()


def inline_function(declared: DeclaredFunction) -> PythonFunction:
    """A function that has no name in the catalog.  Source: ``ContextResolvedFunction.anonymous``."""
    known = getattr(declared, "_inline", None)
    if known is None:
        kinds = {
            Kind.SCALAR: "Scalar",
            Kind.TABLE: "Table",
            Kind.AGGREGATE: "Aggregate",
            Kind.PROCESS_TABLE: "ProcessTable",
        }
        kind = "TableAggregate" if isinstance(declared, DeclaredTableAggregate) else kinds[declared.kind]
        name = f"*org.apache.flink.table.functions.python.Python{kind}Function${_digest(declared)}*"
        reference = Json({"class": name})
        if declared.kind is Kind.PROCESS_TABLE:
            name = declared.name  # its operator has this name
        known = python_function(name, reference, declared.declaration, is_permanent=True)
        declared._inline = known  # type: ignore[attr-defined]
    return known


_INLINE: WeakValueDictionary[str, DeclaredFunction] = WeakValueDictionary()
"""The functions that have no name in the catalog, by their digests."""


def _digest(declared: DeclaredFunction) -> str:
    """The same each time that a program runs, for a checkpoint is compared by it; another one for each function."""
    declaration = declared.declaration
    known = (declared.name, str(declaration.kind), str(declaration.result), str(declaration.accumulator))
    for number in count():
        digest = hashlib.md5(repr((*known, number)).encode(), usedforsecurity=False).hexdigest()
        if _INLINE.setdefault(digest, declared) is declared:
            break
    return digest


def key(value: Any) -> Any:
    """A value that is equal for expressions that are alike."""
    if isinstance(value, Expression):
        return (value._name, *map(key, value._args))
    return (type(value), value) if isinstance(value, (int, float, str, bool, bytes, type(None))) else repr(value)


def children(expression: Expression) -> Iterator[Expression]:
    """The direct operands that are expressions."""
    return (a for a in expression._args if isinstance(a, Expression))


def rewritten(expression: Any, change: Callable[[Expression], Expression | None]) -> Any:
    """The expression with what ``change`` makes of parts of it, from the top; ``None`` leaves a part."""
    if not isinstance(expression, Expression):
        return expression
    new = change(expression)
    if new is not None:
        return new
    args = tuple(rewritten(a, change) for a in expression._args)
    same = all(a is b for a, b in zip(args, expression._args, strict=True))
    return expression if same else Expression(expression._name, *args)


def field_name(expression: Any) -> str | None:
    """The name that an expression gives to its column.  Source: ``OperationExpressionsUtils.extractName``."""
    if not isinstance(expression, Expression):
        return None
    if expression._name == "as":
        return str(expression._args[1])
    if expression._name == "col":
        return str(expression._args[0])
    if expression._name == "get":
        parent = field_name(expression._args[0])
        field = expression._args[1]
        return None if parent is None else f"{parent}${f'_{field}' if isinstance(field, int) else field}"
    if expression._name == "cast" and not expression._args[2]:
        return _converted_name(expression._args[0], logical_type(expression._args[1]))
    if expression._name == "to":
        return _converted_name(expression._args[1], CONVERSIONS[expression._args[0]])
    return None


def _converted_name(operand: Any, to: LogicalType) -> str | None:
    name = field_name(operand)
    return None if name is None else f"{name}-{'STRING' if to.nullable_() == STRING else to}"
