"""Set operations as joins and aggregates.

Sources: ``UnionToDistinctRule``, ``ReplaceIntersectWithSemiJoinRule``, ``ReplaceMinusWithAntiJoinRule``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ...plan.errors import UnsupportedError
from ...plan.rex import Call, InputRef, RexNode
from ...plan.specs import JoinType
from ..algebra import Aggregate, Join, Project, Rel, SetKind, SetOp
from .rexes import BINARY, IS_NOT_DISTINCT_FROM, and_, cast, identity
from .row_types import row_of
from ...plan.types import BOOLEAN


def rewrite_set_operation(rel: Rel) -> Rel:
    """UNION as distinct UNION ALL; INTERSECT and EXCEPT as distinct semi and anti joins."""
    if not isinstance(rel, SetOp):
        return rel
    if rel.kind is SetKind.UNION:
        union = _union(rel)
        return union if rel.all else distinct(union)
    if rel.all:
        raise UnsupportedError(f"{rel.kind.value} ALL cannot be planned yet", hint=f"use {rel.kind.value}")
    kind = JoinType.SEMI if rel.kind is SetKind.INTERSECT else JoinType.ANTI
    return distinct(reduce(lambda a, b: _compared(kind, a, b), rel.operands))


def distinct(rel: Rel) -> Rel:
    """Each row once."""
    return Aggregate(
        input=rel, grouping=tuple(range(len(rel.row_type.fields))), calls=(), row_type=rel.row_type
    )


def _compared(kind: JoinType, left: Rel, right: Rel) -> Rel:
    width = len(left.row_type.fields)
    condition = and_(
        Call(IS_NOT_DISTINCT_FROM, (a, InputRef(i + width, b.type)), BOOLEAN.not_null(), BINARY)
        for i, (a, b) in enumerate(zip(identity(left.row_type), identity(right.row_type), strict=True))
    )
    return Join(left=left, right=right, type=kind, condition=condition, row_type=left.row_type)


def _union(rel: SetOp) -> SetOp:
    """The operands brought to the common types (CoerceInputsRule)."""
    return replace(rel, all=True, operands=tuple(_coerced(o, rel) for o in rel.operands))


def _coerced(rel: Rel, union: SetOp) -> Rel:
    wanted = union.row_type.field_types
    if all(t.nullable_() == w.nullable_() for t, w in zip(rel.row_type.field_types, wanted, strict=True)):
        return rel
    exprs: tuple[RexNode, ...] = tuple(
        cast(r, w.with_nullability(r.type.nullable)) for r, w in zip(identity(rel.row_type), wanted, strict=True)
    )
    return Project(input=rel, exprs=exprs, row_type=row_of(rel.row_type.field_names, (e.type for e in exprs)))
