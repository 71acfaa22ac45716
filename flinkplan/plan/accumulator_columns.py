"""The accumulator columns of aggregate functions, as the first phase of an aggregation hands them on.

Sources: the declarative and imperative aggregate functions of Flink's runtime, ``AggregateUtil``.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import accumulator_types
from .errors import UnsupportedError
from .functions import aggregate
from .record import Record, replace
from .specs import AggregateCall, HoppingWindow, WindowingStrategy
from .types import BIGINT, DOUBLE, INT, LogicalType, RowField, decimal, row


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
        RowField(f"distinct${i}", accumulator_types.distinct_view(_key(d, types), len(d.calls) > 1 and takes_back))
        for i, d in enumerate(distincts)
    )
    return Accumulators(tuple(found), distincts, views, count_star)


def _key(distinct: Distinct, types: Sequence[LogicalType]) -> LogicalType:
    """The type of the distinct values: several columns make a row."""
    own = [types[i] for i in distinct.args]
    return own[0] if len(own) == 1 else row((f"f{i}", t) for i, t in enumerate(own))


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
    is_count = call.internal_name == aggregate.COUNT.internal_name
    return is_count and not call.arg_list and call.filter_arg < 0 and not call.distinct


def parts(call: AggregateCall, retract: bool, types: Sequence[LogicalType]) -> tuple[tuple[str, LogicalType], ...]:
    """The names and types of a call's accumulator.  Raises :class:`UnsupportedError` where they are not known."""
    args = [types[i] for i in call.arg_list]
    result, name = call.type.nullable_(), call.function_name.lower()
    match call.internal_name:
        case aggregate.COUNT.internal_name:
            return (("count" if call.arg_list else "count1", BIGINT),)
        case aggregate.SUM.internal_name:
            return (("sum", result), ("count", BIGINT)) if retract else (("sum", result),)
        case aggregate.SUM0.internal_name:
            return (("sum", result),)
        case aggregate.SINGLE_VALUE.internal_name:
            return (("value", result), ("count", INT))
        case aggregate.AVG.internal_name:
            return (("sum", _sum_type(args[0])), ("count", BIGINT))
        case aggregate.MAX.internal_name | aggregate.MIN.internal_name:
            return ((name, accumulator_types.extreme_with_retract(name, args[0]) if retract else args[0].nullable_()),)
        case aggregate.LISTAGG.internal_name if not retract:
            return (("accDelimiter", result), ("concatAcc", result))
        case aggregate.LISTAGG.internal_name if len(args) == 1:
            return ((name, accumulator_types.LISTAGG_WITH_RETRACT),)
        case aggregate.LISTAGG.internal_name:
            return ((name, accumulator_types.LISTAGG_WS_WITH_RETRACT),)
        case aggregate.ARRAY_AGG.internal_name if args[0].root in accumulator_types.LISTED:
            return ((name, accumulator_types.array_agg(args[0])),)
        case aggregate.COLLECT.internal_name:
            return ((name, accumulator_types.collect(args[0])),)
        case function if function in _JSON_OBJECTS:
            return ((name, accumulator_types.JSON_OBJECTAGG),)
        case str() as function if function in accumulator_types.BITMAPS and not retract:
            return ((name, accumulator_types.BITMAPS[function]),)
        case aggregate.PERCENTILE.internal_name:
            return ((name, accumulator_types.PERCENTILE),)
        case aggregate.WELFORD_M2.internal_name:
            return ((name, accumulator_types.WELFORD),)
    raise UnsupportedError(f"{call.function_name} cannot be aggregated in two phases yet")


_JSON_OBJECTS = [function.internal_name for function in aggregate.JSON_OBJECTAGG.values()]


def _sum_type(t: LogicalType) -> LogicalType:
    if t.root == "DECIMAL":
        return decimal(38, t.scale or 0)
    return DOUBLE if t.root in ("FLOAT", "DOUBLE") else BIGINT
