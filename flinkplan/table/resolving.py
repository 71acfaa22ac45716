"""Expressions of the Table API as row expressions over the columns of a relation.

Sources: ``ResolverRules``, ``ExpressionConverter`` and its ``CallExpressionConvertRule``s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ..plan.findings import did_you_mean
from ..plan.functions import (
    Function,
    Kind,
    arithmetic,
    collection,
    comparison,
    conditional,
    function_of,
    string,
    temporal,
)
from ..plan.functions.cast import CAST
from ..plan.functions.model import POSTFIX
from ..plan.functions.typing import is_interval, least_restrictive
from ..plan.functions.user import PythonFunction
from ..plan.rex import InputRef, Literal, RexNode, internal_name, transform
from ..plan.types import CHARACTER, DATETIME, NUMERIC, STRING, LogicalType, row
from ..planner.binder.context import Context
from ..planner.binder.expressions import ExpressionBinder
from ..planner.binder.scope import Namespace, Scope
from ..planner.rex.builder import conjunction, convert, disjunction, field_access, symbol, text
from ..planner.rex.expressions import is_call, not_
from ..planner.rex.simplify import shorten
from ..planner.sql import ast
from . import json_calls
from .data_types import logical_type
from .expression import Expression
from .host import Relational
from .literals import MILLIS, interval, literal
from .naming import CONVERSIONS, ValidationError, field_name, function_of_call, inline_function, name_of
from .operand_types import are_comparable, cast, of_common_type, typed
from .udf import DeclaredFunction

COMPARISONS: Mapping[str, Function] = {
    "=": comparison.EQ,
    "<>": comparison.NE,
    "<": comparison.LT,
    "<=": comparison.LE,
    ">": comparison.GT,
    ">=": comparison.GE,
}


class Resolver:
    """Resolves expressions over columns with these names and types."""

    def __init__(self, context: Context, names: Sequence[str], types: Sequence[LogicalType]) -> None:
        self.context = context
        self.names = tuple(names)
        self.types = tuple(types)
        self.over: Callable[[Expression, Any], RexNode] | None = None
        """Resolves an aggregate over a window."""
        self._binder = ExpressionBinder(context, Scope(), "an expression")

    def rex(self, value: Any) -> RexNode:
        """The row expression.  Raises :class:`FlinkplanError` if it does not fit the columns."""
        if not isinstance(value, Expression):
            return literal(value)
        resolve = _RESOLVERS.get(value._name)
        if resolve is None:
            raise ValidationError(f"'{value}' cannot stand here")
        return resolve(self, *map(_named_within, value._args))

    def all(self, values: Iterable[Any]) -> tuple[RexNode, ...]:
        """The row expressions."""
        return tuple(map(self.rex, values))

    def condition(self, value: Any) -> RexNode:
        """A BOOLEAN row expression."""
        rex = self.rex(value)
        if rex.type.root != "BOOLEAN":
            raise ValidationError(f"a condition is needed, but '{value}' is of type {rex.type}")
        return rex

    def column(self, name: str) -> InputRef:
        """The column of a name.  Raises :class:`ValidationError` if there is none."""
        if name not in self.names:
            known = ", ".join(self.names)
            raise ValidationError(
                f"there is no column '{name}'; the columns are {known}", hint=did_you_mean(name, self.names)
            )
        index = self.names.index(name)
        return InputRef(index, self.types[index])

    def argument(self, value: Any) -> ast.Expression:
        """What stands in SQL for an argument of a process table function: a value, or names of columns."""
        if isinstance(value, Expression) and value._name == "descriptor":
            return ast.Descriptor(tuple(map(ast.Identifier, value._args)))
        return ast.BoundExpression(self.rex(value))

    def bind(self, node: ast.Expression) -> RexNode:
        """The row expression of a node of SQL over expressions that are bound."""
        return self._binder.bind(node)

    def sql(self, function: str, *args: Any) -> RexNode:
        """A call of a function of SQL."""
        return self._sql(ast.Name((ast.Identifier(function),)), self.all(args))

    def _sql(self, name: ast.Name, operands: Sequence[RexNode]) -> RexNode:
        parentheses = str(name).upper() not in _WITHOUT_PARENTHESES
        return self.bind(ast.FunctionCall(name, tuple(map(ast.BoundExpression, operands)), parentheses=parentheses))

    # Expansion of columns

    def expanded(self, fields: Iterable[Any]) -> Iterator[Any]:
        """The expressions, with those that stand for several columns expanded."""
        for field in fields:
            if not isinstance(field, Expression):
                yield field
            elif field._name == "col" and field._args[0] == "*":
                yield from (Expression("col", name) for name in self.names)
            elif field._name in ("with_columns", "without_columns"):
                yield from self._chosen(field)
            elif field._name == "flatten":
                yield from self._flattened(field._args[0])
            elif any(isinstance(a, Expression) and a._name in _SEVERAL for a in field._args) and field._name == "call":
                yield Expression("call", field._args[0], *self.expanded(field._args[1:]))
            elif field._name == "as" and isinstance(field._args[0], Expression):
                yield Expression("as", *self.expanded(field._args[:1]), *field._args[1:])
            else:
                yield field

    def _chosen(self, field: Expression) -> Iterator[Expression]:
        chosen: list[str] = []
        for argument in field._args:
            if isinstance(argument, Expression) and argument._name == "range":
                first, last = map(self._position, argument._args)
                chosen += self.names[first : last + 1]
            elif isinstance(argument, Expression) and argument._args[0] == "*":
                chosen += self.names
            else:
                chosen.append(self.names[self._position(argument)])
        if field._name == "without_columns":
            chosen = [name for name in self.names if name not in chosen]
        return (Expression("col", name) for name in chosen)

    def _position(self, column: Any) -> int:
        if isinstance(column, int):
            return column - 1
        name = column._args[0] if isinstance(column, Expression) else column
        return self.column(name).index

    def _flattened(self, operand: Any) -> Iterator[Expression]:
        rex = self.rex(operand)
        if not rex.type.fields:
            yield operand
            return
        prefix = f"{field_name(operand)}$" if field_name(operand) else ""
        for each in rex.type.fields:
            yield Expression("as", Expression("get", operand, each.name), f"{prefix}{each.name}")


_SEVERAL = ("col", "with_columns", "without_columns", "flatten")
_WITHOUT_PARENTHESES = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")


# ---------------------------------------------------------------- one function for each kind of expression


def _named_within(operand: Any) -> Any:
    """An operand; one with a name stays a call of AS, as in Flink, while that of a column is the column's name."""
    is_named = isinstance(operand, Expression) and operand._name == "as"
    return Expression("named", *operand._args[:2]) if is_named else operand


def _named(resolver: Resolver, operand: Any, name: str) -> RexNode:
    rex = resolver.rex(operand)
    return conditional.ALIAS.typed(rex.type, rex, text(name))


_OPERATORS = {
    **{"plus": "+", "minus": "-", "times": "*", "divide": "/", "mod": "%"},
    **{"equals": "=", "notEquals": "<>", "lessThan": "<", "lessThanOrEqual": "<="},
    **{"greaterThan": ">", "greaterThanOrEqual": ">=", "and": "and", "or": "or"},
}
"""Names of Flink's own functions, which hide those of catalogs.  Source: ``BuiltInFunctionDefinitions``."""


def _call(resolver: Resolver, called: str | DeclaredFunction, *args: Any) -> RexNode:
    operands = resolver.all(resolver.expanded(args))
    if not isinstance(called, str):
        function = inline_function(called)
    else:
        if called in _OPERATORS and resolver.context.catalog.functions.find_system(called) is None:
            return resolver.rex(Expression(_OPERATORS[called], *args))
        known = function_of_call(resolver.context, called)
        if not isinstance(known, PythonFunction):
            return resolver._sql(name_of(called), operands)
        function = known
    if function.kind is not Kind.SCALAR:
        words = {Kind.TABLE: "join its rows with join_lateral", Kind.AGGREGATE: "aggregate with group_by or select"}
        raise ValidationError(f"{function.name} gives no value of a row", hint=words.get(function.kind))
    from ..planner.binder.calls import fit

    return function.call(*fit(function, operands, ast.NO_SPAN))


def _call_sql(resolver: Resolver, text_: str) -> RexNode:
    from ..planner.sql.lexer import END
    from ..planner.sql.source import Source
    from ..planner.sql.statements import StatementParser

    parser = StatementParser(Source(text_))
    node = parser.expression()
    if parser.token.kind != END:
        parser.fail("the end of the expression")
    columns = row(zip(resolver.names, resolver.types, strict=True), nullable=False)
    scope = Scope((Namespace(columns, 0),))
    return ExpressionBinder(resolver.context, scope, "call_sql").bind(node)


def _comparison(operator: str) -> Callable[..., RexNode]:
    def compare(resolver: Resolver, left: Any, right: Any) -> RexNode:
        a, b = resolver.rex(left), resolver.rex(right)
        if not are_comparable(a.type, b.type):
            raise ValidationError(f"{a.type} and {b.type} are not compared with '{operator}'", hint="cast one of them")
        return typed(COMPARISONS[operator], a, b)

    return compare


def _junction(build: Callable[[Sequence[RexNode]], RexNode]) -> Callable[..., RexNode]:
    return lambda resolver, *operands: build([resolver.condition(o) for o in operands])


def _plus(resolver: Resolver, left: Any, right: Any) -> RexNode:
    a, b = resolver.rex(left), resolver.rex(right)
    if a.type.root in CHARACTER:
        return string.CONCAT_OPERATOR.call(a, convert(STRING.not_null(), b))  # whatever Flink casts is NOT NULL
    if is_interval(a.type) and b.type.root in DATETIME:
        return arithmetic.DATETIME_PLUS.call(b, a)
    if a.type.root in DATETIME and is_interval(b.type):
        return arithmetic.DATETIME_PLUS.call(a, b)
    return typed(arithmetic.PLUS, a, b)


def _minus(resolver: Resolver, left: Any, right: Any) -> RexNode:
    a, b = resolver.rex(left), resolver.rex(right)
    if a.type.root in DATETIME and is_interval(b.type):
        nullable = a.type.nullable or b.type.nullable
        return arithmetic.MINUS.typed(a.type.with_nullability(nullable).regular(), a, b)
    return typed(arithmetic.MINUS, a, b)


def _arithmetic(function: Function) -> Callable[..., RexNode]:
    return lambda resolver, *operands: typed(function, *resolver.all(operands))


def _modulo(resolver: Resolver, left: Any, right: Any) -> RexNode:
    return typed(arithmetic.MOD, resolver.rex(left), resolver.rex(right))


def _test(resolver: Resolver, name: str, operand: Any) -> RexNode:
    function = function_of(POSTFIX, internal_name(name))
    assert function is not None
    return function.call(resolver.rex(operand))


def _case(resolver: Resolver, condition: Any, if_true: Any, if_false: Any) -> RexNode:
    operands = list(resolver.all((if_true, if_false)))
    types = [o.type.nullable_() for o in operands]
    if types[0] != types[1] and all(t.root in NUMERIC for t in types):
        common = least_restrictive(types)
        assert common is not None
        operands = [convert(common.with_nullability(o.type.nullable), o) for o in operands]
    return conditional.CASE.call(resolver.condition(condition), *operands)


def _cast(resolver: Resolver, operand: Any, data_type: Any, safe: bool) -> RexNode:
    return cast(resolver.rex(operand), logical_type(data_type), safe)


def _to(resolver: Resolver, kind: str, operand: Any) -> RexNode:
    to = CONVERSIONS[kind]
    rex = resolver.rex(operand)
    if isinstance(rex, Literal) and rex.type.root in CHARACTER and _WRITTEN[kind].fullmatch(str(rex.value)):
        rex = Literal(str(rex.value).rstrip("0") if "." in str(rex.value) else rex.value, to.not_null())
    return CAST.typed(to, rex)


_WRITTEN = {
    "DATE": re.compile(r"\d{4}-\d\d-\d\d"),
    "TIME": re.compile(r"\d\d:\d\d:\d\d"),
    "TIMESTAMP": re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{0,2}[1-9]0*)?"),
}
"""The texts that Flink reads while it binds a conversion."""


def _get(resolver: Resolver, operand: Any, name_or_index: str | int) -> RexNode:
    rex = resolver.rex(operand)
    names = rex.type.field_names if rex.type.fields else ()
    if isinstance(name_or_index, int) and name_or_index < len(names):
        return field_access(rex, names[name_or_index])
    if name_or_index not in names:
        raise ValidationError(f"'{operand}' of type {rex.type} has no field '{name_or_index}'")
    return field_access(rex, str(name_or_index))


def _at(resolver: Resolver, operand: Any, index: Any) -> RexNode:
    return typed(collection.ITEM, resolver.rex(operand), resolver.rex(index))


def _round(resolver: Resolver, name: str, operand: Any, unit: Any) -> RexNode:
    function = arithmetic.FLOOR if name == "FLOOR" else arithmetic.CEIL
    rex = resolver.rex(operand)
    if unit is None:
        return typed(function, rex)
    return function.typed(rex.type.regular(), rex, symbol("TIME_UNIT_RANGE", unit.value))


def _extract(resolver: Resolver, unit: Any, operand: Any) -> RexNode:
    return temporal.EXTRACT.call(symbol("TIME_UNIT_RANGE", unit.value), resolver.rex(operand))


def _timestamp_diff(resolver: Resolver, unit: Any, first: Any, second: Any) -> RexNode:
    start, end = resolver.rex(first), resolver.rex(second)
    return temporal.TIMESTAMP_DIFF.call(symbol("TIME_UNIT", unit.value), end, start)


def _trim(resolver: Resolver, side: str, operand: Any, character: Any) -> RexNode:
    removed = text(" ") if character is None else resolver.rex(character)
    return string.TRIM.call(symbol("TRIM", side), removed, resolver.rex(operand))


def _like(resolver: Resolver, operand: Any, pattern: Any, escape: Any) -> RexNode:
    rest = [pattern] if escape is None else [pattern, escape]
    return comparison.LIKE.call(*resolver.all((operand, *rest)))


def _similar(resolver: Resolver, operand: Any, pattern: Any) -> RexNode:
    return comparison.SIMILAR_TO.call(*resolver.all((operand, pattern)))


def _in(resolver: Resolver, operand: Any, first: Any, *rest: Any) -> RexNode:
    """One of a list or of the rows of a table.  Source: ``RexBuilder.makeIn``, which searches for any operand."""
    rex = resolver.rex(operand)
    bound = ast.BoundExpression(rex)
    if isinstance(first, Relational):
        return resolver.bind(ast.InQuery(bound, ast.Query(ast.BoundQuery(first.rel))))
    values = resolver.all((first, *rest))
    items = tuple(map(ast.BoundExpression, values))
    if all(isinstance(value, Literal) for value in values):
        column = InputRef(0, rex.type)
        found = shorten(resolver.bind(ast.InList(ast.BoundExpression(column), items)))
        if is_call(found, comparison.SEARCH):
            return transform(found, lambda r: rex if r == column else r)
    return resolver.bind(ast.InList(bound, items))


def _interval(resolver: Resolver, unit: str, operand: Any) -> RexNode:
    rex = resolver.rex(operand)
    if isinstance(rex, Literal) and isinstance(rex.value, int):
        return interval(unit, rex.value)
    one = interval(unit, 1)
    cast = CAST.typed(one.type.with_nullability(rex.type.nullable), rex)
    return cast if unit in MILLIS and MILLIS[unit] == 1 else arithmetic.TIMES.call(cast, literal(int(one.value)))


def _array(resolver: Resolver, *items: Any) -> RexNode:
    return collection.ARRAY.call(*of_common_type(resolver.all(items)))


def _row(resolver: Resolver, *items: Any) -> RexNode:
    operands = resolver.all(items)
    fields = ((f"f{i}", o.type) for i, o in enumerate(operands))
    return collection.ROW.typed(row(fields, nullable=False), *operands)


def _map(resolver: Resolver, *items: Any) -> RexNode:
    operands = resolver.all(items)
    keys, values = of_common_type(operands[::2]), of_common_type(operands[1::2])
    return collection.MAP.call(*chain(*zip(keys, values, strict=True)))


def _overlaps(resolver: Resolver, *operands: Any) -> RexNode:
    """Whether two periods overlap.  Source: ``OverlapsConverter``."""
    left, left_temporal, right, right_temporal = resolver.all(operands)
    nullable = [_is_nullable(resolver, operands[i], rex) for i, rex in ((0, left), (2, right))]
    if left.type.nullable_() != right.type.nullable_() or nullable[0] != nullable[1]:
        shown = [t.with_nullability(n) for t, n in zip((left.type, right.type), nullable, strict=True)]
        raise ValidationError(
            f"temporal_overlaps takes two times of one type, not {shown[0]} and {shown[1]}", hint="cast one of them"
        )

    def period(point: RexNode, temporal: RexNode) -> tuple[RexNode, RexNode]:
        other = arithmetic.DATETIME_PLUS.call(point, temporal) if is_interval(temporal.type) else temporal
        ordered = comparison.LE.call(point, other)
        return conditional.CASE.call(ordered, point, other), conditional.CASE.call(ordered, other, point)

    (start, end), (other_start, other_end) = period(left, left_temporal), period(right, right_temporal)
    return conjunction([comparison.GE.call(end, other_start), comparison.GE.call(other_end, start)])


def _is_nullable(resolver: Resolver, value: Any, rex: RexNode) -> bool:
    """Whether the Table API takes a value to be nullable: a call of a function is if an argument is."""
    if isinstance(value, Expression) and value._name == "sql":
        return any(_is_nullable(resolver, a, resolver.rex(a)) for a in value._args[1:])
    return rex.type.nullable


def _over(resolver: Resolver, aggregate: Expression, alias: Any) -> RexNode:
    if resolver.over is None:
        raise ValidationError(
            f"'{aggregate}' is over a window that the table does not have", hint="over_window(…) first"
        )
    return resolver.over(aggregate, alias)


def _aggregate_outside(resolver: Resolver, name: str, *args: Any) -> RexNode:
    raise ValidationError(f"the aggregate {name} cannot stand here", hint="aggregate in select")


_RESOLVERS: Mapping[str, Callable[..., RexNode]] = {
    "col": lambda resolver, name: resolver.column(name),
    "lit": lambda resolver, value, data_type: literal(value, data_type),
    "as": lambda resolver, operand, *names: resolver.rex(operand),
    "named": _named,
    "call": _call,
    "call_sql": _call_sql,
    "sql": lambda resolver, function, *args: resolver.sql(function, *args),
    **{operator: _comparison(operator) for operator in COMPARISONS},
    "and": _junction(conjunction),
    "or": _junction(disjunction),
    "not": lambda resolver, operand: not_(resolver.condition(operand)),
    "+": _plus,
    "-": _minus,
    "*": _arithmetic(arithmetic.TIMES),
    "/": _arithmetic(arithmetic.DIVIDE),
    "%": _modulo,
    "negate": _arithmetic(arithmetic.NEGATE),
    "test": _test,
    "case": _case,
    "cast": _cast,
    "to": _to,
    "get": _get,
    "at": _at,
    "round": _round,
    "extract": _extract,
    "timestamp_diff": _timestamp_diff,
    "trim": _trim,
    "like": _like,
    "similar": _similar,
    "in": _in,
    "interval": _interval,
    "array": _array,
    "row": _row,
    "map": _map,
    "is_json": json_calls.is_json,
    "json_exists": json_calls.json_exists,
    "json_value": json_calls.json_value,
    "json_query": json_calls.json_query,
    "json_object": lambda resolver, on_null: resolver.bind(ast.JsonObject((), on_null.value)),
    "json_array": lambda resolver, on_null: resolver.bind(ast.JsonArray((), on_null.value)),
    "overlaps": _overlaps,
    "over": _over,
    "agg": _aggregate_outside,
}
