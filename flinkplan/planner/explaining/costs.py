"""The row counts and costs of physical operators, as EXPLAIN ESTIMATED_COST shows them.

Sources: ``FlinkRelMdRowCount`` and the ``computeSelfCost`` of Flink's and Calcite's relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from ...plan.functions.cast import CAST
from ...plan.record import Record, cached_on_record
from ...plan.rex import Call, InputRef, Literal, RexNode, TableArgument
from ...plan.specs import ConstantRankRange, RankRange
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.physical_bases import PhysicalBinary
from ..algebra.rel import Rel, Unary
from ..algebra.tree import with_inputs
from ..metadata.estimates import Estimates, shuffle_cpu
from ..metadata.join_kinds import join_keys
from ..metadata.keys import join_spec
from ..metadata.selectivity import selectivity
from ..metadata.sizes import row_size
from ..rex.evaluation.numbers import java_float
from ..rex.expressions import and_, conjunctions, is_call

_PER_INPUT = 100.0
_ESTIMATES = Estimates()


class Cost(Record):
    """The cost of an operator: rows, CPU, bytes of IO and of network."""

    rows: float
    cpu: float
    io: float = 0.0
    network: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.rows + other.rows, self.cpu + other.cpu, self.io + other.io, self.network + other.network)

    def __str__(self) -> str:
        parts = ((self.rows, "rows"), (self.cpu, "cpu"), (self.io, "io"), (self.network, "network"), (0.0, "memory"))
        return "{" + ", ".join(f"{java_float(float(value))} {name}" for value, name in parts) + "}"


def cost_text(rel: Rel) -> str:
    """What stands behind an operator: its row count, and its cost with that of all below it."""
    return f": rowcount = {java_float(float(_rows(rel)))}, cumulative cost = {_cumulative(rel)}"


@cached_on_record
def _cumulative(rel: Rel) -> Cost:
    return sum(map(_cumulative, rel.inputs), _own_cost(rel))


@cached_on_record
def _rows(rel: Rel) -> float:
    match rel:
        case p.SortLimit(offset=offset, fetch=fetch) | p.Limit(offset=offset, fetch=fetch):
            rest = max(_rows(rel.input) - offset, 0.0)
            return rest if fetch is None else min(rest, float(fetch))
        case p.Rank() | p.WindowRank():
            return _rank_rows(rel, rel.range, rel.partition)
        case p.Deduplicate():
            return _rank_rows(rel, ConstantRankRange(1, 1), rel.keys)
        case p.Expand():
            return _rows(rel.input) * len(rel.projects)
        case p.MultiJoin() | p.ProcessTable():
            return 1.0
        case p.UnionAll():
            return sum(map(_rows, rel.operands))
        case p.Calc(condition=condition):
            rows = _rows(rel.input)
            if condition is None:
                return rows
            known = rows == _ESTIMATES.rows(_logical(rel.input))
            return _ESTIMATES.rows(_logical(rel)) if known else rows * selectivity(condition)
        case p.ConstantRows() | PhysicalBinary() | p.WindowTableFunction():
            return _ESTIMATES.rows(_logical(rel))
    return _rows(rel.inputs[0]) if rel.inputs else _ESTIMATES.rows(rel)


def _rank_rows(rel: Unary, limits: RankRange, partition: Sequence[int]) -> float:
    count = float(limits.end - limits.start + 1) if isinstance(limits, ConstantRankRange) else 100.0
    if not partition:
        return count
    rows = _rows(rel.input)
    groups = _ESTIMATES.distinct_rows(_logical(rel.input), partition)
    return min(rows * 0.1 if groups is None else groups * count, rows)


@cached_on_record
def _logical(rel: Rel) -> Rel:
    """The relation with logical operators in place of physical ones, for the estimates that are of these."""
    below = with_inputs(rel, tuple(map(_logical, rel.inputs)))
    match below:
        case p.Calc(condition=condition):
            source = below.input if condition is None else a.Filter(input=below.input, condition=condition)
            return a.Project(input=source, exprs=below.projection, names=below.names)
        case p.UnionAll():
            return a.SetOp(kind=a.SetKind.UNION, all=True, operands=below.operands)
        case p.ConstantRows():
            return a.Values(fields=rel.row_type, tuples=below.tuples)
        case p.SortLimit():
            return a.Sort(input=below.input, order=below.order, offset=below.offset, fetch=below.fetch)
        case PhysicalBinary():
            spec = join_spec(below)
            condition = below.condition
            if isinstance(below, p.IntervalJoin):  # its bounds do not count
                equal = [part for part in conjunctions(condition) if join_keys(part, below.left.width).left]
                condition = and_([*equal, *conjunctions(spec.non_equi_condition)])
            return a.Join(left=below.left, right=below.right, type=spec.join_type, condition=condition)
        case p.Exchange():
            return below.input
    return below


def _own_cost(rel: Rel) -> Cost:
    rows = _rows(rel)
    match rel:
        case p.SourceScan():
            return Cost(rows, rows, rows * row_size(rel))
        case p.Calc():
            return Cost(rows, rows * sum(map(_is_computed, rel.projection)))
        case p.Exchange():
            return Cost(rows, shuffle_cpu(rel.keys) * rows, 0.0, row_size(_logical(rel.input)) * rows)
        case p.OverAggregate():
            return Cost(rows, rows * (rel.width - 1) / rel.input.width)
        case p.Rank() | p.WindowRank() | p.Deduplicate():
            return Cost(_rows(rel.input), _rows(rel.input))
        case p.RegularJoin() | p.MultiJoin() | p.ProcessTable():
            return Cost(_PER_INPUT * len(rel.inputs), _PER_INPUT * len(rel.inputs))
        case PhysicalBinary():
            return Cost(rows, 0.0)
        case p.SortLimit() | p.Limit() | p.TemporalSort() | p.FullSort():
            return _sort_cost(rel)
        case p.ConstantRows():
            return Cost(rows, 1.0)
    return Cost(rows, rows)


def _sort_cost(rel: p.SortLimit | p.Limit | p.TemporalSort | p.FullSort) -> Cost:
    """Source: Calcite's ``Sort.computeSelfCost``."""
    rows, read = _rows(rel.input), _rows(rel.input)
    if isinstance(rel, (p.SortLimit, p.Limit)):
        read = max(read - rel.offset, 0.0) if rel.fetch is None else min(read, float(rel.offset + rel.fetch))
    size = (3 + rel.width) * 4.0
    if isinstance(rel, p.Limit):
        return Cost(read, read * size)
    return Cost(read, (rows * log(read) if read > 1 else rows) * size)


def _is_computed(rex: RexNode) -> bool:
    """Whether an expression counts: casts and columns do not."""
    return not isinstance(rex, (InputRef, Literal, TableArgument)) and not (
        isinstance(rex, Call) and is_call(rex, CAST)
    )
