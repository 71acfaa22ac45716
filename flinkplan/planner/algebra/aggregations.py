"""What aggregations read, and rebuilding them over other inputs; also of those by a legacy group window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard, TypeVar

from ...plan.record import replace
from .calls import remap_calls
from .logical import Aggregate, Project
from .physical import LegacyWindowAggregate
from .rel import Rel

Aggregation: TypeAlias = Aggregate | LegacyWindowAggregate


A = TypeVar("A", bound=Aggregation)


def reads_something(rel: Aggregation) -> bool:
    """Whether an aggregation reads any column."""
    return bool(rel.grouping) or any(c.arg_list or c.filter_arg >= 0 for c in rel.calls)


def read_columns(rel: Aggregation) -> set[int]:
    """The columns of its input that an aggregation reads."""
    times = [rel.window.time_field.field_index] if passes_time(rel) else []
    return {*rel.grouping, *times, *(i for c in rel.calls for i in (*c.arg_list, c.filter_arg) if i >= 0)}


def passes_time(rel: Rel) -> TypeGuard[LegacyWindowAggregate]:
    """Whether it is an aggregation by a legacy window whose time is a column of the input."""
    if not isinstance(rel, LegacyWindowAggregate):
        return False
    time = rel.window.time_field
    return time.field_type.is_rowtime or time.field_name in rel.input.names


def without_unread(rel: Aggregate, below: Project) -> Aggregate:
    """The aggregation with unread columns removed from the projection below it."""
    kept = sorted(read_columns(rel))
    new = replace(below, exprs=tuple(below.exprs[i] for i in kept), names=tuple(below.names[i] for i in kept))
    return remap_aggregate(rel, {old: i for i, old in enumerate(kept)}, new)


def remap_aggregate(rel: A, indexes: Sequence[int] | Mapping[int, int], source: Rel) -> A:
    """The aggregation over another input, where column ``i`` of the old input is column ``indexes[i]``."""
    moved = replace(
        rel, input=source, grouping=tuple(indexes[g] for g in rel.grouping), calls=remap_calls(rel.calls, indexes)
    )
    if isinstance(rel, Aggregate) and rel.grouping_sets is not None:
        return replace(moved, grouping_sets=tuple(tuple(indexes[g] for g in s) for s in rel.grouping_sets))
    if passes_time(rel):
        time = rel.window.time_field
        window = replace(rel.window, time_field=replace(time, field_index=indexes[time.field_index]))
        return replace(moved, window=window)
    return moved
