"""Aggregate functions and functions of an OVER window.

A global aggregate may see no row at all, so all but COUNT and its like are nullable there, and so is an
aggregate with a FILTER.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..types import BIGINT, DOUBLE, LogicalType, array, decimal, multiset, varchar
from .model import FUNCTION_STAR, Argument, Arguments, Kind, ReturnRule
from .registry import declare
from .rules import always, argument, null_in_null_out, signature
from .typing import MAX_DECIMAL, in_family

_COUNTER = BIGINT.not_null()


def _if_empty(rule: ReturnRule) -> ReturnRule:
    def nullable_if_empty(args: Arguments) -> LogicalType:
        found = rule(args).regular()
        return found if args.grouped else found.nullable_()

    return nullable_if_empty


def _first(args: Arguments) -> LogicalType:
    return args.types[0]


def _sum(args: Arguments) -> LogicalType:
    t = args.types[0]
    return decimal(MAX_DECIMAL, t.scale or 0, t.nullable) if t.root == "DECIMAL" else t


def _average(args: Arguments) -> LogicalType:
    t = args.types[0]
    return decimal(MAX_DECIMAL, max(6, t.scale or 0), t.nullable) if t.root == "DECIMAL" else t


_ANY = signature("ANY")
_NUMBER = signature("NUMERIC")


COUNT = declare("COUNT", signature(rest="ANY"), always(_COUNTER), syntax=FUNCTION_STAR, kind=Kind.AGGREGATE)
APPROX_COUNT_DISTINCT = declare(
    "APPROX_COUNT_DISTINCT", signature("ANY", rest="ANY"), always(_COUNTER), kind=Kind.AGGREGATE
)
SUM = declare("SUM", _NUMBER, _if_empty(_sum), kind=Kind.AGGREGATE)
SUM0 = declare("$SUM0", _NUMBER, lambda args: _sum(args).not_null(), kind=Kind.AGGREGATE, aliases=("SUM0",))
AVG = declare("AVG", _NUMBER, _if_empty(_average), kind=Kind.AGGREGATE)
VARIANCES = {
    declare(name, _NUMBER, _if_empty(_average), kind=Kind.AGGREGATE).internal_name: (of_sample, root)
    for name, of_sample, root in (
        ("STDDEV", True, True),
        ("STDDEV_POP", False, True),
        ("STDDEV_SAMP", True, True),
        ("VARIANCE", True, False),
        ("VAR_POP", False, False),
        ("VAR_SAMP", True, False),
    )
}
"""By internal name: whether of a sample, and whether the root is taken."""
declare("$WELFORD_M2$1", _NUMBER, always(DOUBLE), kind=Kind.AGGREGATE, named=False)
MIN = declare("MIN", _ANY, _if_empty(_first), kind=Kind.AGGREGATE)
MAX = declare("MAX", _ANY, _if_empty(_first), kind=Kind.AGGREGATE)
EXTREMES = (MIN, MAX)
"""The functions to which DISTINCT makes no difference, so that plans do without it."""
FIRST_VALUE = declare("FIRST_VALUE", _ANY, _if_empty(_first), kind=Kind.AGGREGATE)
LAST_VALUE = declare("LAST_VALUE", _ANY, _if_empty(_first), kind=Kind.AGGREGATE)
SINGLE_VALUE = declare("SINGLE_VALUE", _ANY, _if_empty(_first), kind=Kind.AGGREGATE)
LISTAGG = declare(
    "LISTAGG",
    (signature("CHARACTER"), signature("CHARACTER", "CHARACTER")),
    null_in_null_out(argument(0)),
    kind=Kind.AGGREGATE,
)
COLLECT = declare("COLLECT", _ANY, lambda args: multiset(args.types[0], nullable=False), kind=Kind.AGGREGATE)
ARRAY_AGG = declare("ARRAY_AGG", _ANY, lambda args: array(args.types[0], args.types[0].nullable), kind=Kind.AGGREGATE)


def _percentile(args: Arguments) -> LogicalType:
    return array(DOUBLE) if args.types[1].root == "ARRAY" else DOUBLE


def _fractions(types: Sequence[LogicalType], position: int) -> LogicalType | None:
    """A fraction as a DOUBLE, or an array of them; none may be NULL."""
    given = types[position]
    number = given.element if given.root == "ARRAY" else given
    if given.nullable or number.nullable or not in_family(number, "NUMERIC"):
        return None
    return array(DOUBLE.not_null(), nullable=False) if given.root == "ARRAY" else DOUBLE.not_null()


_FRACTIONS = Argument("NUMERIC NOT NULL or ARRAY<NUMERIC NOT NULL> NOT NULL", _fractions)
PERCENTILE = declare(
    "PERCENTILE",
    (signature("NUMERIC", _FRACTIONS), signature("NUMERIC", _FRACTIONS, "INTEGER")),
    _percentile,
    kind=Kind.AGGREGATE,
)
for _on_null in ("NULL", "ABSENT"):
    declare(
        f"JSON_OBJECTAGG_{_on_null}_ON_NULL",
        signature("CHARACTER", "ANY"),
        always(varchar(2000, nullable=False)),
        kind=Kind.AGGREGATE,
        named=False,
    )
    declare(
        f"JSON_ARRAYAGG_{_on_null}_ON_NULL",
        _ANY,
        always(varchar(2000, nullable=False)),
        kind=Kind.AGGREGATE,
        named=False,
    )
_BITMAP = LogicalType("BITMAP")
declare("BITMAP_BUILD_AGG", signature("INTEGER"), always(_BITMAP), kind=Kind.AGGREGATE)
declare("BITMAP_BUILD_CARDINALITY_AGG", signature("INTEGER"), always(BIGINT), kind=Kind.AGGREGATE)
for _name in ("AND", "OR", "XOR"):
    declare(f"BITMAP_{_name}_AGG", signature("BITMAP"), always(_BITMAP), kind=Kind.AGGREGATE)
    declare(f"BITMAP_{_name}_CARDINALITY_AGG", signature("BITMAP"), always(BIGINT), kind=Kind.AGGREGATE)

GROUPING = declare("GROUPING", signature("ANY"), always(_COUNTER), kind=Kind.AGGREGATE)
GROUPING_ID = declare("GROUPING_ID", signature("ANY", rest="ANY"), always(_COUNTER), kind=Kind.AGGREGATE)
GROUP_ID = declare("GROUP_ID", signature(), always(_COUNTER), kind=Kind.AGGREGATE)

for _name in ("ROW_NUMBER", "RANK", "DENSE_RANK"):
    declare(_name, signature(), always(_COUNTER), kind=Kind.RANKING)
for _name in ("CUME_DIST", "PERCENT_RANK"):
    declare(_name, signature(), always(DOUBLE.not_null()), kind=Kind.RANKING)
declare("NTILE", signature("INTEGER"), always(BIGINT.not_null()), kind=Kind.RANKING)


def _shifted(args: Arguments) -> LogicalType:
    """Nullable unless a default that is not NULL stands in for the missing row."""
    return args.types[0].regular().with_nullability(len(args) < 3 or args.types[2].nullable)


for _name in ("LEAD", "LAG"):
    declare(
        _name,
        (_ANY, signature("ANY", "NUMERIC"), signature("ANY", "NUMERIC", "ANY")),
        _shifted,
        kind=Kind.RANKING,
    )
