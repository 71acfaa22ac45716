"""The states of an interval join, computed from rows that are kept without regard to their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...state.form_arrow import arrow
from .flat import Flat, concatenated
from .kept_rows import Entries, Kept, evaluated
from .recipe_steps import IntervalRows, TimedSide
from .relational import compute, counted, grouped, run_numbers, sorted_indices

if TYPE_CHECKING:
    from pyarrow import Array


def by_time(step: IntervalRows, entries: Entries, *, is_in_order: bool) -> Flat | None:
    """The entries of a state of an interval join; ``None`` if there are none.

    ``is_in_order``: one subtask has read all rows of an input, so that they say how far its watermark has come.  Else
    all rows stay until the operator drops them.
    """
    sides = [evaluated(side.rows, entries) for side in step.sides]
    passed = _passed(step.sides, sides) if is_in_order else None
    waiting = [_waiting(*each, passed) for each in zip(step.sides, sides, strict=True)]
    if step.part == "rows":
        rows = waiting[step.side]
        return None if rows is None else _lists(rows)
    due = [_first_due(*each) for each in zip(waiting, step.sides, strict=True)]
    if step.part == "due":
        return due[step.side]
    timers = concatenated([each for each in due if each is not None])
    return None if timers is None else _distinct(timers)


def _times(side: TimedSide, rows: Kept) -> Array:
    """The times of rows (milliseconds since the epoch)."""
    pa = arrow()
    array = rows.columns[side.time]
    if pa.types.is_struct(array.type):
        return array.field(0)
    return array.cast(pa.timestamp("ms", array.type.tz), safe=False).cast(pa.int64())


def _passed(sides: Sequence[TimedSide], kept: Sequence[Kept | None]) -> int | None:
    """The watermark that the rows have brought about; ``None`` where it is not known."""
    marks: list[int] = []
    for side, rows in zip(sides, kept, strict=True):
        latest = None if rows is None else compute().max(_times(side, rows)).as_py()
        if latest is None or side.delay is None:
            return None
        marks.append(latest - side.delay)
    return min(marks)


def _waiting(side: TimedSide, rows: Kept | None, passed: int | None) -> Flat | None:
    """The rows that others may still find, with their times behind the key; ``None`` if there are none."""
    if rows is None:
        return None
    rows = rows.repeated
    times = _times(side, rows)
    waits = times.is_valid()
    if passed is not None:
        waits = compute().and_(waits, compute().greater_equal(times, passed - side.waits))
    chosen = counted(rows.rows).filter(compute().fill_null(waits, False))
    if not len(chosen):
        return None
    pa = arrow()
    flat = Flat(rows.rows, tuple(rows.columns[i] for i in side.key), tuple(rows.columns), (times,))
    return replace(flat.take(chosen), rest=(pa.repeat(pa.scalar(False), len(chosen)),))


def _lists(rows: Flat) -> Flat:
    """The rows, those of one key and time in one entry."""
    (times,) = rows.rest_of_key
    sorted_rows = rows.take(sorted_indices([(column, True, True) for column in (*rows.key, times)]))
    return replace(sorted_rows, entry=run_numbers([*sorted_rows.key, *sorted_rows.rest_of_key], rows.rows))


def _first_due(rows: Flat | None, side: TimedSide) -> Flat | None:
    """When the first row of each key is past."""
    if rows is None:
        return None
    first, result = grouped(rows.key, {"time": rows.rest_of_key[0]}, {"time": "min"})
    due = compute().add(result["time_min"].combine_chunks(), side.waits + 1)
    return Flat(len(first), tuple(column.take(first) for column in rows.key), (), rest=(due,))


def _distinct(timers: Flat) -> Flat:
    (times,) = timers.rest
    first, _ = grouped([*timers.key, times], {"time": times}, {"time": "min"})
    return timers.take(first)
