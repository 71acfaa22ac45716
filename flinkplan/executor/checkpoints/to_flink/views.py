"""The views of accumulators, as :mod:`..from_flink.views` reads them.

Source: Flink's ``DataViewUtils``, and the accumulator classes of its aggregate functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ....plan.savepoint.views import Holding, View, view_of, view_state
from ...jvm.spark import F
from ..from_flink.aggregates import Calls
from .givers import FlinkEntries, parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXTREMES = ("MIN", "MAX")

VALUES = "values"
"""The column of a frame of windows with the values that a call keeps of each, behind the number of the call."""

_KEPT = ("values", "members")
"""What the field of a kernel's accumulator is called with the values that it keeps, in order."""


def kept_values(accumulator: Column, fields: Sequence[str]) -> Column:
    """The values that a kernel's accumulator keeps, which has these ``fields``."""
    return accumulator.getField(next(name for name in _KEPT if name in fields))


def viewed(calls: Calls) -> Mapping[int, View]:
    """The views of the calls that have one, by the numbers of the calls."""
    views = (view_of(call, retracts) for call, retracts in zip(calls.calls, calls.retracts, strict=True))
    return {number: view for number, view in enumerate(views) if view is not None}


def view_of_values(
    number: int, view: View, frame: DataFrame, values: Column, by: Sequence[str] = ()
) -> Mapping[str, FlinkEntries]:
    """The view of the call of this number, whose ``values`` are an array of each row of the frame.

    ``by`` are columns that rows belong to beside their keys: those of a window.
    """
    owner = ["key", *by]
    namespace = [F.col(name) for name in by]
    each = frame.select(*owner, "accessed", F.posexplode(values).alias("place", "one"))
    place, one = F.col("place").cast("bigint"), F.col("one")
    accessed = F.max("accessed").alias("accessed")
    given: dict[str, FlinkEntries] = {}
    match view.holding:
        case Holding.COUNTS:
            total = each.groupBy(*owner, "one").agg(F.count("*").alias("n"), accessed)
            entries = FlinkEntries(total, [F.col("n")], [one], namespace)
        case Holding.LIST:
            entries = FlinkEntries(each, [one], (), namespace, position=place)
        case Holding.BY_ORDER:
            entries = FlinkEntries(each, [F.array(one)], [place], namespace)
            orders = F.sort_array(F.collect_list(place)).alias("orders")
            by_value = each.groupBy(*owner, "one").agg(orders, accessed)
            (other,) = view.others
            given[view_state(number, other)] = FlinkEntries(by_value, [F.col("orders")], [one], namespace)
        case Holding.ENTRIES:
            key, value = _json_member(one)
            entries = FlinkEntries(each, [value], [key], namespace)
    given[view_state(number, view.name)] = entries
    if view.pending:
        nothing = each.where(F.lit(False))
        given[view_state(number, view.pending)] = FlinkEntries(nothing, [one], (), namespace, position=place)
    return given


def _json_member(member: Column) -> tuple[Column, Column]:
    """The key and the value of a member of a JSON object; in Flink an empty text stands for NULL."""
    key, value = (F.regexp_extract(member, _MEMBER, i) for i in (1, 2))
    decoded = F.from_json(F.concat(F.lit("["), key, F.lit("]")), "array<string>")
    return F.get(decoded, F.lit(0)), F.when(value == "null", F.lit("")).otherwise(value)


_MEMBER = r"""(?s)^("(?:[^"\\]|\\.)*"):(.*)$"""


def view_of_counts(number: int, view: View, counts: DataFrame, by: Sequence[str]) -> Mapping[str, FlinkEntries]:
    """The view of a call, of frames with how often each value is there: ``map_key`` and ``n``."""
    namespace = [F.col(name) for name in by]
    return {view_state(number, view.name): FlinkEntries(counts, [F.col("n")], parts(counts, "map_key"), namespace)}


def with_size(frame: DataFrame, size: DataFrame, name: str) -> DataFrame:
    """A frame with how many values are counted for each key, as ``size`` says."""
    same = F.col("groups.key").eqNullSafe(F.col("sizes.key"))
    joined = frame.alias("groups").join(size.alias("sizes"), same, "left")
    return joined.select("groups.*", F.coalesce("sizes.size", F.lit(0)).cast("bigint").alias(name))


def with_extreme(windows: DataFrame, counts: DataFrame, name: str, function: str, by: Sequence[str]) -> DataFrame:
    """Windows, or slices, with the accumulator of MIN or MAX over the values that are counted in each."""
    (value,) = parts(counts, "map_key")
    extreme = (F.min if function == "MIN" else F.max)(value)
    owner = ["key", *by]
    extremes = counts.where("n > 0").groupBy(*owner).agg(extreme.alias("value"), F.count("*").alias("size"))
    same = reduce(and_, (F.col(f"windows.{b}").eqNullSafe(F.col(f"extremes.{b}")) for b in owner))
    joined = windows.alias("windows").join(extremes.alias("extremes"), same, "left")
    accumulator = F.struct("extremes.value", F.coalesce("extremes.size", F.lit(0)), F.lit(None))
    return joined.select("windows.*", accumulator.alias(name))
