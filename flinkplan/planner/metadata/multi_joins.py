"""The equi-join columns of a multi-join.  Source: ``AttributeBasedJoinKeyExtractor``."""

from __future__ import annotations

from itertools import accumulate

from ..algebra.logical import MultiJoin
from ..algebra.physical import MultiJoin as PhysicalMultiJoin
from .join_kinds import join_keys

Attribute = tuple[int, int]
"""The position of an input, and a column of that input."""


def starts(rel: MultiJoin | PhysicalMultiJoin) -> list[int]:
    """The position of each input's first column."""
    return [0, *accumulate(o.width for o in rel.operands)][:-1]


def equalities(rel: MultiJoin | PhysicalMultiJoin) -> list[tuple[Attribute, Attribute]]:
    """The pairs of columns that conditions set equal: one of an earlier input, one of the joined input."""
    first = starts(rel)

    def attribute(column: int) -> Attribute:
        place = max(i for i, start in enumerate(first) if start <= column)
        return place, column - first[place]

    equal = []
    for i, condition in enumerate(rel.conditions):
        keys = join_keys(condition, first[i])
        pairs = zip(keys.left, keys.right, strict=True)
        equal += [(attribute(left), (i, right)) for left, right in pairs]
    return equal


def common_keys(rel: MultiJoin | PhysicalMultiJoin) -> tuple[tuple[int, ...], ...]:
    """For each input the columns that equal columns of every other input."""
    groups: list[set[Attribute]] = []
    for pair in equalities(rel):
        touched = [g for g in groups if not g.isdisjoint(pair)]
        groups = [g for g in groups if g not in touched] + [set(pair).union(*touched)]
    everywhere = range(len(rel.operands))
    shared = [g for g in groups if {i for i, _ in g} == set(everywhere)]
    shared.sort(key=lambda group: min(group))
    return tuple(tuple(min(c for i, c in group if i == place) for group in shared) for place in everywhere)
