"""The accumulator columns that the local phase of a two-phase aggregation emits for its aggregate functions.

Sources: the declarative and imperative aggregate functions of Flink's runtime, ``AggregateUtil``.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import accumulator_types
from .errors import UnsupportedError
from .functions import aggregate
from .functions.java import JavaFunction, called_java
from .record import Record, replace
from .rex import InputRef
from .specs import AggregateCall, HoppingWindow, WindowingStrategy
from .types import BIGINT, DOUBLE, INT, LogicalType, RowField, decimal, row


class Distinct(Record):
    """A set of distinct values that several calls share: its columns and the positions of the calls."""

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
    """The accumulators of calls over columns of these types; ``retract[i]`` says that call i retracts rows.

    With ``count_rows`` a COUNT(*) is added unless a call is one: it tells when a group has no rows left.
    """
    by_call: list[tuple[RowField, ...]] = []
    position = 0
    for call, retracts in zip(calls, retract, strict=True):
        columns = parts(call, retracts, types)
        by_call.append(tuple(RowField(f"{name}${position + i}", t) for i, (name, t) in enumerate(columns)))
        position += len(columns)
    count_star = None
    if count_rows and not any(is_count_star(c) for c in calls):
        count_star = RowField(f"count1${position}", BIGINT)
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, call in enumerate(calls):
        if call.is_distinct:
            groups.setdefault(call.arg_list, []).append(i)
    distincts = tuple(Distinct(args, tuple(at)) for args, at in groups.items())
    any_retracts = count_rows or any(retract)
    views = tuple(
        RowField(f"distinct${i}", accumulator_types.distinct_view(_key(d, types), len(d.calls) > 1 and any_retracts))
        for i, d in enumerate(distincts)
    )
    return Accumulators(tuple(by_call), distincts, views, count_star)


def _key(distinct: Distinct, types: Sequence[LogicalType]) -> LogicalType:
    """The type of the distinct values: a row where they have several columns."""
    key_types = [types[i] for i in distinct.args]
    return key_types[0] if len(key_types) == 1 else row((f"f{i}", t) for i, t in enumerate(key_types))


def counts_rows(strategy: WindowingStrategy, retracts: bool) -> bool:
    """Whether a window aggregation needs a COUNT(*): hopping windows skip empty windows."""
    return retracts or isinstance(strategy.window, HoppingWindow)


def renamed(accumulators: Accumulators, names: Sequence[str]) -> Accumulators:
    """The accumulators with these names for the columns of the calls, in order."""
    remaining = iter(names)
    by_call = tuple(tuple(RowField(next(remaining), f.type) for f in fields) for fields in accumulators.by_call)
    return replace(accumulators, by_call=by_call)


def is_count_star(call: AggregateCall) -> bool:
    """Whether the call counts rows."""
    is_count = call.internal_name == aggregate.COUNT.internal_name
    return is_count and not call.arg_list and call.filter_arg < 0 and not call.distinct


def parts(call: AggregateCall, retract: bool, types: Sequence[LogicalType]) -> tuple[tuple[str, LogicalType], ...]:
    """The names and types of a call's accumulator columns.  Raises :class:`UnsupportedError` if they are not known."""
    args = [types[i] for i in call.arg_list]
    own = called_java(call.system_name or call.catalog_name or call.class_)
    if own is not None:
        return ((own.name, _of_java(own, args)),)
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


def _of_java(function: JavaFunction, args: Sequence[LogicalType]) -> LogicalType:
    """The accumulator of a user's function.  Raises :class:`UnsupportedError` if it cannot be merged."""
    types = function.infer([InputRef(i, t) for i, t in enumerate(args)])
    if types is None or types.accumulator is None or "merge" not in function.declaration.methods:
        raise UnsupportedError(f"{function.name} has no method merge, and cannot be aggregated in two phases")
    return accumulator_types.with_views(types.accumulator)


_JSON_OBJECTS = [function.internal_name for function in aggregate.JSON_OBJECTAGG.values()]


def _sum_type(t: LogicalType) -> LogicalType:
    if t.root == "DECIMAL":
        return decimal(38, t.scale or 0)
    return DOUBLE if t.root in ("FLOAT", "DOUBLE") else BIGINT
