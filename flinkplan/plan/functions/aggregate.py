"""Aggregate functions and functions of an OVER window.

A global aggregate, or one with a FILTER, may have no rows, so its result is nullable except for COUNT and the like.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..rex import internal_name
from ..types import BIGINT, DOUBLE, LogicalType, array, decimal, multiset, varchar
from .model import (
    FUNCTION_STAR,
    Aggregation,
    Argument,
    Arguments,
    Direction,
    EmptyResult,
    Function,
    Kind,
    ReturnRule,
    Signature,
)
from .registry import declare
from .rules import always, argument, null_in_null_out, signature
from .typing import MAX_DECIMAL, in_family

_COUNTER = BIGINT.not_null()


def _if_empty(rule: ReturnRule) -> ReturnRule:
    def nullable_if_empty(args: Arguments) -> LogicalType:
        result = rule(args).regular()
        return result if args.grouped else result.nullable_()

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


_SUM0 = internal_name("$SUM0")

COUNT = declare(
    "COUNT",
    signature(rest="ANY"),
    always(_COUNTER),
    syntax=FUNCTION_STAR,
    kind=Kind.AGGREGATE,
    masks=True,
    aggregation=Aggregation(EmptyResult.ZERO, Direction.INCREASING, _SUM0, is_splittable=True),
)
APPROX_COUNT_DISTINCT = declare(
    "APPROX_COUNT_DISTINCT", signature("ANY", rest="ANY"), always(_COUNTER), kind=Kind.AGGREGATE, masks=True
)
SUM = declare(
    "SUM",
    _NUMBER,
    _if_empty(_sum),
    kind=Kind.AGGREGATE,
    aggregation=Aggregation(
        EmptyResult.NULL, Direction.BY_SIGN, internal_name("SUM"), is_splittable=True, is_argument_of_single_row=True
    ),
)
SUM0 = declare(
    "$SUM0",
    _NUMBER,
    lambda args: _sum(args).not_null(),
    kind=Kind.AGGREGATE,
    aliases=("SUM0",),
    aggregation=Aggregation(EmptyResult.ZERO, Direction.BY_SIGN, _SUM0, is_splittable=True),
)
AVG = declare(
    "AVG",
    _NUMBER,
    _if_empty(_average),
    kind=Kind.AGGREGATE,
    aggregation=Aggregation(parts=((_SUM0, _SUM0), (COUNT.internal_name, _SUM0))),
)
for _name, _of_sample, _root in (
    ("STDDEV", True, True),
    ("STDDEV_POP", False, True),
    ("STDDEV_SAMP", True, True),
    ("VARIANCE", True, False),
    ("VAR_POP", False, False),
    ("VAR_SAMP", True, False),
):
    declare(
        _name,
        _NUMBER,
        _if_empty(_average),
        kind=Kind.AGGREGATE,
        aggregation=Aggregation(variance=(_of_sample, _root)),
    )
WELFORD_M2 = declare("$WELFORD_M2$1", _NUMBER, always(DOUBLE), kind=Kind.AGGREGATE, named=False, is_restorable=False)
MIN, MAX = (
    declare(
        name,
        _ANY,
        _if_empty(_first),
        kind=Kind.AGGREGATE,
        aggregation=Aggregation(
            EmptyResult.NULL,
            direction,
            internal_name(name),
            is_splittable=True,
            is_argument_of_single_row=True,
            selects_argument=True,
            ignores_duplicates=True,
            is_bucketed=True,
            compares=True,
        ),
    )
    for name, direction in (("MIN", Direction.DECREASING), ("MAX", Direction.INCREASING))
)
FIRST_VALUE, LAST_VALUE = (
    declare(
        name,
        _ANY,
        _if_empty(_first),
        kind=Kind.AGGREGATE,
        aggregation=Aggregation(merged_by=internal_name(name), is_bucketed=True),
    )
    for name in ("FIRST_VALUE", "LAST_VALUE")
)
SINGLE_VALUE = declare(
    "SINGLE_VALUE",
    _ANY,
    _if_empty(_first),
    kind=Kind.AGGREGATE,
    aggregation=Aggregation(merged_by=internal_name("SINGLE_VALUE"), compares=True),
)
LISTAGG = declare(
    "LISTAGG",
    (signature("CHARACTER"), signature("CHARACTER", "CHARACTER")),
    null_in_null_out(argument(0)),
    kind=Kind.AGGREGATE,
    aggregation=Aggregation(merged_by=internal_name("LISTAGG"), merges_arguments=1),
)
COLLECT = declare("COLLECT", _ANY, lambda args: multiset(args.types[0], nullable=False), kind=Kind.AGGREGATE)


def _list(args: Arguments) -> LogicalType:
    """The array is nullable if its elements are nullable or rows, as in Calcite."""
    element = args.types[0]
    return array(element, element.nullable or element.root == "ROW")


ARRAY_AGG = declare("ARRAY_AGG", _ANY, _list, kind=Kind.AGGREGATE)


def _percentile(args: Arguments) -> LogicalType:
    return array(DOUBLE) if args.types[1].root == "ARRAY" else DOUBLE


def _fractions(types: Sequence[LogicalType], position: int) -> LogicalType | None:
    """A fraction as a DOUBLE, or an array of them; none may be NULL."""
    t = types[position]
    number = t.element if t.root == "ARRAY" else t
    if t.nullable or number.nullable or not in_family(number, "NUMERIC"):
        return None
    return array(DOUBLE.not_null(), nullable=False) if t.root == "ARRAY" else DOUBLE.not_null()


_FRACTIONS = Argument("NUMERIC NOT NULL or ARRAY<NUMERIC NOT NULL> NOT NULL", _fractions)
PERCENTILE = declare(
    "PERCENTILE",
    (signature("NUMERIC", _FRACTIONS), signature("NUMERIC", _FRACTIONS, "INTEGER")),
    _percentile,
    kind=Kind.AGGREGATE,
)


def _json(name: str, parameters: Signature) -> dict[str, Function]:
    """A JSON aggregate, which is two functions: for NULL ON NULL and ABSENT ON NULL."""
    return {
        on_null: declare(
            f"{name}_{on_null}_ON_NULL",
            parameters,
            always(varchar(2000, nullable=False)),
            kind=Kind.AGGREGATE,
            named=False,
        )
        for on_null in ("NULL", "ABSENT")
    }


JSON_OBJECTAGG = _json("JSON_OBJECTAGG", signature("CHARACTER", "ANY"))
JSON_ARRAYAGG = _json("JSON_ARRAYAGG", _ANY)
_BITMAP = LogicalType("BITMAP")
declare("BITMAP_BUILD_AGG", signature("INTEGER"), always(_BITMAP), kind=Kind.AGGREGATE)
declare("BITMAP_BUILD_CARDINALITY_AGG", signature("INTEGER"), always(BIGINT), kind=Kind.AGGREGATE)
for _name in ("AND", "OR", "XOR"):
    declare(f"BITMAP_{_name}_AGG", signature("BITMAP"), always(_BITMAP), kind=Kind.AGGREGATE)
    declare(f"BITMAP_{_name}_CARDINALITY_AGG", signature("BITMAP"), always(BIGINT), kind=Kind.AGGREGATE)

GROUPING = declare("GROUPING", signature("ANY"), always(_COUNTER), kind=Kind.AGGREGATE)
GROUPING_ID = declare("GROUPING_ID", signature("ANY", rest="ANY"), always(_COUNTER), kind=Kind.AGGREGATE)
GROUP_ID = declare("GROUP_ID", signature(), always(_COUNTER), kind=Kind.AGGREGATE)

ROW_NUMBER, RANK, DENSE_RANK = (
    declare(name, signature(), always(_COUNTER), kind=Kind.RANKING) for name in ("ROW_NUMBER", "RANK", "DENSE_RANK")
)
for _name in ("CUME_DIST", "PERCENT_RANK"):
    declare(_name, signature(), always(DOUBLE.not_null()), kind=Kind.RANKING)
declare("NTILE", signature("INTEGER"), always(BIGINT.not_null()), kind=Kind.RANKING)


def _shifted(args: Arguments) -> LogicalType:
    """Nullable unless there is a default for missing rows that is not nullable."""
    return args.types[0].regular().with_nullability(len(args) < 3 or args.types[2].nullable)


SHIFTS = tuple(
    declare(
        name,
        (_ANY, signature("ANY", "NUMERIC"), signature("ANY", "NUMERIC", "ANY")),
        _shifted,
        kind=Kind.RANKING,
    )
    for name in ("LEAD", "LAG")
)
"""Ranking functions that read another row."""
