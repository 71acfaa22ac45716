"""What a join condition implies for each input alone, and for what is computed of the joined rows.

Sources: ``JoinDependentConditionDerivationRule``, ``SimplifyCoalesceWithEquiJoinConditionRule``.
"""

from __future__ import annotations

from dataclasses import replace

from ...plan.rex import Call, InputRef, Literal, RexNode, children
from ...plan.specs import JoinType
from ..algebra import Filter, Join, Rel
from ..physical import Calc
from .join_kinds import join_keys
from .predicates import filtered
from .reduce import constants
from .rexes import (
    COALESCE,
    EQ,
    OR,
    and_,
    cast,
    conjunctions,
    flatten,
    is_call,
    is_deterministic,
    or_,
    refs,
    remap,
    retype,
    rewrite,
)
from .simplify import simplify


def derive_join_predicates(rel: Rel) -> Rel:
    """``(l.a = 1 AND r.b = 2) OR (l.a = 3 AND r.b = 4)`` implies ``l.a IN (1, 3)`` and ``r.b IN (2, 4)``."""
    if not isinstance(rel, Join) or rel.type is not JoinType.INNER:
        return rel
    width = len(rel.left.row_type.fields)
    parts = conjunctions(rel.condition)
    derived: list[RexNode] = []
    for part in parts:
        if not is_call(part, OR):
            continue
        branches = [conjunctions(b) for b in flatten(OR, part)]
        for on_left in (True, False):
            own = [[c for c in b if _of_side(c, width, on_left)] for b in branches]
            if all(own):
                derived.append(simplify(or_(and_(b) for b in own)))
    new = [d for d in derived if d not in parts]
    return replace(rel, condition=and_([*parts, *new])) if new else rel


def transfer_key_predicates(rel: Rel) -> Rel:
    """A condition on a join key of one input holds for the equal key of the other.

    Source: the inference of ``FlinkFilterJoinRule`` by ``RelMdPredicates``.
    """
    if not isinstance(rel, Join) or rel.type not in (JoinType.INNER, JoinType.LEFT, JoinType.RIGHT):
        return rel
    keys = join_keys(rel.condition, len(rel.left.row_type.fields))
    left: list[RexNode] = []
    right: list[RexNode] = []
    if rel.type is not JoinType.LEFT:
        left = _implied(rel.left, rel.right, dict(zip(keys.right, keys.left, strict=True)))
    if rel.type is not JoinType.RIGHT:
        right = _implied(rel.right, rel.left, dict(zip(keys.left, keys.right, strict=True)))
    if not left and not right:
        return rel
    return replace(rel, left=filtered(rel.left, left), right=filtered(rel.right, right))


def drop_constant_keys(rel: Rel) -> Rel:
    """Keys that are one constant on both sides are equal anyway."""
    if not isinstance(rel, Join) or rel.type not in (JoinType.INNER, JoinType.LEFT, JoinType.RIGHT):
        return rel
    width = len(rel.left.row_type.fields)
    known = {**constants(rel.left), **{i + width: v for i, v in constants(rel.right).items()}}
    kept = []
    for part in conjunctions(rel.condition):
        values = [known.get(o.index) for o in children(part) if isinstance(o, InputRef)] if is_call(part, EQ) else []
        if len(values) != 2 or not _are_equal(*values):
            kept.append(part)
    return replace(rel, condition=and_(kept))


def _are_equal(a: Literal | None, b: Literal | None) -> bool:
    return a is not None and b is not None and a.value is not None and a.value == b.value


def _implied(rel: Rel, other: Rel, keys: dict[int, int]) -> list[RexNode]:
    """The conditions that ``other`` puts on its keys, in terms of ``rel``'s, that it does not have yet."""
    own = _known(rel)
    types = rel.row_type.field_types
    found = []
    for part in _known(other):
        read = refs(part)
        if read and read <= set(keys) and is_deterministic(part):
            moved = retype(remap(part, keys), types)
            if moved not in own:
                found.append(moved)
    return found


def _known(rel: Rel) -> tuple[RexNode, ...]:
    """The conditions that a relation's rows meet, from the filter on top of it."""
    return conjunctions(rel.condition) if isinstance(rel, Filter) else ()


def shorten_coalesce(rel: Rel) -> Rel:
    """``COALESCE(l.k, r.k)`` above a join on ``l.k = r.k`` as the key that is not NULL unless both are."""
    if not isinstance(rel, Calc) or not isinstance(rel.input, Join) or rel.input.type not in _PRESERVED:
        return rel
    join = rel.input
    width = len(join.left.row_type.fields)
    keys = join_keys(join.condition, width)
    pairs = [(a, b + width) for a, b in zip(keys.left, keys.right, strict=True)]

    def shorten(node: RexNode) -> RexNode:
        if not isinstance(node, Call) or node.name != COALESCE:
            return node
        operands = list(node.operands)
        for pair in pairs:
            _drop_redundant(operands, pair, join.type)
        return cast(operands[0], node.type) if len(operands) == 1 else replace(node, operands=tuple(operands))

    condition = None if rel.condition is None else rewrite(rel.condition, shorten)
    return replace(rel, projection=tuple(rewrite(e, shorten) for e in rel.projection), condition=condition)


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


def _of_side(rex: RexNode, width: int, on_left: bool) -> bool:
    read = refs(rex)
    return bool(read) and (max(read) < width if on_left else min(read) >= width)
