"""Rows that an operator has emitted, computed from what it keeps, and accumulators over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...plan.rex import InputRef, RexNode, walk
from ...plan.specs import JoinType
from ...state.form_arrow import arrow
from .conditions import computed
from .flat import Flat, fit
from .recipe import Accumulate, Accumulated, Computed, FirstField, KeptRows, KeptSide, NullIfZero, Taken
from .relational import compute, counted, grouped, pairs

if TYPE_CHECKING:
    from pyarrow import Array

Entries = Callable[[str], Flat | None]
"""All entries of a state; ``None`` if there are none."""
Columns = list["Array"]


def accumulated(step: Accumulate, entries: Entries) -> Flat | None:
    """The accumulators of each group; ``None`` if there are no rows."""
    kept = _rows(step.rows, entries)
    if kept is None:
        return None
    columns, rows = [kept[0][i] for i in step.columns], kept[1]
    for calc in step.calcs:
        columns, rows = _computed(calc, columns, rows)
    if not rows:
        return None
    values: dict[str, Array] = {}
    functions: dict[str, str] = {}
    for i, each in enumerate(step.values):
        values[f"v{i}"], functions[f"v{i}"] = _aggregated(each, columns, rows)
    keys = [columns[i] for i in step.grouping]
    first, result = grouped(keys, values, functions)
    merged = tuple(
        _initial(result[f"v{i}_{functions[f'v{i}']}"].combine_chunks(), each) for i, each in enumerate(step.values)
    )
    return Flat(len(first), tuple(key.take(first) for key in keys), merged)


def _aggregated(value: Accumulated, columns: Columns, rows: int) -> tuple[Array, str]:
    """The column that an aggregate function of Arrow takes, NULL where a row does not count, and that function."""
    pa = arrow()
    ones = pa.repeat(pa.scalar(1, pa.int64()), rows)
    array = ones if value.argument < 0 else columns[value.argument]
    if value.function == "count":
        array = compute().if_else(array.is_valid(), ones, 0)
    elif value.function.startswith("sum") and pa.types.is_integer(array.type):
        array = array.cast(pa.int64())
    if value.condition >= 0:
        counts = compute().fill_null(columns[value.condition], False)
        array = compute().if_else(counts, array, pa.scalar(None, array.type))
    function = value.function.partition(" ")[0]
    return array, "sum" if function == "count" else function


def _initial(array: Array, value: Accumulated) -> Array:
    """Accumulators, with what a function begins with where it has had no value."""
    starts_with_zero = value.function in ("count", "sum or zero")
    return compute().fill_null(array, arrow().scalar(0).cast(array.type)) if starts_with_zero else array


def _computed(calc: Computed, columns: Columns, rows: int) -> tuple[Columns, int]:
    if calc.condition is not None:
        meets = compute().fill_null(computed(calc.condition, columns, rows), False)
        kept = counted(rows).filter(meets)
        columns, rows = [column.take(kept) for column in columns], len(kept)
    if calc.projection is None:
        return columns, rows
    nothing = arrow().nulls(rows)
    return [nothing if rex is None else computed(rex, columns, rows) for rex in calc.projection], rows


def references(rex: RexNode) -> set[int]:
    """The columns that an expression reads."""
    return {each.index for each in walk(rex) if isinstance(each, InputRef)}


def _rows(kept: KeptRows, entries: Entries) -> tuple[Columns, int] | None:
    """The columns of all rows, and how many rows there are."""
    sides = [_side(side, entries) for side in kept.sides]
    if len(sides) == 1:
        (rows,) = sides
        if rows is None or kept.condition is None:
            return rows
        return _computed(Computed(None, kept.condition), *rows)
    return _joined(kept, sides)


def _side(side: KeptSide, entries: Entries) -> tuple[Columns, int] | None:
    """The rows of a state, each as often as it is there."""
    flat = entries(side.state)
    if flat is None:
        return None
    columns = [_value(each, flat) for each in side.values]
    if not side.form.startswith("rows with a number"):
        return columns, flat.rows
    indices = _repeated(flat.rest[0])
    return [column.take(indices) for column in columns], len(indices)


def _value(source: Taken | NullIfZero | FirstField, rows: Flat) -> Array:
    match source:
        case Taken("", place):
            return rows.key[place]
        case Taken(_, place):
            return rows.values[place]
        case FirstField(value):
            return _value(value, rows).field(0)
        case NullIfZero(value, count):
            array = _value(value, rows)
            return compute().if_else(compute().equal(_value(count, rows), 0), arrow().scalar(None, array.type), array)


def _repeated(numbers: Array) -> Array:
    """Each index as often as the number that stands there says."""
    pa = arrow()
    ends = compute().cumulative_sum(numbers.cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    total = ends[-1].as_py() if len(ends) else 0
    return compute().list_parent_indices(pa.LargeListArray.from_arrays(offsets, pa.nulls(total))).cast(pa.int64())


def _joined(kept: KeptRows, sides: Sequence[tuple[Columns, int] | None]) -> tuple[Columns, int] | None:
    pa = arrow()
    left, right = sides
    if left is None or right is None:
        return _unmatched_alone(kept, left, right)
    (left_row, left_rows), (right_row, right_rows) = left, right
    left_key = [left_row[i] for i in kept.sides[0].keys]
    right_key = [fit(right_row[i], own.type) for i, own in zip(kept.sides[1].keys, left_key, strict=True)]
    own, other = pairs(left_key, left_rows, right_key, right_rows)
    for i in kept.never_null:
        known = left_key[i].take(own).is_valid()
        own, other = own.filter(known), other.filter(known)
    if kept.condition is not None:
        both = [*(c.take(own) for c in left_row), *(c.take(other) for c in right_row)]
        meets = compute().fill_null(computed(kept.condition, both, len(own)), False)
        own, other = own.filter(meets), other.filter(meets)
    if kept.join_type in (JoinType.SEMI, JoinType.ANTI):
        is_matched = compute().is_in(counted(left_rows), own)
        chosen = is_matched if kept.join_type is JoinType.SEMI else compute().invert(is_matched)
        kept_rows = counted(left_rows).filter(chosen)
        return [column.take(kept_rows) for column in left_row], len(kept_rows)
    if kept.join_type in (JoinType.LEFT, JoinType.FULL):
        alone = counted(left_rows).filter(compute().invert(compute().is_in(counted(left_rows), own)))
        own_all = pa.concat_arrays([own, alone])
        other_all = pa.concat_arrays([other, pa.nulls(len(alone), pa.int64())])
    else:
        own_all, other_all = own, other
    if kept.join_type in (JoinType.RIGHT, JoinType.FULL):
        alone = counted(right_rows).filter(compute().invert(compute().is_in(counted(right_rows), other)))
        own_all = pa.concat_arrays([own_all, pa.nulls(len(alone), pa.int64())])
        other_all = pa.concat_arrays([other_all, alone])
    return [*(c.take(own_all) for c in left_row), *(c.take(other_all) for c in right_row)], len(own_all)


def _unmatched_alone(
    kept: KeptRows, left: tuple[Columns, int] | None, right: tuple[Columns, int] | None
) -> tuple[Columns, int] | None:
    """The rows of a join that has rows of one side at most."""
    pa = arrow()
    widths = [len(side.values) for side in kept.sides]
    if left is not None and kept.join_type is JoinType.ANTI:
        return left
    if left is not None and kept.join_type in (JoinType.LEFT, JoinType.FULL):
        return [*left[0], *(pa.nulls(left[1]) for _ in range(widths[1]))], left[1]
    if right is not None and kept.join_type in (JoinType.RIGHT, JoinType.FULL):
        return [*(pa.nulls(right[1]) for _ in range(widths[0])), *right[0]], right[1]
    return None
