"""Distinct aggregations in two levels: first per bucket of the distinct values, then over the buckets.

Source: ``SplitAggregateRule``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count as counting

from ....plan.functions import Arguments, aggregation_of, arithmetic
from ....plan.functions.aggregate import AVG, COUNT, SUM0
from ....plan.functions.comparison import EQ
from ....plan.functions.conditional import HASH_CODE, IF
from ....plan.functions.model import EmptyResult
from ....plan.record import replace
from ....plan.rex import FUNCTION, InputRef, Literal, RexNode
from ....plan.settings import is_on, value_of
from ....plan.specs import AggregateCall, SessionWindow
from ....plan.types import BIGINT, INT, LogicalType
from ...algebra.builders import append_columns
from ...algebra.calls import is_call_of
from ...algebra.logical import Aggregate, Project
from ...algebra.names import uniquify
from ...algebra.rel import Rel
from ...metadata.window_properties import window_columns
from ...rex.expressions import and_, cast, compare, identity
from ..rule import Config, rule
from .groups import expand_id, expanded


@rule(on=Aggregate, configured=True)
def split_distinct(rel: Aggregate, config: Config) -> Rel:
    """Split each aggregation with distinct calls, if the option is on."""
    if not is_on(config, "table.optimizer.distinct-agg.split.enabled"):
        return rel
    buckets = int(value_of(config, "table.optimizer.distinct-agg.split.bucket-num"))
    if rel.phase or rel.grouping_sets is not None:
        return rel
    if not any(c.distinct for c in rel.calls) or not all(map(_parts_of, rel.calls)):
        return rel
    return rel if _groups_by_unsplittable_window(rel) else _split(rel, buckets)


def _groups_by_unsplittable_window(rel: Aggregate) -> bool:
    """Whether it aggregates per session, or per window of processing time, which ``SplitAggregateRule`` does not split.

    Two aggregations would assign other windows than one.
    """
    window = window_columns(rel.input)
    if window is None or not window.bounded_by(rel.grouping):
        return False
    return isinstance(window.spec, SessionWindow) or not window.time_type.is_rowtime


def _parts_of(call: AggregateCall) -> tuple[tuple[str, str], ...]:
    """The functions that are computed per bucket, each with the function that merges the results of buckets."""
    name = call.internal_name or ""
    return aggregation_of(name).split(name, len(call.arg_list))


def _split(rel: Aggregate, buckets: int) -> Rel:
    hashed = _hashed_columns(rel)
    source: Rel = _with_buckets(rel.input, hashed, buckets) if hashed else rel.input
    first_bucket = rel.input.width
    bucket_of = {column: first_bucket + i for i, column in enumerate(hashed)}
    sets = [_set_of(rel, call, bucket_of) for call in rel.calls]
    grouping = (*rel.grouping, *bucket_of.values())
    calls, final_names = _parts(rel)
    is_expanded = _adds_sets(rel, sets)
    sets = [s for call, s in zip(rel.calls, sets, strict=True) for _ in _parts_of(call)]
    if is_expanded:
        source, calls = _expanded(calls, source, grouping, sets)
    partial = _partial(rel, source, grouping, calls)
    return _merged(rel, _final(rel, partial, final_names))


def _parts(rel: Aggregate) -> tuple[list[AggregateCall], list[str]]:
    """The calls per bucket, each with the function that merges its results."""
    types = rel.input.types
    parts, finals = [], []
    for call in rel.calls:
        for partial, final in _parts_of(call):
            half = partial != call.internal_name
            parts.append(_half_of_average(call, partial, types[call.arg_list[0]]) if half else call)
            finals.append(final)
    return parts, finals


def _half_of_average(call: AggregateCall, name: str, argument: LogicalType) -> AggregateCall:
    if name == COUNT.internal_name:
        return replace(call, internal_name=name, syntax=COUNT.syntax, type=BIGINT.not_null())
    return replace(call, internal_name=name, type=SUM0.returns(Arguments((argument,))).not_null())


def _hashed_columns(rel: Aggregate) -> tuple[int, ...]:
    columns = {a for call in rel.calls if _is_spread(call) for a in call.arg_list}
    return tuple(sorted(columns.difference(rel.grouping)))


def _is_spread(call: AggregateCall) -> bool:
    """Whether the call is computed per bucket of its arguments."""
    return call.distinct or aggregation_of(call.internal_name).is_bucketed


def _adds_sets(rel: Aggregate, sets: list[tuple[int, ...]]) -> bool:
    """Whether calls that are computed per bucket bring in more than one grouping set, so that rows are expanded.

    That of a call on grouping columns counts as well, unless an earlier call that is not computed per bucket has it.
    """
    added, seen = 0, set()
    for call, chosen in zip(rel.calls, sets, strict=True):
        added += _is_spread(call) and chosen not in seen
        seen.add(chosen)
    return added > 1


def _with_buckets(source: Rel, hashed: tuple[int, ...], buckets: int) -> Rel:
    """The input with a column ``MOD(HASH_CODE(column), buckets)`` for each distinct column."""
    refs = identity(source.types)
    numbers = []
    for column in hashed:
        t = refs[column].type
        code = HASH_CODE.typed(INT.with_nullability(t.nullable), refs[column])
        numbers.append(arithmetic.MOD.typed(code.type, code, Literal(buckets, INT.not_null())))
    return append_columns(source, numbers)


def _set_of(rel: Aggregate, call: AggregateCall, bucket_of: Mapping[int, int]) -> tuple[int, ...]:
    """The grouping set of a call: the bucket columns of its arguments, or none."""
    buckets = {bucket_of[a] for a in call.arg_list if _is_spread(call) and a in bucket_of}
    return (*rel.grouping, *sorted(buckets))


def _expanded(
    split: list[AggregateCall], source: Rel, grouping: tuple[int, ...], sets: list[tuple[int, ...]]
) -> tuple[Rel, list[AggregateCall]]:
    """The Expand over the grouping sets, and the calls, filtered to the rows of their set."""
    fields = source.row_type.fields
    width = len(fields)
    distinct_sets = sorted(set(sets), key=lambda s: expand_id(grouping, s))
    expand = expanded(source, grouping, distinct_sets)
    exprs: list[RexNode] = list(identity(expand.types)[:width])
    names = [f.name for f in fields]
    e = InputRef(width, BIGINT.not_null())
    place: dict[tuple[int, int], int] = {}
    calls = []
    for call, chosen in zip(split, sets, strict=True):
        number = expand_id(grouping, chosen)
        key = (number, call.filter_arg)
        if key not in place:
            condition: list[RexNode] = [compare(EQ, e, Literal(number, INT.not_null()))]
            if call.filter_arg >= 0:
                condition.append(InputRef(call.filter_arg, fields[call.filter_arg].type))
            place[key] = len(exprs)
            exprs.append(and_(condition))
            names.append(f"$g_{number}")
        calls.append(replace(call, filter_arg=place[key]))
    project = Project(input=expand, exprs=tuple(exprs), names=uniquify(names))
    return project, calls


def _partial(rel: Aggregate, source: Rel, grouping: tuple[int, ...], calls: list[AggregateCall]) -> Aggregate:
    return Aggregate(
        input=source,
        grouping=grouping,
        calls=tuple(_inferred(replace(c, name=None), source, grouping) for c in calls),
        ttl=rel.ttl,
        phase="PARTIAL",
    )


def _inferred(call: AggregateCall, source: Rel, grouping: Sequence[int]) -> AggregateCall:
    """The call with its type derived anew: a value of an argument is NULL only where that is, or where there is none.

    Source: ``ReturnTypes.AGG_SUM``, ``ARG0_NULLABLE_IF_EMPTY``.
    """
    known = aggregation_of(call.internal_name)
    if known.empty_result is not EmptyResult.NULL or len(call.arg_list) != 1:
        return call
    nullable = source.types[call.arg_list[0]].nullable or not grouping or call.filter_arg >= 0
    return replace(call, type=call.type.with_nullability(nullable))


def _final(rel: Aggregate, partial: Aggregate, functions: Sequence[str]) -> Aggregate:
    first = len(partial.grouping)
    keys = len(rel.grouping)
    calls = tuple(
        _inferred(
            replace(
                part,
                name=None,
                internal_name=function,
                syntax=FUNCTION,
                arg_list=(first + i,),
                filter_arg=-1,
                distinct=False,
            ),
            partial,
            rel.grouping,
        )
        for i, (function, part) in enumerate(zip(functions, partial.calls, strict=True))
    )
    return Aggregate(
        input=partial,
        grouping=tuple(range(keys)),
        calls=calls,
        ttl=rel.ttl,
        phase="FINAL",
    )


def _merged(rel: Aggregate, final: Aggregate) -> Rel:
    """Sums and counts as averages, and values of the types that they had, in a projection above."""
    if len(final.calls) == len(rel.calls) and final.types == rel.types:
        return final
    columns = iter(identity(final.types))
    exprs: list[RexNode] = [next(columns) for _ in rel.grouping]
    for call in rel.calls:
        value = next(columns)
        exprs.append(_average(value, next(columns), call) if is_call_of(call, AVG) else cast(value, call.type))
    names: list[str] = []
    for i, e in enumerate(exprs):
        free = (f"$f{n}" for n in counting(i) if f"$f{n}" not in names)
        names.append(final.names[e.index] if isinstance(e, InputRef) else next(free))
    return Project(input=final, exprs=tuple(exprs), names=tuple(names))


def _average(total: RexNode, count: RexNode, call: AggregateCall) -> RexNode:
    zero = Literal(0, BIGINT.not_null())
    quotient = arithmetic.DIVIDE.call(total, count)
    operands = (compare(EQ, count, zero), Literal(None, call.type.nullable_()), quotient)
    return cast(IF.typed(quotient.type.nullable_(), *operands), call.type)
