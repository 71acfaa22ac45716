"""The accumulator columns of aggregate functions, as the first phase of an aggregation hands them on.

Sources: the declarative and imperative aggregate functions of Flink's runtime, ``AggregateUtil``.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import accumulator_types
from .errors import UnsupportedError
from .record import Record, replace
from .specs import AggregateCall, HoppingWindow, WindowingStrategy
from .types import BIGINT, DOUBLE, INT, LogicalType, RowField, decimal


class Distinct(Record):
    """A set of distinct values that calls share: the columns it is over and the calls' positions."""

    args: tuple[int, ...]
    calls: tuple[int, ...]


class Accumulators(Record):
    """The accumulator columns of several calls."""

    by_call: tuple[tuple[RowField, ...], ...]
    distincts: tuple[Distinct, ...]
    distinct_fields: tuple[RowField, ...]
    count_star: RowField | None

    @property
    def fields(self) -> tuple[RowField, ...]:
        """All columns in order."""
        extra = () if self.count_star is None else (self.count_star,)
        return (*(f for fields in self.by_call for f in fields), *extra, *self.distinct_fields)


def accumulators(
    calls: Sequence[AggregateCall], retract: Sequence[bool], types: Sequence[LogicalType], count_rows: bool = False
) -> Accumulators:
    """The accumulators of calls over columns of these types; ``retract[i]`` says that call i takes rows back.

    With ``count_rows`` a COUNT(*) is added where there is none: it tells when a group has no rows left.
    """
    found: list[tuple[RowField, ...]] = []
    position = 0
    for call, retracts in zip(calls, retract, strict=True):
        own = parts(call, retracts, types)
        found.append(tuple(RowField(f"{name}${position + i}", t) for i, (name, t) in enumerate(own)))
        position += len(own)
    count_star = None
    if count_rows and not any(is_count_star(c) for c in calls):
        count_star = RowField(f"count1${position}", BIGINT)
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, call in enumerate(calls):
        if call.distinct:
            groups.setdefault(call.arg_list, []).append(i)
    distincts = tuple(Distinct(args, tuple(at)) for args, at in groups.items())
    takes_back = count_rows or any(retract)
    views = tuple(
        RowField(f"distinct${i}", accumulator_types.distinct_view(types[d.args[0]], len(d.calls) > 1 and takes_back))
        for i, d in enumerate(distincts)
    )
    return Accumulators(tuple(found), distincts, views, count_star)


def counts_rows(strategy: WindowingStrategy, retracts: bool) -> bool:
    """Whether an aggregation per window needs a COUNT(*): sliding windows skip what is empty."""
    return retracts or isinstance(strategy.window, HoppingWindow)


def renamed(found: Accumulators, names: Sequence[str]) -> Accumulators:
    """The accumulators of the calls by the names that the columns really have, in order."""
    rest = iter(names)
    by_call = tuple(tuple(RowField(next(rest), f.type) for f in fields) for fields in found.by_call)
    return replace(found, by_call=by_call)


def is_count_star(call: AggregateCall) -> bool:
    """Whether the call counts rows."""
    return call.internal_name == "$COUNT$1" and not call.arg_list and call.filter_arg < 0 and not call.distinct


def parts(call: AggregateCall, retract: bool, types: Sequence[LogicalType]) -> tuple[tuple[str, LogicalType], ...]:
    """The names and types of a call's accumulator.  Raises :class:`UnsupportedError` where they are not known."""
    args = [types[i] for i in call.arg_list]
    result = call.type.nullable_()
    match call.internal_name:
        case "$COUNT$1":
            return (("count" if call.arg_list else "count1", BIGINT),)
        case "$SUM$1":
            return (("sum", result), ("count", BIGINT)) if retract else (("sum", result),)
        case "$$SUM0$1":
            return (("sum", result),)
        case "$SINGLE_VALUE$1":
            return (("value", result), ("count", INT))
        case "$AVG$1":
            return (("sum", _sum_type(args[0])), ("count", BIGINT))
        case "$MAX$1" | "$MIN$1" as name:
            lower = name[1:4].lower()
            return (
                (lower, accumulator_types.extreme_with_retract(lower, args[0]) if retract else args[0].nullable_()),
            )
        case "$LISTAGG$1" if not retract:
            return (("accDelimiter", result), ("concatAcc", result))
        case "$LISTAGG$1" if len(args) == 1:
            return (("listagg", accumulator_types.LISTAGG_WITH_RETRACT),)
        case "$ARRAY_AGG$1" if args[0].root in accumulator_types.LISTED:
            return (("array_agg", accumulator_types.array_agg(args[0])),)
        case "$COLLECT$1":
            return (("collect", accumulator_types.collect(args[0])),)
        case "$JSON_OBJECTAGG_NULL_ON_NULL$1" | "$JSON_OBJECTAGG_ABSENT_ON_NULL$1" as name:
            return ((name[1:-2].lower(), accumulator_types.JSON_OBJECTAGG),)
        case str() as name if name in accumulator_types.BITMAPS and not retract:
            return ((name[1:-2].lower(), accumulator_types.BITMAPS[name]),)
        case "$PERCENTILE$1":
            return (("percentile", accumulator_types.PERCENTILE),)
        case "$$WELFORD_M2$1$1":
            return (("$welford_m2$1", accumulator_types.WELFORD),)
    raise UnsupportedError(f"{(call.internal_name or '?').strip('$')} cannot be aggregated in two phases yet")


def _sum_type(t: LogicalType) -> LogicalType:
    if t.root == "DECIMAL":
        return decimal(38, t.scale or 0)
    return DOUBLE if t.root in ("FLOAT", "DOUBLE") else BIGINT
