"""Subqueries as joins.

Sources: ``FlinkSubQueryRemoveRule``, ``SubQueryDecorrelator``, Calcite's ``SubQueryRemoveRule``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...plan.errors import UnsupportedError
from ...plan.functions import aggregate as functions
from ...plan.rex import FUNCTION, CorrelVariable, FieldAccess, InputRef, RexNode, children
from ...plan.specs import AggregateCall, JoinType
from ..algebra import Aggregate, Filter, Join, Project, Rel, SubQuery, SubQueryKind
from ..rexbuilder import comparison_operands
from .predicates import filtered, join_row_type
from .projections import columns
from .rexes import (
    EQ,
    IS_NOT_NULL,
    IS_NULL,
    NOT,
    and_,
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
from .row_types import concat, row_of, unique_names
from .tree import bottom_up


def rewrite_subqueries(rel: Rel) -> Rel:
    """IN and EXISTS of a filter become semi and anti joins; a scalar subquery becomes a column of a join."""
    if isinstance(rel, Filter) and _holds(rel.condition):
        return _filter(rel)
    if isinstance(rel, Project) and any(map(_holds, rel.exprs)):
        return _project(rel)
    if isinstance(rel, Join) and _holds(rel.condition):
        raise UnsupportedError("a subquery in the condition of a join cannot be planned yet", hint="move it to WHERE")
    return rel


def _holds(rex: RexNode) -> bool:
    return isinstance(rex, SubQuery) or any(map(_holds, children(rex)))


def _filter(rel: Filter) -> Rel:
    source = rel.input
    rest: list[RexNode] = []
    for part in sorted(conjunctions(rel.condition), key=lambda c: is_call(c, NOT)):
        negated = is_call(part, NOT)
        inner = children(part)[0] if negated else part
        if isinstance(inner, SubQuery) and inner.kind in (SubQueryKind.IN, SubQueryKind.EXISTS):
            source = _semi_join(source, inner, JoinType.ANTI if negated else JoinType.SEMI)
        else:
            rest.append(part)
    if not any(map(_holds, rest)):
        return filtered(source, rest)
    width = len(source.row_type.fields)
    source, condition = _with_scalars(source, and_(rest))
    return columns(filtered(source, [condition]), range(width))


def _project(rel: Project) -> Rel:
    source = rel.input
    exprs = []
    for e in rel.exprs:
        source, e = _with_scalars(source, e)
        exprs.append(e)
    return replace(rel, input=source, exprs=tuple(exprs))


def _semi_join(left: Rel, subquery: SubQuery, kind: JoinType) -> Rel:
    right, conditions = decorrelate(rewritten(subquery.rel), subquery.correl)
    width = len(left.row_type.fields)
    parts: list[RexNode] = []
    for i, operand in enumerate(subquery.operands):
        column: RexNode = InputRef(width + i, right.row_type.fields[i].type)
        a, b = comparison_operands((operand, column))
        equal: RexNode = compare(EQ, a, b)
        nullable = [x for x in (a, b) if x.type.nullable]
        if kind is JoinType.ANTI and nullable:
            equal = or_([*(test(IS_NULL, x) for x in nullable), equal])
        parts.append(equal)
    parts += [_joined(c, left, width, subquery.correl) for c in conditions]
    return Join(left=left, right=right, type=kind, condition=and_(parts), row_type=left.row_type)


def rewritten(rel: Rel) -> Rel:
    """A subquery's relation with its own subqueries rewritten."""
    return bottom_up(rel, rewrite_subqueries)


def _joined(rex: RexNode, left: Rel, width: int, correl: str | None) -> RexNode:
    """A correlated condition as one of a join: outer columns on the left, the subquery's on the right."""
    names = left.row_type.field_names

    def outer(node: RexNode) -> RexNode:
        if isinstance(node, FieldAccess) and isinstance(node.expr, CorrelVariable) and node.expr.correl == correl:
            index = names.index(node.name)
            return InputRef(index, left.row_type.fields[index].type)
        return node

    return rewrite(shift(rex, width), outer)


def _correlated(rex: RexNode, correl: str | None) -> bool:
    if isinstance(rex, CorrelVariable):
        return rex.correl == correl
    return any(_correlated(c, correl) for c in children(rex))


def decorrelate(rel: Rel, correl: str | None) -> tuple[Rel, list[RexNode]]:
    """The relation without the conditions that read the outer row, and these, over its columns."""
    match rel:
        case Filter():
            source, conditions = decorrelate(rel.input, correl)
            own = conjunctions(rel.condition)
            conditions = [*conditions, *(c for c in own if _correlated(c, correl))]
            return filtered(source, [c for c in own if not _correlated(c, correl)]), conditions
        case Project():
            source, conditions = decorrelate(rel.input, correl)
            if any(_correlated(e, correl) for e in rel.exprs):
                raise UnsupportedError("a subquery that selects a column of the outer query cannot be planned yet")
            return _projected(rel, source, conditions)
        case Join(type=JoinType.INNER):
            left, left_conditions = decorrelate(rel.left, correl)
            right, right_conditions = decorrelate(rel.right, correl)
            width = len(left.row_type.fields)
            own = conjunctions(rel.condition)
            conditions = [*left_conditions, *(shift(c, width) for c in right_conditions)]
            conditions += [c for c in own if _correlated(c, correl)]
            condition = and_(c for c in own if not _correlated(c, correl))
            row_type = join_row_type(rel.type, left, right)
            return replace(rel, left=left, right=right, condition=condition, row_type=row_type), conditions
        case Aggregate():
            source, conditions = decorrelate(rel.input, correl)
            return _grouped(rel, source, conditions)
    if correl is not None and _reads(rel, correl):
        raise UnsupportedError("this correlated subquery cannot be planned yet")
    return rel, []


def _reads(rel: Rel, correl: str) -> bool:
    own = [getattr(rel, name, None) for name in ("condition", "call", "expr")]
    own += list(getattr(rel, "exprs", ()))
    if any(_correlated(e, correl) for e in own if e is not None):
        return True
    return any(_reads(i, correl) for i in rel.inputs)


def _projected(rel: Project, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The projection, with the columns that the conditions read behind its own."""
    exprs = list(rel.exprs)
    names = list(rel.row_type.field_names)
    place: dict[int, int] = {}
    for i in sorted(set().union(*map(refs, conditions))):
        ref = InputRef(i, source.row_type.fields[i].type)
        if ref in exprs:
            place[i] = exprs.index(ref)
        else:
            place[i] = len(exprs)
            exprs.append(ref)
            names.append(source.row_type.fields[i].name)
    row_type = row_of(unique_names(names), (e.type for e in exprs))
    return Project(input=source, exprs=tuple(exprs), row_type=row_type), [remap(c, place) for c in conditions]


def _grouped(rel: Aggregate, source: Rel, conditions: list[RexNode]) -> tuple[Rel, list[RexNode]]:
    """The aggregation per value of the columns that the conditions read, these in front."""
    if not conditions:
        return replace(rel, input=source), []
    read = sorted(set().union(*map(refs, conditions)))
    added = tuple(i for i in read if i not in rel.grouping)
    columns_ = identity(source.row_type)
    source = filtered(source, [test(IS_NOT_NULL, columns_[i]) for i in read if columns_[i].type.nullable])
    fields = (*(source.row_type.fields[i] for i in added), *rel.row_type.fields)
    grouping = (*added, *rel.grouping)
    row_type = row_of(unique_names(f.name for f in fields), (f.type for f in fields))
    new = replace(rel, input=source, grouping=grouping, row_type=row_type)
    place = {g: i for i, g in enumerate(grouping)}
    return new, [remap(c, {r: place[r] for r in read}) for c in conditions]


# ---------------------------------------------------------------- scalar subqueries


@dataclass
class _Scalars:
    source: Rel

    def column(self, node: RexNode) -> RexNode:
        """A scalar subquery as a column of the source, joined for it."""
        if not isinstance(node, SubQuery):
            return node
        if node.kind is not SubQueryKind.SCALAR:
            raise UnsupportedError(
                f"{node.kind.value} in this place cannot be planned yet",
                hint="use it alone, or joined by AND, in WHERE",
            )
        rel = rewritten(node.rel)
        if not _single_row(rel):
            rel = _single_value(rel)
        right, conditions = decorrelate(rel, node.correl)
        value = len(right.row_type.fields) - 1 if isinstance(right, Aggregate) else 0
        left = self.source
        width = len(left.row_type.fields)
        condition = and_(_outer_first(_joined(c, left, width, node.correl), width) for c in conditions)
        self.source = Join(
            left=left,
            right=right,
            type=JoinType.LEFT,
            condition=condition,
            row_type=join_row_type(JoinType.LEFT, left, right, concat(left.row_type, right.row_type).field_names),
        )
        return InputRef(width + value, self.source.row_type.fields[width + value].type)


def _outer_first(rex: RexNode, width: int) -> RexNode:
    """An equality with its outer column on the left."""
    if is_call(rex, EQ) and refs(children(rex)[0]) and min(refs(children(rex)[0])) >= width:
        return compare(EQ, *reversed(children(rex)))
    return rex


def _with_scalars(source: Rel, rex: RexNode) -> tuple[Rel, RexNode]:
    scalars = _Scalars(source)
    return_rex = rewrite(rex, scalars.column)
    return scalars.source, return_rex


def _single_row(rel: Rel) -> bool:
    """Whether a relation has one row at most for sure."""
    if isinstance(rel, Aggregate):
        return not rel.grouping
    return isinstance(rel, Project) and _single_row(rel.input)


def _single_value(rel: Rel) -> Rel:
    """The one value of a relation; Flink fails at run time where there are several."""
    field = rel.row_type.fields[0]
    call = AggregateCall(
        name=None,
        syntax=FUNCTION,
        internal_name=functions.SINGLE_VALUE.internal_name,
        arg_list=(0,),
        filter_arg=-1,
        distinct=False,
        approximate=False,
        ignore_nulls=False,
        type=field.type.nullable_(),
    )
    return Aggregate(input=rel, grouping=(), calls=(call,), row_type=row_of(["$f0"], [field.type.nullable_()]))
