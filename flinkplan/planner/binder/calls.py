"""Calls of functions by name, and those with a syntax of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ...plan.errors import SQL_VALIDATOR, FlinkplanError
from ...plan.findings import did_you_mean
from ...plan.functions import Function, Kind, arithmetic, collection, nearest_names, string, temporal
from ...plan.functions.aggregate import ARRAY_AGG, JSON_ARRAYAGG, JSON_OBJECTAGG, SHIFTS
from ...plan.functions.cast import REINTERPRET
from ...plan.functions.java import JavaFunction
from ...plan.functions.table import GROUP_WINDOWS, WINDOW_AUXILIARIES
from ...plan.functions.table_api import is_of_table_api
from ...plan.functions.typing import in_family, is_interval, is_year_month
from ...plan.options import is_time_zone
from ...plan.record import replace
from ...plan.rex import Call, Literal, RexNode
from ...plan.types import BIGINT, CHARACTER, INT, NUMERIC, LogicalType, decimal, timestamp
from ..catalog.catalog import FaultyDefinition
from ..rex.builder import convert, ensure_type, integer, interval_type, null, symbol
from ..rex.casts import avoids_cast
from ..rex.unplanned import WrittenName
from ..sql import ast
from ..sql.dialects import FUNCTIONS, instead
from ..sql.source import Span
from .errors import BindError, unsupported, untyped_null
from .expressions import ExpressionBinder, binds
from .literals import UNIT_MILLIS, UNIT_MONTHS, unit_interval
from .operators import case, comparison_of, moved, times
from .scope import nested

Expansion: TypeAlias = Callable[[ExpressionBinder, ast.FunctionCall], RexNode]

_expansions: dict[str, Expansion] = {}


def expands(*names: str) -> Callable[[Expansion], Expansion]:
    """Register a function that SQL spells as a call but that means another expression."""

    def register(function: Expansion) -> Expansion:
        _expansions.update(dict.fromkeys(names, function))
        return function

    return register


@binds(ast.FunctionCall)
def _function_call(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    name = str(node.name).upper()
    if node.over is not None:
        return binder.over(node)
    if name in GROUP_WINDOWS or name in WINDOW_AUXILIARIES:
        return binder.group_window(node)
    functions = binder.context.catalog.functions
    hiding = functions.find_system(node.name.names[0]) if len(node.name.names) == 1 else None
    expansion = _expansions.get(name)
    if hiding is None and expansion is not None:
        return expansion(binder, node)
    function = hiding or binder.context.function(node.name) or _json_aggregate(name, node)
    if function is None:
        if name in binder.context.catalog.faulty_functions:
            raise FaultyDefinition(f"the definition of {node.name} is wrong")
        raise _unknown(binder, node)
    if function.kind is Kind.TABLE:
        raise BindError(
            f"{node.name} is a table function, which gives rows and no value",
            node.name.span,
            f"join its rows: …, LATERAL TABLE({node.name}(…)) AS t(…)",
        )
    if function.kind is Kind.PROCESS_TABLE:
        raise BindError(
            f"{node.name} is a process table function, which gives rows and no value",
            node.name.span,
            f"call it in FROM: SELECT * FROM {node.name}(TABLE t PARTITION BY k)",
        )
    if function.kind is Kind.AGGREGATE:
        return binder.aggregate(node, function)
    if function.kind is Kind.RANKING:
        raise BindError(f"{name} needs an OVER clause", node.span, f"write {name}(…) OVER (PARTITION BY … ORDER BY …)")
    if node.distinct or node.filter is not None or node.within_group:
        raise BindError(f"DISTINCT, FILTER and WITHIN GROUP are for aggregate functions, {name} is none", node.span)
    return call(function, binder.bind_all(arguments_of(function, node)), node)


def _json_aggregate(name: str, node: ast.FunctionCall) -> Function | None:
    """JSON_OBJECTAGG and JSON_ARRAYAGG are two functions each, told apart by what they do with NULL."""
    on_null = next((a.value for a in node.args if isinstance(a, ast.Symbol)), None)
    if name == "JSON_OBJECTAGG":
        return JSON_OBJECTAGG[on_null or "NULL"]
    return JSON_ARRAYAGG[on_null or "ABSENT"] if name == "JSON_ARRAYAGG" else None


def _unknown(binder: ExpressionBinder, node: ast.FunctionCall) -> BindError:
    name = str(node.name)
    has = FUNCTIONS.get(name.upper())
    own = did_you_mean(name.lower(), binder.context.catalog.functions.names())
    near = () if has else nearest_names(name)
    register = "a function of one's own is registered by CREATE TEMPORARY FUNCTION … AS 'module.name' LANGUAGE PYTHON"
    hint = own or (f"did you mean {' or '.join(near)}?" if near else register)
    if has:
        hint = instead(has)
    if is_of_table_api(name):
        hint = (
            "Flink has a function of this name for the Table API, which hides those of a catalog: use another name, "
            "or CREATE TEMPORARY SYSTEM FUNCTION"
        )
    in_flink = f"No match found for function signature {name}({', '.join(_families(binder, node))})"
    return BindError(f"there is no function {name}", node.name.span, hint, in_flink=(SQL_VALIDATOR, in_flink))


def _families(binder: ExpressionBinder, node: ast.FunctionCall) -> Iterator[str]:
    """The families of the arguments' types, as Calcite names them.  Source: ``SqlTypeFamily``."""
    for argument in node.args:
        try:
            root = binder.bind(argument).type.root
        except FlinkplanError:
            root = "ANY"
        yield f"<{'CHARACTER' if root in CHARACTER else 'NUMERIC' if root in NUMERIC else root}>"


def call(function: Function, operands: tuple[RexNode, ...], node: ast.FunctionCall) -> RexNode:
    """The call with arguments that are checked, and cast to the types of the function's signature."""
    new = function.call(*fit(function, operands, node.span))
    if not function.bridged or str(node.name).upper() in function.aliases or str(node.name) == function.name:
        return new
    name = WrittenName(function.internal_name)
    name.written = str(node.name)
    return replace(new, name=name)


def fit(function: Function, operands: tuple[RexNode, ...], span: Span) -> tuple[RexNode, ...]:
    """The operands, cast to the types of the function's signature.  Raises :class:`BindError` if none fits."""
    expected = function.accept_operands(operands)
    if expected is None:
        types = ", ".join(str(o.type.nullable_()) for o in operands)
        raise BindError(
            f"{function.name} does not take ({types})",
            span,
            f"it takes {' or '.join(_readable(u) for u in function.usage)}",
        )
    return tuple(fitted(o, t, span) for o, t in zip(operands, expected, strict=True))


def arguments_of(function: Function, node: ast.FunctionCall) -> tuple[ast.Expression, ...]:
    """The arguments of a call by position; those that are optional and not given are NULL.

    Raises :class:`BindError` where an argument has no such name.  Source: ``FlinkSqlCallBinding``.
    """
    if not any(isinstance(argument, ast.NamedArgument) for argument in node.args):
        return node.args
    signatures = (isinstance(function, JavaFunction) and function.declaration.signatures) or ()
    named = next((s for s in signatures if s.names), None)
    if named is None:
        raise BindError(f"the arguments of {node.name} have no names", node.span, "write them without name =>")
    given: dict[str, ast.Expression] = {}
    for argument in node.args:
        if not isinstance(argument, ast.NamedArgument):
            raise BindError("arguments with and without names cannot be mixed", argument.span)
        name = argument.name.name
        if name not in named.names:
            hint = did_you_mean(name, named.names)
            raise BindError(f"{node.name} has no argument {name}", argument.name.span, hint)
        given[name] = argument.value
    for name, is_optional in zip(named.names, named.optional, strict=True):
        if name not in given and not is_optional:
            raise BindError(f"{node.name} lacks the argument {name}", node.span)
    return tuple(given.get(name, ast.NullLiteral(span=node.span)) for name in named.names)


_WITH_NULL_TREATMENT = (*SHIFTS, ARRAY_AGG)


def check_null_treatment(function: Function, node: ast.FunctionCall) -> None:
    """Refuse IGNORE NULLS and RESPECT NULLS where Flink takes none."""
    if node.ignore_nulls is not None and function not in _WITH_NULL_TREATMENT:
        said = "IGNORE NULLS" if node.ignore_nulls else "RESPECT NULLS"
        raise BindError(
            f"{function.name} takes no {said}", node.span, f"leave {said} out; only ARRAY_AGG and LAG take it"
        )


def _readable(usage: str) -> str:
    return usage.replace("<", "").replace(">", "")


def fitted(operand: RexNode, expected: LogicalType, span: Span) -> RexNode:
    """The operand as a value of the expected type."""
    if operand.type.root == "NULL":
        if expected.root == "NULL":
            raise untyped_null(span)
        return null(expected)
    if avoids_cast(operand.type, expected.with_nullability(operand.type.nullable)):
        return operand
    return ensure_type(expected, operand)


# ---------------------------------------------------------------- expansions


@expands("NULLIF")
def _null_if(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """``NULLIF(a, b)`` is ``CASE WHEN a = b THEN NULL ELSE a END``."""
    value, other = _exactly(binder, node, 2)
    return case([comparison_of("=", value, other, node.span)], [null(value.type), value], node.span)


@expands("SQRT")
def _square_root(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """``SQRT(x)`` is ``POWER(x, 0.5)``."""
    (value,) = _exactly(binder, node, 1)
    half = Literal("0.5", decimal(2, 1, nullable=False))
    return call(arithmetic.POWER, (value, half), node)


@expands("EXTRACT")
def _extract(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    unit = node.args[0]
    assert isinstance(unit, ast.Symbol)
    return _extracted(unit.value, binder.bind(node.args[1]), node.span)


@expands(*temporal.PART_FUNCTIONS)
def _part(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    (operand,) = _exactly(binder, node, 1)
    return _extracted(temporal.PART_FUNCTIONS[str(node.name).upper()], operand, node.span)


def _extracted(unit: str, operand: RexNode, span: Span) -> RexNode:
    if not (in_family(operand.type, "DATETIME") or is_interval(operand.type)):
        raise BindError(
            f"{unit} can be taken from a time only, not from {operand.type.nullable_()}",
            span,
            "CAST it to DATE or TIMESTAMP first",
        )
    if is_interval(operand.type) and is_year_month(operand.type) != (unit in _MONTH_UNITS):
        raise BindError(f"an {operand.type.nullable_()} has no {unit}", span)
    return temporal.EXTRACT.call(symbol("TIME_UNIT_RANGE", unit), operand)


_MONTH_UNITS = ("YEAR", "QUARTER", "MONTH", "DECADE", "CENTURY", "MILLENNIUM")


@expands("TO_TIMESTAMP_LTZ")
def _to_timestamp_ltz(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """A second argument that is a literal is either a precision or a time zone."""
    operands = binder.bind_all(node.args)
    digits, zone = (o.value if isinstance(o, Literal) else None for o in (*operands, None, None, None)[1:3])
    if isinstance(digits, int) and not 0 <= digits <= temporal.MAX_DIGITS:
        raise BindError(
            f"TO_TIMESTAMP_LTZ takes numbers with 0 to {temporal.MAX_DIGITS} digits of the second, not {digits}",
            node.args[1].span,
            "0 is for seconds, 3 for milliseconds, 6 for microseconds, 9 for nanoseconds",
        )
    if isinstance(zone, str) and not is_time_zone(zone):
        raise BindError(
            f"'{zone}' is no time zone", node.args[2].span, "write one as 'Europe/Berlin', 'UTC' or '+02:00'"
        )
    return call(temporal.TO_TIMESTAMP_LTZ, operands, node)


@expands("FLOOR", "CEIL", "CEILING")
def _rounded(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """FLOOR and CEIL of a time to a unit keep its type, also that of a rowtime attribute."""
    function = arithmetic.FLOOR if str(node.name).upper() == "FLOOR" else arithmetic.CEIL
    operand = binder.bind(node.args[0])
    if len(node.args) == 1:
        return call(function, (operand,), node)
    unit = node.args[1]
    if len(node.args) > 2 or not isinstance(unit, ast.Symbol):
        raise BindError(f"{function.name} takes a number, or a time and a unit", node.span, "write FLOOR(ts TO HOUR)")
    operand, rounded = fit(function, (operand, symbol("TIME_UNIT_RANGE", unit.value)), node.span)
    return function.typed(operand.type, operand, rounded)


@expands("TRIM")
def _trim(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    side, *rest = node.args
    assert isinstance(side, ast.Symbol)
    return call(string.TRIM, (symbol("TRIM", side.value), *(binder.bind(a) for a in rest)), node)


def _with_unit(node: ast.FunctionCall) -> tuple[ast.Symbol, ast.Expression, ast.Expression]:
    """The arguments of a function that takes a unit and two values."""
    unit = node.args[0] if node.args else None
    if len(node.args) != 3 or not isinstance(unit, ast.Symbol):
        raise BindError(
            f"{node.name} takes a unit and two arguments", node.span, f"write {str(node.name).upper()}(DAY, a, b)"
        )
    return unit, node.args[1], node.args[2]


@expands("TIMESTAMPADD")
def _timestamp_add(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """``TIMESTAMPADD(unit, n, t)`` is ``t + INTERVAL '1' unit * n``."""
    unit, count_node, time_node = _with_unit(node)
    count, time = binder.bind(count_node), binder.bind(time_node)
    if not in_family(time.type, "DATETIME"):
        raise BindError(f"TIMESTAMPADD moves a time, not {time.type.nullable_()}", time_node.span)
    interval = times(unit_interval(_qualifier(unit)), count, node.span)
    sum_ = moved(arithmetic.DATETIME_PLUS, arithmetic.PLUS, time, interval)
    if time.type.root == "DATE" and unit.value in ("HOUR", "MINUTE", "SECOND"):
        assert isinstance(sum_, Call)
        return replace(sum_, type=timestamp(6, sum_.type.nullable))
    return sum_


@expands("TIMESTAMPDIFF")
def _timestamp_difference(binder: ExpressionBinder, node: ast.FunctionCall) -> RexNode:
    """``TIMESTAMPDIFF(unit, a, b)`` is the interval ``b - a`` as a number, divided down to the unit."""
    unit, start_node, end_node = _with_unit(node)
    start, end = binder.bind(start_node), binder.bind(end_node)
    for rex, place in ((start, start_node), (end, end_node)):
        if not in_family(rex.type, "DATETIME"):
            raise BindError(f"TIMESTAMPDIFF takes times, not {rex.type.nullable_()}", place.span)
    base, divisor = _DIFFERENCES.get(unit.value, (unit.value, 1))
    if base not in UNIT_MILLIS and base not in UNIT_MONTHS:
        raise unsupported(f"the unit {unit.value} of TIMESTAMPDIFF", unit.span)
    nullable = start.type.nullable or end.type.nullable
    interval = arithmetic.DATETIME_MINUS.typed(interval_type(base).with_nullability(nullable), end, start)
    number = REINTERPRET.typed(BIGINT.with_nullability(nullable), interval)
    scale = UNIT_MONTHS.get(base) or UNIT_MILLIS[base]
    counted = number if scale == 1 else _divided(number, scale)
    result = convert(INT.with_nullability(nullable), counted)
    return result if divisor == 1 else _divided(result, divisor)


_DIFFERENCES = {"WEEK": ("SECOND", 604_800), "QUARTER": ("MONTH", 3)}
"""Units that are a multiple of another unit, by which the difference is divided."""


def _divided(number: RexNode, divisor: int) -> RexNode:
    return arithmetic.DIVIDE_INTEGER.typed(number.type, number, integer(divisor))


def _qualifier(unit: ast.Symbol) -> ast.IntervalQualifier:
    if unit.value not in UNIT_MILLIS and unit.value not in UNIT_MONTHS:
        raise unsupported(f"the unit {unit.value}", unit.span)
    return ast.IntervalQualifier(unit.value)


def _exactly(binder: ExpressionBinder, node: ast.FunctionCall, count: int) -> tuple[RexNode, ...]:
    if len(node.args) != count:
        raise BindError(f"{node.name} takes {count} arguments, not {len(node.args)}", node.span)
    return binder.bind_all(node.args)


# ---------------------------------------------------------------- constructors and accesses


@binds(ast.ArrayConstructor)
def _array(binder: ExpressionBinder, node: ast.ArrayConstructor) -> RexNode:
    return _constructed(collection.ARRAY, binder.bind_all(node.items), "array", node.span)


@binds(ast.MultisetConstructor)
def _multiset(binder: ExpressionBinder, node: ast.MultisetConstructor) -> RexNode:
    return _constructed(collection.MULTISET, binder.bind_all(node.items), "multiset", node.span)


@binds(ast.MapConstructor)
def _map(binder: ExpressionBinder, node: ast.MapConstructor) -> RexNode:
    operands = tuple(binder.bind(x) for entry in node.entries for x in (entry.key, entry.value))
    return _constructed(collection.MAP, operands, "map", node.span)


def _constructed(function: Function, operands: tuple[RexNode, ...], kind: str, span: Span) -> RexNode:
    """Elements are cast to their common type."""
    if not operands:
        raise BindError(f"an empty {kind} has no type", span, "write CAST(NULL AS ARRAY<…>), or list an element")
    expected = function.accept([o.type for o in operands])
    if expected is None or any(t.root == "NULL" for t in expected):
        raise BindError(f"the elements of this {kind} have no common type", span, "CAST them to one type")
    return function.call(
        *(null(t) if o.type.root == "NULL" else _element_of(o, t) for o, t in zip(operands, expected, strict=True))
    )


def _element_of(operand: RexNode, expected: LogicalType) -> RexNode:
    """The operand cast to the element type, unless they differ in nullability only."""
    plain, wanted = (str(t).replace(" NOT NULL", "") for t in (operand.type, expected))
    return operand if plain == wanted else ensure_type(expected, operand)


@binds(ast.RowConstructor)
def _row(binder: ExpressionBinder, node: ast.RowConstructor) -> RexNode:
    if len(node.items) == 1 and not node.explicit:
        return binder.bind(node.items[0])
    return collection.ROW.call(*binder.bind_all(node.items))


@binds(ast.ElementAccess)
def _element(binder: ExpressionBinder, node: ast.ElementAccess) -> RexNode:
    operand, index = binder.bind(node.operand), binder.bind(node.index)
    if collection.ITEM.accept((operand.type, index.type)) is None:
        raise BindError(
            f"[{index.type.nullable_()}] cannot be taken of {operand.type.nullable_()}",
            node.span,
            "an array takes a position counted from 1, a map a key",
        )
    return collection.ITEM.call(operand, index)


@binds(ast.FieldAccess)
def _field(binder: ExpressionBinder, node: ast.FieldAccess) -> RexNode:
    return nested(binder.bind(node.operand), (node.field,))
