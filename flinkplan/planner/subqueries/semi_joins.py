"""IN and EXISTS as semi and anti joins.  Sources: ``FlinkSubQueryRemoveRule``, ``SubQueryDecorrelator``."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.errors import UnsupportedError
from ...plan.functions.aggregate import MIN
from ...plan.functions.comparison import EQ, IS_NOT_NULL, IS_NULL, OR
from ...plan.record import replace
from ...plan.rex import CorrelVariable, FieldAccess, InputRef, RexNode, children
from ...plan.specs import JoinType
from ...plan.types import BOOLEAN
from ..algebra.builders import aggregated, append_columns, filtered, select_columns
from ..algebra.calls import aggregate_call
from ..algebra.logical import Aggregate, Filter, Join, Project, Sort
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..rex.builder import equality_operands
from ..rex.expressions import (
    FALSE,
    TRUE,
    and_,
    are_columns,
    compare,
    conjunctions,
    identity,
    is_call,
    or_,
    refs,
    remap,
    rewrite,
    shift,
    test,
)
from ..rex.normal_forms import to_cnf
from ..rex.unplanned import SubQuery, SubQueryKind
from ..rules.projections import read_right_side
from .decorrelation import correlated_columns, free_variables, not_decorrelated


class _NoSemiJoin(Exception):
    """The correlation of a subquery cannot be expressed as a join condition."""


def semi_join(left: Rel, subquery: SubQuery[Rel], rel: Rel, kind: JoinType) -> Rel | None:
    """The semi or anti join of ``left`` with ``rel``, the subquery's relation; ``None`` where none is possible."""
    if free_variables(rel) - {subquery.correl}:
        return None
    if subquery.kind is SubQueryKind.EXISTS and has_a_row(rel):
        return left if kind is JoinType.SEMI else filtered(left, [FALSE])
    try:
        right, conditions = _conditions(rel, subquery.correl)
    except _NoSemiJoin:
        return None
    own = left.width
    if subquery.kind is SubQueryKind.EXISTS and not conditions:
        right, condition = _existence(right, kind, own)
        return Join(left=left, right=right, type=kind, condition=condition)
    left, operands = _with_operands(left, subquery.operands)
    width = left.width
    parts: list[RexNode] = []
    for i, operand in enumerate(operands):
        column: RexNode = InputRef(width + i, right.types[i])
        a, b = equality_operands((operand, column))
        equal: RexNode = compare(EQ, a, b)
        nullable = [x for x in (a, b) if x.type.nullable]
        if kind is JoinType.ANTI and nullable:
            equal = or_([*(test(IS_NULL, x) for x in nullable), equal])
        parts.append(equal)
    parts += [joined(c, left, width, subquery.correl) for c in conditions]
    join = read_right_side(Join(left=left, right=right, type=kind, condition=and_(parts)))
    return select_columns(join, range(own))


def is_joinable(rel: Rel, correl: str | None) -> bool:
    """Whether all conditions by which a subquery reads the outer row could be those of a join."""
    if free_variables(rel) - {correl}:
        return False
    try:
        _conditions(rel, correl)
    except (_NoSemiJoin, UnsupportedError):
        return False
    return True


def _with_operands(left: Rel, operands: Sequence[RexNode]) -> tuple[Rel, Sequence[RexNode]]:
    """The relation with the operands as columns: ``FlinkSubQueryRemoveRule.handleSubQueryOperands``."""
    if are_columns(operands):
        return left, operands
    exprs = list(dict.fromkeys((*identity(left.types), *operands)))
    new = append_columns(left, exprs[left.width :])
    columns_ = identity(new.types)
    return new, [columns_[exprs.index(o)] for o in operands]


def has_a_row(rel: Rel) -> bool:
    if isinstance(rel, Project):
        return has_a_row(rel.input)
    return isinstance(rel, Aggregate) and not rel.grouping and rel.grouping_sets is None


def _existence(rel: Rel, kind: JoinType, width: int) -> tuple[Rel, RexNode]:
    """A relation of one row that says whether ``rel`` has rows, and the condition of the join with it."""
    marked = Project(input=rel, exprs=(TRUE,), names=("i",))
    least = aggregated(marked, [aggregate_call(MIN, [0], BOOLEAN, name="m")])
    exists = test(IS_NOT_NULL, identity(least.types)[0])
    if kind is JoinType.SEMI:
        return select_columns(filtered(least, [exists]), []), TRUE
    right = Project(input=least, exprs=(exists,), names=("$f0",))
    return right, InputRef(width, exists.type)


def joined(rex: RexNode, left: Rel, width: int, correl: str | None) -> RexNode:
    """A correlated condition as a join condition: outer columns are on the left, the subquery's on the right."""

    def outer(node: RexNode) -> RexNode:
        outer_columns = correlated_columns(node, correl) if isinstance(node, FieldAccess) else []
        return identity(left.types)[outer_columns[0]] if outer_columns else node

    return rewrite(shift(rex, width), outer)


def is_correlated(rex: RexNode, correl: str | None) -> bool:
    if isinstance(rex, CorrelVariable):
        return rex.correl == correl
    return any(is_correlated(c, correl) for c in children(rex))


def _conditions(rel: Rel, correl: str | None) -> tuple[Rel, list[RexNode]]:
    """The relation without its correlated conditions, and these conditions over its columns.

    Source: ``SubQueryDecorrelator``.
    """
    match rel:
        case Filter():
            source, conditions = _conditions(rel.input, correl)
            own = conjunctions(to_cnf(rel.condition) if is_correlated(rel.condition, correl) else rel.condition)
            if any(is_correlated(c, correl) and is_call(c, OR) for c in own):
                raise _NoSemiJoin
            conditions = [*conditions, *(c for c in own if is_correlated(c, correl))]
            return filtered(source, [c for c in own if not is_correlated(c, correl)]), conditions
        case Project():
            source, conditions = _conditions(rel.input, correl)
            if any(is_correlated(e, correl) for e in rel.exprs):
                raise _NoSemiJoin
            return _projected(rel, source, conditions)
        case Sort():  # the rows of all outer rows are then counted together, as in Flink
            source, conditions = _conditions(rel.input, correl)
            return replace(rel, input=source), conditions
        case Join(type=JoinType.INNER | JoinType.LEFT | JoinType.RIGHT):
            return _joined(rel, correl)
        case Aggregate():
            source, conditions = _conditions(rel.input, correl)
            return _grouped(rel, source, conditions)
    if correl is not None and correl in free_variables(rel):
        raise _NoSemiJoin
    return rel, []


def _joined(rel: Join, correl: str | None) -> tuple[Rel, list[RexNode]]:
    """The join with the columns that the conditions read appended.  None come from an outer join's nullable side.

    Raises :class:`UnsupportedError` where its own condition reads the outer row.
    """
    if is_correlated(rel.condition, correl):
        raise not_decorrelated()
    left, left_conditions = _conditions(rel.left, correl)
    right, right_conditions = _conditions(rel.right, correl)
    if {JoinType.LEFT: right_conditions, JoinType.RIGHT: left_conditions}.get(rel.type):
        raise _NoSemiJoin
    own = [*range(rel.left.width), *range(left.width, left.width + rel.right.width)]
    new = replace(rel, left=left, right=right, condition=remap(rel.condition, dict(enumerate(own))))
    order = [*own, *(i for i in range(new.width) if i not in own)]
    place = {i: order.index(i) for i in range(new.width)}
    conditions = [*left_conditions, *(shift(c, left.width) for c in right_conditions)]
    return select_columns(new, order), [remap(c, place) for c in conditions]


def _projected(rel: Project, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The projection with the columns that the conditions read appended."""
    exprs = list(rel.exprs)
    names = list(rel.names)
    place: dict[int, int] = {}
    for i in sorted(set().union(*map(refs, conditions))):
        ref = InputRef(i, source.types[i])
        if ref in exprs:
            place[i] = exprs.index(ref)
        else:
            place[i] = len(exprs)
            exprs.append(ref)
            names.append(source.names[i])
    new = Project(input=source, exprs=tuple(exprs), names=uniquify(names))
    return new, [remap(c, place) for c in conditions]


def _grouped(rel: Aggregate, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The aggregation, also grouped by the columns that the conditions read, which are appended."""
    if not conditions:
        return replace(rel, input=source), []
    if not all(is_call(c, EQ) for c in conditions) or rel.grouping_sets is not None:
        raise _NoSemiJoin
    read = sorted(set().union(*map(refs, conditions)))
    added = tuple(i for i in read if i not in rel.grouping)
    keys = len(rel.grouping)
    grouping = (*rel.grouping, *added)
    new = replace(rel, input=source, grouping=grouping)
    own = [*range(keys), *range(keys + len(added), new.width)]
    place = {g: i if i < keys else rel.width + i - keys for i, g in enumerate(grouping)}
    ordered = select_columns(new, [*own, *range(keys, keys + len(added))])
    return ordered, [remap(c, {r: place[r] for r in read}) for c in conditions]
