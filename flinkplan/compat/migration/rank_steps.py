"""The rows of a ranking, for another order or other ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...state.form_arrow import arrow
from .entries import NotDerivableError, Source, Target
from .flat import Flat
from .recipe_steps import (
    FirstRows,
    SortedKeys,
)
from .relational import compute, counted, grouped, places_in_runs, run_numbers, sorted_indices

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch


def ranked(step: FirstRows, source: Source, target: Target) -> Iterator[RecordBatch]:
    """The rows of each partition that are in the new ranks, in the new order."""
    rows = source.whole(step.state)
    if rows is None:
        return
    key = [rows.key[i] for i in step.key]
    row = [rows.values[i] for i in step.values]
    ordering = [(row[o.column], o.is_ascending, o.null_is_last) for o in step.order]
    if step.unique_key:
        ordering.append((rows.rest[0], True, True))
    indices = sorted_indices([*((column, True, True) for column in key), *ordering])
    key, row = ([each.take(indices) for each in columns] for columns in (key, row))
    places, lengths = places_in_runs(run_numbers(key, rows.rows))
    if step.needs_all and compute().max(lengths).as_py() >= step.had:
        full = compute().sum(compute().and_(compute().equal(places, 0), compute().greater_equal(lengths, step.had)))
        raise NotDerivableError(
            f"{full.as_py()} partitions have {step.had} rows, and those behind them have not been kept",
            hint=f"keep the order, and the last rank at most at {step.had}",
        )
    if step.may_tie and step.sort_columns:
        _check_ties(step, key, row, [rows.values[i].take(indices) for i in range(step.sort_columns)])
    if step.is_unique:
        _check_first(step, key, row, places)
    kept = compute().less(places, step.most)
    rest = tuple(column.take(indices) for column in rows.rest) if step.unique_key else ()
    sort_key = [] if step.is_single else [row[c] for c in step.unique_key or [o.column for o in step.order]]
    entry = run_numbers([*key, *sort_key], rows.rows)
    accessed = None if rows.accessed is None else rows.accessed.take(indices)
    kind = None if rows.kind is None else rows.kind.take(indices)
    ranked = Flat(rows.rows, tuple(key), (*sort_key, *row), rest=rest, kind=kind, accessed=accessed, entry=entry)
    yield from target.batches(ranked.take(counted(rows.rows).filter(kept)))


def resorted(step: SortedKeys, source: Source, target: Target) -> Iterator[RecordBatch]:
    """The sort keys of each partition, in the new order."""
    for part in source.parts(step.state):
        (lists,) = part.rest
        flat_entries = lists.flatten()
        keys, numbers = flat_entries.flatten()
        columns = keys.flatten()
        ordering = [(columns[o.column], o.is_ascending, o.null_is_last) for o in step.order]
        parents = compute().list_parent_indices(lists)
        indices = sorted_indices([(parents, True, True), *ordering])
        kinds = columns[len(step.order) :]
        fields = [*(columns[o.column] for o in step.order), *kinds]
        key_type = lists.type.value_type.field(0).type
        names = [key_type.field(o.column).with_name(key_type.field(i).name) for i, o in enumerate(step.order)]
        own_fields = [*names, *(key_type.field(i) for i in range(len(step.order), key_type.num_fields))]
        pa = arrow()
        sorted_keys = pa.StructArray.from_arrays(fields, fields=own_fields).take(indices)
        entries = pa.StructArray.from_arrays([sorted_keys, numbers.take(indices)], names=["key", "value"])
        lengths = compute().fill_null(compute().list_value_length(lists), 0).cast(pa.int64())
        ends = compute().cumulative_sum(lengths)
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int32())
        key = tuple(part.key[i] for i in step.key)
        yield from target.batches(replace(part, key=key, rest=(pa.ListArray.from_arrays(offsets, entries),)))


def _check_ties(step: FirstRows, key: Sequence[Array], row: Sequence[Array], old: Sequence[Array]) -> None:
    """Look whether rows of one new sort key have one old sort key as well, in whose order they came."""
    new = [*key, *(row[o.column] for o in step.order)]
    ones = arrow().repeat(arrow().scalar(1, arrow().int64()), len(row[0]))
    groups = [len(grouped(columns, {"n": ones}, {"n": "sum"})[0]) for columns in (new, [*new, *old])]
    if groups[0] < groups[1]:
        raise NotDerivableError("rows have equal places in the new order, and it is not known which came first")


def _check_first(step: FirstRows, key: Sequence[Array], row: Sequence[Array], places: Array) -> None:
    """Look whether the first row of each partition is the only one with its sort key."""
    columns = [row[o.column] for o in step.order]
    runs = run_numbers([*key, *columns], len(places))
    in_run, _ = places_in_runs(runs)
    repeated = compute().and_(compute().equal(places, 1), compute().equal(in_run, 1))
    if compute().any(repeated).as_py():
        raise NotDerivableError("rows share the first place of a ranking, and it is not known which came last")
