"""Operators over windows, as :mod:`..from_flink.windows` reads them.

Kernels keep windows.  Flink keeps slices, of which the windows of HOP and CUMULATE share some.  What each slice has
accumulated follows from the open windows that have it: totals from their differences; of a minimum the largest one that
all of them allow, by which each window comes to the same, also with rows that are still to come.

Source: Flink's ``SliceAssigners``, ``SlicingWindowOperator`` and ``SliceSharedWindowAggProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from ....plan.record import Record
from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....plan.settings import LOCAL_TIME_ZONE
from ....plan.specs import (
    AggregateCall,
    CumulativeWindow,
    HoppingWindow,
    SessionWindow,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowingStrategy,
)
from ....plan.types import APPROXIMATE, LogicalType
from ....state.form import ROW_KIND, StateError
from ...aggregate_functions import function_name
from ...build.operators.timed_joins import LEFT_ROW, RIGHT_ROW
from ...build.stream import END, RIGHT, ROW, SEQUENCE, START, TIME
from ...build.windows.assignment import timer
from ...jvm.spark import F, sql
from ...jvm.types import field_name
from ...prepare.known.emission import AT_THE_END, Emission, emission_of
from ...prepare.windows import Clock
from ..entries import NATIVE
from ..from_flink.aggregates import Calls, parts_of
from ..from_flink.windows import PARTS, calls_and_windowing, is_in_parts
from .aggregates import accumulated, shared_views, view_entries
from .emissions import emitted
from .givers import FlinkEntries, Given, Giver, as_row, gives, parts
from .sessions import session_rows, sessions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_ADDED = ("sum", "count", "count1")
_ROWS = "rows"


class Slicing(Record):
    """How windows are made of slices; ``watermark`` in epoch milliseconds, if there has been one."""

    windowing: WindowingStrategy
    clock: Clock
    watermark: int | None

    @property
    def is_sliced(self) -> bool:
        """Whether windows share slices."""
        sliced = isinstance(self.windowing, TimeAttributeWindowing)
        return sliced and not isinstance(self.windowing.window, TumblingWindow)

    def fires(self, end: Column) -> Column:
        """The instant at which the window with this end fires."""
        return timer(self.clock, end - 1)


def slicing_of(giver: Giver, windowing: WindowingStrategy) -> Slicing:
    """How a node's windows are sliced.  Raises :class:`StateError` for those that are not known."""
    if windowing.is_proctime:
        raise StateError("windows by the clock are not given to Flink yet")
    zone = giver.node.option(LOCAL_TIME_ZONE, giver.time_zone)
    return Slicing(windowing, Clock(zone, windowing.time_attribute_type.root == "TIMESTAMP_LTZ"), giver.watermark)


@gives(WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate)
def window_aggregate(giver: Giver) -> Given:
    """The accumulators of each open window or slice."""
    calls, windowing = calls_and_windowing(giver.node, giver.plan)
    slicing = slicing_of(giver, windowing)
    if isinstance(windowing.window, SessionWindow):
        return sessions(giver, calls, slicing.fires)
    windows, columns = _windows(giver, calls)
    legacy = isinstance(giver.node, GroupWindowAggregate)
    emission = _emission(giver, slicing)
    due = slicing.fires(F.col("end")).cast("bigint")
    timers = windows.select("key", "start", "end", due.alias("due"))
    if emission.lateness:
        later = windows.select("key", "start", "end", (due + emission.lateness).alias("due"))
        watermark = F.lit(slicing.watermark)
        timers = timers.where(watermark.isNull() | (F.col("due") > watermark)).unionByName(later)
    end = [F.col("start"), F.col("end")] if legacy else [F.col("end")]
    given = {flink_states.WINDOW_TIMERS: FlinkEntries(timers, [F.col("due")], (), end)}
    if emission.updates:
        assert isinstance(giver.node, GroupWindowAggregate)
        given |= emitted(giver, giver.node, open_windows(giver), slicing.clock)
    views = _seen(giver, calls)
    parts_of_slices = {name: kind for name, kind in columns.items() if kind == PARTS}
    if slicing.is_sliced:
        whole = {name: kind for name, kind in columns.items() if kind != PARTS}
        slices = sliced(windows, whole, slicing, calls)
        for name in parts_of_slices:
            slices = _with_parts(slices, windows, name, slicing)
        windows = slices
        views = {number: _sliced_values(frame, slicing) for number, frame in views.items()}
        end = [F.col("end")]
    table = giver.tables[flink_states.WINDOW_ACCUMULATORS]
    for name in parts_of_slices:
        windows = _merged(giver, calls, windows, name)
    each = zip(calls.calls, calls.retracts, strict=True)
    value: list[Column] = [
        F.col(f"{number}_{part}")
        for number, (call, retracts) in enumerate(each)
        for part in parts_of(call, retracts, calls.types)
    ]
    if calls.counts_rows and not any(map(is_count_star, calls.calls)):
        value.append(F.coalesce(F.col(_ROWS), F.lit(1)))
    by_view = shared_views(calls)
    value += [F.lit(None)] * len(by_view)
    width = sum(column.name != ROW_KIND for column in table.value)
    if len(value) != width:
        raise StateError(f"Flink's accumulators have {width} parts, not {len(value)}")
    windows = windows.withColumn("accessed", F.lit(giver.now))
    given[flink_states.WINDOW_ACCUMULATORS] = FlinkEntries(windows, value, (), end)
    by = ("start", "end") if legacy else ("end",)
    for view, sharing in by_view.items():
        frames = [views[call.number].withColumn("accessed", F.lit(giver.now)) for call in sharing]
        given |= view_entries(giver, view, sharing, frames, by)
    return given


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
    return windows.select(*(c for c in windows.columns if c != "$merged"), *columns)


def _with_parts(slices: DataFrame, windows: DataFrame, name: str, slicing: Slicing) -> DataFrame:
    """The slices with the parts of a call's accumulator that are theirs, in a column ``name``.

    The windows that have a slice have the same of it.
    """
    each = windows.select("key", "start", "end", F.explode(name).alias("part"))
    place = F.col("part").getField("slice")
    window = slicing.windowing.window
    if isinstance(window, CumulativeWindow):  # what has been merged is in the first slice
        earliest = F.min("end").over(sql.Window.partitionBy("key", "start"))
        each = each.withColumn("earliest", earliest)
        end = F.when(place <= F.col("earliest"), F.col("start") + window.step_ms).otherwise(place)
    else:
        end = -place
    each = each.select("key", end.alias("end"), "part")
    by = [F.col("part").getField(name).alias(alias) for name, alias in (("slice", "place"), ("part", "number"))]
    known = each.groupBy("key", "end", *by).agg(F.first("part").alias("part"))
    lists = known.groupBy("key", "end").agg(F.array_sort(F.collect_list("part"), _by_place).alias(name))
    same = F.col("slices.key").eqNullSafe(F.col("lists.key")) & (F.col("slices.end") == F.col("lists.end"))
    joined = slices.alias("slices").join(lists.alias("lists"), same, "left")
    none = F.array().cast(lists.schema[name].dataType)
    return joined.select("slices.*", F.coalesce(F.col(f"lists.{name}"), none).alias(name))


def _by_place(one: Column, other: Column) -> Column:
    result = F.lit(0)
    for name in ("part", "slice"):
        place, other_place = one.getField(name), other.getField(name)
        result = F.when(place < other_place, -1).when(place > other_place, 1).otherwise(result)
    return result


def _windows(giver: Giver, calls: Calls) -> tuple[DataFrame, Mapping[str, str]]:
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
        if view_of(call, retracts) is not None:
            raise StateError(f"the values of {function_name(call)} in windows are not given to Flink yet")
        stored = accumulators.getField(field.name)
        if is_in_parts(field.dataType) and call.distinct:
            raise StateError(f"parts of {function_name(call)}(DISTINCT) in windows are not given to Flink yet")
        if is_in_parts(field.dataType):
            columns[f"{number}_{PARTS}"] = stored.getField(PARTS)
            names[f"{number}_{PARTS}"] = PARTS
            continue
        fields = {name: stored.getField(name) for name in field.dataType.names}
        given = accumulated(call, retracts, fields, F.lit(0))
        for part in parts_of(call, retracts, calls.types):
            columns[f"{number}_{part}"] = given[part]
            names[f"{number}_{part}"] = part
    named = [column.alias(name) for name, column in columns.items()]
    rows = F.col("window").getField("count").alias(_ROWS)
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
    if [name for name in names if name != "isEmpty"] != (expected or ["count"]):
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
    rows = F.lit(None).cast("bigint").alias(_ROWS)
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


def sliced(windows: DataFrame, names: Mapping[str, str], slicing: Slicing, calls: Calls) -> DataFrame:
    """What each slice has accumulated, its end in ``end``, of windows with parts of accumulators."""

    for name, part in names.items():
        call = calls.calls[int(name.partition("_")[0])]
        if part not in (*_ADDED, "min", "max"):
            raise StateError(f"slices of {function_name(call)} are not given to Flink yet")
        if call.type.root in APPROXIMATE and part == "sum":
            raise StateError(f"slices of {function_name(call)} of floating-point numbers do not follow from windows")
    columns = [_ROWS, *names]
    kinds = {_ROWS: "count1", **names}
    if isinstance(slicing.windowing.window, CumulativeWindow):
        return _growing(windows, columns, kinds, slicing.windowing.window)
    assert isinstance(slicing.windowing.window, HoppingWindow)
    return _overlapping(windows, columns, kinds, slicing)


def _growing(
    windows: DataFrame, columns: Sequence[str], kinds: Mapping[str, str], window: CumulativeWindow
) -> DataFrame:
    """The slices of CUMULATE: the first one has what the earliest open window has, each other one what is new."""
    in_order = sql.Window.partitionBy("key", "start").orderBy("end")
    before = {name: F.lag(name).over(in_order) for name in columns}
    is_first = F.row_number().over(in_order) == 1
    end = F.when(is_first, F.col("start") + window.step_ms).otherwise(F.col("end"))
    values = []
    for name in columns:
        value = F.col(name)
        if kinds[name] in _ADDED:
            value = F.when(is_first, value).otherwise(value - F.coalesce(before[name], F.lit(0)))
        values.append(value.alias(name))
    return windows.select("key", end.alias("end"), *values)


def _overlapping(windows: DataFrame, columns: Sequence[str], kinds: Mapping[str, str], slicing: Slicing) -> DataFrame:
    """The slices of HOP."""
    one = F.struct("end", *columns)
    frame = windows.groupBy("key").agg(F.collect_list(one).alias("windows"))
    frame = _with_slices(frame, slicing)
    sizes = _sizes(slicing)
    values = [_slice_value(name, kinds[name], windows.schema[name].dataType, sizes).alias(name) for name in columns]
    return frame.select("key", "end", *values)


def _slice_value(name: str, kind: str, t: DataType, sizes: tuple[int, int]) -> Column:
    """A part of a slice's accumulator, of the key's ``windows`` and the slice's ``own``."""

    def has_value(window: Column) -> Column:
        return window.getField(name).isNotNull()

    def value(window: Column) -> Column:
        return window.getField(name)

    def added(total: Column, window: Column) -> Column:
        weight = _weight(window.getField("end") - F.col("end"), *sizes)
        return (total + weight * F.coalesce(value(window), zero)).cast(t)

    zero = F.lit(0).cast(t)
    if kind in _ADDED:
        result = F.aggregate("windows", zero, added)
    else:
        result = (F.array_max if kind == "min" else F.array_min)(F.transform("own", value))
    return F.when(F.forall("own", has_value), result)


def _sizes(slicing: Slicing) -> tuple[int, int]:
    window = slicing.windowing.window
    assert isinstance(window, HoppingWindow)
    return window.size_ms, window.slide_ms


def _with_slices(frame: DataFrame, slicing: Slicing) -> DataFrame:
    """A frame with arrays of ``windows`` for each slice that is not empty: its ``end``, and its ``own`` windows."""
    size, slide = _sizes(slicing)
    step = F.lit(slide).cast("bigint")
    ends = F.transform("windows", lambda w: F.sequence(w.getField("end") - (size - slide), w.getField("end"), step))
    frame = frame.select("*", F.explode(F.array_distinct(F.flatten(ends))).alias("end"))
    own = F.filter("windows", lambda w: (w.getField("end") >= F.col("end")) & (w.getField("end") < F.col("end") + size))
    possible = F.sequence(F.col("end"), F.col("end") + (size - slide), step)
    watermark = slicing.watermark
    if watermark is not None:
        possible = F.filter(possible, lambda end: slicing.fires(end) > F.lit(watermark))
    return frame.withColumn("own", own).where((F.size("own") > 0) & (F.size("own") == F.size(possible)))


def _weight(distance: Column, size: int, slide: int) -> Column:
    """With what sign a window counts for a slice, by how far behind the slice's end it ends."""
    first = distance - (size - slide)
    begins = (first >= 0) & (F.pmod(first, F.lit(size)) == 0)
    follows = (distance - size >= 0) & (F.pmod(distance, F.lit(size)) == 0)
    return F.when(begins, F.lit(1)).when(follows, F.lit(-1)).otherwise(F.lit(0))


def _sliced_values(seen: DataFrame, slicing: Slicing) -> DataFrame:
    """The values that slices have seen; how often does not matter, as none is taken back."""
    window = slicing.windowing.window
    if isinstance(window, CumulativeWindow):
        earliest = F.min("end").over(sql.Window.partitionBy("key", "start"))
        end = F.when(F.col("end") == earliest, F.col("start") + window.step_ms).otherwise(F.col("end"))
        return seen.withColumn("end", end).drop("start")
    frame = seen.groupBy("key", "map_key").agg(F.collect_list(F.struct("end")).alias("windows"))
    return _with_slices(frame, slicing).select("key", "end", "map_key", F.struct(F.lit(1)).alias("value"))


@gives(WindowTableFunction)
def window_table_function(giver: Giver) -> Given:
    """The rows of open sessions: those of other windows are not kept."""
    node = giver.node
    assert isinstance(node, WindowTableFunction)
    return session_rows(giver, slicing_of(giver, node.windowing).fires)


@gives(WindowRank, WindowDeduplicate)
def window_rank(giver: Giver) -> Given:
    """The rows of each open window."""
    node = giver.node
    assert isinstance(node, WindowRank | WindowDeduplicate)
    slicing = slicing_of(giver, node.windowing)
    rows = _window_rows(giver).withColumn("row", as_row(F.col("value").getField(ROW), giver.types()))
    given = {flink_states.WINDOW_TIMERS: _timers(rows, slicing)}
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
    given = {flink_states.WINDOW_TIMERS: _timers(rows, slicing)}
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
