"""Sets of values as ranges: the algebra behind SEARCH.  Source: Calcite's ``Sarg`` and ``RexSimplify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from ...plan.functions import Function, called
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND, EQ, GE, GT, IS_NOT_NULL, IS_NULL, LE, LT, NE, SEARCH, are_text_and_number
from ...plan.functions.typing import least_restrictive
from ...plan.record import Record, cached_on_record, replace
from ...plan.rex import Bound, Call, FieldAccess, InputRef, Literal, Range, RexNode, Sarg, children
from ...plan.types import APPROXIMATE, CHARACTER, INTEGERS, NUMERIC, LogicalType
from ..errors import PlanningError
from . import sargs
from .expressions import FALSE, MIRRORED, TRUE, UNKNOWN, and_, compare, is_call, or_, rewrite, search, test
from .truth import UnknownAs
from .unplanned import Approximate

ALL = (Range(None, None),)


class Search(Record):
    """``operand`` lies in ``ranges``; ``null`` is what NULL yields (None: UNKNOWN)."""

    operand: RexNode
    ranges: tuple[Range, ...]
    null: bool | None
    type: LogicalType | None

    @property
    def is_points(self) -> bool:
        """Whether the search accepts some points."""
        return all(map(_is_point, self.ranges))

    @property
    def is_complemented_points(self) -> bool:
        """Whether the search accepts everything but some points."""
        if len(self.ranges) < 2 or self.ranges[0].lower is not None or self.ranges[-1].upper is not None:
            return False
        return all(
            a.upper is not None
            and b.lower is not None
            and not a.upper.closed
            and not b.lower.closed
            and key(a.upper.value, self.type) == key(b.lower.value, self.type)
            for a, b in zip(self.ranges, self.ranges[1:], strict=False)
        )


def key(value: Any, t: LogicalType | None) -> Any:
    """A sort key of a value, in Flink's order of the type."""
    numeric = t is not None and (t.root in NUMERIC or t.root.startswith("INTERVAL"))
    return Decimal(str(value)) if numeric else value


def read(rex: RexNode) -> Search | None:
    """A comparison with a literal, IS [NOT] NULL or SEARCH as a search; ``None`` for other expressions."""
    if type(rex) is not Call:
        return None
    function = called(rex)
    if function is IS_NULL:
        return Search(rex.operands[0], (), True, None)
    if function is IS_NOT_NULL:
        return Search(rex.operands[0], ALL, False, None)
    if function is SEARCH and isinstance(rex.operands[1], Sarg):
        sarg = rex.operands[1]
        null = {"TRUE": True, "FALSE": False}.get(sarg.null_as)
        return Search(rex.operands[0], sarg.ranges, null, sarg.type)
    if compared := comparison(rex):
        operator, operand, literal = compared
        return Search(operand, ranges_of(operator, literal.value), None, literal.type)
    return None


@cached_on_record
def comparison(rex: RexNode) -> tuple[Function, RexNode, Literal] | None:
    """The operator, operand and literal of a comparison, with the literal on the right; ``None`` if it is none."""
    operator = called(rex)
    if operator is None or operator not in MIRRORED:
        return None
    left, right = children(rex)
    if type(left) is Literal and type(right) is not Literal:
        left, right, operator = right, left, MIRRORED[operator]
    if type(right) is not Literal or type(left) is Literal or right.value is None:
        return None
    return operator, left, right


def ranges_of(operator: Function, value: Any) -> tuple[Range, ...]:
    """The ranges of values for which a comparison with a value holds."""
    open_, closed = Bound(value, False), Bound(value, True)
    return {
        EQ: (Range(closed, closed),),
        NE: (Range(None, open_), Range(open_, None)),
        LT: (Range(None, open_),),
        LE: (Range(None, closed),),
        GT: (Range(open_, None),),
        GE: (Range(closed, None),),
    }[operator]


def _is_point(r: Range) -> bool:
    return r.lower is not None and r.lower == r.upper


def intersect(a: Search, b: Search) -> Search:
    """The search for values that both searches accept."""
    t = _common(a.type, b.type)
    ranges = []
    left, right = list(reversed(a.ranges)), list(reversed(b.ranges))
    while left and right:
        x, y = left[-1], right[-1]
        both = overlap(x, y, t)
        if both is not None:
            ranges.append(both)
        (left if _tighter(x.upper, y.upper, t, -1) is x.upper else right).pop()
    null = False if False in (a.null, b.null) else (True if a.null and b.null else None)
    return Search(a.operand, _typed(ranges, t), null, t)


def overlap(a: Range, b: Range, t: LogicalType | None) -> Range | None:
    """The intersection of two ranges; ``None`` if it is empty."""
    lower = _tighter(a.lower, b.lower, t, 1)
    upper = _tighter(a.upper, b.upper, t, -1)
    return Range(lower, upper) if _holds_something(lower, upper, t) else None


def encloses(a: Range, b: Range, t: LogicalType | None) -> bool:
    """Whether the first range contains the second."""
    both = overlap(a, b, t)
    return both is not None and _same(both.lower, b.lower, t) and _same(both.upper, b.upper, t)


def _same(a: Bound | None, b: Bound | None, t: LogicalType | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.closed == b.closed and bool(key(a.value, t) == key(b.value, t))


def are_comparable(a: Literal, b: Literal) -> bool:
    """Whether the literals are of types whose values compare."""
    return (
        a.type.root == b.type.root
        or {a.type.root, b.type.root} <= {*NUMERIC}
        or {a.type.root, b.type.root} <= {*CHARACTER}
    )


def unite(a: Search, b: Search) -> Search:
    """The search for values that one of the searches accepts."""
    t = _common(a.type, b.type)
    null = True if True in (a.null, b.null) else (False if a.null is False and b.null is False else None)
    return Search(a.operand, _typed(_merge((*a.ranges, *b.ranges), t), t), null, t)


def _typed(ranges: Iterable[Range], t: LogicalType | None) -> tuple[Range, ...]:
    """The ranges with whole numbers written as the common type writes them."""
    if t is None or t.root in INTEGERS or t.root not in NUMERIC:
        return tuple(ranges)

    def bound(b: Bound | None) -> Bound | None:
        return b if b is None else replace(b, value=str(b.value))

    return tuple(Range(bound(r.lower), bound(r.upper)) for r in ranges)


def _common(a: LogicalType | None, b: LogicalType | None) -> LogicalType | None:
    if a is None or b is None or a == b:
        return a or b
    if a.root in CHARACTER and b.root in CHARACTER:
        length = max(a.length or 0, b.length or 0)
        return replace(
            a, root="CHAR" if a.root == b.root == "CHAR" and a.length == b.length else "VARCHAR", length=length
        )
    if are_text_and_number(a, b):
        raise PlanningError("one value is compared both with a number and with a text", hint="CAST them to one type")
    return least_restrictive([a, b]) or a


def _tighter(a: Bound | None, b: Bound | None, t: LogicalType | None, sign: int) -> Bound | None:
    if a is None or b is None:
        return a or b
    x, y = key(a.value, t), key(b.value, t)
    if x == y:
        return a if not a.closed else b
    return a if (x > y) == (sign > 0) else b


def _holds_something(lower: Bound | None, upper: Bound | None, t: LogicalType | None) -> bool:
    if lower is None or upper is None:
        return True
    x, y = key(lower.value, t), key(upper.value, t)
    return bool(x < y or (x == y and lower.closed and upper.closed))


def _merge(ranges: Iterable[Range], t: LogicalType | None) -> tuple[Range, ...]:
    def start(r: Range) -> tuple[Any, ...]:
        return () if r.lower is None else (key(r.lower.value, t), not r.lower.closed)

    merged: list[Range] = []
    for r in sorted(ranges, key=start):
        if merged and _touches(merged[-1].upper, r.lower, t):
            merged[-1] = Range(merged[-1].lower, _looser(merged[-1].upper, r.upper, t))
        else:
            merged.append(r)
    return tuple(merged)


def _touches(upper: Bound | None, lower: Bound | None, t: LogicalType | None) -> bool:
    if upper is None or lower is None:
        return True
    x, y = key(upper.value, t), key(lower.value, t)
    return bool(x > y or (x == y and (upper.closed or lower.closed)))


def _looser(a: Bound | None, b: Bound | None, t: LogicalType | None) -> Bound | None:
    if a is None or b is None:
        return None
    x, y = key(a.value, t), key(b.value, t)
    if x == y:
        return a if a.closed else b
    return a if x > y else b


def fold(rex: Call) -> RexNode:
    """The truth value of a SEARCH of a literal."""
    value, sarg = rex.operands
    if not isinstance(value, Literal) or not isinstance(sarg, Sarg):
        return rex
    if value.value is None:
        return Literal({"TRUE": True, "FALSE": False}.get(sarg.null_as), rex.type)
    point = Bound(value.value, True)
    return TRUE if any(_has(r, point, sarg.type) for r in sarg.ranges) else FALSE


def _has(r: Range, point: Bound, t: LogicalType) -> bool:
    return _holds_something(r.lower, point, t) and _holds_something(point, r.upper, t)


def complement(searched: Search) -> Search:
    """The search for all other values."""
    gaps: list[Range] = []
    lower: Bound | None = None
    at_start = True
    for r in searched.ranges:
        if r.lower is not None:
            gaps.append(Range(None if at_start else lower, Bound(r.lower.value, not r.lower.closed)))
        at_start = False
        lower = None if r.upper is None else Bound(r.upper.value, not r.upper.closed)
    if lower is not None or at_start:
        gaps.append(Range(lower, None))
    null = None if searched.null is None else not searched.null
    return Search(searched.operand, tuple(gaps), null, searched.type)


def complexity(searched: Search) -> int:
    """How many comparisons a search takes.  Source: ``Sarg.complexity``."""
    points = len(searched.ranges) == 2 and searched.is_complemented_points
    return (1 if points else len(searched.ranges)) + (searched.null is True)


def is_simple(searched: Search) -> bool:
    """Whether a search is for points, or for one side of a point."""
    if len(searched.ranges) == 1 and None in (searched.ranges[0].lower, searched.ranges[0].upper):
        return True
    return searched.is_complemented_points or all(map(_is_point, searched.ranges))


def written(searched: Search, unknown: UnknownAs) -> RexNode:
    """A search as comparisons where these are simple, else as SEARCH."""
    if searched.type is None or not searched.ranges or searched.ranges == ALL:
        return _trivial(searched, unknown)
    is_short = _is_short(searched)
    null = None if is_short and searched.null is unknown.value else searched.null
    unexpanded = search(searched.operand, Sarg(searched.ranges, _NULL_AS[null], searched.type))
    return expand(unexpanded) if is_short else unexpanded


def _is_short(searched: Search) -> bool:
    return complexity(searched) <= 1 and is_simple(searched)


def _trivial(searched: Search, unknown: UnknownAs) -> RexNode:
    """Source: ``RexUtil.simpleSarg``."""
    null = unknown.value if searched.null is None else searched.null
    if searched.ranges:
        not_null = test(IS_NOT_NULL, searched.operand)
        return TRUE if null else not_null if null is False else or_([not_null, UNKNOWN])
    is_null = test(IS_NULL, searched.operand)
    return is_null if null else FALSE if null is False else and_([UNKNOWN, is_null])


def write(searched: Search) -> RexNode:
    """The shortest expression of a search."""
    operand, ranges, null, t = searched.operand, searched.ranges, searched.null, searched.type
    if not operand.type.nullable:
        null = None
    if ranges == ALL or t is None:
        if ranges:
            return TRUE if null or not operand.type.nullable else test(IS_NOT_NULL, operand)
        return test(IS_NULL, operand) if null else FALSE
    if not ranges:
        return test(IS_NULL, operand) if null else FALSE
    unexpanded = search(operand, Sarg(ranges, _NULL_AS[null], t))
    return expand(unexpanded) if null is None and _is_short(searched) else unexpanded


_NULL_AS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}


def _literal(value: Any, t: LogicalType) -> Literal:
    return Literal(Approximate(value) if t.root in APPROXIMATE else value, t)


def search_of(comparisons: Sequence[RexNode], *, every: bool) -> RexNode:
    """Comparisons of one operand with literals, any or all of which must hold, as one SEARCH.

    Where they cannot be one (the values do not compare, or it is no column that they ask for) they stay an OR or AND.
    """
    operand = children(comparisons[0])[0]
    searches = [read(c) for c in comparisons]
    is_one = is_searched(operand) and operand.type.root != "BOOLEAN"
    if not is_one or any(s is None or s.operand != operand for s in searches):
        return and_(comparisons) if every else or_(comparisons)
    return write(combined([s for s in searches if s is not None], intersect if every else unite))


def is_searched(rex: RexNode) -> bool:
    """Whether comparisons of the expression are gathered: it is a column, a field, or a cast."""
    return isinstance(rex, (InputRef, FieldAccess)) or is_call(rex, CAST)


def combined(searches: Sequence[Search], combine: Callable[[Search, Search], Search]) -> Search:
    """All searches combined, by divide and conquer, so that long lists do not take quadratic time."""
    if len(searches) == 1:
        return searches[0]
    middle = len(searches) // 2
    return combine(combined(searches[:middle], combine), combined(searches[middle:], combine))


def expand(rex: RexNode) -> RexNode:
    """SEARCH written out as comparisons.  Source: ``RexUtil.expandSearch``."""
    if not (is_call(rex, SEARCH) and isinstance(rex.operands[1], Sarg)):
        return rex
    operand, sarg = rex.operands

    def to(operator: Function, value: Any) -> RexNode:
        return compare(operator, operand, _literal(value, sarg.type))

    searched = read(rex)
    assert searched is not None and isinstance(sarg, Sarg)
    if searched.is_complemented_points:
        parts: list[RexNode] = [and_(to(NE, r.upper.value) for r in sarg.ranges[:-1])]  # type: ignore[union-attr]
    else:
        parts = []
        for r in sarg.ranges:
            if _is_point(r):
                parts.append(to(EQ, r.lower.value))  # type: ignore[union-attr]
                continue
            ends = []
            if r.lower is not None:
                ends.append(to(GE if r.lower.closed else GT, r.lower.value))
            if r.upper is not None:
                ends.append(to(LE if r.upper.closed else LT, r.upper.value))
            parts.append(and_(ends))
    written = or_(parts)
    if sarg.null_as == "TRUE":
        return or_([test(IS_NULL, operand), written])
    return written if sarg.null_as == "UNKNOWN" else AND.call(test(IS_NOT_NULL, operand), written)


def sargs_expanded(rex: RexNode) -> RexNode:
    """The predicate without SEARCH."""
    return rewrite(rex, sargs.expand)
