"""Operators over windows, as :mod:`..from_flink.windows` reads them.

Kernels keep windows, and Flink slices where windows share some (:mod:`.slices`).

Source: Flink's ``SlicingWindowOperator``, ``WindowOperator`` and ``SliceSharedWindowAggProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....plan.accumulator_columns import is_count_star
from ....plan.nodes import (
    GlobalWindowAggregate,
    GroupWindowAggregate,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)
from ....plan.record import replace
from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....plan.specs import (
    AggregateCall,
    SessionWindow,
)
from ....plan.types import LogicalType
from ....state.form import ROW_KIND, StateError
from ...aggregate_functions import function_name
from ...build.operators.timed_joins import LEFT_ROW, RIGHT_ROW
from ...build.stream import END, RIGHT, ROW, SEQUENCE, START, TIME
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from ...prepare.known.emission import AT_THE_END, Emission, emission_of
from ..entries import NATIVE
from ..from_flink.aggregates import COUNTED, WHOLE, Calls, parts_of
from ..from_flink.windows import PARTS, calls_and_windowing, is_in_parts
from .aggregates import accumulated, shared_views, view_entries
from .emissions import emitted
from .givers import FlinkEntries, Given, Giver, as_row, gives, parts, timers_of
from .sessions import session_rows, sessions
from .slices import ROWS, Slicing, first_windows, sliced, sliced_counts, sliced_values, slicing_of, with_parts
from .views import EXTREMES, VALUES, kept_values, view_of_counts, view_of_values, viewed, with_extreme

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@gives(WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate)
def window_aggregate(giver: Giver) -> Given:
    """The accumulators of each open window or slice."""
    calls, windowing = calls_and_windowing(giver.node, giver.plan)
    slicing = slicing_of(giver, windowing)
    if isinstance(windowing.window, SessionWindow):
        return sessions(giver, calls, slicing)
    emission = _emission(giver, slicing)
    slicing = replace(slicing, lateness=emission.lateness, has_starts=isinstance(giver.node, GroupWindowAggregate))
    windows, columns = _windows(giver, calls, slicing)
    due = slicing.fires(F.col("end")).cast("bigint")
    timers = windows.select("key", "start", "end", due.alias("due"))
    if emission.lateness:
        later = windows.select("key", "start", "end", (due + emission.lateness).alias("due"))
        watermark = F.lit(slicing.watermark)
        timers = timers.where(watermark.isNull() | (F.col("due") > watermark)).unionByName(later)
    namespace = [F.col(bound) for bound in slicing.bounds]
    given: dict[str, FlinkEntries] = {}
    if emission.updates:
        assert isinstance(giver.node, GroupWindowAggregate)
        given |= emitted(giver, giver.node, open_windows(giver), slicing.clock, emission)
    views, counts = _seen(giver, calls), _counts(giver, calls)
    parts_of_slices = {name: kind for name, kind in columns.items() if kind == PARTS}
    if slicing.is_sliced:
        whole = {name: kind for name, kind in columns.items() if kind != PARTS}
        slices = sliced(windows, whole, slicing, calls)
        if not slicing.has_starts:
            timers = timers.join(first_windows(slices, windows), ["key", "end"], "left_semi")
        for name in parts_of_slices:
            slices = with_parts(slices, windows, name, slicing)
        views = {
            number: slicing.placed(_sliced_seen(frame, windows, slices, slicing, calls))
            for number, frame in views.items()
        }
        counts = {number: slicing.placed(sliced_counts(frame, windows, slicing)) for number, frame in counts.items()}
        windows = slicing.placed(slices)
    given |= {timers_of(giver, windowing.is_proctime): FlinkEntries(timers, [F.col("due")], (), namespace)}
    table = giver.tables[flink_states.WINDOW_ACCUMULATORS]
    for name in parts_of_slices:
        windows = _merged(giver, calls, windows, name)
    windows = windows.withColumn("accessed", F.lit(giver.now))
    for number, view in viewed(calls).items():
        if number not in counts:
            given |= view_of_values(number, view, windows, F.col(f"{number}_{VALUES}"), slicing.bounds)
            continue
        frame = counts[number].withColumn("accessed", F.lit(giver.now))
        given |= view_of_counts(number, view, frame, slicing.bounds)
        function = function_name(calls.calls[number])
        if function in EXTREMES:
            windows = with_extreme(windows, frame, f"{number}_{WHOLE}", function, slicing.bounds)
    each = zip(calls.calls, calls.retracts, strict=True)
    value: list[Column] = [
        F.col(f"{number}_{part}")
        for number, (call, retracts) in enumerate(each)
        for part in parts_of(call, retracts, calls.types)
    ]
    if calls.counts_rows and not any(map(is_count_star, calls.calls)):
        value.append(F.coalesce(F.col(ROWS), F.lit(1)))
    by_view = shared_views(calls)
    value += [F.lit(None)] * len(by_view)
    width = sum(column.name != ROW_KIND for column in table.value)
    if len(value) != width:
        raise StateError(f"Flink's accumulators have {width} parts, not {len(value)}")
    given[flink_states.WINDOW_ACCUMULATORS] = FlinkEntries(windows, value, (), namespace)
    for place, sharing in by_view.items():
        frames = [views[call.number].withColumn("accessed", F.lit(giver.now)) for call in sharing]
        given |= view_entries(giver, place, sharing, frames, slicing.bounds)
    return given


def _sliced_seen(seen: DataFrame, windows: DataFrame, slices: DataFrame, slicing: Slicing, calls: Calls) -> DataFrame:
    """The values that a DISTINCT call has seen in each slice that has rows."""
    if not any(calls.retracts):
        return sliced_values(seen, windows, slicing).join(slices, ["key", "end"], "left_semi")
    (count,) = parts(seen, "value")
    counts = seen.select("key", "start", "end", "map_key", count.cast("bigint").alias("n"))
    return sliced_counts(counts, windows, slicing).withColumn("value", F.struct("n"))


def _counts(giver: Giver, calls: Calls) -> dict[int, DataFrame]:
    """How often each window has a value that a call counts: ``key``, ``start``, ``end``, ``map_key`` and ``n``."""
    counts = {}
    for number, (call, retracts) in enumerate(zip(calls.calls, calls.retracts, strict=True)):
        if function_name(call) not in COUNTED or view_of(call, retracts) is None:
            continue
        frame = giver.entries[calls.names[number]]
        window, value = (F.col("map_key").getField(name) for name in ("window", "key"))
        bounds = (window.getField(name).alias(name) for name in ("start", "end"))
        (count,) = parts(frame, "value")
        counts[number] = frame.select("key", *bounds, value.alias("map_key"), count.cast("bigint").alias("n"))
    return counts


def _emission(giver: Giver, slicing: Slicing) -> Emission:
    """When the windows emit beside their ends."""
    if not isinstance(giver.node, GroupWindowAggregate):
        return AT_THE_END
    return emission_of(giver.node, slicing.windowing.is_proctime, giver.options)


def _merged(giver: Giver, calls: Calls, windows: DataFrame, name: str) -> DataFrame:
    """The windows, or slices, with the parts of Flink's accumulator of a call, which is in parts of slices here."""
    number = int(name.partition("_")[0])
    call, retracts = calls.calls[number], calls.retracts[number]
    windows = windows.withColumn("$merged", sql.Column(giver.kernel().mergedParts(number, F.col(name)._jc)))
    names = windows.schema["$merged"].dataType.names  # type: ignore[attr-defined]
    given = accumulated(call, retracts, {n: F.col("$merged").getField(n) for n in names}, F.lit(0))
    columns = [given[part].alias(f"{number}_{part}") for part in parts_of(call, retracts, calls.types)]
    if view_of(call, retracts) is not None:
        columns.append(kept_values(F.col("$merged"), names).alias(f"{number}_{VALUES}"))
    return windows.select(*(c for c in windows.columns if c != "$merged"), *columns)


def _windows(giver: Giver, calls: Calls, slicing: Slicing) -> tuple[DataFrame, Mapping[str, str]]:
    """The open windows: ``key``, ``start``, ``end``, ``rows`` and the parts of Flink's accumulators.

    These have the number of the call before their names; what each is is in the mapping.
    """
    if giver.operator.kernel is None:
        return _native_windows(giver, calls)
    if giver.operator.kernel != "WindowAggregate":
        raise StateError(f"what {giver.operator.kernel} keeps of windows is not given to Flink yet")
    frame = open_windows(giver)
    kept = frame.schema["window"].dataType
    schemas = kept["accumulators"].dataType.fields  # type: ignore[index]
    accumulators = F.col("window").getField("accumulators")
    columns: dict[str, Column] = {}
    names: dict[str, str] = {}
    for number, (call, retracts, field) in enumerate(zip(calls.calls, calls.retracts, schemas, strict=True)):
        stored = accumulators.getField(field.name)
        is_viewed = view_of(call, retracts) is not None
        if is_viewed and function_name(call) in EXTREMES:
            continue
        if is_in_parts(field.dataType) and slicing.is_sliced and (is_viewed or call.is_distinct):
            what = f"{function_name(call)}{'(DISTINCT)' if call.is_distinct else ''}"
            raise StateError(f"parts of {what} in windows are not given to Flink yet")
        if is_in_parts(field.dataType):
            columns[f"{number}_{PARTS}"] = stored.getField(PARTS)
            names[f"{number}_{PARTS}"] = PARTS
            continue
        fields = {name: stored.getField(name) for name in field.dataType.names}
        given = accumulated(call, retracts, fields, F.lit(0))
        if is_viewed and function_name(call) not in COUNTED:
            given = {**given, VALUES: kept_values(stored, field.dataType.names)}
        for part in (name for name in given if name == VALUES or name in parts_of(call, retracts, calls.types)):
            columns[f"{number}_{part}"] = given[part]
            names[f"{number}_{part}"] = part
    named = [column.alias(name) for name, column in columns.items()]
    rows = F.col("window").getField("count").alias(ROWS)
    return frame.select("key", "start", "end", rows, *named), names


_Buffer = tuple[str, tuple[int, ...], int]
"""The name of an aggregation of Spark, its arguments and filter, as columns."""


def _buffers(call: AggregateCall) -> list[_Buffer]:
    """What Spark aggregates for a call, as :mod:`...build.windows.native_aggregates` asks for it."""
    name = function_name(call)
    names = {"SUM": ("sum",), "$SUM0": ("sum",), "AVG": ("sum", "count")}.get(name, (name.lower(),))
    return [(each, tuple(call.arg_list), call.filter_arg) for each in names]


def _native_windows(giver: Giver, calls: Calls) -> tuple[DataFrame, Mapping[str, str]]:
    """The same of Spark's own aggregation, which keeps each aggregation that calls share once.

    Source: Spark's ``StreamingAggregationStateManagerImplV2`` and the buffers of ``Count``, ``Sum``, ``Min``, ``Max``.
    """
    frame = giver.entries[NATIVE]
    wanted = dict.fromkeys(buffer for call in calls.calls for buffer in _buffers(call))
    stored = iter(parts(frame, "value"))
    kept: dict[_Buffer, Column] = {}
    names = frame.schema["value"].dataType.names  # type: ignore[attr-defined]
    for buffer in wanted:
        value = next(stored)
        if buffer[0] == "sum" and _input_type(calls, buffer).root == "DECIMAL":
            value = F.when(~next(stored), value)
        kept[buffer] = value
    expected = [buffer[0] for buffer in wanted]
    if [name for name in names if name != "isEmpty"] not in ([expected] if expected else [[], ["count"]]):
        raise StateError(f"Spark keeps {', '.join(names)} of windows, which is not known")
    columns: dict[str, Column] = {}
    kinds: dict[str, str] = {}
    for number, call in enumerate(calls.calls):
        values = dict(zip(("sum", "count"), (kept[b] for b in _buffers(call)), strict=False))
        for part in parts_of(call, False, calls.types):
            value = values.get(part, kept[_buffers(call)[0]])
            is_null = function_name(call) in ("SUM", "MIN", "MAX")
            columns[f"{number}_{part}"] = value if is_null else F.coalesce(value, F.lit(0))
            kinds[f"{number}_{part}"] = part
    keys = [name for name in frame.schema["key"].dataType.names if name not in (START, END, TIME)]  # type: ignore[attr-defined]
    key = F.struct(*(F.col("key").getField(name).alias(name) for name in keys)) if keys else F.struct(F.lit(0))
    bounds = [F.col("key").getField(name).alias(alias) for name, alias in ((START, "start"), (END, "end"))]
    rows = F.lit(None).cast("bigint").alias(ROWS)
    named = [column.alias(name) for name, column in columns.items()]
    return frame.select(key.alias("key"), *bounds, rows, *named), kinds


def _input_type(calls: Calls, buffer: _Buffer) -> LogicalType:
    """The type of the column that Spark aggregates."""
    return calls.types[buffer[1][0]]


def open_windows(giver: Giver) -> DataFrame:
    """The windows of each key, kept in one value or in a map: ``key``, ``start``, ``end``, ``window``."""
    many, few = giver.entries["windows"], giver.entries["windows-few"]
    spark = many.sparkSession
    assert spark._jvm is not None
    types = spark._jvm.org.apache.spark.sql.types.DataType
    bounds, window = (many.schema[name].dataType for name in ("map_key", "value"))
    packed = few["value"].getField("windows")
    unpacked = spark._jvm.flinkplan.runtime.time.FewWindows.unpacked(
        packed._jc, types.fromJson(bounds.json()), types.fromJson(window.json())
    )
    names: list[str] = bounds.names  # type: ignore[attr-defined]
    in_value = few.select("key", F.inline(sql.Column(unpacked)).alias(*names, "window"))
    in_map = many.select("key", *(F.col("map_key").getField(n).alias(n) for n in names), F.col("value").alias("window"))
    return in_value.unionByName(in_map)


def _seen(giver: Giver, calls: Calls) -> dict[int, DataFrame]:
    """The values that DISTINCT calls have seen: ``key``, ``start``, ``end``, ``map_key``, ``value`` (a count)."""
    seen = {}
    for call in calls.distinct:
        frame = giver.entries[f"{calls.names[call.number]}-distinct"]
        window, value = (F.col("map_key").getField(name) for name in ("window", "key"))
        bounds = (window.getField(name).alias(name) for name in ("start", "end"))
        seen[call.number] = frame.select("key", *bounds, value.alias("map_key"), "value")
    return seen


@gives(WindowTableFunction)
def window_table_function(giver: Giver) -> Given:
    """The rows of open sessions: those of other windows are not kept."""
    node = giver.node
    assert isinstance(node, WindowTableFunction)
    return session_rows(giver, slicing_of(giver, node.windowing))


@gives(WindowRank, WindowDeduplicate)
def window_rank(giver: Giver) -> Given:
    """The rows of each open window."""
    node = giver.node
    assert isinstance(node, WindowRank | WindowDeduplicate)
    slicing = slicing_of(giver, node.windowing)
    rows = _window_rows(giver).withColumn("row", as_row(F.col("value").getField(ROW), giver.types()))
    given = {timers_of(giver, slicing.windowing.is_proctime): _timers(rows, slicing)}
    end = [F.col("end")]
    if isinstance(node, WindowDeduplicate):
        time = F.col("row").getField(field_name(node.order_key))
        order = [time.desc(), F.col("place").desc()] if node.keep_last_row else [time.asc(), F.col("place").asc()]
        number = F.row_number().over(sql.Window.partitionBy("key", "end").orderBy(*order))
        kept = rows.withColumn("$number", number).where("`$number` = 1")
        given[flink_states.WINDOW_DEDUPLICATE] = FlinkEntries(kept, parts(kept, "row"), (), end)
        return given
    sort_key = [F.col("row").getField(field_name(f.index)) for f in node.sort_spec.fields]
    by = F.struct(*(column.alias(field_name(i)) for i, column in enumerate(sort_key)))
    grouped = rows.withColumn("sort_key", by).groupBy("key", "end", "sort_key")
    all_ = F.sort_array(F.collect_list(F.struct("place", "row"))).alias("all")
    lists = grouped.agg(all_, F.max("accessed").alias("accessed"))
    lists = lists.withColumn("rows", F.transform("all", lambda one: one["row"]))
    given[flink_states.WINDOW_RANK] = FlinkEntries(lists, [F.col("rows")], parts(lists, "sort_key"), end)
    return given


@gives(WindowJoin)
def window_join(giver: Giver) -> Given:
    """The rows of both sides in each open window."""
    node = giver.node
    assert isinstance(node, WindowJoin)
    slicing = slicing_of(giver, node.left_windowing)
    rows = _window_rows(giver)
    given = {timers_of(giver, slicing.windowing.is_proctime): _timers(rows, slicing)}
    for is_right, (name, field) in enumerate(zip(flink_states.JOINED, (LEFT_ROW, RIGHT_ROW), strict=True)):
        side = rows.where(F.col("value").getField(RIGHT) == bool(is_right))
        side = side.withColumn("row", as_row(F.col("value").getField(field), giver.types(is_right)))
        given[name] = FlinkEntries(side, parts(side, "row"), (), [F.col("end")], F.col("place"))
    return given


def _window_rows(giver: Giver) -> DataFrame:
    """The rows of windows as a kernel has read them, in ``value``, with their windows' ends and their ``place``."""
    rows = giver.entries["rows"]
    value = F.col("value")
    in_order = sql.Window.partitionBy("key").orderBy(value.getField(SEQUENCE), F.col("position"))
    place = F.row_number().over(in_order)
    ends = value.getField(END).alias("end")
    return rows.select("key", ends, "value", place.alias("place"), F.lit(giver.now).alias("accessed"))


def _timers(rows: DataFrame, slicing: Slicing) -> FlinkEntries:
    """The timers of the windows that rows are in."""
    windows = rows.select("key", "end").distinct().withColumn("due", slicing.fires(F.col("end")).cast("bigint"))
    return FlinkEntries(windows, [F.col("due")], (), [F.col("end")])
