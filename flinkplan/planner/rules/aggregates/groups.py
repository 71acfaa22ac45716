"""Grouping sets, and aggregations that can be removed.

Sources: ``DecomposeGroupingSetsRule``, ``FlinkAggregateRemoveRule``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import chain, count

from ....plan.functions import aggregation_of
from ....plan.functions.aggregate import GROUP_ID, GROUPING, GROUPING_ID
from ....plan.functions.comparison import EQ
from ....plan.record import replace
from ....plan.rex import InputRef, Literal, RexNode
from ....plan.specs import AggregateCall
from ....plan.types import BIGINT, INT, LogicalType
from ...algebra.aggregations import reads_something
from ...algebra.calls import is_call_of, remap_calls
from ...algebra.logical import Aggregate, Project
from ...algebra.physical import Expand
from ...algebra.rel import Rel
from ...metadata.uniqueness import are_columns_unique
from ...rex.expressions import case, cast, compare, identity
from ...rex.simplify import simplify
from ..rule import rule

_GROUPING = (GROUPING, GROUPING_ID, GROUP_ID)


@rule(on=Aggregate)
def with_constant(rel: Aggregate) -> Rel:
    """An aggregation that reads no column, such as COUNT(*), reads a constant, so that its input is pruned."""
    if reads_something(rel) or rel.input.width == 1:
        return rel
    zero = Literal(0, INT.not_null())
    return replace(rel, input=Project(input=rel.input, exprs=(zero,), names=("$f0",)))


@rule(on=Aggregate)
def expand_grouping_sets(rel: Aggregate) -> Rel:
    """GROUPING SETS by an Expand: each row once per grouping set; ``$e`` is the mask of its missing columns."""
    groupings = [c for c in rel.calls if is_call_of(c, *_GROUPING)]
    if rel.grouping_sets is None or len(rel.grouping_sets) == 1:
        return rel if not groupings else _without_groupings(replace(rel, grouping_sets=None), (), None)
    return _expanded(rel, rel.grouping_sets)


def _expanded(rel: Aggregate, sets: tuple[tuple[int, ...], ...]) -> Rel:
    source = rel.input
    fields = source.row_type.fields
    calls = [c for c in rel.calls if not is_call_of(c, *_GROUPING)]
    read = {i for c in calls for i in (*c.arg_list, *((c.filter_arg,) if c.filter_arg >= 0 else ()))}
    left_out = {g for g in rel.grouping if any(g not in s for s in sets)}
    twice = [g for g in rel.grouping if g in read and g in left_out]
    expand_index = len(fields)
    sets = tuple(sorted(sets, key=lambda s: expand_id(rel.grouping, s)))
    expand = expanded(source, rel.grouping, sets, twice)
    moved = {g: expand_index + 1 + i for i, g in enumerate(twice)}
    places = {i: moved.get(i, i) for i in range(expand_index)}
    calls = [c if is_call_of(c, *_GROUPING) else remap_calls([c], places)[0] for c in rel.calls]
    new = Aggregate(
        input=expand,
        grouping=(*rel.grouping, expand_index),
        calls=tuple(calls),
        ttl=rel.ttl,
        shown_hints=rel.shown_hints,
    )
    return _without_groupings(new, sets, len(rel.grouping))


def expanded(source: Rel, grouping: Sequence[int], sets: Iterable[Sequence[int]], twice: Sequence[int] = ()) -> Expand:
    """The Expand: missing grouping columns are NULL, and ``$e`` is their mask."""
    columns = identity(source.types)

    def expand_row(chosen: Sequence[int]) -> tuple[RexNode, ...]:
        kept = (
            Literal(None, c.type.nullable_()) if c.index in grouping and c.index not in chosen else c for c in columns
        )
        return (*kept, Literal(expand_id(grouping, chosen), BIGINT.not_null()), *(columns[i] for i in twice))

    projects = tuple(map(expand_row, sets))
    return Expand(input=source, projects=projects, expand_index=len(columns), names=_expanded_names(source, projects))


def _expanded_names(source: Rel, projects: Sequence[tuple[RexNode, ...]]) -> tuple[str, ...]:
    """The names of an Expand's columns: those of the source, ``$e``, and ``k_0`` for the second of two ``k``.

    Source: ``Expand.deriveRowType``.
    """
    taken, names, seen = set(source.names), [], set()
    for i, column in enumerate(zip(*projects, strict=True)):
        index = next((rex.index for rex in column if isinstance(rex, InputRef)), None)
        if index is not None and index not in seen:
            seen.add(index)
            names.append(source.names[index])
            continue
        wanted = "$e" if i == source.width else f"$f{i}" if index is None else f"{source.names[index]}_0"
        names.append(_unique(wanted, taken))
        taken.add(names[-1])
    return tuple(names)


def _unique(name: str, taken: Container[str]) -> str:
    """The name, or the first of ``name_0``, ``name_1`` … that is not taken."""
    return next(n for n in chain([name], (f"{name}_{i}" for i in count())) if n not in taken)


def expand_id(grouping: Sequence[int], chosen: Sequence[int]) -> int:
    """The mask of a grouping set: one bit for each missing grouping column, the first column highest."""
    return sum(1 << (len(grouping) - 1 - i) for i, g in enumerate(grouping) if g not in chosen)


def _without_groupings(rel: Aggregate, sets: tuple[tuple[int, ...], ...], e: int | None) -> Rel:
    """GROUPING(…) computed from ``$e``, the grouping column at ``e``, in a projection above."""
    keys = len(rel.grouping)
    kept = [i for i, c in enumerate(rel.calls) if not is_call_of(c, *_GROUPING)]
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
    """FlinkAggregateRemoveRule: an aggregation whose groups are single rows becomes a projection."""
    if rel.grouping_sets is not None or not rel.grouping:
        return rel
    if not all(aggregation_of(c.internal_name).is_argument_of_single_row and c.filter_arg < 0 for c in rel.calls):
        return rel
    if not are_columns_unique(rel.input, rel.grouping):
        return rel
    columns = identity(rel.input.types)
    exprs = (*(columns[g] for g in rel.grouping), *(cast(columns[c.arg_list[0]], c.type) for c in rel.calls))
    return Project(input=rel.input, exprs=exprs, names=rel.names)
