"""Functions that choose among their operands."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

from ...plan.errors import PlanError
from ...plan.functions.model import SPECIAL
from ...plan.rex import Call
from ...plan.types import APPROXIMATE
from ...plan.types.readable import readable
from ..jvm.spark import F
from ..jvm.types import cast_type, has_nanos
from .comparison import is_minus_zero
from .registry import Invocation, scalar
from .timestamps import with_nanos

if TYPE_CHECKING:
    from pyspark.sql import Column


def _compared(call: Invocation, operands: tuple[Column, ...]) -> list[Column]:
    """Operands of which the greatest or least is taken; timestamps with nanoseconds where the result has them."""
    if has_nanos(call.type):
        return [o if has_nanos(t) else with_nanos(o) for o, t in zip(operands, call.types, strict=True)]
    return [_typed(call, o) for o in operands]


def _typed(call: Invocation, column: Column) -> Column:
    """An operand in the type of the result, where Spark's type is a matter of precision."""
    if call.type.root in ("ARRAY", "MAP", "MULTISET", "ROW", "TIMESTAMP", "TIMESTAMP_LTZ", "CHAR", "VARCHAR"):
        return column
    return column.cast(cast_type(call.type))


def check_case(call: Call) -> None:
    """Raises :class:`PlanError` where a condition has no value, or the ELSE is missing."""
    if len(call.operands) % 2 == 0:
        raise PlanError(f"a CASE takes conditions, each with its value, and an ELSE: not {len(call.operands)} operands")


@scalar("$CASE$1", syntax=SPECIAL, check=check_case)
def case(call: Invocation, *operands: Column) -> Column:
    """CASE WHEN c1 THEN v1 WHEN c2 THEN v2 … ELSE otherwise END."""
    *pairs, otherwise = operands
    branches = list(zip(pairs[::2], pairs[1::2], strict=True))
    return reduce(
        lambda rest, branch: F.when(branch[0], _typed(call, branch[1])).otherwise(rest),
        reversed(branches),
        _typed(call, otherwise),
    )


@scalar("$AS$1", syntax=SPECIAL)
def alias(call: Invocation, operand: Column, name: Column) -> Column:
    """The operand; the name is that of its column."""
    return operand


@scalar("$IF$1")
def if_(call: Invocation, condition: Column, then: Column, otherwise: Column) -> Column:
    """IF(condition, then, otherwise)."""
    return F.when(condition, _typed(call, then)).otherwise(_typed(call, otherwise))


@scalar("$COALESCE$1", "$IFNULL$1")
def coalesce(call: Invocation, *operands: Column) -> Column:
    """The first operand that is not NULL."""
    return F.coalesce(*(_typed(call, o) for o in operands))


def _all(conditions: Iterable[Column]) -> Column:
    return reduce(lambda a, b: a & b, conditions)


def _all_known(chosen: Column, operands: tuple[Column, ...]) -> Column:
    return F.when(_all(o.isNotNull() for o in operands), chosen)


@scalar("$GREATEST$1")
def greatest(call: Invocation, *operands: Column) -> Column:
    """The greatest operand; NULL where one is."""
    result = F.greatest(*_compared(call, operands))
    if call.type.root in APPROXIMATE:
        result = F.when((result == 0) & ~_all(is_minus_zero(o) | (o != 0) for o in operands), F.abs(result)).otherwise(
            result
        )
    return _all_known(result, operands)


@scalar("$LEAST$1")
def least(call: Invocation, *operands: Column) -> Column:
    """The least operand; NULL where one is."""
    result = F.least(*_compared(call, operands))
    if call.type.root in APPROXIMATE:
        has_minus_zero = ~_all(~is_minus_zero(o) for o in operands)
        result = F.when((result == 0) & has_minus_zero, -F.abs(result)).otherwise(result)
    return _all_known(result, operands)


@scalar("$TYPEOF$1")
def type_of(call: Invocation, *operands: Column) -> Column:
    """The type of the first operand as text; the unshortened form where a second operand is TRUE."""
    text = str(call.types[0])
    return F.lit(readable(text) if len(operands) == 1 else text)
