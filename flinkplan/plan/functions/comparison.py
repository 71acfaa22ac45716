"""Comparisons, logical operators, and predicates such as IS NULL and LIKE."""

from __future__ import annotations

from ..types import BOOLEAN, CHARACTER, NUMERIC, LogicalType
from .model import BINARY, INTERNAL, POSTFIX, PREFIX, SPECIAL, Arguments, LocalTime, Pushing, Style
from .registry import declare
from .rules import always, comparable_argument, if_null, signature

_COMPARED = signature("ANY", comparable_argument())
_LOGIC = signature("BOOLEAN", "BOOLEAN", rest="BOOLEAN")
_TRUTH = BOOLEAN.not_null()


def _holds_null(t: LogicalType) -> bool:
    """Whether a value may be NULL, or a row that contains NULL."""
    return t.nullable or any(map(_holds_null, t.field_types))


def _compared(args: Arguments) -> LogicalType:
    return BOOLEAN.with_nullability(any(map(_holds_null, args.types)))


EQ, NE, LT, LE, GT, GE = (
    declare(
        symbol,
        _COMPARED,
        _compared,
        syntax=BINARY,
        named=False,
        strict=True,
        commutes=symbol in ("=", "<>"),
        safe=True,
        local_time=LocalTime.NEVER,
        style=Style.INFIX,
    )
    for symbol in ("=", "<>", "<", "<=", ">", ">=")
)
AND, OR = (
    declare(
        word,
        _LOGIC,
        if_null(BOOLEAN),
        syntax=BINARY,
        named=False,
        commutes=True,
        safe=True,
        local_time=LocalTime.NEVER,
        style=Style.INFIX,
    )
    for word in ("AND", "OR")
)
NOT = declare(
    "NOT",
    signature("BOOLEAN"),
    if_null(BOOLEAN),
    syntax=PREFIX,
    named=False,
    strict=True,
    safe=True,
    local_time=LocalTime.NEVER,
)
IS_DISTINCT_FROM = declare(
    "IS DISTINCT FROM", _COMPARED, always(_TRUTH), syntax=BINARY, named=False, pushing=Pushing.NEVER
)
IS_NOT_DISTINCT_FROM = declare(
    "IS NOT DISTINCT FROM", _COMPARED, always(_TRUTH), syntax=BINARY, named=False, safe=True, pushing=Pushing.NEVER
)

IS_NULL, IS_NOT_NULL = (
    declare(
        test,
        signature("ANY"),
        always(_TRUTH),
        syntax=POSTFIX,
        named=False,
        safe=True,
        local_time=LocalTime.NEVER,
        style=Style.POSTFIX,
    )
    for test in ("IS NULL", "IS NOT NULL")
)
IS_TRUE, IS_NOT_TRUE, IS_FALSE, IS_NOT_FALSE = (
    declare(test, signature("BOOLEAN"), always(_TRUTH), syntax=POSTFIX, named=False, safe=True, style=Style.POSTFIX)
    for test in ("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE")
)
for _test in ("VALUE", "OBJECT", "ARRAY", "SCALAR"):
    for _words in (f"IS JSON {_test}", f"IS NOT JSON {_test}"):
        declare(_words, signature("CHARACTER"), always(_TRUTH), syntax=POSTFIX, named=False, pushing=Pushing.NEVER)

_PATTERN = (signature("CHARACTER", "CHARACTER"), signature("CHARACTER", "CHARACTER", "CHARACTER"))
LIKE = declare("LIKE", _PATTERN, if_null(BOOLEAN), syntax=SPECIAL, named=False, strict=True, safe=True)
SIMILAR_TO = declare("SIMILAR TO", _PATTERN, if_null(BOOLEAN), syntax=SPECIAL, named=False, strict=True)
SEARCH = declare("SEARCH", signature("ANY", "ANY"), if_null(BOOLEAN), syntax=INTERNAL, named=False, safe=True)


def are_text_and_number(a: LogicalType, b: LogicalType) -> bool:
    """Whether the types are a text and a number: ``a = b`` then compiles without a cast, but never runs."""
    return any(x.root in CHARACTER and y.root in NUMERIC for x, y in ((a, b), (b, a)))


def are_joinable(a: LogicalType, b: LogicalType) -> bool:
    """Whether a join key can have these comparable types: not if exactly one of them is a character type.

    Source: Flink's ``JoinConditionTypeCoerceRule``.
    """
    return "NULL" in (a.root, b.root) or (a.root in CHARACTER) == (b.root in CHARACTER)


CAST_ONE_SIDE = "CAST one side to the type of the other"
"""The hint for types that cannot be compared."""
