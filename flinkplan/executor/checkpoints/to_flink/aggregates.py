"""GROUP BY, as :mod:`..from_flink.aggregates` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from ....plan.accumulator_columns import is_count_star
from ....plan.nodes import GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate
from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_state
from ....plan.specs import AggregateCall
from ....plan.types.parser import parse_type
from ....state.form import ROW_KIND, StateError, StateTable
from ...aggregate_functions import function_name
from ...jvm.spark import F
from ...jvm.types import field_name
from ..from_flink.aggregates import (
    BITMAP,
    COUNTED,
    RANKS,
    WHOLE,
    Calls,
    DistinctCall,
    calls_of,
    partial_calls,
    parts_of,
)
from .givers import FlinkEntries, Given, Giver, gives, parts
from .views import kept_values, view_of_values, viewed, with_size

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


@gives(GroupAggregate, GlobalGroupAggregate)
def group_aggregate(giver: Giver) -> Given:
    """The accumulators of each group."""
    node = giver.node
    assert isinstance(node, GroupAggregate | GlobalGroupAggregate)
    calls, ttl = calls_of(node, giver.plan), node.ttl_ms()
    frame = giver.state("accumulators", ttl)
    if frame is None:
        return {}
    rows, *accumulators = parts(frame, "value")
    schemas = [field.dataType for field in frame.schema["value"].dataType.fields[1:]]  # type: ignore[attr-defined]
    views, sizes = value_views(giver, calls, ttl, frame, accumulators, schemas)
    for number, size in sizes.items():
        frame = with_size(frame, size, f"size{number}")
    counts = {number: F.col(f"size{number}") for number in sizes}
    value = accumulator_columns(calls, rows, accumulators, schemas, giver.tables[flink_states.ACCUMULATORS], counts)
    return {flink_states.ACCUMULATORS: FlinkEntries(frame, value), **views, **distinct_views(giver, calls, ttl)}


@gives(IncrementalGroupAggregate)
def incremental_group_aggregate(giver: Giver) -> Given:
    """What DISTINCT calls have seen: of all else Flink hands on what is new, and keeps nothing."""
    node = giver.node
    assert isinstance(node, IncrementalGroupAggregate)
    return distinct_views(giver, partial_calls(node, giver.plan), node.ttl_ms())


def value_views(
    giver: Giver,
    calls: Calls,
    ttl: int,
    frame: DataFrame,
    accumulators: Sequence[Column],
    schemas: Sequence[StructType],
) -> tuple[Given, Mapping[int, DataFrame]]:
    """The views in which Flink keeps values of groups, and of calls that count theirs, how many different ones.

    ``frame`` has the groups, ``accumulators`` are theirs of each call, of the types ``schemas``.
    """
    given: dict[str, FlinkEntries] = {}
    sizes: dict[int, DataFrame] = {}
    for number, view in viewed(calls).items():
        if function_name(calls.calls[number]) in COUNTED:
            counted = giver.state(calls.names[number], ttl)
            if counted is None:
                raise StateError(f"nothing is kept of the values of {calls.names[number]}")
            state = view_state(number, view.name)
            given[state] = FlinkEntries(counted, parts(counted, "value"), parts(counted, "map_key"))
            sizes[number] = counted.groupBy("key").agg(F.count("*").alias("size"))
        else:
            given |= view_of_values(number, view, frame, kept_values(accumulators[number], schemas[number].names))
    return given, sizes


def accumulator_columns(
    calls: Calls,
    rows: Column | None,
    accumulators: Sequence[Column],
    schemas: Sequence[StructType],
    table: StateTable,
    sizes: Mapping[int, Column] | None = None,
    wholes: Mapping[int, Column] | None = None,
) -> list[Column]:
    """The columns of an accumulator row of Flink.

    ``sizes``: of calls that count their values, how many there are.  ``wholes``: whole accumulators of calls.
    """
    columns: list[Column] = []
    each = zip(calls.calls, calls.retracts, accumulators, schemas, strict=True)
    for number, (call, retracts, accumulator, schema) in enumerate(each):
        fields = {name: accumulator.getField(name) for name in schema.names}
        if number in (wholes or {}):
            columns.append((wholes or {})[number])
            continue
        given = accumulated(call, retracts, fields, (sizes or {}).get(number, F.lit(0)))
        columns += [given[name] for name in parts_of(call, retracts, calls.types)]
    if calls.counts_rows and not any(map(is_count_star, calls.calls)):
        if rows is None:
            raise StateError("the rows of a group are not counted here")
        columns.append(rows)
    views = len({tuple(call.arg_list) for call in calls.calls if call.is_distinct})
    columns += [F.lit(None)] * views
    width = sum(column.name != ROW_KIND for column in table.value)
    if len(columns) != width:
        raise StateError(f"Flink's accumulators have {width} parts, not {len(columns)}")
    return columns


def accumulated(call: AggregateCall, retracts: bool, kept: Mapping[str, Column], size: Column) -> Mapping[str, Column]:
    """The parts of Flink's accumulator by their names, where a kernel's has the fields ``kept``.

    ``size`` is how many different values are counted beside it, if any.  Views, which have states of their own, are
    NULL.
    Raises :class:`StateError` for a function of which it is not known.
    """
    match function_name(call):
        case "COUNT":
            return {"count" if call.arg_list else "count1": kept["count"]}
        case name if name in RANKS:
            return dict.fromkeys(RANKS[name], kept["count"])
        case "LAG":
            return {WHOLE: F.struct(kept["offset"], kept["default"], kept["values"])}
        case "SUM":
            total = F.when(kept["count"] > 0, kept["sum"])
            return {"sum": total, **({"count": kept["count"]} if retracts else {})}
        case "$SUM0":
            return {"sum": kept["sum"]}
        case "AVG":  # as in Flink, the total is NULL once it has overflowed
            return {"sum": kept["sum"], "count": kept["count"]}
        case "MIN" | "MAX" as name if not retracts:
            return {name.lower(): kept["value"]}
        case "MIN" | "MAX":
            return {WHOLE: F.struct(kept["value"], F.coalesce(size, F.lit(0)), F.lit(None))}
        case "SINGLE_VALUE":
            values = kept["values"]
            return {"value": F.get(values, F.lit(0)), "count": F.size(values)}
        case "FIRST_VALUE" | "LAST_VALUE" as name if not retracts:
            value = kept["value"]
            none = 2**63 - 1 if name == "FIRST_VALUE" else -(2**63)
            return {WHOLE: F.struct(value, F.when(value.isNull(), F.lit(none)).otherwise(F.lit(0)))}
        case "FIRST_VALUE" | "LAST_VALUE" as name:
            values, last = kept["values"], F.size(kept["values"]) - 1
            if name == "FIRST_VALUE":
                value, order, none = F.get(values, F.lit(0)), F.lit(0), 2**63 - 1
            else:
                value, order, none = F.get(values, last), last, -(2**63)
            return {WHOLE: F.struct(value, F.when(last < 0, F.lit(none)).otherwise(order), F.lit(None), F.lit(None))}
        case "COLLECT":
            return {WHOLE: F.struct(F.lit(None))}
        case "$WELFORD_M2":
            return {WHOLE: F.struct(kept["count"], kept["mean"], kept["m2"])}
        case "PERCENTILE":
            return {WHOLE: F.struct(kept["fractions"], F.lit(None))}
        case "ARRAY_AGG":
            return {WHOLE: F.struct(kept["values"], F.array())}
        case name if name.startswith(("JSON_ARRAYAGG", "JSON_OBJECTAGG")):
            return {WHOLE: F.struct(F.lit(None))}
        case name if name.startswith(BITMAP) and not retracts:
            has_bitmaps, bitmap = kept["rows"] > 0, kept["bitmap"]
            is_built = name.startswith(f"{BITMAP}BUILD_")
            return {call.function_name.lower(): bitmap if is_built else F.struct(F.when(has_bitmaps, bitmap))}
        case "LISTAGG" if retracts:
            separator = [kept["separator"]] if len(call.arg_list) > 1 else []
            return {WHOLE: F.struct(F.lit(None), F.lit(None), *separator)}
        case "LISTAGG":
            values, separator_ = kept["values"], kept["separator"]
            rest = F.slice(values, 2, F.greatest(F.size(values) - 1, F.lit(0)))
            joined = F.aggregate(rest, F.get(values, F.lit(0)), lambda text, one: F.concat(text, separator_, one))
            return {"accDelimiter": separator_, "concatAcc": F.when(F.size(values) > 0, joined)}
        case name:
            how = ", of which values are taken back," if retracts else ""
            raise StateError(f"what {name}{how} has accumulated is not given to Flink yet")


def shared_views(calls: Calls) -> Mapping[int, Sequence[DistinctCall]]:
    """The DISTINCT calls by the view of what they have seen, which those over the same columns share."""
    by_view: dict[int, list[DistinctCall]] = {}
    for call in calls.distinct:
        by_view.setdefault(call.view, []).append(call)
    return by_view


def distinct_views(giver: Giver, calls: Calls, ttl: int) -> Given:
    """The values that DISTINCT calls have seen."""
    given: dict[str, FlinkEntries] = {}
    for view, sharing in shared_views(calls).items():
        frames = []
        for call in sharing:
            frame = giver.state(f"{calls.names[call.number]}-distinct", ttl)
            if frame is None:
                raise StateError(f"nothing is kept of what {calls.names[call.number]} has seen")
            frames.append(frame)
        given |= view_entries(giver, view, sharing, frames)
    return given


def view_entries(
    giver: Giver, view: int, sharing: Sequence[DistinctCall], frames: Sequence[DataFrame], by: Sequence[str] = ()
) -> Given:
    """A view's entries, of frames with ``key``, ``map_key``, ``value`` (a count) and ``accessed`` for each call.

    ``by`` are further columns that entries belong to, such as windows.  NULL stands in a state of its own.
    """
    name = flink_states.distinct_view(view)
    table = giver.tables[name]
    names = [*("key", *by), "map_key"]
    counted = []
    for call, frame in zip(sharing, frames, strict=True):
        number = parts(frame, "value")[0]
        map_key = F.struct(*(p.alias(field_name(i)) for i, p in enumerate(parts(frame, "map_key")))).alias("map_key")
        counts = [(number if other is call else F.lit(0)).alias(f"n{other.place}") for other in sharing]
        counted.append(
            frame.where(number > 0).select(*(n for n in names if n != "map_key"), map_key, "accessed", *counts)
        )
    united = reduce(lambda one, other: one.unionByName(other), counted)
    numbers = [F.max(f"n{call.place}").cast("bigint").alias(f"n{call.place}") for call in sharing]
    frame = united.groupBy(*names).agg(*numbers, F.max("accessed").alias("accessed"))
    if not sharing[0].counts:
        bits = (F.when(F.col(f"n{c.place}") > 0, F.lit(1 << c.place)).otherwise(F.lit(0)) for c in sharing)
        value = reduce(add, bits).cast("bigint")
    elif len(sharing) > 1:
        value = F.array(*(F.col(f"n{call.place}") for call in sharing))
    else:
        value = F.col(f"n{sharing[0].place}")
    values = parts(frame, "map_key")
    namespace = [F.col(b) for b in by]
    is_row = len(values) > 1
    key = [F.col("map_key")] if is_row and parse_type(table.map_key[0].type).root == "ROW" else values
    entries = {}
    null = flink_states.distinct_null(view)
    if null in giver.tables:  # a single value
        entries[null] = FlinkEntries(frame.where(values[0].isNull()), [value], (), namespace)
        frame = frame.where(values[0].isNotNull())
    entries[name] = FlinkEntries(frame, [value], key, namespace)
    return entries
