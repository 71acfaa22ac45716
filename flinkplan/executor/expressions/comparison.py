"""Comparison and logic, in three-valued logic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.functions.comparison import CAST_ONE_SIDE, are_text_and_number
from ...plan.functions.model import BINARY, INTERNAL, POSTFIX, PREFIX
from ...plan.functions.typing import MAX_DECIMAL
from ...plan.rex import Call, Literal, Range, RexNode, Sarg
from ...plan.types import APPROXIMATE, LogicalType
from ...plan.types.readable import readable
from ..jvm.spark import F, T
from ..jvm.types import has_nanos
from .arithmetic import as_decimal, as_double, decimal_type, digits_of_both
from .jvm import invoke
from .literals import constant
from .maps import entries_of
from .registry import Invocation, native, scalar
from .timestamps import from_local, nanos_of, to_local, to_micros, with_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column


def comparable(column: Column, t: LogicalType, others: tuple[LogicalType, ...]) -> Column:
    """``column`` as it compares with values of the types ``others``."""
    if t.root in ("MAP", "MULTISET"):
        return F.array_sort(entries_of(column, t))
    if any(map(has_nanos, others)) and not has_nanos(t):
        return with_nanos(column)
    return column


def _exceed_spark(left: LogicalType, right: LogicalType) -> bool:
    """Whether no decimal holds the values of both types, to which Spark would bring them."""
    numbers = decimal_type(left), decimal_type(right)
    return all(t.root == "DECIMAL" for t in numbers) and digits_of_both(*numbers) > MAX_DECIMAL


def _sides(
    a: Column, left: LogicalType, b: Column, right: LogicalType, *, null_safe: bool = False
) -> tuple[Column, Column]:
    """What is compared for ``a`` and ``b``: they themselves, or their difference with zero."""
    if _exceed_spark(left, right):
        difference = invoke("Numbers.compareDecimals", T.IntegerType(), as_decimal(a, left), as_decimal(b, right))
        return F.when(a.isNull() & b.isNull() & F.lit(null_safe), 0).otherwise(difference), F.lit(0)
    if {left.root, right.root} & {*APPROXIMATE}:
        a, b = (as_double(x, t) if t.root == "DECIMAL" else x for x, t in ((a, left), (b, right)))
    return comparable(a, left, (left, right)), comparable(b, right, (left, right))


def check_comparison(call: Call) -> None:
    """Raise :class:`UnsupportedError` for a text compared with a number, which Flink compiles but never runs."""
    left, right = (o.type.nullable_() for o in call.operands)
    if are_text_and_number(left, right):
        raise UnsupportedError(
            readable(f"{left} and {right} are not converted implicitly: ")
            + "Flink compiles this comparison, but no job with it starts",
            hint=CAST_ONE_SIDE,
        )


def _comparison(name: str, compare: Callable[[Column, Column], Column], of_nan: bool = False) -> None:
    """``of_nan``: the answer where an operand is not a number, which Spark takes for the greatest of all."""

    @scalar(name, syntax=BINARY, check=check_comparison)
    def build(call: Invocation, a: Column, b: Column) -> Column:
        left, right = call.types
        a = _as_the_other(a, left, right, call.time_zone)
        result = compare(*_sides(a, left, b, right, null_safe="DISTINCT" in name))
        sides = zip((a, b), (b, a), call.call.operands, strict=True)
        nan = [F.isnan(x) & y.isNotNull() for x, y, rex in sides if _may_be_nan(rex)]
        return F.when(reduce(operator.or_, nan), F.lit(of_nan)).otherwise(result) if nan else result


def _as_the_other(a: Column, t: LogicalType, other: LogicalType, time_zone: str) -> Column:
    """The left one of a TIMESTAMP and a TIMESTAMP_LTZ as what the right one is, as Flink compares them.

    Which one it is makes a difference in the hours that a clock shows twice or never.
    """
    if {t.root, other.root} != {"TIMESTAMP", "TIMESTAMP_LTZ"}:
        return a
    instant, local = (other, t) if t.root == "TIMESTAMP" else (t, other)
    shift = from_local if local is t else to_local
    shifted = shift(to_micros(a, t), instant, time_zone)
    return with_nanos(shifted, nanos_of(a, t)) if has_nanos(t) else shifted


def _may_be_nan(rex: RexNode) -> bool:
    return rex.type.root in APPROXIMATE and not isinstance(rex, Literal)


_comparison("$=$1", operator.eq)
_comparison("$<>$1", operator.ne, of_nan=True)
_comparison("$<$1", operator.lt)
_comparison("$<=$1", operator.le)
_comparison("$>$1", operator.gt)
_comparison("$>=$1", operator.ge)

_comparison("$IS NOT DISTINCT FROM$1", lambda a, b: a.eqNullSafe(b))
_comparison("$IS DISTINCT FROM$1", lambda a, b: ~a.eqNullSafe(b))


@scalar("$AND$1", syntax=BINARY)
def and_(call: Invocation, *operands: Column) -> Column:
    """TRUE where all operands are, FALSE where one is FALSE, else NULL."""
    return reduce(operator.and_, operands)


@scalar("$OR$1", syntax=BINARY)
def or_(call: Invocation, *operands: Column) -> Column:
    """TRUE where one operand is, FALSE where all are FALSE, else NULL."""
    return reduce(operator.or_, operands)


native("$NOT$1", operator.inv, PREFIX)
native("$IS NULL$1", F.isnull, POSTFIX)
native("$IS NOT NULL$1", F.isnotnull, POSTFIX)
native("$IS TRUE$1", lambda a: F.coalesce(a, F.lit(False)), POSTFIX)
native("$IS NOT TRUE$1", lambda a: ~F.coalesce(a, F.lit(False)), POSTFIX)
native("$IS FALSE$1", lambda a: ~F.coalesce(a, F.lit(True)), POSTFIX)
native("$IS NOT FALSE$1", lambda a: F.coalesce(a, F.lit(True)), POSTFIX)


@scalar("$SEARCH$1", syntax=INTERNAL, check=check_comparison)
def search(call: Invocation, a: Column) -> Column:
    """Whether ``a`` lies in the ranges of a search argument, with its own answer for NULL."""
    sarg = call.call.operands[1]
    if not isinstance(sarg, Sarg):
        raise UnsupportedError("SEARCH needs a search argument as its second operand")
    points = [r.lower.value for r in sarg.ranges if r.lower is not None and r.lower == r.upper]
    of = call.types[0]
    if _exceed_spark(of, sarg.type):
        tests = [operator.eq(*_sides(a, of, constant(p, sarg.type), sarg.type)) for p in points]
    else:
        tests = [a.isin(*(constant(p, sarg.type) for p in points))] if points else []
    tests += [_within(a, of, r, sarg.type) for r in sarg.ranges if r.lower is None or r.lower != r.upper]
    is_member = F.when(a.isNotNull(), reduce(operator.or_, tests, F.lit(False)))
    if _may_be_nan(call.call.operands[0]):
        is_member = F.when(F.isnan(a), F.lit(_is_all_but_points(sarg))).otherwise(is_member)
        if _tells_zeros_apart(sarg):
            is_member = F.when(is_minus_zero(a), F.lit(_is_all_but_points(sarg))).otherwise(is_member)
    if sarg.null_as == "UNKNOWN":
        return is_member
    return F.coalesce(is_member, F.lit(sarg.null_as == "TRUE"))


def _tells_zeros_apart(sarg: Sarg) -> bool:
    """Whether zero is one of several single values, which Flink looks up in a set: there -0.0 is another one."""
    bounds = [b.value for r in sarg.ranges for b in (r.lower, r.upper) if b is not None]
    single = all(r.lower is not None and r.lower == r.upper for r in sarg.ranges)
    return (single or _is_all_but_points(sarg)) and any(float(b) == 0 for b in bounds)


def is_minus_zero(a: Column) -> Column:
    """Whether a floating-point number is zero with a sign."""
    return (a == 0) & (a.cast("string") == "-0.0")


def _is_all_but_points(sarg: Sarg) -> bool:
    """Whether the ranges leave out single values only."""
    ends = [r.upper for r in sarg.ranges[:-1]]
    starts = [r.lower for r in sarg.ranges[1:]]
    unbounded = bool(sarg.ranges) and sarg.ranges[0].lower is None and sarg.ranges[-1].upper is None
    return unbounded and all(
        e is not None and s is not None and e.value == s.value for e, s in zip(ends, starts, strict=True)
    )


def _within(a: Column, of: LogicalType, r: Range, t: LogicalType) -> Column:
    tests = []
    if r.lower is not None:
        sides = _sides(a, of, constant(r.lower.value, t), t)
        tests.append((operator.ge if r.lower.closed else operator.gt)(*sides))
    if r.upper is not None:
        sides = _sides(a, of, constant(r.upper.value, t), t)
        tests.append((operator.le if r.upper.closed else operator.lt)(*sides))
    return reduce(operator.and_, tests, F.lit(True))
