"""The logical algebra: the operators that the binder makes of a query and that rules rewrite.

Expressions are the plan's own row expressions (:mod:`flinkplan.plan.rex`) over the columns of the input
(of both inputs, left first, in a join).  Some kinds exist only before the rules have run (:mod:`..rex.unplanned`).
Field names follow Calcite, because Flink's plans show them: ``EXPR$0`` for an unnamed column, a number appended
to the second of two equal names of a join.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeGuard

from ...plan.record import cached_property
from ...plan.rex import Literal, RexNode
from ...plan.specs import AggregateCall, JoinType, SortField
from ...plan.types import LogicalType
from ..catalog.catalog import Table
from .hints import LookupHint, ShownHints, TtlHint
from .names import uniquify
from .rel import (
    ONE_SIDED,
    AssignsWatermark,
    AssignsWindows,
    Binary,
    CallsProcessTable,
    CallsTableAggregate,
    Correlation,
    Leaf,
    MatchesPattern,
    NaryJoin,
    Rel,
    SameRowType,
    Unary,
    Union,
    WritesTable,
    aggregate_names,
)
from .row_types import nullable_types
from .stream_windows import StreamWindow


class Scan(Leaf, kw_only=True):
    """The stored columns of a table, in the schema's order (computed columns and the watermark stand above).

    ``options`` are those of an OPTIONS hint, over the table's own; ``alias`` is shown where hints need it,
    ``hinted_as`` only before it is optimized.
    """

    table: Table
    options: tuple[tuple[str, str], ...] = ()
    alias: str | None = None
    hinted_as: str | None = None


class Values(Leaf, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


class Project(Unary, kw_only=True):
    """Computes columns, and names them."""

    exprs: tuple[RexNode, ...]
    names: tuple[str, ...]

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return tuple([e.type for e in self.exprs])


class Filter(SameRowType, kw_only=True):
    """Keeps the rows for which ``condition`` is true; ``given`` are the column names of its calc, if others."""

    condition: RexNode
    given: tuple[str, ...] | None = None


class Watermark(AssignsWatermark, kw_only=True):
    """Assigns watermarks to an event-time column."""


class Aggregate(Unary, kw_only=True):
    """GROUP BY: the grouping columns, then one column a call.

    ``grouping_sets`` is ``None`` for a plain GROUP BY, else each set's columns.  Legacy group windows stay
    calls of ``$TUMBLE``/``$HOP``/``$SESSION`` in the projection below until the rules take them; above, a
    property of the window is a call such as ``$TUMBLE_START$1`` of its grouping column.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    grouping_sets: tuple[tuple[int, ...], ...] | None = None
    ttl: TtlHint | None = None
    phase: str | None = None
    """PARTIAL or FINAL, where the rules split a distinct aggregation."""
    shown_hints: ShownHints | None = None

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below, sets = self.input.types, self.grouping_sets
        if sets is None:
            return (*[below[g] for g in self.grouping], *[c.type for c in self.calls])
        keys = [below[g] if all(g in s for s in sets) else below[g].nullable_() for g in self.grouping]
        return (*keys, *[c.type for c in self.calls])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return aggregate_names(self.input, self.grouping, self.calls)


class TableAggregate(CallsTableAggregate, kw_only=True):
    """A table aggregate function over the rows of each group."""


class LogicalBinary(Binary, kw_only=True):
    """A join that has its type in a field."""

    type: JoinType

    @property
    def kind(self) -> JoinType:
        return self.type


class Join(LogicalBinary, kw_only=True):
    """A join: the left columns, then (unless SEMI or ANTI) the right ones."""

    condition: RexNode
    ttl: TtlHint | None = None
    is_hinted: bool = False
    """Whether a MULTI_JOIN hint asks for a join of several inputs."""
    shown_hints: ShownHints | None = None

    is_built: bool = False
    """Whether the Table API has made it, not SQL."""


class MultiJoin(NaryJoin, kw_only=True):
    """Joins that Flink plans as one multi-join."""


class Lateral(LogicalBinary, kw_only=True):
    """LATERAL: for each row of ``left`` the rows of ``right``, which reads it through ``CorrelVariable(correl)``."""

    correl: str


class TemporalJoin(LogicalBinary, kw_only=True):
    """``left JOIN right FOR SYSTEM_TIME AS OF left.<time> ON condition``; ``correl`` names the left row in EXPLAIN."""

    condition: RexNode
    time: RexNode
    correl: str = ""


class Snapshot(SameRowType, kw_only=True):
    """The right side of a temporal join by processing time.  Filters stop above it until columns are pruned.

    ``lookup``: the join is a lookup join, which asks the table for the rows of a key.  ``time`` and ``correl`` are as
    in :class:`TemporalJoin`.
    """

    lookup: LookupHint | None = None
    time: RexNode | None = None
    correl: str = ""


class Correlate(Correlation, kw_only=True):
    """A correlate; ``aliases`` are the names that the statement gives to the function's columns.

    ``None`` once the projection that renames the columns is removed.
    """

    aliases: tuple[str, ...] | None
    by_position: bool = False
    """Whether the Table API made it: EXPLAIN then shows the call over the input's columns by their positions."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        own = self.function_type.field_names if self.aliases is None else self.aliases
        return uniquify((*self.input.names, *own))


class SetKind(Enum):
    """The kinds of set operation."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


class SetOp(Union, kw_only=True):
    """A set operation.

    ``written`` are for each input the columns that it has without casts to the common types, for EXPLAIN: ``None``
    where the casts are all that it computes.
    """

    kind: SetKind
    all: bool
    written: tuple[tuple[RexNode, ...] | None, ...] | None = None

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        first = self.operands[0].types
        return nullable_types([o.types for o in self.operands]) if self.kind is SetKind.UNION else first


class WindowFunction(AssignsWindows, kw_only=True):
    """A windowing table function: the input's columns, then window_start, window_end, window_time.

    ``kind`` is TUMBLE, HOP, CUMULATE or SESSION; times are milliseconds (``size`` is the gap of a SESSION,
    ``slide`` the slide of HOP and the step of CUMULATE).  ``intervals`` are the same as they were written.
    """

    kind: str
    time_index: int
    size: int
    slide: int | None = None
    offset: int | None = None
    intervals: tuple[Literal, ...] = ()
    partition_keys: tuple[int, ...] = ()

    @property
    def time_type(self) -> LogicalType:
        return self.input.types[self.time_index]


class Match(MatchesPattern, kw_only=True):
    """MATCH_RECOGNIZE."""


class ProcessTable(CallsProcessTable, kw_only=True):
    """A process table function over tables; one without tables has a constant row as its input."""


class WindowOperator(Leaf, kw_only=True):
    """A window of the DataStream API over ``rows``, which are planned on their own: rules see a leaf."""

    rows: Rel
    window: StreamWindow


class LateRows(Rel, kw_only=True):
    """The late rows of a window operator, its side output."""

    operator: WindowOperator

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.operator.rows.types

    @property
    def names(self) -> tuple[str, ...]:
        return self.operator.rows.names


class Sort(SameRowType, kw_only=True):
    """ORDER BY, OFFSET and FETCH."""

    order: tuple[SortField, ...]
    offset: int | None = None
    fetch: int | None = None


class TableModify(WritesTable, kw_only=True):
    """INSERT INTO a table."""


# ---------------------------------------------------------------- columns


def is_one_sided(rel: Rel) -> TypeGuard[Join]:
    """Whether it is a semi or anti join."""
    return isinstance(rel, Join) and rel.type in ONE_SIDED
