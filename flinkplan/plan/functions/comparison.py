"""Comparisons, logic and tests."""

from __future__ import annotations

from ..types import BOOLEAN, CHARACTER, NUMERIC, LogicalType
from .model import BINARY, INTERNAL, POSTFIX, PREFIX, SPECIAL, Arguments
from .registry import declare
from .rules import always, comparable_argument, if_null, signature

_COMPARED = signature("ANY", comparable_argument())
_LOGIC = signature("BOOLEAN", "BOOLEAN", rest="BOOLEAN")
_TRUTH = BOOLEAN.not_null()


def _holds_null(t: LogicalType) -> bool:
    """Whether a value may be NULL or a row with a NULL in it."""
    return t.nullable or any(map(_holds_null, t.field_types))


def _compared(args: Arguments) -> LogicalType:
    return BOOLEAN.with_nullability(any(map(_holds_null, args.types)))


EQUALS, NOT_EQUALS, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = (
    declare(symbol, _COMPARED, _compared, syntax=BINARY, named=False) for symbol in ("=", "<>", "<", "<=", ">", ">=")
)
AND = declare("AND", _LOGIC, if_null(BOOLEAN), syntax=BINARY, named=False)
OR = declare("OR", _LOGIC, if_null(BOOLEAN), syntax=BINARY, named=False)
NOT = declare("NOT", signature("BOOLEAN"), if_null(BOOLEAN), syntax=PREFIX, named=False)
IS_DISTINCT_FROM = declare("IS DISTINCT FROM", _COMPARED, always(_TRUTH), syntax=BINARY, named=False)
IS_NOT_DISTINCT_FROM = declare("IS NOT DISTINCT FROM", _COMPARED, always(_TRUTH), syntax=BINARY, named=False)

IS_NULL = declare("IS NULL", signature("ANY"), always(_TRUTH), syntax=POSTFIX, named=False)
IS_NOT_NULL = declare("IS NOT NULL", signature("ANY"), always(_TRUTH), syntax=POSTFIX, named=False)
for _test in ("TRUE", "FALSE"):
    declare(f"IS {_test}", signature("BOOLEAN"), always(_TRUTH), syntax=POSTFIX, named=False)
    declare(f"IS NOT {_test}", signature("BOOLEAN"), always(_TRUTH), syntax=POSTFIX, named=False)
for _test in ("VALUE", "OBJECT", "ARRAY", "SCALAR"):
    declare(f"IS JSON {_test}", signature("CHARACTER"), always(_TRUTH), syntax=POSTFIX, named=False)
    declare(f"IS NOT JSON {_test}", signature("CHARACTER"), always(_TRUTH), syntax=POSTFIX, named=False)

_PATTERN = (signature("CHARACTER", "CHARACTER"), signature("CHARACTER", "CHARACTER", "CHARACTER"))
LIKE = declare("LIKE", _PATTERN, if_null(BOOLEAN), syntax=SPECIAL, named=False)
SIMILAR_TO = declare("SIMILAR TO", _PATTERN, if_null(BOOLEAN), syntax=SPECIAL, named=False)
SEARCH = declare("SEARCH", signature("ANY", "ANY"), if_null(BOOLEAN), syntax=INTERNAL, named=False)


def are_text_and_number(a: LogicalType, b: LogicalType) -> bool:
    """Whether ``a = b`` compiles as it stands, without a cast, but never runs."""
    return any(x.root in CHARACTER and y.root in NUMERIC for x, y in ((a, b), (b, a)))


def are_joinable(a: LogicalType, b: LogicalType) -> bool:
    """Whether a join can equate the types, given that they compare: none is a text alone.

    Source: Flink's ``JoinConditionTypeCoerceRule``.
    """
    return "NULL" in (a.root, b.root) or (a.root in CHARACTER) == (b.root in CHARACTER)


CAST_ONE_SIDE = "CAST one side to the type of the other"
"""What to do about types that do not compare."""
