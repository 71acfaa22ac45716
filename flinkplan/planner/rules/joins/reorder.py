"""Joins in the order that Flink expects to cost least (``table.optimizer.join-reorder-enabled``).

Sources: ``JoinToMultiJoinForReorderRule``, ``FlinkBushyJoinReorderRule``, Calcite's ``LoptMultiJoin``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeAlias

from ....plan.errors import UnsupportedError
from ....plan.record import Record, cached_on_record, cached_property, replace
from ....plan.rex import Call, RexNode
from ....plan.settings import BUSHY_JOINS, JOIN_REORDER, is_on, value_of
from ....plan.specs import JoinType
from ...algebra.builders import filtered, select_columns
from ...algebra.logical import Aggregate, Filter, Join, Project
from ...algebra.rel import ONE_SIDED, Rel
from ...metadata.estimates import Estimates
from ...metadata.join_kinds import is_lookup, join_keys
from ...rex.expressions import and_, conjunctions, refs, remap, shift
from ..rule import Config

_ESTIMATES = Estimates()
_FILLS_LEFT, _FILLS_RIGHT = (JoinType.RIGHT, JoinType.FULL), (JoinType.LEFT, JoinType.FULL)
"""The joins that have nulls on a side where it has no row."""
Cost: TypeAlias = tuple[float, float]
"""CPU and rows, compared in this order.  Source: ``FlinkCost.isLe``."""


def reorder_joins(rel: Rel, config: Config) -> Rel:
    """Put inner joins in the order of least cost, and outer joins above them, where the option asks for it.

    Raises :class:`UnsupportedError` for more joins than Flink orders so.
    """
    if not is_on(config, JOIN_REORDER):
        return rel
    return _plain(_merged(rel, int(value_of(config, BUSHY_JOINS))))


class _Joined(Record, dict=True):
    """Joins as one of all their operands.  Source: Calcite's ``MultiJoin``.

    ``filters`` are the conditions of inner joins, or of a full one.  An operand that an outer join fills with nulls has
    the join's kind and condition.  All conditions are over the columns of all operands.
    """

    operands: tuple[Rel, ...]
    nulls: tuple[tuple[bool, ...], ...]
    """For each operand which of its columns outer joins within it may have filled."""
    kinds: tuple[JoinType, ...]
    outer: tuple[tuple[RexNode, ...], ...]
    filters: tuple[RexNode, ...]
    join: Join
    """The topmost of the joins, over ``left`` and ``right``."""
    left: _Joined | Rel
    right: _Joined | Rel
    threshold: int
    later: tuple[RexNode, ...] = ()
    """What filters the result."""

    @property
    def is_full(self) -> bool:
        """Whether it is one full outer join."""
        return self.join.type is JoinType.FULL

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """For each column the operand that it is of."""
        return tuple(i for i, operand in enumerate(self.operands) for _ in range(operand.width))

    def operands_read(self, condition: RexNode) -> frozenset[int]:
        """The operands that a condition reads."""
        return frozenset(self.factors[column] for column in refs(condition))


# ---------------------------------------------------------------- merging


def _merged(rel: Rel, threshold: int) -> _Joined | Rel:
    if isinstance(rel, Join) and rel.type not in ONE_SIDED and not is_lookup(rel):
        return _joined(rel, _merged(rel.left, threshold), _merged(rel.right, threshold), threshold)
    if isinstance(rel, Filter):
        below = _merged(rel.input, threshold)
        if isinstance(below, _Joined):
            return replace(below, later=(*conjunctions(rel.condition), *below.later))
        return rel.over(lambda _: below)
    return rel.over(lambda each: _plain(_merged(each, threshold)))


def _joined(join: Join, left: _Joined | Rel, right: _Joined | Rel, threshold: int) -> _Joined:
    kind, width = join.type, join.left.width
    keys = join_keys(join.condition, width)
    nulls = _nulls(_nulls_within(left), _nulls_within(right), width, join.right.width, kind)
    outer = conjunctions(join.condition) if kind in (JoinType.LEFT, JoinType.RIGHT) else ()
    sides = (
        _side(left, kind not in _FILLS_LEFT and not any(nulls[key] for key in keys.left)),
        _side(right, kind not in _FILLS_RIGHT and not any(nulls[width + key] for key in keys.right)).shifted(width),
    )
    if kind is JoinType.LEFT:
        sides = (sides[0], replace(sides[1], kinds=(kind,), outer=(outer,)))
    elif kind is JoinType.RIGHT:
        sides = (replace(sides[0], kinds=(kind,), outer=(outer,)), sides[1])
    own = () if outer else conjunctions(join.condition)
    return _Joined(
        operands=(*sides[0].operands, *sides[1].operands),
        nulls=(*sides[0].nulls, *sides[1].nulls),
        kinds=(*sides[0].kinds, *sides[1].kinds),
        outer=(*sides[0].outer, *sides[1].outer),
        filters=(*own, *sides[0].filters, *sides[1].filters),
        join=join,
        left=left,
        right=right,
        threshold=threshold,
        later=(*sides[1].later, *sides[0].later),
    )


class _Side(Record):
    """What a side of a join brings into it."""

    operands: tuple[Rel, ...]
    nulls: tuple[tuple[bool, ...], ...]
    kinds: tuple[JoinType, ...] = (JoinType.INNER,)
    outer: tuple[tuple[RexNode, ...], ...] = ((),)
    filters: tuple[RexNode, ...] = ()
    later: tuple[RexNode, ...] = ()

    def shifted(self, by: int) -> _Side:
        """With conditions over columns that stand behind others."""

        def moved(conditions: Iterable[RexNode]) -> tuple[RexNode, ...]:
            return tuple(shift(condition, by) for condition in conditions)

        outer = tuple(map(moved, self.outer))
        return replace(self, outer=outer, filters=moved(self.filters), later=moved(self.later))


def _side(part: _Joined | Rel, combines: bool) -> _Side:
    if isinstance(part, _Joined) and combines and not part.is_full:
        return _Side(part.operands, part.nulls, part.kinds, part.outer, part.filters, part.later)
    return _Side((_plain(part),), (_nulls_within(part),))


def _nulls_within(part: _Joined | Rel) -> tuple[bool, ...]:
    """Source: ``buildNullGenFieldList``, which counts the operands in the middle twice."""
    if not isinstance(part, _Joined):
        return (False,) * part.width
    widths = [operand.width for operand in part.operands]
    pairs = (
        _nulls(
            part.nulls[i],
            part.nulls[i + 1],
            widths[i],
            widths[i + 1],
            part.join.type if part.is_full else part.kinds[i if part.kinds[i] is JoinType.RIGHT else i + 1],
        )
        for i in range(len(widths) - 1)
    )
    return tuple(chain.from_iterable(pairs))


def _nulls(
    left: tuple[bool, ...], right: tuple[bool, ...], left_width: int, right_width: int, kind: JoinType
) -> tuple[bool, ...]:
    return (
        *((True,) * left_width if kind in _FILLS_LEFT else left),
        *((True,) * right_width if kind in _FILLS_RIGHT else right),
    )


# ---------------------------------------------------------------- ordering


class _Order(Record):
    """A join of some operands, which stand in this order."""

    factors: tuple[int, ...]
    rel: Rel


def _plain(part: _Joined | Rel) -> Rel:
    if not isinstance(part, _Joined):
        return part
    if len(part.operands) > part.threshold:
        raise UnsupportedError(
            f"a join of {len(part.operands)} tables is not reordered",
            hint=f"set {BUSHY_JOINS} to the number of tables, or {JOIN_REORDER} to false",
        )
    order = _best(part)
    if order is None:
        joins: Rel = replace(part.join, left=_plain(part.left), right=_plain(part.right))
        return filtered(joins, part.later)
    starts = _starts(part, order.factors)
    widths = [operand.width for operand in part.operands]
    columns = (starts[i] + column for i, width in enumerate(widths) for column in range(width))
    selected = select_columns(order.rel, columns)
    if isinstance(selected, Project) and selected is not order.rel:
        selected = replace(selected, names=part.join.names)
    return filtered(selected, part.later)


def _best(joined: _Joined) -> _Order | None:
    """The best order; ``None`` where one of the conditions would be lost."""
    conditions = [*joined.filters, *chain.from_iterable(joined.outer)]
    if not all(isinstance(condition, Call) and len(joined.operands_read(condition)) > 1 for condition in conditions):
        return None
    best = _cheapest(_inner_orders(joined)[-1].values())
    inner = frozenset(best.factors)
    applied = sum(joined.operands_read(condition) <= inner for condition in joined.filters)
    outer = joined.filters if joined.is_full else [*chain.from_iterable(joined.outer)]
    kind = JoinType.FULL if joined.is_full else JoinType.LEFT
    remaining = []
    for i in range(len(joined.operands)):
        if i in inner:
            continue
        own = _between(joined, inner, frozenset((i,)), outer)
        if own:
            best = _with(joined, best, _Order((i,), joined.operands[i]), own, kind)
            applied += len(own)
        else:
            remaining.append(i)
    if applied < len(conditions):
        return None
    for i in remaining:
        best = _with(joined, best, _Order((i,), joined.operands[i]), (), joined.kinds[i])
    return best


def _inner_orders(joined: _Joined) -> list[dict[frozenset[int], _Order]]:
    """The best orders of the operands of inner joins: single ones, pairs and so on."""
    count = len(joined.operands)
    single = (i for i in range(count) if joined.kinds[i] is JoinType.INNER)
    levels = [{frozenset((i,)): _Order((i,), joined.operands[i]) for i in single}]
    while len(levels) < count and not joined.is_full:
        level: dict[frozenset[int], _Order] = {}
        for left, right in _pairs(levels):
            order = _inner(joined, left, right)
            if order is None:
                continue
            key = frozenset(order.factors)
            if key not in level or _cost(order.rel) < _cost(level[key].rel):
                level[key] = order
        if not level:
            break
        levels.append(level)
    return levels


def _pairs(levels: Sequence[dict[frozenset[int], _Order]]) -> Iterator[tuple[_Order, _Order]]:
    """What may be joined for the next level."""
    low, high = 0, len(levels) - 1
    while low <= high:
        lefts, rights = list(levels[low].values()), list(levels[high].values())
        for i, left in enumerate(lefts):
            for right in rights[i:] if low == high else rights:
                yield left, right
        low, high = low + 1, high - 1


def _inner(joined: _Joined, left: _Order, right: _Order) -> _Order | None:
    """The join of both, the longer one on the left, if a condition is between them."""
    if not set(left.factors).isdisjoint(right.factors):
        return None
    own = _between(joined, frozenset(left.factors), frozenset(right.factors), joined.filters)
    if not own:
        return None
    if len(left.factors) < len(right.factors):
        left, right = right, left
    return _with(joined, left, right, own, JoinType.INNER)


def _between(
    joined: _Joined, left: frozenset[int], right: frozenset[int], conditions: Iterable[RexNode]
) -> list[RexNode]:
    """The conditions that read both sides and nothing else."""
    read = ((condition, joined.operands_read(condition)) for condition in conditions)
    return [condition for condition, of in read if of & left and of & right and of <= left | right]


def _with(joined: _Joined, left: _Order, right: _Order, conditions: Iterable[RexNode], kind: JoinType) -> _Order:
    factors = (*left.factors, *right.factors)
    starts, before = _starts(joined, factors), _starts(joined, range(len(joined.operands)))
    mapping = {column: column - before[i] + starts.get(i, 0) for column, i in enumerate(joined.factors)}
    condition = and_(remap(condition, mapping) for condition in conditions)
    return _Order(factors, Join(left=left.rel, right=right.rel, type=kind, condition=condition))


def _starts(joined: _Joined, factors: Iterable[int]) -> dict[int, int]:
    """The first columns of operands that stand in an order."""
    order = list(factors)
    widths = (joined.operands[i].width for i in order)
    return dict(zip(order, accumulate(widths, initial=0), strict=False))


# ---------------------------------------------------------------- costs


def _cheapest(orders: Iterable[_Order]) -> _Order:
    return min(orders, key=lambda order: _cost(order.rel))


@cached_on_record
def _cost(rel: Rel) -> Cost:
    """The cost of a tree.  Source: ``computeSelfCost`` of Calcite's relations."""
    cpu, rows = _own_cost(rel)
    for each in rel.inputs:
        more = _cost(each)
        cpu, rows = cpu + more[0], rows + more[1]
    return cpu, rows


def _own_cost(rel: Rel) -> Cost:
    rows = _ESTIMATES.rows(rel)
    match rel:
        case Join():
            return 0.0, rows
        case Filter():
            return _ESTIMATES.rows(rel.input), rows
        case Project():
            read = _ESTIMATES.rows(rel.input)
            return read * (len(rel.exprs) + 1), read
        case Aggregate():
            return 0.0, rows * (1.0 + 0.125 * len(rel.calls))
    return (rows, rows) if rel.inputs else (rows + 1, rows)
