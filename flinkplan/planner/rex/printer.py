"""Expressions and types as Flink prints them in a node's description.

Source: ``FlinkRelNode.getExpressionString`` (infix in calcs and joins, prefix in the digest of a scan) and
Calcite's ``RexLiteral`` and ``RelDataType`` digests.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

from ...plan.functions import Style, called
from ...plan.functions.arithmetic import DATETIME_MINUS, DATETIME_PLUS, DIVIDE, MINUS, PLUS, TIMES
from ...plan.functions.comparison import EQ, GE, GT, LE, LT, NE
from ...plan.rex import (
    Bound,
    Call,
    CorrelVariable,
    FieldAccess,
    InputRef,
    Literal,
    OpaqueRex,
    PatternInputRef,
    Range,
    RexNode,
    Sarg,
    shown_name,
)
from ...plan.types import APPROXIMATE, CHARACTER, LogicalType
from .unplanned import Approximate, Over, SubQuery, SubQueryKind, WrittenName

_SYMBOLS = {
    ("JSON_ON_NULL", "ABSENT"): "ABSENT_ON_NULL",
    ("JSON_ON_NULL", "NULL"): "NULL_ON_NULL",
    ("JSON_EMPTY_OR_ERROR", "EMPTY"): "ON EMPTY",
    ("JSON_EMPTY_OR_ERROR", "ERROR"): "ON ERROR",
    ("JSON_QUERY_WRAPPER", "CONDITIONAL_ARRAY"): "WITH_CONDITIONAL_ARRAY",
}
_QUERY_BEHAVIOR = "JSON_QUERY_ON_EMPTY_OR_ERROR"


def type_name(t: LogicalType) -> str:
    """A type as Calcite prints it, without nullability: ``INTEGER``, ``DOUBLE ARRAY``, ``(K, V) MAP``."""
    if t.is_time_attribute:
        return f"{t.root}({t.precision}) *{t.kind.value}*"
    match t.root:
        case "INT":
            return "INTEGER"
        case "TIMESTAMP_LTZ":
            return f"TIMESTAMP_WITH_LOCAL_TIME_ZONE({t.precision})"
        case "ARRAY" | "MULTISET":
            return f"{type_name(t.element)} {t.root}"
        case "MAP":
            return f"({type_name(t.children[0])}, {type_name(t.children[1])}) MAP"
        case "ROW" | "STRUCTURED":
            return f"RecordType:peek_no_expand({_fields(t)})"
    return str(t.regular().nullable_())


def record_type(t: LogicalType, function_output: bool = False) -> str:
    """The row type of a relation; ``function_output``: it is that of a table function's rows."""
    return f"RecordType{':peek_no_expand' * function_output}({_fields(t)})"


def _fields(t: LogicalType) -> str:
    return ", ".join(f"{type_name(f.type)} {f.name}" for f in t.fields)


_PREFIX: ContextVar[bool] = ContextVar("prefix", default=False)


@contextmanager
def prefix_expressions() -> Iterator[None]:
    """Inside it, :func:`expression` prints as Flink does in its optimized physical plan: prefix, with types."""
    token = _PREFIX.set(True)
    try:
        yield
    finally:
        _PREFIX.reset(token)


def is_prefix() -> bool:
    """Whether expressions are printed as in Flink's optimized physical plan."""
    return _PREFIX.get()


def expression(rex: RexNode, fields: Sequence[str], infix: bool = True) -> str:
    """An expression over columns with these names, with infix or prefix operators."""
    if infix and _PREFIX.get():
        return _prefix(rex, fields)
    match rex:
        case InputRef(index):
            return fields[index]
        case PatternInputRef(alpha, index):
            return f"{alpha}.{fields[index]}"
        case Literal():
            return literal(rex)
        case Sarg():
            return sarg(rex)
        case FieldAccess(name, expr):
            return f"{expression(expr, fields, infix)}.{name}"
        case CorrelVariable(correl):
            return correl
        case Call():
            return _call(rex, [expression(o, fields, infix) for o in rex.operands], infix)
        case OpaqueRex():
            return rex.kind
        case Over():
            return _over(rex, fields)
        case SubQuery():
            return _subquery(rex, fields)
    raise TypeError(f"no text for {rex}")


def _prefix(rex: RexNode, fields: Sequence[str]) -> str:
    match rex:
        case FieldAccess(name, expr):
            return f"{_prefix(expr, fields)}.{name}"
        case Literal():
            return quoted(rex, typed_literal)
        case Sarg():
            return condition_digest(rex, fields)
        case Call() if _style(rex) is Style.CAST:
            type_ = f"{full_type_name(rex.type)}{'' if rex.type.nullable else ' NOT NULL'}"
            return f"{operator_name(rex)}({_prefix(rex.operands[0], fields)} AS {type_})"
        case Call() if _style(rex) is Style.ALIAS:
            return _prefix(rex.operands[0], fields)
        case Call():
            return f"{operator_name(rex)}({', '.join(_prefix(o, fields) for o in rex.operands)})"
    return expression(rex, fields, infix=False)


def quoted(value: Literal, text: Callable[[Literal], str]) -> str:
    """The text of a literal, with quotes in a character string doubled."""
    if value.type.root in CHARACTER and value.symbol is None and "'" in str(value.value or ""):
        own = str(value.value)
        return text(value).replace(f"'{own}'", "'" + own.replace("'", "''") + "'", 1)
    return text(value)


def _over(rex: Over, fields: Sequence[str]) -> str:
    """An OVER call as in SQL; plans have none, but trees before the rules do."""

    def texts(exprs: Iterable[RexNode]) -> str:
        return ", ".join(expression(e, fields) for e in exprs)

    parts = [f"PARTITION BY {texts(rex.partition)}"] if rex.partition else []
    order = (f"{expression(e, fields)} {'ASC' if ascending else 'DESC'}" for e, ascending, _ in rex.order)
    parts += [f"ORDER BY {', '.join(order)}"] if rex.order else []
    lower = _frame_bound(rex.frame.lower, "PRECEDING", fields)
    upper = _frame_bound(rex.frame.upper, "FOLLOWING", fields)
    parts.append(f"{'ROWS' if rex.frame.is_rows else 'RANGE'} BETWEEN {lower} AND {upper}")
    arguments = ("DISTINCT " if rex.distinct else "") + texts(rex.operands)
    name = shown_name(rex.function.internal_name) if rex.function.internal_name else rex.function.name
    return f"{name}({arguments}) OVER ({' '.join(parts)})"


def _frame_bound(bound: RexNode | int | None, direction: str, fields: Sequence[str]) -> str:
    if bound is None:
        return f"UNBOUNDED {direction}"
    return "CURRENT ROW" if isinstance(bound, int) else f"{expression(bound, fields)} {direction}"


def _subquery(rex: SubQuery[Any], fields: Sequence[str]) -> str:
    """A subquery without its relation, which a tree shows by itself."""
    if rex.kind is SubQueryKind.SCALAR:
        return "{subquery}"
    words = [", ".join(expression(o, fields) for o in rex.operands)] if rex.operands else []
    words += [] if rex.comparison is None else [shown_name(rex.comparison.internal_name)]
    return f"({' '.join([*words, rex.kind.value])} {{subquery}})"


def _call(call: Call, operands: list[str], infix: bool) -> str:
    name, style = operator_name(call), _style(call)
    if infix and style is Style.INFIX and len(operands) > 1:
        return "(" + f" {name} ".join(operands) + ")"
    if infix and style is Style.POSTFIX:
        return f"{operands[0]} {name}"
    if style is Style.CAST:
        return f"{name}({operands[0]} AS {type_name(call.type)})"
    if style is Style.ALIAS:
        return operands[0]
    return f"{name}({', '.join(operands)})"


def _style(call: Call) -> Style:
    function = called(call)
    return Style.CALL if function is None else function.style


def operator_name(call: Call) -> str:
    """The name of a call's operator, without the internal name's decoration."""
    if isinstance(call.name, WrittenName):
        return call.name.written
    function = called(call)
    if function is not None and function.printed is not None:
        return function.printed
    if function is not None and call.reference is not None:
        return function.name
    if not call.name and call.reference:
        return str(call.reference.get("systemName") or call.reference.get("catalogName") or "")
    return shown_name(call.name)


def literal(value: Literal) -> str:
    """A literal in a calc: text without its character set, NULL with its type."""
    if value.value is None and value.symbol is None:
        return f"null:{type_name(value.type)}"
    if value.type.root in CHARACTER:
        return f"'{value.value}'"
    return _value(value)


def _value(literal: Literal) -> str:
    if isinstance(literal.value, Approximate):
        return _scientific(literal.value)
    return _plain(literal.value, literal.type, literal.symbol)


def _plain(value: Any, t: LogicalType, symbol: str | None = None) -> str:
    if symbol is not None:
        if symbol == _QUERY_BEHAVIOR:
            return f"SqlJsonQueryEmptyOrErrorBehavior[{value}]"
        return _SYMBOLS.get((symbol, value), str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    root = t.root
    if root in CHARACTER:
        return f"_UTF-16LE'{value}'"
    if root in ("BINARY", "VARBINARY"):
        return f"X'{base64.b64decode(value).hex()}'"
    if root.startswith("INTERVAL"):
        return f"{value}:{_interval(t)}"
    return str(value)


def _interval(t: LogicalType) -> str:
    units = t.root.removeprefix("INTERVAL_").replace("_", " ")
    if t.root == "INTERVAL_SECOND" or t.precision in (None, 2):
        return f"INTERVAL {units}"
    first, _, rest = units.partition(" TO ")
    return f"INTERVAL {first}({t.precision})" + (f" TO {rest}" if rest else "")


def _scientific(text: str) -> str:
    """``Util.toScientificNotation``: at most 20 digits, cut; zeros at the end of whole numbers do not count."""
    number = Decimal(text)
    sign, parts, exponent = number.as_tuple()
    digits = "".join(map(str, parts))[:20]
    if exponent == 0:
        digits = digits[0] + digits[1:].rstrip("0")
    return f"{'-' if sign else ''}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}E{number.adjusted()}"


def sarg(value: Sarg, text: Callable[[Any], str] | None = None) -> str:
    """``Sarg[(-∞..3), 5; NULL AS TRUE]``, each value as its ``text``."""
    nulls = {"TRUE": "; NULL AS TRUE", "FALSE": "; NULL AS FALSE"}.get(value.null_as, "")
    one = text or (lambda v: _plain(v, value.type))
    return f"Sarg[{', '.join(_range(r, one) for r in value.ranges)}{nulls}]"


def _range(r: Range, text: Callable[[Any], str]) -> str:
    if r.lower is not None and r.upper is not None and r.lower.value == r.upper.value:
        return text(r.lower.value)
    low = "(" if r.lower is None or not r.lower.closed else "["
    high = ")" if r.upper is None or not r.upper.closed else "]"
    return f"{low}{_bound(r.lower, '-∞', text)}..{_bound(r.upper, '+∞', text)}{high}"


def _bound(bound: Bound | None, infinite: str, text: Callable[[Any], str]) -> str:
    return infinite if bound is None else text(bound.value)


def digest(rex: RexNode, fields: Sequence[str]) -> str:
    """An expression as Calcite's own digest: prefix, with the types of literals."""
    match rex:
        case Call() if _style(rex) is Style.CAST:
            nullability = "" if rex.type.nullable else " NOT NULL"
            return f"{operator_name(rex)}({digest(rex.operands[0], fields)} AS {full_type_name(rex.type)}{nullability})"
        case Call():
            return f"{operator_name(rex)}({', '.join(digest(o, fields) for o in rex.operands)})"
        case FieldAccess(name, expr):
            return f"{digest(expr, fields)}.{name}"
        case Literal():
            return typed_literal(rex)
    return expression(rex, fields)


def condition_digest(rex: RexNode, fields: Sequence[str]) -> str:
    """A condition as Calcite's own digest: a literal beside an operand of its own type goes without it."""
    if isinstance(rex, Sarg):
        suffix = "" if rex.type.root in _UNTYPED else f":{full_type_name(rex.type)}"
        return sarg(rex, lambda value: _java_literal(value, rex.type)) + suffix
    if not isinstance(rex, Call) or _style(rex) is Style.CAST:
        return digest(rex, fields)
    texts = operand_digests(rex, lambda operand: condition_digest(operand, fields))
    return f"{operator_name(rex)}({', '.join(texts)})"


def call_digest(call: Call, text: Callable[[RexNode], str]) -> str:
    """A call as it prints itself: functions of the time go without parentheses."""
    if not call.operands and operator_name(call) in _WITHOUT_PARENTHESES:
        return operator_name(call)
    return f"{operator_name(call)}({', '.join(operand_digests(call, text))})"


_WITHOUT_PARENTHESES = {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "PI"}
"""``SqlSyntax.FUNCTION_ID``"""


def operand_digests(call: Call, text: Callable[[RexNode], str]) -> list[str]:
    """The operands of a call, literals beside one of their own type without it."""
    texts = [text(o) for o in call.operands]
    if called(call) in _SIMPLE:
        for i, (own, other) in enumerate(zip(call.operands, reversed(call.operands), strict=True)):
            same = own.type.nullable_() == other.type.nullable_()
            if same and isinstance(own, Literal) and own.value is not None and not isinstance(other, Literal):
                texts[i] = quoted(own, untyped_literal)
    return texts


def definition_digest(rex: RexNode) -> str:
    """A condition of a pattern's variable, as a call prints itself: columns by number, casts with their type behind."""
    if isinstance(rex, PatternInputRef):
        return f"{rex.alpha}.${rex.index}"
    if isinstance(rex, FieldAccess):
        return f"{definition_digest(rex.expr)}.{rex.name}"
    if not isinstance(rex, Call):
        return typed_literal(rex) if isinstance(rex, Literal) else expression(rex, ())
    text = call_digest(rex, definition_digest)
    if _style(rex) is not Style.CAST:
        return text
    return f"{text}:{full_type_name(rex.type)}{'' if rex.type.nullable else ' NOT NULL'}"


def _java_literal(value: Any, t: LogicalType) -> str:
    if t.root in APPROXIMATE:
        value = Approximate(value)
    text = typed_literal(Literal(value, t))
    return text.replace(":", "L:") if t.root == "BIGINT" else text


_SIMPLE = (EQ, NE, LT, LE, GT, GE, PLUS, MINUS, TIMES, DIVIDE, DATETIME_PLUS, DATETIME_MINUS)
"""``SqlKind.SIMPLE_BINARY_OPS``"""

_UNTYPED = {"INT", "BOOLEAN", "DATE", "TIME", "SYMBOL"}


def full_type_name(t: LogicalType) -> str:
    """A type with the character set of text."""
    return type_name(t) + (' CHARACTER SET "UTF-16LE"' if t.root in CHARACTER else "")


def typed_literal(value: Literal) -> str:
    """A literal with its type, unless the text implies the type."""
    t = value.type
    if value.symbol is not None:
        return f"FLAG({_value(value)})"
    if value.value is None:
        return f"null:{full_type_name(t)}"
    text = _value(value)
    if t.root in CHARACTER:
        natural = t.root == "CHAR" and t.length == len(str(value.value))
        return text if natural else f"{text}:{full_type_name(t)}"
    if t.root in _UNTYPED or (t.root == "TIMESTAMP" and t.precision == 0) or t.root.startswith("INTERVAL"):
        return text
    return f"{text}:{type_name(t)}"


def untyped_literal(value: Literal) -> str:
    """A literal of constant rows, or beside an operand of its own type."""
    return "null" if value.value is None else _value(value)


def named(text: str, name: str) -> str:
    """``text AS name``, or the name alone."""
    return name if text == name else f"{text} AS {name}"
