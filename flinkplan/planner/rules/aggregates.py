"""Rewriting aggregations: grouping sets, averages, what the input projection only reorders.

Sources: ``DecomposeGroupingSetsRule``, ``AggregateReduceFunctionsRule``, ``AggregateProjectMergeRule``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from ...plan.functions import aggregation_of
from ...plan.record import replace
from ...plan.rex import Call, InputRef, Literal, RexNode
from ...plan.specs import AggregateCall
from ...plan.types import BIGINT, INT, LogicalType
from ..algebra.logical import Aggregate, Filter, Project, Rel, Values, is_one_sided
from ..algebra.physical import Expand
from ..metadata.sizes import row_size
from ..metadata.uniqueness import are_columns_unique
from ..rex.expressions import EQ, case, cast, compare, identity
from ..rex.simplify import simplify
from .rule import rule

_GROUPING = ("$GROUPING$1", "$GROUPING_ID$1", "$GROUP_ID$1")


@rule(on=Aggregate)
def with_constant(rel: Aggregate) -> Rel:
    """An aggregation that reads no column reads a constant, so that its input need not produce more."""
    if reads_something(rel) or rel.input.width == 1:
        return rel
    zero = Literal(0, INT.not_null())
    return replace(rel, input=Project(input=rel.input, exprs=(zero,), names=("$f0",)))


def reads_something(rel: Aggregate) -> bool:
    """Whether an aggregation reads any column."""
    return bool(rel.grouping) or any(c.arg_list or c.filter_arg >= 0 for c in rel.calls)


@rule(on=Aggregate)
def expand_grouping_sets(rel: Aggregate) -> Rel:
    """Each row once per grouping set, told apart by ``$e``, a mask of the grouping columns left out."""
    groupings = [c for c in rel.calls if c.internal_name in _GROUPING]
    if rel.grouping_sets is None or len(rel.grouping_sets) == 1:
        return rel if not groupings else _without_groupings(replace(rel, grouping_sets=None), (), None)
    return _expanded(rel, rel.grouping_sets)


def _expanded(rel: Aggregate, sets: tuple[tuple[int, ...], ...]) -> Rel:
    source = rel.input
    fields = source.row_type.fields
    calls = [c for c in rel.calls if c.internal_name not in _GROUPING]
    read = {i for c in calls for i in (*c.arg_list, *((c.filter_arg,) if c.filter_arg >= 0 else ()))}
    left_out = {g for g in rel.grouping if any(g not in s for s in sets)}
    twice = [g for g in rel.grouping if g in read and g in left_out]
    expand_index = len(fields)
    sets = tuple(sorted(sets, key=lambda s: expand_id(rel.grouping, s)))
    projects = tuple(
        (
            *(
                InputRef(i, f.type) if i not in rel.grouping or i in chosen else Literal(None, f.type.nullable_())
                for i, f in enumerate(fields)
            ),
            Literal(expand_id(rel.grouping, chosen), BIGINT.not_null()),
            *(InputRef(i, fields[i].type) for i in twice),
        )
        for chosen in sets
    )
    names = (*source.names, "$e", *(f"{fields[i].name}_0" for i in twice))
    expand = Expand(input=source, projects=projects, expand_index=expand_index, names=names)
    moved = {g: expand_index + 1 + i for i, g in enumerate(twice)}
    calls = [
        c
        if c.internal_name in _GROUPING
        else replace(
            c,
            arg_list=tuple(moved.get(a, a) for a in c.arg_list),
            filter_arg=moved.get(c.filter_arg, c.filter_arg),
        )
        for c in rel.calls
    ]
    new = Aggregate(input=expand, grouping=(*rel.grouping, expand_index), calls=tuple(calls), ttl=rel.ttl)
    return _without_groupings(new, sets, len(rel.grouping))


def expand_id(grouping: Sequence[int], chosen: Sequence[int]) -> int:
    """The mask of a grouping set: a bit for each grouping column that it leaves out, the first the highest."""
    return sum(1 << (len(grouping) - 1 - i) for i, g in enumerate(grouping) if g not in chosen)


def _without_groupings(rel: Aggregate, sets: tuple[tuple[int, ...], ...], e: int | None) -> Rel:
    """GROUPING(…) computed from ``$e``, the grouping column at ``e``, in a projection above."""
    keys = len(rel.grouping)
    kept = [i for i, c in enumerate(rel.calls) if c.internal_name not in _GROUPING]
    place = {i: keys + n for n, i in enumerate(kept)}
    fields = rel.row_type.fields
    inner = replace(rel, calls=tuple(rel.calls[i] for i in kept))
    group_columns = rel.grouping if e is None else rel.grouping[:e]
    exprs: list[RexNode] = [InputRef(i, fields[i].type) for i in range(keys) if i != e]
    names = [fields[i].name for i in range(keys) if i != e]
    for i, call in enumerate(rel.calls):
        field = fields[keys + i]
        names.append(field.name)
        if i in place:
            exprs.append(InputRef(place[i], field.type))
        elif e is None:
            exprs.append(Literal(0, field.type.not_null()))
        else:
            exprs.append(_grouping_value(call, sets, group_columns, InputRef(e, BIGINT.not_null()), field.type))
    return Project(input=inner, exprs=tuple(exprs), names=tuple(names))


def _grouping_value(
    call: AggregateCall, sets: tuple[tuple[int, ...], ...], grouping: tuple[int, ...], e: InputRef, t: LogicalType
) -> RexNode:
    def value(chosen: tuple[int, ...]) -> Literal:
        return Literal(expand_id(call.arg_list, chosen), t.not_null())

    *others, last = sets
    operands: list[RexNode] = []
    for chosen in others:
        number = Literal(expand_id(grouping, chosen), BIGINT.not_null())
        operands += [compare(EQ, e, number), value(chosen)]
    return simplify(case([*operands, value(last)], t)) if operands else value(last)


@rule(on=Aggregate)
def remove_distinct(rel: Aggregate) -> Rel:
    """FlinkAggregateRemoveRule: groups of one row each are those rows; their sums and extremes are the values."""
    if rel.grouping_sets is not None or not rel.grouping:
        return rel
    if not all(aggregation_of(c.internal_name).is_of_one and c.filter_arg < 0 for c in rel.calls):
        return rel
    if not are_columns_unique(rel.input, rel.grouping):
        return rel
    columns = identity(rel.input.types)
    exprs = (*(columns[g] for g in rel.grouping), *(cast(columns[c.arg_list[0]], c.type) for c in rel.calls))
    return Project(input=rel.input, exprs=exprs, names=rel.names)


@rule(on=(Aggregate, Project))
def merge_permutation(rel: Aggregate | Project) -> Rel:
    """A projection below an aggregation that only reorders all columns is not needed.

    Above a filter it costs nothing, being computed with it.  It is dropped there only where that costs nothing
    either: the keys stay in order, or the projection above undoes their reordering.
    Source: the costs by which ``AggregateProjectMergeRule`` wins or loses in Flink's logical phase.

    Nor is a projection needed of which nothing is read, unless its rows are smaller than those of its input: the
    aggregation's cost in ``FlinkLogicalAggregate`` grows with the size of the rows that it reads.
    """
    if isinstance(rel, Project):
        return _undone(rel, _without_permutation(rel.input)) if _reads_filtered(rel.input) else rel
    if _computes_in_vain(rel):
        return merge_columns(rel)
    merged = _without_permutation(rel)
    return rel if _reads_filtered(rel) and (isinstance(merged, Project) or _skips_columns(rel)) else merged


def _computes_in_vain(rel: Aggregate) -> bool:
    """Whether the projection below computes something for calls that nobody needed, and passes on what is read."""
    if not isinstance(rel.input, Project) or not reads_something(rel):
        return False
    exprs = rel.input.exprs
    is_column = [isinstance(e, InputRef) for e in exprs]
    return any(isinstance(e, Call) for e in exprs) and all(is_column[i] for i in _read_columns(rel))


def _reads_filtered(rel: Rel) -> TypeGuard[Aggregate]:
    """Whether it aggregates a projection of filtered rows."""
    return isinstance(rel, Aggregate) and isinstance(rel.input, Project) and isinstance(rel.input.input, Filter)


def _skips_columns(rel: Aggregate) -> bool:
    """Whether it reads some columns of its input and passes over others, which calls read that nobody needed."""
    return reads_something(rel) and not _read_columns(rel) >= set(range(rel.input.width))


def _read_columns(rel: Aggregate) -> set[int]:
    """The columns of its input that an aggregation reads."""
    return {*rel.grouping, *(i for c in rel.calls for i in (*c.arg_list, c.filter_arg) if i >= 0)}


def _undone(rel: Project, merged: Rel) -> Rel:
    """The aggregation below ``merged``, where ``rel`` reads its columns in their own order."""
    if not isinstance(merged, Project):
        return rel
    order = [merged.exprs[e.index] for e in rel.exprs if isinstance(e, InputRef)]
    if order != list(identity(merged.input.types)) or len(order) != len(rel.exprs):
        return rel
    return merged.input


def _without_permutation(rel: Aggregate) -> Rel:
    if not isinstance(rel.input, Project):
        return rel
    below = rel.input
    if not reads_something(rel):
        return rel if isinstance(below.input, Values) or _is_smaller(below) else replace(rel, input=below.input)
    indexes = [e.index for e in below.exprs if isinstance(e, InputRef)]
    width = below.input.width
    if len(indexes) != len(below.exprs) or sorted(set(indexes)) != list(range(width)):
        return rel
    return _in_order(remap_aggregate(rel, indexes, below.input))


def merge_columns(rel: Aggregate) -> Rel:
    """AggregateProjectMergeRule: over the input of projections that pass on all that is aggregated."""
    source = rel.input
    columns = {i: i for i in _read_columns(rel)}
    while isinstance(source, Project) and all(isinstance(source.exprs[i], InputRef) for i in columns.values()):
        columns = {i: source.exprs[at].index for i, at in columns.items()}  # type: ignore[union-attr]
        source = source.input
    if source is rel.input or len({columns[g] for g in rel.grouping}) < len(rel.grouping):
        return rel
    return _in_order(remap_aggregate(rel, columns, source))


@rule(on=Aggregate, over=Project)
def merge_sets_permutation(rel: Aggregate, below: Project) -> Rel:
    """The same below grouping sets, before they are expanded; not over a semi join, which is to go further down."""
    return rel if rel.grouping_sets is None or is_one_sided(below.input) else merge_permutation(rel)


def _in_order(rel: Aggregate) -> Rel:
    """The aggregation with its grouping columns in the order of its input's, and a projection to its own order."""
    order = sorted(range(len(rel.grouping)), key=lambda i: rel.grouping[i])
    indexes = [*order, *range(len(order), rel.width)]
    ordered = replace(rel, grouping=tuple(rel.grouping[i] for i in order))
    if indexes == list(range(rel.width)):
        return ordered
    outputs = identity(ordered.types)
    return Project(input=ordered, exprs=tuple(outputs[indexes.index(i)] for i in range(rel.width)), names=rel.names)


def _is_smaller(rel: Project) -> bool:
    """Whether a projection makes rows smaller without computing anything."""
    if any(isinstance(e, Call) for e in rel.exprs):
        return False
    return row_size(rel) < row_size(rel.input)


def without_unread(rel: Aggregate, below: Project) -> Aggregate:
    """The aggregation over a projection that computes only what it reads."""
    kept = sorted(_read_columns(rel))
    new = replace(below, exprs=tuple(below.exprs[i] for i in kept), names=tuple(below.names[i] for i in kept))
    return remap_aggregate(rel, {old: i for i, old in enumerate(kept)}, new)


def remap_aggregate(rel: Aggregate, indexes: Sequence[int] | Mapping[int, int], source: Rel) -> Aggregate:
    """The aggregation over another input, each column of the old one at ``indexes``."""
    return replace(
        rel,
        input=source,
        grouping=tuple(indexes[g] for g in rel.grouping),
        grouping_sets=rel.grouping_sets and tuple(tuple(indexes[g] for g in s) for s in rel.grouping_sets),
        calls=remap_calls(rel.calls, indexes),
    )


def remap_calls(
    calls: Iterable[AggregateCall], indexes: Sequence[int] | Mapping[int, int]
) -> tuple[AggregateCall, ...]:
    """The calls over another input, each column of the old one at ``indexes``."""
    return tuple(
        replace(
            c,
            arg_list=tuple(indexes[a] for a in c.arg_list),
            filter_arg=indexes[c.filter_arg] if c.filter_arg >= 0 else -1,
        )
        for c in calls
    )
