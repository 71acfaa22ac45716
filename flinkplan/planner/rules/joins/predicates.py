"""What a join condition implies for each input, and for expressions over the joined rows.

Sources: ``JoinDependentConditionDerivationRule``, ``SimplifyCoalesceWithEquiJoinConditionRule``.
"""

from __future__ import annotations

from collections.abc import Callable

from ....plan.functions.comparison import OR
from ....plan.functions.conditional import COALESCE
from ....plan.record import replace
from ....plan.rex import InputRef, Literal, RexNode
from ....plan.specs import JoinType
from ...algebra.logical import Join, Project
from ...algebra.rel import Rel
from ...metadata.join_kinds import join_keys, null_safe_equality
from ...metadata.known_conditions import known_conditions
from ...rex.expressions import and_, cast, conjunctions, derive_nullability, flatten, is_call, or_, refs, rewrite, shift
from ...rex.simplify import simplify_condition, simplify_knowing
from ..reduce import constants
from ..rule import rule


@rule(on=Join)
def derive_join_predicates(rel: Join) -> Rel:
    """``(l.a = 1 AND r.b = 2) OR (l.a = 3 AND r.b = 4)`` implies ``l.a IN (1, 3)`` and ``r.b IN (2, 4)``."""
    if rel.type is not JoinType.INNER:
        return rel
    width = rel.left.width
    parts = conjunctions(rel.condition)
    derived: list[RexNode] = []
    for part in parts:
        if not is_call(part, OR):
            continue
        branches = [conjunctions(b) for b in flatten(OR, part)]
        for on_left in (True, False):
            own = [[c for c in b if _reads_side(c, width, on_left)] for b in branches]
            if all(own):
                derived.append(or_(and_(b) for b in own))
    new = [d for d in derived if d not in parts]
    if not new:
        return rel
    condition = simplify_condition(and_([*parts, *new]))
    return rel if condition == rel.condition else replace(rel, condition=condition)


@rule(on=Join)
def compare_null_safely(rel: Join) -> Rel:
    """``a = b OR (a IS NULL AND b IS NULL)`` is ``a IS NOT DISTINCT FROM b``.

    Source: ``RelOptUtil.collapseExpandedIsNotDistinctFromExpr``; not of joins that set operations become later.
    """
    parts = conjunctions(rel.condition)
    new_parts = tuple(null_safe_equality(part) or part for part in parts)
    return rel if new_parts == parts else replace(rel, condition=and_(new_parts))


@rule(on=Join)
def reduce_join_conditions(rel: Join) -> Rel:
    """In a join condition, columns that filters of the inputs make constant are replaced by the constant.

    Of an OR only what those filters leave open is compared: where ``a > 2`` holds, ``a > 2`` becomes ``a IS NOT NULL``.
    Source: ``ReduceExpressionsRule.JoinReduceExpressionsRule``.
    """
    width = rel.left.width
    known = {**constants(rel.left), **{i + width: v for i, v in constants(rel.right).items()}}

    def substitute(node: RexNode) -> RexNode:
        value = known.get(node.index) if isinstance(node, InputRef) else None
        if value is None:
            return node
        return Literal(None, node.type) if value.value is None else replace(value, type=node.type.not_null())

    parts = conjunctions(rel.condition)
    reduced = [_reduced(p, substitute) if refs(p) & set(known) else p for p in parts]
    if any(is_call(p, OR) for p in reduced):
        filtered = [*known_conditions(rel.left), *(shift(c, width) for c in known_conditions(rel.right))]
        reduced = [simplify_knowing(p, filtered) if is_call(p, OR) else p for p in reduced]
    return rel if tuple(reduced) == parts else replace(rel, condition=and_(reduced))


def _reduced(condition: RexNode, substitute: Callable[[RexNode], RexNode]) -> RexNode:
    return simplify_condition(derive_nullability(rewrite(condition, substitute)))


@rule(on=Project, over=Join)
def shorten_coalesce(rel: Project, join: Join) -> Rel:
    """``COALESCE(l.k, r.k)`` right above a join on ``l.k = r.k`` as the key that is not NULL unless both are."""
    if join.type not in _PRESERVED:
        return rel
    width = join.left.width
    keys = join_keys(join.condition, width)
    pairs = [(a, b + width) for a, b in zip(keys.left, keys.right, strict=True)]

    def shorten(node: RexNode) -> RexNode:
        if not is_call(node, COALESCE):
            return node
        operands = list(node.operands)
        for pair in pairs:
            _drop_redundant(operands, pair, join.type)
        return cast(operands[0], node.type) if len(operands) == 1 else replace(node, operands=tuple(operands))

    return replace(rel, exprs=tuple(rewrite(e, shorten) for e in rel.exprs))


_PRESERVED = {JoinType.INNER: None, JoinType.LEFT: 0, JoinType.RIGHT: 1}
"""The side whose rows a join keeps, by the kinds of join that do not keep both."""


def _drop_redundant(operands: list[RexNode], pair: tuple[int, int], kind: JoinType) -> None:
    """Drop the key of the side that is not preserved, unless another operand stands between it and the other key."""
    indexes = [o.index if isinstance(o, InputRef) else -1 for o in operands]
    if any(key not in indexes for key in pair):
        return
    left, right = (indexes.index(key) for key in pair)
    preserved = _PRESERVED[kind]
    if preserved is None:
        del operands[max(left, right)]
        return
    kept, dropped = (left, right) if preserved == 0 else (right, left)
    if dropped >= kept - 1:
        del operands[dropped]


def _reads_side(rex: RexNode, width: int, on_left: bool) -> bool:
    read = refs(rex)
    return bool(read) and (max(read) < width if on_left else min(read) >= width)
