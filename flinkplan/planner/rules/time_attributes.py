"""Time attributes are materialized to plain timestamps where they end.  Source: ``RelTimeIndicatorConverter``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...plan.functions import called
from ...plan.functions.cast import CAST
from ...plan.functions.conditional import ALIAS
from ...plan.functions.patterns import FINAL, MATCH_PROCTIME, MATCH_ROWTIME
from ...plan.functions.table import GROUP_WINDOWS
from ...plan.functions.temporal import PROCTIME, PROCTIME_MATERIALIZE
from ...plan.record import replace
from ...plan.rex import Call, InputRef, PatternInputRef, RexNode, walk
from ...plan.types import LogicalType
from ..algebra.builders import calc, merge_calc
from ..algebra.logical import Aggregate, Join, Match, MultiJoin, TableModify, TemporalJoin
from ..algebra.physical import Calc, LegacyWindowAggregate, OverAggregate
from ..algebra.rel import ONE_SIDED, Rel
from ..metadata.join_kinds import interval_bounds, is_lookup
from ..metadata.window_properties import groups_by_window, window_columns, window_keys
from ..rex.expressions import holds_time, identity, retype, rewrite
from .empty import is_empty
from .rule import Order, RuleSet, rule

_TIME_FUNCTIONS = (MATCH_PROCTIME, MATCH_ROWTIME, PROCTIME)
"""Functions that return time attributes."""
_OF_WINDOWS = tuple(GROUP_WINDOWS.values())
"""Functions whose operands must stay time attributes; they are left only where there is no aggregation by a window."""


def materialized(rex: RexNode) -> RexNode:
    """A time attribute as a plain timestamp."""
    t = rex.type
    if t.is_proctime:
        return PROCTIME_MATERIALIZE.typed(t.regular(), rex)
    return CAST.typed(t.regular(), rex) if t.is_rowtime else rex


def _plain(rex: RexNode, types: Sequence[LogicalType]) -> RexNode:
    """An expression over columns of these types, with time attributes materialized where calls read them."""
    return _in_calls(retype(rex, types)) if holds_time(rex) else rex


def _in_calls(rex: RexNode) -> RexNode:
    function = called(rex)
    if not isinstance(rex, Call) or function in _TIME_FUNCTIONS:
        return rex
    if function in _OF_WINDOWS:
        return replace(rex, type=rex.type.regular())
    operands = tuple(_in_calls(o) for o in rex.operands)
    if function is FINAL and called(operands[0]) in _TIME_FUNCTIONS:
        return replace(rex, operands=operands)
    if function is CAST and operands[0].type.is_rowtime and _is_plain(rex.type, operands[0].type):
        return replace(rex, operands=operands, type=rex.type.regular())
    if function is ALIAS:
        return replace(rex, operands=operands)
    if function is PROCTIME_MATERIALIZE:
        return replace(rex, operands=operands)
    if function is CAST and operands[0].type == rex.type:
        return operands[0]
    if function is CAST and rex.type.is_time_attribute:  # of metadata, or of a column that a join may not fill any more
        return replace(rex, operands=operands)
    return replace(rex, operands=tuple(map(materialized, operands)), type=rex.type.regular())


def _is_plain(t: LogicalType, rowtime: LogicalType) -> bool:
    """Whether a type is that of the materialized time attribute."""
    return t.regular().nullable_() == rowtime.regular().nullable_()


@rule(on=Calc)
def materialize_calc(rel: Calc) -> Rel:
    """A calc hands on time attributes as they are, but what it computes of them is of plain timestamps."""
    types = rel.input.types
    exprs = tuple([_plain(e, types) for e in rel.projection])
    condition = None if rel.condition is None else _plain(rel.condition, types)
    return merge_calc(replace(rel, projection=exprs, condition=condition))


def plain_columns(rel: Rel, indexes: Iterable[int]) -> Rel:
    """The relation with those columns materialized."""
    wanted = {i for i in indexes if rel.types[i].is_time_attribute}
    if not wanted:
        return rel
    exprs = (materialized(r) if i in wanted else r for i, r in enumerate(identity(rel.types)))
    return calc(rel, exprs, rel.names)


@rule(on=Match)
def materialize_match(rel: Match) -> Rel:
    """Conditions and measures read plain timestamps; MATCH_ROWTIME and MATCH_PROCTIME stay time attributes."""
    types = rel.input.types

    def plain(named: tuple[str, RexNode]) -> tuple[str, RexNode]:
        name, rex = named
        if not any(part.type.is_time_attribute for part in walk(rex)):
            return named
        return name, _in_calls(rewrite(rex, lambda r: _retyped(r, types)))

    return replace(rel, definitions=tuple(map(plain, rel.definitions)), measures=tuple(map(plain, rel.measures)))


def _retyped(rex: RexNode, types: Sequence[LogicalType]) -> RexNode:
    return replace(rex, type=types[rex.index]) if isinstance(rex, PatternInputRef) else rex


@rule(on=(Aggregate, LegacyWindowAggregate))
def materialize_aggregate(rel: Aggregate | LegacyWindowAggregate) -> Rel:
    """An aggregation groups by plain timestamps and aggregates them, unless they are bounds of its window."""
    used = {*rel.grouping, *(i for c in rel.calls for i in c.arg_list)}
    if isinstance(rel, Aggregate) and groups_by_window(rel):
        window = window_columns(rel.input)
        used -= frozenset() if window is None else window.all & set(rel.grouping)
    calls = tuple(replace(c, type=c.type.regular()) for c in rel.calls)
    return replace(rel, input=plain_columns(rel.input, used), calls=calls)


@rule(on=OverAggregate)
def materialize_over(rel: OverAggregate) -> Rel:
    """What a call with OVER returns is a plain timestamp."""
    groups = tuple(
        replace(g, agg_calls=tuple(replace(c, type=c.type.regular()) for c in g.agg_calls)) for g in rel.groups
    )
    return replace(rel, groups=groups)


@rule(on=Join)
def materialize_join(rel: Join) -> Rel:
    """A regular join reads plain timestamps; interval and window joins keep time attributes."""
    if is_lookup(rel):
        return plain_columns(rel, range(rel.left.width, rel.width))
    holds_any = any([t.is_time_attribute for side in rel.inputs for t in side.types]) or holds_time(rel.condition)
    if holds_any and not _keeps_time(rel):
        left = plain_columns(rel.left, range(rel.left.width))
        right = plain_columns(rel.right, range(rel.right.width))
        rel = replace(rel, left=left, right=right, condition=retype(rel.condition, (*left.types, *right.types)))
    return rel


def _keeps_time(rel: Join) -> bool:
    """Whether the join's inputs may keep their time attributes: interval and window joins."""
    types = (*rel.left.types, *rel.right.types)
    bounds, _ = interval_bounds(rel.condition, types, rel.left.width)
    return (bounds is not None and rel.type not in ONE_SIDED) or window_keys(rel) is not None


@rule(on=TemporalJoin)
def materialize_temporal_join(rel: TemporalJoin) -> Rel:
    """Time attributes of the versioned side are materialized."""
    width = rel.left.width
    return plain_columns(rel, range(width, rel.width))


@rule(on=MultiJoin)
def materialize_multi_join(rel: MultiJoin) -> Rel:
    """A join of several inputs reads plain timestamps."""
    operands = tuple(plain_columns(o, range(o.width)) for o in rel.operands)
    plain = [t for o in operands for t in o.types]

    def plainly(node: RexNode) -> RexNode:
        if not isinstance(node, InputRef):
            return node
        return replace(node, type=plain[node.index].with_nullability(node.type.nullable))

    conditions = tuple(rewrite(c, plainly) for c in rel.conditions)
    return replace(rel, operands=operands, conditions=conditions)


@rule(on=TableModify)
def materialize_sink(rel: TableModify) -> Rel:
    """Processing time is materialized before a sink, unless the input is empty."""
    if is_empty(rel.input):
        return rel
    return replace(rel, input=plain_columns(rel.input, (i for i, t in enumerate(rel.input.types) if t.is_proctime)))


MATERIALIZE_TIME = RuleSet(
    "materialize_time",
    (
        materialize_calc,
        materialize_aggregate,
        materialize_over,
        materialize_join,
        materialize_match,
        materialize_multi_join,
        materialize_sink,
        materialize_temporal_join,
    ),
    Order.BOTTOM_UP,
    to_fixpoint=False,
)
