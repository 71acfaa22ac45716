"""Flink's aggregate functions, and the accumulators in Java that compute them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..plan.errors import UnsupportedError
from ..plan.functions.java import JavaFunction
from ..plan.record import Record
from ..plan.specs import AggregateCall
from ..plan.types import BIGINT, DOUBLE, INTEGERS, LogicalType, decimal
from ..plan.user_functions import user_function_of_aggregate


class Arguments(Record):
    """A call's arguments.

    ``columns``: where they stand in the kernel's input.  ``types``: their types.  ``retracts``: rows are taken back.
    ``package``: the Java package of the accumulators.  ``java`` gives the Java type of what holds a type's values,
    ``ints`` a Java ``int[]``.
    """

    call: AggregateCall
    columns: Sequence[int]
    types: Sequence[LogicalType]
    retracts: bool
    package: Any
    java: Callable[[LogicalType], Any]
    ints: Callable[[Sequence[int]], Any]

    @property
    def first(self) -> tuple[int, Any]:
        """The first argument's column and type."""
        return self.columns[0], self.java(self.types[0])


Accumulator = Callable[[Arguments], Any]


def _count(a: Arguments) -> Any:
    nullable = [c for c, t in zip(a.columns, a.types, strict=True) if t.nullable]
    return a.package.Count(a.ints(nullable))


def _sum(a: Arguments) -> Any:
    return a.package.Sum.sum(*a.first, a.java(a.call.type))


def _sum0(a: Arguments) -> Any:
    return a.package.Sum.sum0(*a.first, a.java(a.call.type))


def _average(a: Arguments) -> Any:
    (given,) = a.types
    held = DOUBLE
    if given.root in INTEGERS:
        held = BIGINT
    elif given.root == "DECIMAL":
        held = decimal(38, given.scale or 0)
    return a.package.Sum.average(*a.first, a.java(held), a.java(a.call.type))


def _extreme(largest: bool) -> Accumulator:
    return lambda a: a.package.Extreme(*a.first, largest, a.retracts)


def _end(last: bool) -> Accumulator:
    def made(a: Arguments) -> Any:
        if a.retracts:
            return a.package.Elements(*a.first, "LAST" if last else "FIRST", True)
        return a.package.Latest(*a.first, last)

    return made


def _elements(result: str, ignore_nulls: bool = False) -> Accumulator:
    return lambda a: a.package.Elements(*a.first, result, ignore_nulls or a.call.ignore_nulls)


def _concatenation(a: Arguments) -> Any:
    return a.package.Concatenation(a.columns[0], a.columns[1] if len(a.columns) > 1 else -1)


def _welford(a: Arguments) -> Any:
    return a.package.Welford(*a.first)


def _percentile(a: Arguments) -> Any:
    arguments = [a.package.Argument(c, a.java(t)) for c, t in zip(a.columns, a.types, strict=True)]
    return a.package.Percentile(*(*arguments, None)[:3])


def _lag(a: Arguments) -> Any:
    offset, default = (*a.columns[1:], -1, -1)[:2]
    return a.package.Lag(*a.first, offset, default)


def _rank(a: Arguments) -> Any:
    """The number of rows so far: as in Flink, whose ranks know nothing of the order, so that all rows count."""
    return a.package.Count(a.ints([]))


def _json_array(skip_nulls: bool) -> Accumulator:
    return lambda a: a.package.JsonText(-1, a.columns[0], skip_nulls)


def _json_object(skip_nulls: bool) -> Accumulator:
    return lambda a: a.package.JsonText(a.columns[0], a.columns[1], skip_nulls)


def _bitmap(operation: str, counts: bool) -> Accumulator:
    def made(a: Arguments) -> Any:
        retracts = a.retracts and operation != "XOR"
        kind = a.package.CountedBitmap if retracts else a.package.BitmapSet
        return kind(a.columns[0], operation, counts)

    return made


_INTERNAL_NAME = re.compile(r"\$(.+?)(?:\$\d+)+")

ACCUMULATORS: dict[str, Accumulator] = {
    "COUNT": _count,
    "SUM": _sum,
    "$SUM0": _sum0,
    "AVG": _average,
    "MIN": _extreme(largest=False),
    "MAX": _extreme(largest=True),
    "FIRST_VALUE": _end(last=False),
    "LAST_VALUE": _end(last=True),
    "SINGLE_VALUE": _elements("SINGLE"),
    "ARRAY_AGG": _elements("ARRAY"),
    "COLLECT": _elements("MULTISET", ignore_nulls=True),
    "LAG": _lag,
    "LISTAGG": _concatenation,
    "PERCENTILE": _percentile,
    "ROW_NUMBER": _rank,
    "RANK": _rank,
    "DENSE_RANK": _rank,
    "$WELFORD_M2": _welford,
    "JSON_ARRAYAGG_ABSENT_ON_NULL": _json_array(skip_nulls=True),
    "JSON_ARRAYAGG_NULL_ON_NULL": _json_array(skip_nulls=False),
    "JSON_OBJECTAGG_ABSENT_ON_NULL": _json_object(skip_nulls=True),
    "JSON_OBJECTAGG_NULL_ON_NULL": _json_object(skip_nulls=False),
    **{f"BITMAP_{o}_AGG": _bitmap(o, counts=False) for o in ("BUILD", "AND", "OR", "XOR")},
    **{f"BITMAP_{o}_CARDINALITY_AGG": _bitmap(o, counts=True) for o in ("BUILD", "AND", "OR", "XOR")},
}
"""The functions by name."""


_HEADROOM = 12
"""A total with so many digits more than its values does not overflow by any number of them."""


def _in_parts(call: AggregateCall, types: Sequence[LogicalType]) -> bool:
    return True


def _totals_in_parts(call: AggregateCall, types: Sequence[LogicalType]) -> bool:
    """Totals of floating-point numbers depend on the order, and those of decimals where they may overflow."""
    (given,) = types
    if given.root != "DECIMAL":
        return given.root in INTEGERS
    held = decimal(38, given.scale or 0) if function_name(call) == "AVG" else call.type
    return _whole_digits(held) - _whole_digits(given) >= _HEADROOM


def _whole_digits(t: LogicalType) -> int:
    return (t.precision or 0) - (t.scale or 0)


_FOLDED: dict[str, Callable[[AggregateCall, Sequence[LogicalType]], bool]] = {
    **dict.fromkeys(("COUNT", "MIN", "MAX", "ROW_NUMBER", "RANK", "DENSE_RANK"), _in_parts),
    **dict.fromkeys(("SUM", "$SUM0", "AVG"), _totals_in_parts),
}
"""The functions that may be computed in parts, in any order, and by what this depends on."""


def folds_exactly(call: AggregateCall, row: LogicalType) -> bool:
    """Whether a call over inserted rows of the type ``row`` is the same where they are folded in parts first.

    The accumulator in Java says the same (``Accumulator.merges``).
    """
    rule = _FOLDED.get(function_name(call))
    return rule is not None and not call.is_distinct and rule(call, [row.field_types[i] for i in call.arg_list])


def function_name(call: AggregateCall) -> str:
    """The function's name: ``SUM`` of ``$SUM$1``, ``$SUM0`` of ``$$SUM0$1``; Flink numbers some twice."""
    match = _INTERNAL_NAME.fullmatch(call.internal_name or "")
    return match[1] if match else ""


def check_calls(calls: Iterable[AggregateCall]) -> None:
    """Raise :class:`UnsupportedError` for functions that are not executed; a user's function may be in some jar."""
    for call in calls:
        name = function_name(call)
        if name not in ACCUMULATORS and not (call.system_name or call.catalog_name or call.class_):
            raise UnsupportedError(f"the aggregate function {name} cannot be executed")


def check_method(call: AggregateCall, method: str, what: str) -> None:
    """Raise :class:`UnsupportedError` for a user's function that lacks the method for an aggregation of this sort."""
    function = java_function(call)
    if function is not None and method not in function.declaration.methods:
        raise UnsupportedError(
            f"{function.name} in {what}: its class {function.declaration.class_name} has no method {method}",
            hint=f"add the method {method}, as Flink demands it",
        )


def java_function(call: AggregateCall) -> JavaFunction | None:
    """The user's function in Java that is called, if it is one."""
    function = user_function_of_aggregate(call)
    return function if isinstance(function, JavaFunction) else None
