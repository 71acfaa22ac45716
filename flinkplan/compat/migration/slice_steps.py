"""Puts the accumulators of slices together to those of other windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...state.form_arrow import arrow
from .flat import Flat
from .recipe_steps import MergeSlices
from .relational import compute, grouped
from .slices import Slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyarrow import Array


def resliced(
    step: MergeSlices, key: Sequence[Array], values: Sequence[Array], ends: Array, watermark: int | None
) -> Flat | None:
    """The accumulators of the new slices, or the timers of their windows; ``None`` where there are none.

    ``ends`` are the ends of the old slices (epoch milliseconds).
    """
    new = step.new
    slice_ends = _aligned(ends, new)
    if watermark is not None:
        open_ = compute().greater(_last_end(slice_ends, new), watermark + 1)
        key, values = [column.filter(open_) for column in key], [column.filter(open_) for column in values]
        slice_ends = slice_ends.filter(open_)
    if not len(slice_ends):
        return None
    due = _due(slice_ends, new, watermark)
    kept = _first_where_fired(slice_ends, new, watermark) if new.is_cumulative else slice_ends
    columns = {"due": due, **{f"v{i}": value for i, value in enumerate(values)}}
    functions = {"due": "min", **{f"v{i}": function for i, function in enumerate(step.functions)}}
    first, result = grouped([*key, kept], columns, functions)
    keys = tuple(column.take(first) for column in key)
    if step.is_timers:
        times = result["due_min"].combine_chunks()
        firsts, _ = grouped([*keys, times], {"time": times}, {"time": "min"})
        times = times.take(firsts)
        own = tuple(column.take(firsts) for column in keys)
        return Flat(len(times), own, (), rest=(compute().subtract(times, 1),), namespace=_namespace(times))
    merged = tuple(
        result[f"v{i}_{function}"].combine_chunks().cast(values[i].type) for i, function in enumerate(step.functions)
    )
    return Flat(len(first), keys, merged, namespace=_namespace(kept.take(first)))


def _namespace(ends: Array) -> Array:
    return arrow().StructArray.from_arrays([ends], names=["end"])


def _floored(numbers: Array, unit: int, offset: int) -> Array:
    """Each number down to the next ``offset`` plus a multiple of ``unit``."""
    pa = arrow()
    units = compute().floor(compute().divide(compute().subtract(numbers, offset).cast(pa.float64()), float(unit)))
    return compute().add(compute().multiply(units.cast(pa.int64()), unit), offset)


def _aligned(ends: Array, new: Slices) -> Array:
    """The ends of the new slices that the old ones, by their ends, are in."""
    return compute().add(_floored(compute().subtract(ends, 1), new.slice, new.offset), new.slice)


def _last_end(ends: Array, new: Slices) -> Array:
    """The end of the last window that has each slice."""
    starts = _floored(compute().subtract(ends, new.slice), new.step, new.offset)
    return compute().add(starts, new.size)


def _due(ends: Array, new: Slices, watermark: int | None) -> Array:
    """The end of the first window with each slice that has not fired: windows end with slices."""
    if watermark is None:
        return ends
    next_end = (watermark + 1 - new.offset) // new.slice * new.slice + new.offset + new.slice
    return compute().max_element_wise(ends, arrow().scalar(next_end, arrow().int64()))


def _first_where_fired(ends: Array, new: Slices, watermark: int | None) -> Array:
    """The first slice of the windows for slices whose own window has fired, in which Flink has merged them."""
    if watermark is None:
        return ends
    starts = _floored(compute().subtract(ends, new.slice), new.step, new.offset)
    has_fired = compute().less_equal(ends, watermark + 1)
    return compute().if_else(has_fired, compute().add(starts, new.slice), ends)
