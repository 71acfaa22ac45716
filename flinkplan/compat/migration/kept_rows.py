"""Rows of the new plan, computed from what old operators keep, and accumulators over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from ...plan.rex import RexNode
from ...plan.specs import JoinType
from ...state.form_arrow import arrow, arrow_type
from .conditions import computed
from .flat import Flat, fit
from .recipe_steps import (
    Accumulate,
    Accumulated,
    Computed,
    CountedValues,
    FirstField,
    Joined,
    KeptValue,
    NoRows,
    NullIfZero,
    Relation,
    Stored,
    Taken,
    Widened,
)
from .relational import compute, counted, grouped, pairs

if TYPE_CHECKING:
    from pyarrow import Array

Entries = Callable[[Stored], Flat | None]
"""All entries of a state; ``None`` if there are none."""
Columns = list["Array"]


@dataclass(frozen=True)
class Kept:
    """Rows: their columns, how often each is there, and when it was last accessed; ``None``: once, and not known."""

    columns: Columns
    rows: int
    numbers: Array | None = None
    accessed: Array | None = None

    def take(self, indices: Array) -> Kept:
        """The rows at these indices; those at NULL are of NULLs."""
        numbers, accessed = (None if each is None else each.take(indices) for each in (self.numbers, self.accessed))
        return Kept([column.take(indices) for column in self.columns], len(indices), numbers, accessed)

    @property
    def repeated(self) -> Kept:
        """Each row as often as it is there."""
        if self.numbers is None:
            return self
        return replace(self, numbers=None).take(_repeated(self.numbers))


def evaluated(relation: Relation, entries: Entries) -> Kept | None:
    """The rows; ``None`` if there are none."""
    match relation:
        case Stored():
            return _stored(relation, entries)
        case Computed(rows, projection, condition):
            below = evaluated(rows, entries)
            return None if below is None else _computed(below, projection, condition)
        case Joined():
            return _joined(relation, evaluated(relation.left, entries), evaluated(relation.right, entries))
        case NoRows():
            return None


def accumulated(step: Accumulate, entries: Entries) -> Flat | None:
    """The accumulators of each group; ``None`` if there are no rows."""
    found = evaluated(step.rows, entries)
    if found is None or not found.rows:
        return None
    columns, rows = found.repeated.columns, found.repeated.rows
    values: dict[str, Array] = {}
    functions: dict[str, str] = {}
    for i, each in enumerate(step.values):
        values[f"v{i}"], functions[f"v{i}"] = _aggregated(each, columns, rows)
        if each.has_view:
            values[f"n{i}"], functions[f"n{i}"] = values[f"v{i}"], "count_distinct"
    keys = [columns[i] for i in step.grouping]
    first, result = grouped(keys, values, functions)
    results = {name: result[f"{name}_{function}"].combine_chunks() for name, function in functions.items()}
    merged = tuple(
        _beside_view(results[f"v{i}"], results[f"n{i}"]) if each.has_view else _initial(results[f"v{i}"], each)
        for i, each in enumerate(step.values)
    )
    return Flat(len(first), tuple(key.take(first) for key in keys), merged)


def counted_values(step: CountedValues, entries: Entries) -> Flat | None:
    """How often each group has each value; ``None`` if there are none."""
    found = evaluated(step.rows, entries)
    if found is None or not found.rows:
        return None
    found = found.repeated
    numbers, function = _aggregated(step.counted, found.columns, found.rows)
    keys = [found.columns[i] for i in (*step.grouping, step.counted.argument)]
    first, result = grouped(keys, {"number": numbers}, {"number": function})
    numbers = compute().fill_null(result[f"number_{function}"].combine_chunks(), 0)
    *groups, values = (key.take(first) for key in keys)
    flat = Flat(len(first), tuple(groups), (), (values,), (numbers,))
    return flat.take(counted(len(first)).filter(compute().greater(numbers, 0)))


def _beside_view(extreme: Array, number: Array) -> Array:
    """The accumulator of an extreme whose values are in a view, in whose place nothing stands."""
    pa = arrow()
    return pa.StructArray.from_arrays([extreme, number, pa.nulls(len(extreme), pa.binary())], ["f0", "f1", "f2"])


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


def _stored(stored: Stored, entries: Entries) -> Kept | None:
    flat = entries(stored)
    if flat is None:
        return None
    for condition in stored.filters:
        flat = flat.take(_meeting(condition, flat.values, flat.rows))
    columns = [arrow().nulls(flat.rows) if each is None else _value(each, flat) for each in stored.values]
    numbers = flat.rest[0] if stored.form.startswith("rows with a number") else None
    return Kept(columns, flat.rows, numbers, flat.accessed)


def _meeting(condition: RexNode, columns: Sequence[Array], rows: int) -> Array:
    """The indices of the rows that meet a condition."""
    return counted(rows).filter(compute().fill_null(computed(condition, columns, rows), False))


def _value(source: KeptValue, rows: Flat) -> Array:
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
        case Widened(value, t):
            return fit(_value(value, rows), arrow_type(t))


def _repeated(numbers: Array) -> Array:
    """Each index as often as the number that stands there says."""
    pa = arrow()
    ends = compute().cumulative_sum(numbers.cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    total = ends[-1].as_py() if len(ends) else 0
    return compute().list_parent_indices(pa.LargeListArray.from_arrays(offsets, pa.nulls(total))).cast(pa.int64())


def _computed(rows: Kept, projection: Sequence[RexNode | None], condition: RexNode | None) -> Kept:
    if condition is not None:
        rows = rows.take(_meeting(condition, rows.columns, rows.rows))
    nothing = arrow().nulls(rows.rows)
    columns = [nothing if rex is None else computed(rex, rows.columns, rows.rows) for rex in projection]
    return replace(rows, columns=columns)


def _joined(join: Joined, left: Kept | None, right: Kept | None) -> Kept | None:
    pa = arrow()
    if left is None or right is None:
        return _unmatched_alone(join, left, right)
    left_key = [left.columns[i] for i in join.keys[0]]
    right_key = [fit(right.columns[i], own.type) for i, own in zip(join.keys[1], left_key, strict=True)]
    own, other = pairs(left_key, left.rows, right_key, right.rows)
    for i in join.never_null:
        known = left_key[i].take(own).is_valid()
        own, other = own.filter(known), other.filter(known)
    if join.condition is not None:
        both = [*(c.take(own) for c in left.columns), *(c.take(other) for c in right.columns)]
        matching = _meeting(join.condition, both, len(own))
        own, other = own.take(matching), other.take(matching)
    if join.join_type in (JoinType.SEMI, JoinType.ANTI):
        is_matched = compute().is_in(counted(left.rows), own)
        chosen = is_matched if join.join_type is JoinType.SEMI else compute().invert(is_matched)
        return left.take(counted(left.rows).filter(chosen))
    lefts, rights = [own], [other]
    if join.join_type in (JoinType.LEFT, JoinType.FULL):
        alone = counted(left.rows).filter(compute().invert(compute().is_in(counted(left.rows), own)))
        lefts.append(alone)
        rights.append(pa.nulls(len(alone), pa.int64()))
    if join.join_type in (JoinType.RIGHT, JoinType.FULL):
        alone = counted(right.rows).filter(compute().invert(compute().is_in(counted(right.rows), other)))
        lefts.append(pa.nulls(len(alone), pa.int64()))
        rights.append(alone)
    return _beside(left.take(pa.concat_arrays(lefts)), right.take(pa.concat_arrays(rights)))


def _beside(left: Kept, right: Kept) -> Kept:
    """Rows side by side: as often as both are there, written when the later one was."""
    numbers = [compute().fill_null(each, 1) for each in (left.numbers, right.numbers) if each is not None]
    times = [each for each in (left.accessed, right.accessed) if each is not None]
    return Kept(
        [*left.columns, *right.columns],
        left.rows,
        reduce(compute().multiply, numbers) if numbers else None,
        compute().max_element_wise(*times) if times else None,
    )


def _unmatched_alone(join: Joined, left: Kept | None, right: Kept | None) -> Kept | None:
    """The rows of a join that has rows of one side at most."""
    if left is not None and join.join_type is JoinType.ANTI:
        return left
    if left is not None and join.join_type in (JoinType.LEFT, JoinType.FULL):
        return replace(left, columns=[*left.columns, *(arrow().nulls(left.rows) for _ in range(join.widths[1]))])
    if right is not None and join.join_type in (JoinType.RIGHT, JoinType.FULL):
        return replace(right, columns=[*(arrow().nulls(right.rows) for _ in range(join.widths[0])), *right.columns])
    return None
