"""Pushing filters towards the sources.

Sources: ``FlinkFilterJoinRule``, ``FilterProjectTransposeRule``, ``FilterAggregateTransposeRule``,
``FilterSetOpTransposeRule``, ``FilterMergeRule``, ``RelOptUtil.simplifyJoin``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ...plan.functions import is_deterministic
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND
from ...plan.record import replace
from ...plan.rex import InputRef, Literal, RexNode, children
from ...plan.specs import JoinType
from ..algebra.builders import filtered
from ..algebra.logical import Aggregate, Filter, Join, Project, SetOp, TemporalJoin
from ..algebra.physical import LegacyWindowAggregate
from ..algebra.rel import LEFT_NULLABLE, ONE_SIDED, RIGHT_NULLABLE, Rel
from ..metadata.join_kinds import join_keys
from ..rex.expressions import (
    COMPARISONS,
    and_,
    cast,
    conjunctions,
    contains_over,
    holds_subquery,
    identity,
    inline,
    is_call,
    refs,
    remap,
    retype,
    shift,
)
from ..rex.simplify import built_condition, simplify_condition
from ..rex.strong import rejects_null
from .rule import Order, RuleSet, rule

T = TypeVar("T", bound="Join | TemporalJoin")


@rule(on=Filter, over=Filter)
def merge_filters(rel: Filter, below: Filter) -> Rel:
    """FilterMergeRule: two filters become one."""
    return replace(below, condition=built_condition(and_([below.condition, rel.condition])))


@rule(on=Filter, over=Project)
def push_past_project(rel: Filter, below: Project) -> Rel:
    """FilterProjectTransposeRule: the filter goes below the projection, over the projection's input."""
    read = [below.exprs[i] for i in refs(rel.condition)]
    if any(map(contains_over, below.exprs)) or not all(map(is_deterministic, read)):
        return rel
    condition, exprs = rel.condition, below.exprs
    if any(map(_only_adds_null, exprs)):  # Flink has two projections here, the upper one with the casts
        condition = simplify_condition(inline(condition, tuple(_over_not_null(i, e) for i, e in enumerate(exprs))))
        exprs = tuple(children(e)[0] if _only_adds_null(e) else e for e in exprs)
    condition = simplify_condition(inline(condition, exprs))
    return replace(below, input=filtered(below.input, [condition]))


def _only_adds_null(rex: RexNode) -> bool:
    """Whether the expression is a cast of a computed value that only makes its type nullable."""
    if not is_call(rex, CAST):
        return False
    operand = rex.operands[0]
    return not isinstance(operand, InputRef) and operand.type == rex.type.not_null() != rex.type


def _over_not_null(index: int, rex: RexNode) -> RexNode:
    """The expression, with the value that it casts as a column of this index."""
    if not _only_adds_null(rex):
        return InputRef(index, rex.type)
    return cast(InputRef(index, rex.type.not_null()), rex.type)


@rule(on=Filter, over=(Join, TemporalJoin))
def push_past_join(rel: Filter, below: Join | TemporalJoin) -> Rel:
    """FlinkFilterJoinRule.FILTER_INTO_JOIN: conditions on one side go to that input, others into an inner join."""
    if below.type in ONE_SIDED:
        return replace(below, left=filtered(below.left, [rel.condition]))
    return _pushed(below, conjunctions(rel.condition)) or rel


@rule(on=Filter, over=(Join, TemporalJoin))
def push_into_join(rel: Filter, below: Join | TemporalJoin) -> Rel:
    """FILTER_INTO_JOIN of Calcite: the same, but a condition on a key of one side says nothing of the other side."""
    if below.type in ONE_SIDED:
        return replace(below, left=filtered(below.left, [rel.condition]))
    return _pushed(below, conjunctions(rel.condition), transfers=False) or rel


@rule(on=(Join, TemporalJoin))
def push_join_condition(rel: Join | TemporalJoin) -> Rel:
    """FlinkFilterJoinRule.JOIN_CONDITION_PUSH: join conditions on one side become filters of that input."""
    return _pushed(rel, ()) or rel


def _pushed(join: Join | TemporalJoin, above: tuple[RexNode, ...], *, transfers: bool = True) -> Rel | None:
    """The join with the conditions above it and its own pushed down; ``None`` where nothing is to push.

    Nothing is pushed below an event-time temporal join: without the filtered rows older versions would last longer.
    """
    if isinstance(join, TemporalJoin) and join.time.type.is_rowtime:
        return None
    width = join.left.width
    kind = simplify_join(join.type, above, width)
    left, right, stay = split_by_side(above, width)
    if kind in LEFT_NULLABLE:
        left, stay = [], [*stay, *left]
    if kind in RIGHT_NULLABLE:
        right, stay = [], [*stay, *right]
    original = conjunctions(join.condition)
    own = list(original)
    if kind is JoinType.INNER:
        own, stay = [*own, *stay], []
    own_left, own_right, _ = split_by_side(own, width)
    if kind in (JoinType.LEFT, JoinType.FULL, JoinType.ANTI):
        own_left = []
    if kind in (JoinType.RIGHT, JoinType.FULL, JoinType.ANTI):
        own_right = []
    own = [p for p in own if p not in own_left and p not in own_right]
    left, right = [*left, *own_left], [*right, *own_right]
    if kind is join.type and not left and not right and len(own) == len(original):
        return None
    if transfers and kind in (JoinType.INNER, JoinType.LEFT, JoinType.RIGHT):
        keys = _equal_columns(original, width) or _equal_columns(own, width)
        known = [*above, *original] if kind is JoinType.INNER else [p for p in above if _is_bound(p)]
        to_left, to_right = _transferred(known, keys, kind, width)
        left = [*left, *(p for p in to_left if p not in left)]
        right = [*right, *(p for p in to_right if p not in right)]
    new = _join(
        join, kind, _narrowed(join.left, left), _narrowed(join.right, [shift(r, -width) for r in right]), and_(own)
    )
    return filtered(_as_before(new, join), [p for p in above if p in stay])


def _equal_columns(parts: Iterable[RexNode], width: int) -> dict[int, int]:
    """The equal columns of a join's condition, in both directions."""
    keys = join_keys(and_(parts), width)
    pairs = [(a, b + width) for a, b in zip(keys.left, keys.right, strict=True)]
    return dict([*pairs, *((b, a) for a, b in pairs)])


def _transferred(
    parts: Iterable[RexNode], keys: Mapping[int, int], kind: JoinType, width: int
) -> tuple[list[RexNode], list[RexNode]]:
    """The conditions on join keys of one side as conditions on the other, for the left and the right input.

    Nothing follows from conditions on the nullable side of an outer join.
    """
    left: list[RexNode] = []
    right: list[RexNode] = []
    for part in parts:
        read = refs(part)
        if not read or not read <= set(keys):
            continue
        if max(read) < width and kind is not JoinType.RIGHT:
            right.append(remap(part, keys))
        elif min(read) >= width and kind is not JoinType.LEFT:
            left.append(remap(part, keys))
    return list(dict.fromkeys(left)), list(dict.fromkeys(right))


def _is_bound(rex: RexNode) -> bool:
    """Whether it compares something with a literal: of an outer join's key nothing else holds for the other's."""
    return is_call(rex, *COMPARISONS) and any(isinstance(o, Literal) for o in children(rex))


def _narrowed(rel: Rel, parts: Sequence[RexNode]) -> Rel:
    """The relation filtered by conditions, whose column references get the types of its columns."""
    return filtered(rel, [built_condition(retype(and_(parts), rel.types))] if parts else ())


def _as_before(rel: Join | TemporalJoin, before: Join | TemporalJoin) -> Rel:
    """The columns cast to the nullable types that they had before an outer join was narrowed."""
    if rel.types == before.types:
        return rel
    exprs = tuple(cast(c, t) for c, t in zip(identity(rel.types), before.types, strict=True))
    return Project(input=rel, exprs=exprs, names=before.names)


def _join(rel: T, kind: JoinType, left: Rel, right: Rel, condition: RexNode) -> T:
    """The join with other inputs or another type; types in its condition follow."""
    if kind not in ONE_SIDED:
        condition = retype(condition, (*left.types, *right.types))
    return replace(rel, type=kind, left=left, right=right, condition=condition)


def split_by_side(parts: Iterable[RexNode], width: int) -> tuple[list[RexNode], list[RexNode], list[RexNode]]:
    """The conditions that read only the first ``width`` columns, only the others, and the rest."""
    left, right, rest = [], [], []
    for part in parts:
        read = refs(part)
        if holds_subquery(part):
            rest.append(part)
        elif read and max(read) < width:
            left.append(part)
        elif read and min(read) >= width:
            right.append(part)
        else:
            rest.append(part)
    return left, right, rest


def simplify_join(kind: JoinType, parts: Iterable[RexNode], width: int) -> JoinType:
    """The narrower type of an outer join whose NULL rows a filter drops.

    Source: ``RelOptUtil.simplifyJoin``, ``Strong``.
    """
    simplified = kind
    for part in parts if kind in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL) else ():
        rejects_left = rejects_null(part, lambda r: isinstance(r, InputRef) and r.index < width)
        rejects_right = rejects_null(part, lambda r: isinstance(r, InputRef) and r.index >= width)
        if (rejects_left and simplified is JoinType.RIGHT) or (rejects_right and simplified is JoinType.LEFT):
            simplified = JoinType.INNER
        elif simplified is JoinType.FULL and rejects_left:
            simplified = JoinType.INNER if rejects_right else JoinType.LEFT
        elif simplified is JoinType.FULL and rejects_right:
            simplified = JoinType.RIGHT
    return simplified


@rule(on=Filter, over=(Aggregate, LegacyWindowAggregate))
def push_past_aggregate(rel: Filter, below: Aggregate | LegacyWindowAggregate) -> Rel:
    """FilterAggregateTransposeRule: conditions on grouping columns go below the aggregation."""
    allowed = set(range(len(below.grouping)))
    if isinstance(below, Aggregate):
        for grouping in below.grouping_sets or ():
            allowed &= {i for i, g in enumerate(below.grouping) if g in grouping}
    parts = conjunctions(rel.condition)
    pushed = [p for p in parts if refs(p) and refs(p) <= allowed]
    if not pushed:
        return rel
    mapping = dict(enumerate(below.grouping))
    new = replace(below, input=_narrowed(below.input, [remap(p, mapping) for p in pushed]))
    return filtered(new, [p for p in parts if p not in pushed])


@rule(on=Filter, over=SetOp)
def push_past_set_op(rel: Filter, below: SetOp) -> Rel:
    """FilterSetOpTransposeRule: the filter goes into every input."""
    return replace(below, operands=tuple(_narrowed(o, [rel.condition]) for o in below.operands))


@rule(on=Filter, over=Filter)
def merge_late(rel: Filter, below: Filter) -> Rel:
    """Two filters become one, with their conditions as they are unless that spares a comparison.

    Source: ``FlinkFilterCalcMergeRule``, whose calc is there before that of the merged filter; fewer rows cost less.
    """
    both = and_([below.condition, rel.condition])
    condition = built_condition(both)
    spares = set(conjunctions(both)) - set(conjunctions(condition))
    return replace(below, condition=condition if spares else AND.call(below.condition, rel.condition))


@rule(on=Filter, over=Project)
def copy_past_project(rel: Filter, below: Project) -> Rel:
    """The same, but the condition is simplified by no other rule, as in the logical stage."""
    pushed = push_past_project(rel)
    if pushed is rel:
        return rel
    return replace(below, input=filtered(below.input, [inline(rel.condition, below.exprs)]))


PUSH_FILTERS = RuleSet(
    "push_filters",
    (
        merge_filters,
        push_past_project,
        push_past_join,
        push_past_aggregate,
        push_past_set_op,
        push_join_condition,
    ),
    Order.BOTTOM_UP,
    to_fixpoint=True,
)
"""Push every filter as far down as possible; past a correlate, none is pushed that was not there when it was made."""

_AGAIN = (copy_past_project, push_past_join, push_past_aggregate, push_past_set_op, push_join_condition)

PUSH_FILTERS_AGAIN = RuleSet("push_filters_again", (merge_filters, *_AGAIN), Order.BOTTOM_UP, to_fixpoint=True)
"""The same where Flink's planner weighs by cost, with no rule that simplifies conditions."""

PUSH_FILTERS_LATE = RuleSet("push_filters_late", (merge_late, *_AGAIN), Order.BOTTOM_UP, to_fixpoint=True)
"""The same of filters that come when those below are calcs already: of equal plans Flink keeps the first."""
