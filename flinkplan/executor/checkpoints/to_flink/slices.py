"""Slices, of which Flink makes windows that share some: what each has accumulated, by the open windows that have it.

Totals follow from differences of windows; of a minimum the largest one that all windows with the slice allow, by which
each comes to the same, also with rows that are still to come.  The panes of legacy HOP windows are slices with a start.

Source: Flink's ``SliceAssigners``, ``SlicingWindowOperator`` and ``PanedWindowProcessFunction``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ....plan.record import Record
from ....plan.settings import LOCAL_TIME_ZONE
from ....plan.specs import (
    CumulativeWindow,
    HoppingWindow,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowingStrategy,
)
from ....plan.types import APPROXIMATE
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...build.windows.assignment import timer
from ...jvm.spark import F, sql
from ...prepare.windows import Clock
from ..from_flink.aggregates import Calls
from .givers import Giver

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

ROWS = "rows"
"""The column with how many rows a window or slice has."""

_ADDED = ("sum", "count", "count1")

_SAME = ("PERCENTILE",)
"""The functions whose accumulator is the same in all windows: their values are counted beside it."""


class Slicing(Record):
    """How windows are made of slices.

    ``watermark``: in epoch milliseconds, if there has been one; of windows by the clock, up to when they have fired.
    ``lateness``: for how many milliseconds windows are kept behind it.  ``has_starts``: Flink knows slices by their
    start and end, where others have their end alone.
    """

    windowing: WindowingStrategy
    clock: Clock
    watermark: int | None
    lateness: int = 0
    has_starts: bool = False

    @property
    def is_sliced(self) -> bool:
        """Whether windows share slices."""
        sliced = isinstance(self.windowing, TimeAttributeWindowing)
        return sliced and not isinstance(self.windowing.window, TumblingWindow)

    def fires(self, end: Column) -> Column:
        """The instant at which the window with this end fires."""
        return timer(self.clock, end - 1)

    @property
    def bounds(self) -> tuple[str, ...]:
        """The columns by which Flink knows a window or slice."""
        return ("start", "end") if self.has_starts else ("end",)

    def placed(self, slices: DataFrame) -> DataFrame:
        """Slices with a column ``start``."""
        return slices.withColumn("start", F.col("end") - _sizes(self)[1]) if self.has_starts else slices


def slicing_of(giver: Giver, windowing: WindowingStrategy) -> Slicing:
    """How a node's windows are sliced."""
    zone = giver.node.option(LOCAL_TIME_ZONE, giver.time_zone)
    return Slicing(
        windowing,
        Clock(zone, windowing.time_attribute_type.root == "TIMESTAMP_LTZ"),
        giver.clock if windowing.is_proctime else giver.watermark,
    )


def with_parts(slices: DataFrame, windows: DataFrame, name: str, slicing: Slicing) -> DataFrame:
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
        end = place if slicing.has_starts else -place
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


def sliced(windows: DataFrame, names: Mapping[str, str], slicing: Slicing, calls: Calls) -> DataFrame:
    """What each slice has accumulated, its end in ``end``, of windows with parts of accumulators."""

    for name, part in names.items():
        call = calls.calls[int(name.partition("_")[0])]
        if part not in (*_ADDED, "min", "max") and function_name(call) not in _SAME:
            raise StateError(f"slices of {function_name(call)} are not given to Flink yet")
        if call.type.root in APPROXIMATE and part == "sum":
            raise StateError(f"slices of {function_name(call)} of floating-point numbers do not follow from windows")
    columns = [ROWS, *names]
    kinds = {ROWS: "count1", **names}
    if isinstance(slicing.windowing.window, CumulativeWindow):
        return _growing(windows, columns, kinds, slicing.windowing.window)
    assert isinstance(slicing.windowing.window, HoppingWindow)
    return _overlapping(windows, columns, kinds, slicing)


def first_windows(slices: DataFrame, windows: DataFrame) -> DataFrame:
    """Of each slice the first open window that has it, as ``key`` and ``end``: Flink has timers for these alone."""
    slice_end, (start, end) = F.col("slices.end"), (F.col("windows.start"), F.col("windows.end"))
    same = F.col("slices.key").eqNullSafe(F.col("windows.key")) & (start < slice_end) & (slice_end <= end)
    joined = slices.alias("slices").join(windows.alias("windows"), same)
    first = joined.groupBy("slices.key", "slices.end").agg(F.min(end).alias("first"))
    return first.select("key", F.col("first").alias("end")).distinct()


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
    # where all other windows with a slice have fired, it may be empty
    return frame.select("key", "end", *values).where(F.col(ROWS).isNull() | (F.col(ROWS) != 0))


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
    elif kind in ("min", "max"):
        result = (F.array_max if kind == "min" else F.array_min)(F.transform("own", value))
    else:
        result = value(F.get("own", F.lit(0)))
    return F.when(F.forall("own", has_value), result)


def _sizes(slicing: Slicing) -> tuple[int, int]:
    """The size and the slide of HOP, in milliseconds.

    Raises :class:`StateError` where the size is no multiple of the slide.
    """
    window = slicing.windowing.window
    assert isinstance(window, HoppingWindow)
    if window.size_ms % window.slide_ms:
        raise StateError("slices of windows whose size is no multiple of their slide are not given to Flink yet")
    return window.size_ms, window.slide_ms


def _with_slices(frame: DataFrame, slicing: Slicing) -> DataFrame:
    """A frame with arrays of ``windows`` for each slice that is not empty: its ``end``, and its ``own`` windows."""
    size, slide = _sizes(slicing)
    step = F.lit(slide).cast("bigint")
    frame = frame.select("*", F.explode(_slice_ends((size, slide))).alias("end"))
    own = F.filter("windows", lambda w: (w.getField("end") >= F.col("end")) & (w.getField("end") < F.col("end") + size))
    possible = F.sequence(F.col("end"), F.col("end") + (size - slide), step)
    watermark = slicing.watermark
    if watermark is not None:
        possible = F.filter(possible, lambda end: slicing.fires(end) + slicing.lateness > F.lit(watermark))
    return frame.withColumn("own", own).where((F.size("own") > 0) & (F.size("own") == F.size(possible)))


def _weight(distance: Column, size: int, slide: int) -> Column:
    """With what sign a window counts for a slice, by how far behind the slice's end it ends."""
    first = distance - (size - slide)
    begins = (first >= 0) & (F.pmod(first, F.lit(size)) == 0)
    follows = (distance - size >= 0) & (F.pmod(distance, F.lit(size)) == 0)
    return F.when(begins, F.lit(1)).when(follows, F.lit(-1)).otherwise(F.lit(0))


def sliced_values(seen: DataFrame, windows: DataFrame, slicing: Slicing) -> DataFrame:
    """The values that slices have seen, of those that ``windows`` have.

    How often they have does not matter where none is taken back; else see :func:`sliced_counts`.
    """
    if isinstance(slicing.windowing.window, CumulativeWindow):
        return _in_own_slices(seen, windows, slicing.windowing.window).drop("start", "earliest")
    frame = seen.groupBy("key", "map_key").agg(F.collect_list(F.struct("end")).alias("windows"))
    return _with_slices(frame, slicing).select("key", "end", "map_key", F.struct(F.lit(1)).alias("value"))


def _in_own_slices(values: DataFrame, windows: DataFrame, window: CumulativeWindow) -> DataFrame:
    """Values of windows with the ends of the slices that are the last ones of these, or the first of the earliest."""
    earliest = windows.groupBy("key", "start").agg(F.min("end").alias("earliest"))
    same = F.col("values.key").eqNullSafe(F.col("first.key")) & (F.col("values.start") == F.col("first.start"))
    placed = values.alias("values").join(earliest.alias("first"), same).select("values.*", "first.earliest")
    end = F.when(F.col("end") == F.col("earliest"), F.col("start") + window.step_ms).otherwise(F.col("end"))
    return placed.withColumn("end", end)


def sliced_counts(counts: DataFrame, windows: DataFrame, slicing: Slicing) -> DataFrame:
    """How often each slice has a value, of frames as :func:`sliced_values` takes them, with a column ``n``."""
    window = slicing.windowing.window
    if isinstance(window, CumulativeWindow):
        is_last = F.col("end") == F.col("start") + window.size_ms
        following = counts.where(~is_last).select(
            "key", (F.col("end") + window.step_ms).alias("end"), "map_key", (-F.col("n")).alias("n")
        )
        own = _in_own_slices(counts, windows, window).select("key", "end", "map_key", "n")
        return own.union(following).groupBy("key", "end", "map_key").agg(F.sum("n").alias("n")).where("n <> 0")
    frame = counts.groupBy("key", "map_key").agg(F.collect_list(F.struct("end", "n")).alias("windows"))
    sizes = _sizes(slicing)

    def added(total: Column, one: Column) -> Column:
        return total + _weight(one.getField("end") - F.col("end"), *sizes) * one.getField("n")

    frame = frame.select("*", F.explode(_slice_ends(sizes)).alias("end"))
    count = F.aggregate("windows", F.lit(0).cast("bigint"), added)
    return frame.select("key", "end", "map_key", count.alias("n")).where("n <> 0")


def _slice_ends(sizes: tuple[int, int]) -> Column:
    """The ends of the slices that the ``windows`` of HOP have."""
    size, slide = sizes
    step = F.lit(slide).cast("bigint")
    ends = F.transform("windows", lambda w: F.sequence(w.getField("end") - (size - slide), w.getField("end"), step))
    return F.array_distinct(F.flatten(ends))
