"""The logical algebra: what a query means, between the binder and the rules.

Expressions are the plan's own row expressions (:mod:`flinkplan.plan.rex`) over the columns of the input
(of both inputs, left first, in a join).  Two more exist only before the rules have run: :class:`Over` and
:class:`SubQuery`.  Field names follow Calcite, because Flink's plans show them: ``EXPR$0`` for an unnamed
column, a number appended to the second of two equal names of a join.
"""

from __future__ import annotations

from enum import Enum

from ...plan.record import Record
from ...plan.rex import RexNode
from ...plan.specs import (
    AggregateCall,
    Evictor,
    JoinType,
    SortField,
    Trigger,
    WindowAssigner,
)
from ...plan.specs import (
    WindowFunction as StreamWindowFunction,
)
from ...plan.types import LogicalType
from ..catalog.catalog import Table


class TtlHint(Record):
    """``STATE_TTL``: milliseconds by input (0 left, 1 right) of a join, or {0: ms} of an aggregate."""

    by_input: tuple[tuple[int, int], ...]


class Rel(Record, kw_only=True, dict=True):
    """A relation: its row type, and the relations it is made from (declared by subclasses)."""

    row_type: LogicalType

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return ()

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the columns."""
        return self.row_type.field_types

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, each once."""
        return self.row_type.field_names

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.row_type.fields)


class Scan(Rel, kw_only=True):
    """The stored columns of a table, in the schema's order (computed columns and the watermark stand above).

    ``options`` are those of an OPTIONS hint, over the table's own; ``alias`` is shown where hints need it.
    """

    table: Table
    options: tuple[tuple[str, str], ...] = ()
    alias: str | None = None


class Values(Rel, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


class Unary(Rel, kw_only=True):
    """A relation made from one other."""

    input: Rel

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.input,)


class Project(Unary, kw_only=True):
    """Computes columns; ``row_type`` names them."""

    exprs: tuple[RexNode, ...]


class Filter(Unary, kw_only=True):
    """Keeps the rows for which ``condition`` is true."""

    condition: RexNode


class Watermark(Unary, kw_only=True):
    """Marks a column as event time."""

    rowtime_index: int
    expr: RexNode


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


class Join(Rel, kw_only=True):
    """A join; ``row_type`` has the left columns, then (unless SEMI or ANTI) the right ones."""

    left: Rel
    right: Rel
    type: JoinType
    condition: RexNode
    ttl: TtlHint | None = None
    is_hinted: bool = False
    """Whether a MULTI_JOIN hint asks for a join of several inputs."""

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)


class MultiJoin(Rel, kw_only=True):
    """A join of several relations: each but the first is joined, INNER or LEFT, with all before it.

    Conditions are over the columns of all; ``ttls`` are milliseconds by input.
    """

    operands: tuple[Rel, ...]
    kinds: tuple[JoinType, ...]
    conditions: tuple[RexNode, ...]
    ttls: tuple[int | None, ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands


class Lateral(Rel, kw_only=True):
    """Each row of ``left`` with those of ``right``, which reads it through ``CorrelVariable(correl)``."""

    left: Rel
    right: Rel
    type: JoinType
    correl: str

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)


class TemporalJoin(Rel, kw_only=True):
    """``left JOIN right FOR SYSTEM_TIME AS OF left.<time> ON condition``."""

    left: Rel
    right: Rel
    type: JoinType
    condition: RexNode
    time: RexNode

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)


class Snapshot(Unary, kw_only=True):
    """The right side of a join as of processing time: what filters do not pass before columns are left out."""


class Correlate(Unary, kw_only=True):
    """Each row with the rows of a table function of its columns (UNNEST, LATERAL TABLE).

    ``call`` reads the outer row through ``CorrelVariable(correl)``; ``function_type`` are its columns.
    """

    type: JoinType
    correl: str
    call: RexNode
    function_type: LogicalType
    condition: RexNode | None = None


class SetKind(Enum):
    """The kinds of set operation."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


class SetOp(Rel, kw_only=True):
    """A set operation over relations of equal column count."""

    kind: SetKind
    all: bool
    operands: tuple[Rel, ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands


class WindowFunction(Unary, kw_only=True):
    """A windowing table function: the input's columns, then window_start, window_end, window_time.

    ``kind`` is TUMBLE, HOP, CUMULATE or SESSION; times are milliseconds (``size`` is the gap of a SESSION,
    ``slide`` the slide of HOP and the step of CUMULATE).
    """

    kind: str
    time_index: int
    size: int
    slide: int | None = None
    offset: int | None = None
    partition_keys: tuple[int, ...] = ()


class WindowOperator(Rel, kw_only=True):
    """Windows of the DataStream API: below them rows are planned by themselves, so they count as a source.

    ``rows`` are what the operator reads, ``name`` is what the pipeline calls the window; the columns are those of the
    function, then ``properties`` of the window.
    """

    rows: Rel
    name: str
    keys: tuple[int, ...]
    time_index: int
    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    lateness: int
    function: StreamWindowFunction
    properties: tuple[str, ...]


class LateRows(Rel, kw_only=True):
    """The rows that came too late for a window operator."""

    window: WindowOperator


class Sort(Unary, kw_only=True):
    """ORDER BY, OFFSET and FETCH."""

    order: tuple[SortField, ...]
    offset: int | None = None
    fetch: int | None = None


class TableModify(Unary, kw_only=True):
    """INSERT INTO a table; ``target_columns`` where the statement listed some."""

    table: Table
    overwrite: bool = False
    static_partition: tuple[tuple[str, str], ...] = ()
    target_columns: tuple[int, ...] | None = None
    conflict: str | None = None
    options: tuple[tuple[str, str], ...] = ()


# ---------------------------------------------------------------- expressions of the planner alone


class Approximate(str):
    """The value of a literal that was never an exact number: ``2E0``, or what a DOUBLE function yields.

    Descriptions write it in scientific notation; a DECIMAL literal that was cast to DOUBLE stays as it is.
    """

    __slots__ = ()


class WrittenName(str):
    """The internal name of a function that descriptions show as the statement has it: ``coalesce``."""

    __slots__ = ("written",)
    written: str


class Frame(Record):
    """An OVER frame: ``lower``/``upper`` are None for unbounded, 0 for the current row, else an offset rex."""

    is_rows: bool
    lower: RexNode | int | None
    upper: RexNode | int | None

    @property
    def is_never_empty(self) -> bool:
        """Whether the frame surely holds the current row: Calcite knows it where no bound is an offset."""
        return not any(isinstance(bound, RexNode) for bound in (self.lower, self.upper))


class Over(Record):
    """An aggregate or ranking function over a window of rows."""

    name: str
    operands: tuple[RexNode, ...]
    type: LogicalType
    partition: tuple[RexNode, ...]
    order: tuple[tuple[RexNode, bool, bool], ...]
    """(expression, ascending, nulls last)"""
    frame: Frame
    distinct: bool = False
    ignore_nulls: bool = False


class SubQueryKind(Enum):
    """What is asked of a subquery."""

    IN = "IN"
    EXISTS = "EXISTS"
    SCALAR = "SCALAR"
    SOME = "SOME"


class SubQuery(Record):
    """A subquery in an expression; correlated columns of ``rel`` are ``CorrelVariable`` field accesses."""

    kind: SubQueryKind
    rel: Rel
    operands: tuple[RexNode, ...]
    type: LogicalType
    correl: str | None = None
    comparison: str | None = None

    def __hash__(self) -> int:
        """Leaves the relation out: walking it costs more than comparing the few subqueries that are alike."""
        return hash((self.kind, self.operands, self.correl, self.comparison))
