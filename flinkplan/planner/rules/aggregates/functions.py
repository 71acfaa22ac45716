"""Averages, sums and variances in terms of simpler aggregates.

Sources: ``AggregateReduceFunctionsRule`` and Flink's rule for variances over ``$WELFORD_M2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ....plan.functions import Function, aggregation_of, arithmetic
from ....plan.functions.aggregate import AVG, COUNT, SUM, SUM0, WELFORD_M2
from ....plan.functions.comparison import EQ
from ....plan.functions.typing import MAX_DECIMAL
from ....plan.record import replace
from ....plan.rex import InputRef, Literal, RexNode
from ....plan.specs import AggregateCall
from ....plan.types import BIGINT, DOUBLE, INT, LogicalType, decimal
from ...algebra.calls import is_call_of, with_function
from ...algebra.logical import Aggregate, Filter, Project, WindowFunction
from ...algebra.physical import LegacyWindowAggregate
from ...algebra.rel import Rel
from ...metadata.estimates import Estimates
from ...metadata.window_properties import groups_by_window
from ...rex.builder import convert
from ...rex.expressions import are_columns, case, cast, compare, conjunctions, identity, refs
from ...rex.simplify import simplify
from ..empty import is_empty, prune_empty
from ..predicates import PUSH_FILTERS_LATE
from ..rule import rule
from .groups import remove_distinct

_Aggregation: TypeAlias = Aggregate | LegacyWindowAggregate


@rule(on=(Aggregate, LegacyWindowAggregate))
def reduce_functions(rel: _Aggregation) -> Rel:
    """Reduce variances always, and AVG and SUM with them or where that saves calls.

    AVG, MIN and MAX of a grouping column are the column itself where the aggregation is rebuilt.
    """
    if isinstance(rel, Aggregate) and rel.grouping_sets is not None:
        return rel
    if isinstance(rel, Aggregate) and is_empty(rel.input):
        return _over_nothing(rel)
    forced = any(aggregation_of(c.internal_name).variance for c in rel.calls)
    if not forced and not any(is_call_of(c, AVG, SUM) for c in rel.calls):
        return rel
    reduction = _Reduction(rel, keeps_sums=forced)
    reduced = reduction.reduced()
    if not forced and len(reduction.calls) >= len(rel.calls):
        return rel if any(is_call_of(c, AVG) for c in rel.calls) else _sum_of_window_results(rel)
    return reduced


@rule(on=Filter, over=Aggregate)
def filter_by_keys(rel: Filter, below: Aggregate) -> Rel:
    """Conditions on AVG, MIN and MAX of a grouping column go below a reduced aggregation, if that is cheaper."""
    if below.grouping_sets is not None or not any(is_call_of(c, AVG, SUM) for c in below.calls):
        return rel
    keys = len(below.grouping)
    selecting = {i for i, call in enumerate(below.calls, keys) if _is_grouping_column(below, call)}
    known = selecting.union(range(keys))
    if not any(refs(part) & selecting and refs(part) <= known for part in conjunctions(rel.condition)):
        return rel
    reduced = replace(rel, input=_Reduction(below, keeps_sums=False).reduced())
    estimates = Estimates()
    return min(rel, PUSH_FILTERS_LATE.run(reduced), key=estimates.cost)


def _is_grouping_column(rel: _Aggregation, call: AggregateCall) -> bool:
    """Whether a call yields a grouping column's value."""
    selects = is_call_of(call, AVG) or aggregation_of(call.internal_name).selects_argument
    return selects and call.arg_list[0] in rel.grouping and call.filter_arg < 0


def _over_nothing(rel: Aggregate) -> Rel:
    """The aggregation of no rows: the row that its sums and counts have, with averages computed from it."""
    averages = without_averages(rel)
    return rel if averages is None else replace(averages, input=prune_empty(averages.input))


def without_averages(rel: Aggregate) -> Project | None:
    """The aggregation with AVG split into SUM and COUNT, which can be merged; ``None`` if it has no AVG."""
    if not any(is_call_of(c, AVG) for c in rel.calls):
        return None
    return _Reduction(rel, keeps_sums=True).reduced()


def _sum_of_window_results(rel: _Aggregation) -> _Aggregation:
    """Over results of windows, a SUM that cannot be NULL is planned as $SUM0.

    Seen of Flink 2.3: not where anything is filtered or computed from the windows on, nor where all their columns are
    read.
    """
    if not _over_windows(rel.input):
        return rel
    summed = (
        replace(c, internal_name=SUM0.internal_name) if is_call_of(c, SUM) and not c.type.nullable else c
        for c in rel.calls
    )
    return replace(rel, calls=tuple(summed))


def _over_windows(rel: Rel) -> bool:
    results = rel
    while isinstance(results, Project):
        results = results.input
    leaves_out = rel.width < results.width
    return isinstance(results, Aggregate) and groups_by_window(results) and leaves_out and _only_chooses(rel)


def _only_chooses(rel: Rel) -> bool:
    """Whether only columns are selected, nothing filtered or computed, down to the window function."""
    if isinstance(rel, WindowFunction):
        return True
    computes = isinstance(rel, Project) and not are_columns(rel.exprs)
    return not computes and not isinstance(rel, Filter) and all(map(_only_chooses, rel.inputs))


def _argument(rel: _Aggregation, call: AggregateCall) -> LogicalType:
    return rel.input.types[call.arg_list[0]]


def _summed(rel: _Aggregation, function: Function) -> set[tuple[tuple[int, ...], int, bool]]:
    """The arguments, the filter and DISTINCT of each call of a function."""
    return {(c.arg_list, c.filter_arg, c.distinct) for c in rel.calls if is_call_of(c, function)}


class _Reduction:
    """Collects the simpler calls, without duplicates."""

    def __init__(self, rel: _Aggregation, keeps_sums: bool) -> None:
        self.rel = rel
        self.calls: list[AggregateCall] = []
        self.places: dict[AggregateCall, int] = {}
        """Of calls without their names, which of the calls they are."""
        is_summed = not _summed(rel, SUM).isdisjoint(_summed(rel, AVG))
        self.keeps_sums = keeps_sums and not is_summed
        """Whether the sum of an average stays a SUM, which may be NULL: so Flink plans it beside variances.

        Not if a sum of the same is asked for, as that makes for fewer calls.
        """

    def reduced(self) -> Project:
        """The values of the calls over the aggregation of the simpler ones."""
        exprs = [*identity(self.rel.types)[: len(self.rel.grouping)], *map(self.value, self.rel.calls)]
        exprs += self.properties()
        aggregation = remove_distinct(replace(self.rel, calls=tuple(self.calls)))
        return Project(input=aggregation, exprs=tuple(simplify(e) for e in exprs), names=self.rel.names)

    def properties(self) -> Iterator[InputRef]:
        """The window's properties, which stand behind the simpler calls."""
        first = len(self.rel.grouping) + len(self.calls)
        types = self.rel.types[len(self.rel.grouping) + len(self.rel.calls) :]
        return (InputRef(first + i, t) for i, t in enumerate(types))

    def value(self, call: AggregateCall) -> RexNode:
        """The result of a call, computed from the simpler calls."""
        if is_call_of(call, SUM):
            return self._total(call, call.type)
        if _is_grouping_column(self.rel, call):
            key = self.rel.grouping.index(call.arg_list[0])
            return cast(InputRef(key, self.rel.types[key]), call.type)
        if is_call_of(call, AVG):
            return self._average(call)
        if variance := aggregation_of(call.internal_name).variance:
            return self._variance(call, *variance)
        return self._place(call)

    def _average(self, call: AggregateCall) -> RexNode:
        argument = _argument(self.rel, call).with_nullability(call.type.nullable)
        exact = argument.root == "DECIMAL"
        summed = decimal(MAX_DECIMAL, argument.scale or 0, argument.nullable) if exact else argument
        summing = with_function(call, SUM, summed)
        total = self._place(summing) if self.keeps_sums else self._total(summing, summed)
        if exact:
            total = convert(call.type.with_nullability(total.type.nullable), total)
        return self._converted(arithmetic.DIVIDE.call(total, self._count(call)), call)

    def _place(self, call: AggregateCall) -> InputRef:
        place = self.places.setdefault(replace(call, name=None), len(self.calls))
        if place == len(self.calls):
            self.calls.append(call)
        return InputRef(len(self.rel.grouping) + place, call.type)

    def _total(self, call: AggregateCall, t: LogicalType) -> RexNode:
        """SUM as $SUM0, or NULL where the count is 0."""
        total = self._place(replace(call, internal_name=SUM0.internal_name, type=t.not_null()))
        if not t.nullable:
            return total
        zero = compare(EQ, self._count(call), Literal(0, INT.not_null()))
        return case([zero, Literal(None, t), total], t)

    def _count(self, call: AggregateCall) -> InputRef:
        nullable = _argument(self.rel, call).nullable
        counted = with_function(call, COUNT, BIGINT.not_null())
        return self._place(counted if nullable else replace(counted, arg_list=()))

    def _variance(self, call: AggregateCall, of_sample: bool, root: bool) -> RexNode:
        squares = self._place(with_function(call, WELFORD_M2, DOUBLE))
        count: RexNode = self._count(call)
        if of_sample:
            one = Literal(1, INT.not_null())
            less = arithmetic.MINUS.typed(BIGINT.not_null(), count, one)
            count = case([compare(EQ, count, one), Literal(None, BIGINT), less], BIGINT)
        result: RexNode = arithmetic.DIVIDE.typed(DOUBLE, squares, count)
        if root:
            half = Literal("0.5", decimal(2, 1, nullable=False))
            result = arithmetic.POWER.typed(DOUBLE, result, half)
        return convert(call.type, result)

    def _converted(self, rex: RexNode, call: AggregateCall) -> RexNode:
        return convert(call.type.with_nullability(rex.type.nullable), rex)
