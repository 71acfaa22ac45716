"""Base classes of the physical operators: the columns that the operators of a family have in common."""

from __future__ import annotations

from ...plan import specs
from ...plan.record import cached_property
from ...plan.rex import RexNode
from ...plan.types import BIGINT, LogicalType, RowField
from .names import uniquify
from .rel import Binary, Unary, aggregate_names
from .row_types import WINDOW_BOUND
from .traits import OneRowPerKey


class AggregateBase(Unary, kw_only=True):
    """An aggregation: the grouping columns, then one column for each call."""

    grouping: tuple[int, ...]
    calls: tuple[specs.AggregateCall, ...]

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        return (*[below[g] for g in self.grouping], *[c.type for c in self.calls])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return aggregate_names(self.input, self.grouping, self.calls)


class GroupedRows(OneRowPerKey, AggregateBase, kw_only=True):
    """An aggregation with one row for each group."""

    @property
    def unique_key(self) -> tuple[int, ...]:
        return tuple(range(len(self.grouping)))


class AccumulatorPhase(Unary, kw_only=True):
    """A phase of an aggregation that emits accumulators: the grouping columns, then ``accumulators``."""

    accumulators: tuple[RowField, ...]

    @property
    def keys(self) -> tuple[int, ...]:
        """The grouping columns, as positions in the input."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        return (*[below[k] for k in self.keys], *[f.type for f in self.accumulators])

    @cached_property
    def names(self) -> tuple[str, ...]:
        below = self.input.names
        return (*[below[k] for k in self.keys], *[f.name for f in self.accumulators])


class LocalPhase(AccumulatorPhase, kw_only=True):
    """The first phase of an aggregation."""

    grouping: tuple[int, ...]
    calls: tuple[specs.AggregateCall, ...]

    @property
    def keys(self) -> tuple[int, ...]:
        return self.grouping


class WindowAggregateBase(AggregateBase, kw_only=True):
    """An aggregation per window: properties of the window stand behind the results of calls."""

    properties: tuple[specs.NamedWindowProperty, ...]

    def time_type(self, named: specs.NamedWindowProperty) -> LogicalType:
        """The type of a property that is a time attribute."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        properties = [WINDOW_BOUND if p.property.kind in _BOUNDS else self.time_type(p) for p in self.properties]
        return (*[below[g] for g in self.grouping], *[c.type for c in self.calls], *properties)

    @cached_property
    def names(self) -> tuple[str, ...]:
        groups = aggregate_names(self.input, self.grouping, self.calls)
        return (*groups, *[p.name for p in self.properties])


_BOUNDS = ("WindowStart", "WindowEnd")


class PhysicalBinary(Binary, kw_only=True):
    """A join of two relations; ``condition`` is the whole condition, as the description prints it."""

    condition: RexNode


class SpecifiedJoin(PhysicalBinary, kw_only=True):
    """A join with its keys."""

    spec: specs.JoinSpec

    @property
    def kind(self) -> specs.JoinType:
        return self.spec.join_type


class RankBase(Unary, kw_only=True):
    """Top-N: the first rows of each partition; ``rank`` names the column of their ranks, if there is one.

    Source: ``Rank.deriveRowType``.
    """

    kind: str
    partition: tuple[int, ...]
    order: tuple[specs.SortField, ...]
    range: specs.RankRange
    rank: str | None

    @property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        return below if self.rank is None else (*below, BIGINT.not_null())

    @cached_property
    def names(self) -> tuple[str, ...]:
        below = self.input.names
        return below if self.rank is None else uniquify((*below, self.rank), separator="_")
