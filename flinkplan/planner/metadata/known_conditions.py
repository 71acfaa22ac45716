"""Conditions that hold for all rows of a relation.  Source: ``RelMdPredicates``."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import partial
from operator import eq

from ...plan.functions import is_deterministic
from ...plan.functions.comparison import IS_NOT_NULL
from ...plan.record import cached_on_record
from ...plan.rex import InputRef, RexNode
from ...plan.specs import JoinType
from ..algebra.logical import Aggregate, Filter, Join, Project, Sort
from ..algebra.rel import Rel
from ..rex.expressions import conjunctions, identity, or_, refs, remap, shift, test
from ..rex.strong import is_null_where


@cached_on_record
def known_conditions(rel: Rel) -> tuple[RexNode, ...]:
    """The conditions on a relation's columns that follow from its filters and joins."""
    match rel:
        case Filter():
            return (*known_conditions(rel.input), *_stable(rel.condition))
        case Join(type=JoinType.INNER):
            right = (shift(c, rel.left.width) for c in known_conditions(rel.right))
            return (*known_conditions(rel.left), *right, *_stable(rel.condition))
        case Join(type=JoinType.LEFT | JoinType.SEMI | JoinType.ANTI):
            return known_conditions(rel.left)
        case Join(type=JoinType.RIGHT):
            return tuple(shift(c, rel.left.width) for c in known_conditions(rel.right))
        case Project():
            places = {e.index: i for i, e in enumerate(rel.exprs) if isinstance(e, InputRef)}
            conditions = (_weakened(c, places, rel.input) for c in known_conditions(rel.input))
            return _moved(filter(None, conditions), places)
        case Aggregate(grouping_sets=None):
            return _moved(known_conditions(rel.input), {g: i for i, g in enumerate(rel.grouping)})
        case Sort():
            return known_conditions(rel.input)
    return ()


def _stable(condition: RexNode) -> Iterable[RexNode]:
    return filter(is_deterministic, conjunctions(condition))


def _weakened(condition: RexNode, kept: Container[int], rel: Rel) -> RexNode | None:
    """What a condition says of the columns that a projection keeps: ``a = b`` says of ``a`` that it is not NULL.

    ``None`` where it says nothing.  Source: ``RelMdPredicates.projectPredicate``.
    """
    read = refs(condition)
    if all(i in kept for i in read):
        return condition
    columns = [column for column in identity(rel.types) if column.index in read and column.index in kept]
    tests = [
        test(IS_NOT_NULL, column)
        for column in columns
        if column.type.nullable and is_null_where(condition, partial(eq, column))
    ]
    return or_(tests) if tests else None


def _moved(conditions: Iterable[RexNode], places: Mapping[int, int]) -> tuple[RexNode, ...]:
    """The conditions whose columns all have a new position, over these positions."""
    return tuple(remap(c, places) for c in conditions if refs(c) <= places.keys())
