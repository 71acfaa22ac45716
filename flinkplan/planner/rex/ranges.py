"""What comparisons with literals imply about each other.  Source: Calcite's ``RexSimplify``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...plan.functions import Function
from ...plan.functions.comparison import EQ, GE, GT, LE, LT, NE
from ...plan.record import Record, Struct, field
from ...plan.rex import Bound, FieldAccess, InputRef, Literal, Range, RexNode, children
from . import sargs
from .expressions import TRUE, is_call
from .sargs import comparison

_UPPER, _LOWER = (LT, LE), (GT, GE)

MOST_KNOWN = 100
"""The greatest number of known comparisons of one operand that are examined."""


class Known(Record):
    """Comparisons of one operand with literals that are known to hold."""

    conditions: tuple[RexNode, ...] = ()
    excluded: frozenset[Any] | None = frozenset()
    """The excluded values, if all comparisons are ``<>``; else ``None``."""

    def with_one_more(self, condition: RexNode, compared: tuple[Function, RexNode, Literal]) -> Known:
        """The known comparisons and one more: ``condition``, which is the comparison ``compared``."""
        operator, _, literal = compared
        excluded = None if self.excluded is None or operator is not NE else self.excluded | {_key(literal)}
        return Known((*self.conditions, condition), excluded)

    def tells_nothing_of(self, literal: Literal) -> bool:
        """Whether nothing follows for a comparison with the literal, or finding out would take too long."""
        if self.excluded is None:
            return len(self.conditions) > MOST_KNOWN
        return _key(literal) not in self.excluded


def _key(literal: Literal) -> Any:
    return sargs.key(literal.value, literal.type)


class Bounds(Struct):
    """The terms of a conjunction; comparisons that narrower ones imply become TRUE."""

    terms: list[RexNode]
    ranges: dict[RexNode, tuple[Range, tuple[RexNode, ...]]] = field(default_factory=dict)
    """By operand: the remaining ranges, and the comparisons that imply them."""
    constants: dict[RexNode, Literal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.terms = list(self.terms)

    def add(self, term: RexNode) -> bool:
        """Add a comparison.  Returns whether all comparisons together are satisfiable."""
        compared = comparison(term)
        if compared is None:
            return True
        operator, operand, literal = compared
        if operator is EQ and self.constants.setdefault(operand, literal) != literal:
            return False
        if operator is NE:
            return True
        new = sargs.ranges_of(operator, literal.value)[0]
        old = self.ranges.get(operand)
        if old is None:
            self.ranges[operand] = (new, (term,))
            return True
        both = sargs.overlap(old[0], new, literal.type)
        if both is None:
            return False
        if both == old[0] and operator is not EQ:
            self._drop(term)
            return True
        same = _UPPER if operator in _UPPER else _LOWER
        replaced = old[1] if operator is EQ else tuple(t for t in old[1] if _is_bound(t, same))
        for t in replaced:
            self._drop(t)
        self.ranges[operand] = (both, (*(t for t in old[1] if t not in replaced), term))
        return True

    def _drop(self, term: RexNode) -> None:
        """Replace the last occurrence, if the term is one of these."""
        for i in range(len(self.terms) - 1, -1, -1):
            if self.terms[i] == term:
                self.terms[i] = TRUE
                return

    def contradict(self) -> bool:
        """Whether two operands that must be equal must equal different constants."""
        return any(a != b for a, b in map(self._constants, self.terms) if a is not None and b is not None)

    def implies(self, term: RexNode) -> bool:
        """Whether the term says only that two operands are equal that both equal one constant."""
        a, b = self._constants(term)
        return a is not None and a == b

    def _constants(self, term: RexNode) -> tuple[Literal | None, Literal | None]:
        if not is_call(term, EQ):
            return None, None
        left, right = children(term)
        return self.constants.get(left), self.constants.get(right)


def _is_bound(term: RexNode, operators: Iterable[Function]) -> bool:
    compared = comparison(term)
    return compared is not None and compared[0] in operators and isinstance(compared[1], (InputRef, FieldAccess))


def residue(operator: Function, literal: Literal, known: Iterable[RexNode]) -> tuple[Range, ...]:
    """The ranges that a comparison still has to check, given known comparisons of its operand; all if it is implied."""
    ranges = sargs.ranges_of(operator, literal.value)
    for other in map(comparison, known):
        if other is None or not sargs.are_comparable(literal, other[2]):
            continue
        if other[0] is NE:
            point = sargs.ranges_of(NE, other[2].value)
            if all(any(sargs.encloses(r, p, literal.type) for r in ranges) for p in point):
                return sargs.ALL
            ranges = tuple(o for r in ranges for p in point if (o := sargs.overlap(r, p, literal.type)) is not None)
            continue
        r1 = sargs.ranges_of(other[0], other[2].value)[0]
        if any(sargs.encloses(r, r1, literal.type) for r in ranges):
            return sargs.ALL
        ranges = tuple(o for r in ranges if (o := sargs.overlap(r, r1, literal.type)) is not None)
    return ranges


def point(ranges: tuple[Range, ...]) -> Bound | None:
    """The only value of the ranges, if there is one."""
    if len(ranges) == 1 and ranges[0].lower is not None and ranges[0].lower == ranges[0].upper:
        return ranges[0].lower
    return None
