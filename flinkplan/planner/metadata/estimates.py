"""Flink's estimates of row counts and costs.

Tables have no statistics here, so each has the default row count of Flink.
Sources: ``FlinkRelMdRowCount``, ``FlinkRelMdDistinctRowCount``, ``FlinkRelMdUtil``, and the ``computeSelfCost`` of
``FlinkLogicalAggregate``, ``FlinkLogicalJoin``, ``FlinkLogicalSort``, ``FlinkLogicalTableSourceScan`` and
``CommonCalc``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from math import exp, prod, sqrt
from typing import TypeAlias

from ...plan.functions.aggregate import COUNT
from ...plan.functions.cast import CAST
from ...plan.record import Record, cached_on_record
from ...plan.rex import InputRef, Literal, RexNode
from ...plan.specs import CumulativeWindow, HoppingWindow, JoinType, SessionWindow, TimeAttributeWindowing
from ..algebra.calls import is_call_of
from ..algebra.logical import Aggregate, Filter, Join, MultiJoin, Project, SetKind, SetOp, Sort, TemporalJoin, Values
from ..algebra.physical import LegacyWindowAggregate, OverAggregate, SourceScan, WindowTableFunction
from ..algebra.rel import Rel
from ..rex.expressions import (
    TRUE,
    and_,
    are_identity,
    conjunctions,
    contains_over,
    inline,
    is_always_true,
    is_call,
    refs,
    remap,
    shift,
)
from .call_selectivity import call_selectivity
from .join_kinds import JoinKeys, join_keys
from .selectivity import estimated_selectivity, guessed_selectivity, selectivity
from .sizes import row_size
from .uniqueness import are_columns_unique

TABLE_ROWS = 1e8
"""Source: ``FlinkPreparingTableBase.DEFAULT_ROWCOUNT``."""

_HASH, _SINGLE, _SERIALIZE = 8, 1, 160
"""The CPU costs of a row that is shuffled.  Source: ``FlinkCost``."""

Cost: TypeAlias = tuple[float, float, float]
"""CPU, IO in bytes, and rows, compared in this order.  Source: ``FlinkCost.isLe``."""


def shuffle_cpu(keys: Sized) -> float:
    """The CPU cost of a row that is shuffled by keys, or to a single task where there are none."""
    return float((_HASH * len(keys) if keys else _SINGLE) + _SERIALIZE)


class Estimates(Record):
    """Estimates of logical relations."""

    recounts: bool = True
    """Whether the selectivity of a semi or anti join counts twice for another one right above it, as in Flink."""

    def cost(self, rel: Rel) -> Cost:
        """The cost of a tree.  Only what depends on the order of operators is counted."""
        return _cost(rel, self)

    def own_cost(self, rel: Rel) -> tuple[Cost, tuple[Rel, ...]]:
        """The cost of an operator without its inputs, and these inputs."""
        match rel:
            case Project() | Filter() if not _computes_over(rel):
                return self._calc_cost(rel)
            case Aggregate() | LegacyWindowAggregate():
                rows = self.rows(rel.input)
                return (rows * (1.1 * len(rel.grouping) + len(rel.calls)), rows * row_size(rel.input), rows), rel.inputs
            case Join():
                left, right = self.rows(rel.left), self.rows(rel.right)
                one_sided = rel.type in (JoinType.SEMI, JoinType.ANTI)
                io = left * row_size(rel.left) + right * (row_size(rel.right) if one_sided else 1.0)
                return (left + right, io, left + right if one_sided else left), rel.inputs
            case Sort():
                rows = self.rows(rel)
                return (rows, 0.0, rows), rel.inputs
            case SourceScan():
                rows = self.rows(rel)
                return (rows, rows * row_size(rel), rows), ()
        return (0.0, 0.0, 0.0), rel.inputs

    def _calc_cost(self, rel: Rel) -> tuple[Cost, tuple[Rel, ...]]:
        """The cost of adjacent projections and filters, which become one calc, or none if they change nothing."""
        exprs: tuple[RexNode, ...] = ()
        source, is_filtered, is_projected = rel, False, False
        while isinstance(source, (Project, Filter)) and not _computes_over(source):
            if isinstance(source, Filter):
                is_filtered = True
            else:
                below = source.exprs
                exprs = tuple([inline(e, below) for e in exprs]) if is_projected else below
                is_projected = True
            source = source.input
        if not is_filtered and are_identity(exprs, source.types):
            return (0.0, 0.0, 0.0), (source,)
        rows = self.rows(rel)
        computed = sum(not isinstance(e, (InputRef, Literal)) and not is_call(e, CAST) for e in exprs)
        return (rows * computed, 0.0, rows), (source,)

    def rows(self, rel: Rel) -> float:
        """The number of rows."""
        return _rows(rel, self)

    def distinct_rows(self, rel: Rel, columns: Iterable[int], condition: RexNode = TRUE) -> float | None:
        """The number of distinct values of columns in the rows that meet a condition; ``None`` if unknown."""
        return _distinct_rows(rel, self, frozenset(columns), condition)

    def _distinct_keys(self, rel: Rel, columns: frozenset[int], condition: RexNode) -> float | None:
        return self.rows(rel) * _selectivity(self, rel, condition) if are_columns_unique(rel, columns) else None


@cached_on_record
def _cost(rel: Rel, known: Estimates) -> Cost:
    (cpu, io, rows), inputs = known.own_cost(rel)
    for each in inputs:
        cost = known.cost(each)
        cpu, io, rows = cpu + cost[0], io + cost[1], rows + cost[2]
    return cpu, io, rows


@cached_on_record
def _rows(rel: Rel, known: Estimates) -> float:
    if rule := _ROWS.get(type(rel)):
        return max(1.0, rule(known, rel))
    return known.rows(rel.inputs[0]) if rel.inputs else TABLE_ROWS


@cached_on_record
def _distinct_rows(rel: Rel, known: Estimates, columns: frozenset[int], condition: RexNode) -> float | None:
    rule = _DISTINCT_ROWS.get(type(rel))
    return rule(known, rel, columns, condition) if rule else known._distinct_keys(rel, columns, condition)


def _computes_over(rel: Rel) -> bool:
    return isinstance(rel, Project) and any(map(contains_over, rel.exprs))


# ---------------------------------------------------------------- rows


def _values_rows(known: Estimates, rel: Values) -> float:
    return len(rel.tuples)


def _filter_rows(known: Estimates, rel: Filter) -> float:
    return known.rows(rel.input) * _selectivity(known, rel.input, rel.condition)


def _selectivity(known: Estimates, rel: Rel, condition: RexNode) -> float:
    """The share of a relation's rows that meets a condition.  Source: ``FlinkRelMdSelectivity``."""
    match rel:
        case _ if is_always_true(condition):
            return 1.0
        case Aggregate():
            pushed, rest = _split_on_aggregate(rel, condition)
            return _selectivity(known, rel.input, pushed) * call_selectivity(rel, rest, known.rows)
        case Sort():
            return _selectivity(known, rel.input, condition)
        case OverAggregate():
            parts = conjunctions(condition)
            below = [part for part in parts if all(i < rel.input.width for i in refs(part))]
            rest = [part for part in parts if part not in below]
            return _selectivity(known, rel.input, and_(below)) * guessed_selectivity(rest)
        case Join(type=JoinType.SEMI | JoinType.ANTI):
            return prod(_shares(known, rel, set())) * _selectivity(known, rel.left, condition)
        case SetOp(kind=SetKind.UNION):
            rows = [known.rows(operand) for operand in rel.operands]
            kept = [_selectivity(known, operand, condition) for operand in rel.operands]
            return sum(r * share for r, share in zip(rows, kept, strict=True)) / sum(rows)
        case SourceScan() | Project() | Filter() | Join() | TemporalJoin():
            return estimated_selectivity(condition, lambda column: known.distinct_rows(rel, [column]))
    return guessed_selectivity(conjunctions(condition))


def _split_on_aggregate(rel: Aggregate, condition: RexNode) -> tuple[RexNode, list[RexNode]]:
    """What a condition says of the groups, about the aggregation's input, and what it says of the calls."""
    keys = len(rel.grouping)
    below = dict(enumerate(rel.grouping))
    parts = conjunctions(condition)
    rest = [c for c in parts if any(i >= keys for i in refs(c))]
    return and_(remap(c, below) for c in parts if c not in rest), rest


def _aggregate_rows(known: Estimates, rel: Aggregate) -> float:
    if not rel.grouping:
        return 1.0
    rows, distinct = known.rows(rel.input), known.distinct_rows(rel.input, rel.grouping)
    groups = rows * (1.0 - exp(-0.1 * len(rel.grouping))) if distinct is None else min(distinct, rows)
    return groups * len(rel.grouping_sets or [()])


def _union_rows(known: Estimates, rel: SetOp) -> float:
    return sum(map(known.rows, rel.operands))


def _sort_rows(known: Estimates, rel: Sort) -> float:
    rows = max(0.0, known.rows(rel.input) - (rel.offset or 0))
    return rows if rel.fetch is None else min(rows, rel.fetch)


def _join_rows(known: Estimates, rel: Join) -> float:
    left, right = known.rows(rel.left), known.rows(rel.right)
    keys = join_keys(rel.condition, rel.left.width)
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        return left * prod(_shares(known, rel.left, {_semi_selectivity(known, rel, keys)}))
    if not keys.left:
        return left * right * selectivity(rel.condition)
    inner = _inner_join_rows(known, rel, keys)
    if rel.type is JoinType.INNER:
        return inner
    if rel.type is JoinType.FULL:
        return max(left, inner) + max(right, inner) - inner
    return max(left if rel.type is JoinType.LEFT else right, inner)


def _shares(known: Estimates, rel: Rel, shares: set[float]) -> set[float]:
    """The shares whose product is the share of a relation's rows that meets conditions which these shares meet.

    A semi or anti join counts what it keeps once more; conditions that keep the same share count as one.
    Sources: ``FlinkRelMdSelectivity``, ``RexSimplify``.
    """
    match rel:
        case Join(type=JoinType.SEMI | JoinType.ANTI) if known.recounts:
            keys = join_keys(rel.condition, rel.left.width)
            return _shares(known, rel.left, {*shares, _semi_selectivity(known, rel, keys)})
        case Sort() | Aggregate():
            return _shares(known, rel.input, shares)
    return shares


def _inner_join_rows(known: Estimates, rel: Join, keys: JoinKeys) -> float:
    left, right = known.rows(rel.left), known.rows(rel.right)
    rest = selectivity(and_(keys.rest))
    distinct_left = known.distinct_rows(rel.left, keys.left)
    distinct_right = known.distinct_rows(rel.right, keys.right)
    if distinct_left is not None and distinct_right is not None:
        return left * right / max(1.0, distinct_left, distinct_right) * rest
    unique_left = are_columns_unique(rel.left, keys.left)
    unique_right = are_columns_unique(rel.right, keys.right)
    if unique_left is None or unique_right is None or not (unique_left or unique_right):
        return (left + right) * selectivity(rel.condition)
    if unique_left and unique_right:
        return min(left, right) * rest
    return (right if unique_left else left) * rest


def _semi_selectivity(known: Estimates, rel: Join, keys: JoinKeys) -> float:
    """The share of the left rows that a semi or anti join keeps."""
    share = guessed_selectivity(keys.rest)
    if keys.left:
        share *= min(1.0, _matching_keys(known, rel, keys))
    return share if rel.type is JoinType.SEMI else (1.0 - share or 0.1)


def _matching_keys(known: Estimates, rel: Join, keys: JoinKeys) -> float:
    """``RelMdUtil.computeSemiJoinSelectivity``: how many of the left side's keys the right side has."""
    population = _population(known, rel.left, keys.left) or _population(known, rel.right, keys.right)
    distinct = known.distinct_rows(rel.right, keys.right)
    if population is not None and distinct is not None:
        return distinct / max(1.0, population)
    share = _share_of_original(known, rel.right)
    return 0.1 ** len(keys.right) if share is None else share


def _population(known: Estimates, rel: Rel, columns: Iterable[int]) -> float | None:
    """The number of values that columns have before filters; ``None`` if unknown.

    Source: ``FlinkRelMdPopulationSize``.
    """
    wanted = tuple(columns)
    if not wanted:
        return 1.0
    match rel:
        case Values():
            return max(1.0, known.rows(rel) / 2)
        case Filter() | Sort():
            return _population(known, rel.input, wanted)
        case OverAggregate() if max(wanted) < rel.input.width:
            return _population(known, rel.input, wanted)
        case Project():
            read = _columns_below(rel, wanted)
            return None if read is None else _population(known, rel.input, read)
        case Aggregate():
            return _aggregate_population(known, rel, wanted)
        case Join():
            return _join_population(known, rel, wanted)
    return known.rows(rel) if are_columns_unique(rel, wanted) else None


def _aggregate_population(known: Estimates, rel: Aggregate, columns: tuple[int, ...]) -> float | None:
    keys = len(rel.grouping)
    factors = [_population(known, rel.input, (rel.grouping[i] for i in columns if i < keys))]
    for call in (rel.calls[i - keys] for i in columns if i >= keys):
        if is_call_of(call, COUNT):
            factors.append(sqrt(2.0 * known.rows(rel.input)))
            continue
        values = _population(known, rel.input, call.arg_list) if call.arg_list else None
        factors.append(None if values is None else max(1.0, 0.1 * values))
    sizes = [f for f in factors if f is not None]
    return min(prod(sizes), known.rows(rel.input)) if len(sizes) == len(factors) else None


def _join_population(known: Estimates, rel: Join, columns: tuple[int, ...]) -> float | None:
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        return _population(known, rel.left, columns)
    width = rel.left.width
    left = _population(known, rel.left, (i for i in columns if i < width))
    right = _population(known, rel.right, (i - width for i in columns if i >= width))
    return None if left is None or right is None else _drawn(left * right, known.rows(rel))


def _share_of_original(known: Estimates, rel: Rel) -> float | None:
    """The share of its tables' rows that a relation has.  Source: ``FlinkRelMdPercentageOriginalRows``."""
    if not rel.inputs:
        return 1.0
    if isinstance(rel, Aggregate):
        return _share_of_original(known, rel.input)
    if isinstance(rel, Join):
        left, right = (_share_of_original(known, i) for i in rel.inputs)
        if rel.type in (JoinType.SEMI, JoinType.ANTI):
            return left
        return None if left is None or right is None else left * right
    if isinstance(rel, SetOp) and rel.kind is SetKind.UNION:
        shares = [(known.rows(o), share) for o in rel.operands if (share := _share_of_original(known, o))]
        originally = sum(rows / share for rows, share in shares)
        return sum(rows for rows, _ in shares) / originally if originally else 1.0
    if len(rel.inputs) > 1:
        return None
    below = _share_of_original(known, rel.inputs[0])
    own_share = None if below is None else below * known.rows(rel) / known.rows(rel.inputs[0])
    return own_share if own_share is None or own_share <= 1.0 else None


def _window_function_rows(known: Estimates, rel: WindowTableFunction) -> float:
    """A row for each window of a row, but of a session as many as the gap has milliseconds.

    Source: ``CommonPhysicalWindowTableFunction.estimateRowCount``.
    """
    assert isinstance(rel.windowing, TimeAttributeWindowing)
    match rel.windowing.window:
        case HoppingWindow(size_ms=size, slide_ms=step) | CumulativeWindow(size_ms=size, step_ms=step):
            return known.rows(rel.input) * (size // step)
        case SessionWindow(gap_ms=gap):
            return known.rows(rel.input) * gap
    return known.rows(rel.input)


def _multi_join_rows(known: Estimates, rel: MultiJoin) -> float:
    """The default of ``AbstractRelNode.estimateRowCount``."""
    return 1.0


_ROWS: dict[type[Rel], Callable[..., float]] = {
    Values: _values_rows,
    Filter: _filter_rows,
    Aggregate: _aggregate_rows,
    SetOp: _union_rows,
    Sort: _sort_rows,
    Join: _join_rows,
    MultiJoin: _multi_join_rows,
    WindowTableFunction: _window_function_rows,
}


# ---------------------------------------------------------------- distinct rows


def _scan_distinct(known: Estimates, rel: SourceScan, columns: frozenset[int], condition: RexNode) -> float | None:
    return known._distinct_keys(rel, columns, condition) if columns else 1.0


def _filter_distinct(known: Estimates, rel: Filter, columns: frozenset[int], condition: RexNode) -> float | None:
    return known.distinct_rows(rel.input, columns, and_([condition, rel.condition]))


def _project_distinct(known: Estimates, rel: Project, columns: frozenset[int], condition: RexNode) -> float | None:
    read = _columns_below(rel, columns)
    return None if read is None else known.distinct_rows(rel.input, read, inline(condition, rel.exprs))


def _columns_below(rel: Project, columns: Iterable[int]) -> list[int] | None:
    """The input columns behind columns of a projection, without constants; ``None`` where some are computed."""
    exprs = [rel.exprs[i] for i in columns]
    varying = [e for e in exprs if not isinstance(e.operands[0] if is_call(e, CAST) else e, Literal)]
    read = [e.index for e in varying if isinstance(e, InputRef)]
    return read if len(read) == len(varying) else None


def _aggregate_distinct(known: Estimates, rel: Aggregate, columns: frozenset[int], condition: RexNode) -> float | None:
    """Source: ``FlinkRelMdDistinctRowCount.getDistinctRowCountOfAggregate``."""
    keys = len(rel.grouping)
    if not columns and not conjunctions(condition):
        return 1.0
    pushed, rest = _split_on_aggregate(rel, condition)
    values = known.distinct_rows(rel.input, (rel.grouping[i] for i in columns if i < keys), pushed)
    if values is None:
        return None
    rows = known.rows(rel.input)
    for call in [] if columns >= set(range(keys)) else [rel.calls[i - keys] for i in columns if i >= keys]:
        if is_call_of(call, COUNT):
            results: float | None = sqrt(2.0 * rows)
        else:
            results = known.distinct_rows(rel.input, call.arg_list, pushed) if call.arg_list else None
            results = None if results is None else 0.1 * results
        if results is None:
            return None
        values *= max(results, 1.0)
    if rest:
        values = _after_filter(known.rows(rel), values, call_selectivity(rel, rest, known.rows))
    return min(values, rows)


def _after_filter(rows: float, values: float, share: float) -> float:
    """The number of distinct values that are left of rows with ``values``, of which a filter keeps a share.

    Source: ``FlinkRelMdUtil.adaptNdvBasedOnSelectivity``.
    """
    values = min(values, rows)
    left: float = (1.0 - (1.0 - share) ** (rows / values)) * values
    return max(left, 1.0)


def _join_distinct(known: Estimates, rel: Join, columns: frozenset[int], condition: RexNode) -> float | None:
    width = rel.left.width
    parts = conjunctions(condition)
    left = and_(c for c in parts if all(i < width for i in refs(c)))
    if rel.type in (JoinType.SEMI, JoinType.ANTI):
        rows = known.distinct_rows(rel.left, columns, left)
        return None if rows is None else rows * _semi_selectivity(known, rel, join_keys(rel.condition, width))
    right = and_(shift(c, -width) for c in parts if all(i >= width for i in refs(c)))
    of_left = known.distinct_rows(rel.left, (i for i in columns if i < width), left)
    of_right = known.distinct_rows(rel.right, (i - width for i in columns if i >= width), right)
    if of_left is None or of_right is None:
        return None
    return _drawn(of_left * of_right, known.rows(rel))


def _drawn(values: float, rows: float) -> float:
    """The expected number of distinct values in a number of rows, drawn from a number of values."""
    return min(values, rows, (1.0 - exp(-rows / values)) * values)


def _sort_distinct(known: Estimates, rel: Sort, columns: frozenset[int], condition: RexNode) -> float | None:
    rows = known.distinct_rows(rel.input, columns, condition)
    return None if rows is None else min(rows, known.rows(rel))


def _union_distinct(known: Estimates, rel: SetOp, columns: frozenset[int], condition: RexNode) -> float | None:
    rows = [known.distinct_rows(o, columns, condition) for o in rel.operands]
    return None if None in rows else sum(f for f in rows if f is not None)


_DISTINCT_ROWS: dict[type[Rel], Callable[..., float | None]] = {
    SourceScan: _scan_distinct,
    Filter: _filter_distinct,
    Project: _project_distinct,
    Aggregate: _aggregate_distinct,
    Join: _join_distinct,
    Sort: _sort_distinct,
    SetOp: _union_distinct,
}
