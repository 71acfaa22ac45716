"""The logical algebra: what a query means, between the binder and the rules.

Expressions are the plan's own row expressions (:mod:`flinkplan.plan.rex`) over the columns of the input
(of both inputs, left first, in a join).  Some more exist only before the rules have run (:mod:`.unplanned`).
Field names follow Calcite, because Flink's plans show them: ``EXPR$0`` for an unnamed column, a number appended
to the second of two equal names of a join.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from functools import cache
from operator import is_
from typing import TypeGuard

from ...plan.record import Record, cached_property, replace
from ...plan.rex import RexNode
from ...plan.specs import AggregateCall, JoinType, SortField
from ...plan.types import LogicalType, TimeKind, row
from ..catalog.catalog import Table
from .changes import Changes
from .hints import LookupHint, TtlHint
from .names import uniquify
from .row_types import WINDOW_BOUND, nullable_types
from .stream_windows import StreamWindow


class Rel(Record, kw_only=True, dict=True):
    """A relation, made from others (declared by subclasses).

    Its columns follow from these and from its expressions; only what names columns holds names.
    """

    change_trait: Changes | None = None
    """The changes that a physical relation emits, once they are inferred."""

    @property
    def changes(self) -> Changes:
        """The changes that it emits."""
        assert self.change_trait is not None
        return self.change_trait

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return ()

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        """The relation over what ``change`` makes of its inputs; itself where they stay the same."""
        return self

    @property
    def types(self) -> tuple[LogicalType, ...]:
        """The types of the columns."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.types)

    @cached_property
    def row_type(self) -> LogicalType:
        """The type of the rows."""
        return row(zip(self.names, self.types, strict=True), nullable=False)

    @cached_property
    def classes(self) -> frozenset[type[Rel]]:
        """The classes of the relation and of all below it."""
        return _classes(type(self), *[i.classes for i in self.inputs])

    @cached_property
    def settled(self) -> set[Hashable]:
        """The rewrites that are known to leave the relation and all below it as they are."""
        return set()


@cache
def _classes(own: type[Rel], *below: frozenset[type[Rel]]) -> frozenset[type[Rel]]:
    """One set for all relations with these classes: that one is itself is seen sooner than that two are equal."""
    return frozenset((own,)).union(*below)


class Leaf(Rel, kw_only=True):
    """A relation made from no other: ``fields`` declares its columns."""

    fields: LogicalType

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.fields.field_types

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields.field_names


class Scan(Leaf, kw_only=True):
    """The stored columns of a table, in the schema's order (computed columns and the watermark stand above).

    ``options`` are those of an OPTIONS hint, over the table's own; ``alias`` is shown where hints need it.
    """

    table: Table
    options: tuple[tuple[str, str], ...] = ()
    alias: str | None = None


class Values(Leaf, kw_only=True):
    """Constant rows."""

    tuples: tuple[tuple[RexNode, ...], ...]


class Unary(Rel, kw_only=True):
    """A relation made from one other."""

    input: Rel

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.input,)

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        new = change(self.input)
        return self if new is self.input else replace(self, input=new)


class Naming(Unary, kw_only=True):
    """A relation that calls its columns what its input does."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.input.names


class Passing(Naming, kw_only=True):
    """A relation with the columns of its input."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return self.input.types

    @cached_property
    def row_type(self) -> LogicalType:
        return self.input.row_type


class Project(Unary, kw_only=True):
    """Computes columns, and names them."""

    exprs: tuple[RexNode, ...]
    names: tuple[str, ...]

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return tuple([e.type for e in self.exprs])


class Filter(Passing, kw_only=True):
    """Keeps the rows for which ``condition`` is true; ``given`` are the names that its calc gives to groups."""

    condition: RexNode
    given: tuple[str, ...] | None = None


class Marking(Naming, kw_only=True):
    """Marks a column as event time."""

    rowtime_index: int
    expr: RexNode

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        below = self.input.types
        return tuple([replace(t, kind=TimeKind.ROWTIME) if i == self.rowtime_index else t for i, t in enumerate(below)])


class Watermark(Marking, kw_only=True):
    """A column with its watermark."""


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


class Binary(Rel, kw_only=True):
    """A relation of pairs of rows, or of those of the left side that have, or have no, match on the right."""

    left: Rel
    right: Rel

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return (self.left, self.right)

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        left, right = change(self.left), change(self.right)
        return self if left is self.left and right is self.right else replace(self, left=left, right=right)

    @property
    def kind(self) -> JoinType:
        """Which rows are kept without a match, or which side alone is."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return joined_types(self.kind, self.left.types, self.right.types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        left = self.left.names
        return left if self.kind in ONE_SIDED else uniquify((*left, *self.right.names))


class LogicalBinary(Binary, kw_only=True):
    """A join as the statement has it."""

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


class Nary(Rel, kw_only=True):
    """A relation made from several others."""

    operands: tuple[Rel, ...]

    @property
    def inputs(self) -> tuple[Rel, ...]:
        return self.operands

    def over(self, change: Callable[[Rel], Rel]) -> Rel:
        new = tuple(map(change, self.operands))
        return self if all(map(is_, new, self.operands)) else replace(self, operands=new)


class JoinOfMany(Nary, kw_only=True):
    """A join of several relations: each but the first is joined, INNER or LEFT, with all before it.

    Conditions are over the columns of all; ``ttls`` are milliseconds by input.
    """

    kinds: tuple[JoinType, ...]
    conditions: tuple[RexNode, ...]
    ttls: tuple[int | None, ...]
    names: tuple[str, ...]

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        pairs = zip(self.kinds, self.operands, strict=True)
        return tuple([t.nullable_() if kind is JoinType.LEFT else t for kind, o in pairs for t in o.types])


class MultiJoin(JoinOfMany, kw_only=True):
    """Joins that Flink plans as one."""


class Lateral(LogicalBinary, kw_only=True):
    """Each row of ``left`` with those of ``right``, which reads it through ``CorrelVariable(correl)``."""

    correl: str


class TemporalJoin(LogicalBinary, kw_only=True):
    """``left JOIN right FOR SYSTEM_TIME AS OF left.<time> ON condition``."""

    condition: RexNode
    time: RexNode


class Snapshot(Passing, kw_only=True):
    """The right side of a join as of processing time: what filters do not pass before columns are left out.

    ``lookup``: it is a table that is asked for the rows of a key, by a plain join.
    """

    lookup: LookupHint | None = None


class Correlation(Unary, kw_only=True):
    """Each row with the rows of a table function of its columns (UNNEST, LATERAL TABLE).

    ``call`` reads the outer row through ``CorrelVariable(correl)``; ``function_type`` are its columns.
    """

    type: JoinType
    correl: str
    call: RexNode
    function_type: LogicalType
    condition: RexNode | None = None

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return joined_types(self.type, self.input.types, self.function_type.field_types)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return uniquify((*self.input.names, *self.function_type.field_names))


class Correlate(Correlation, kw_only=True):
    """A correlation; ``aliases`` are the names that the statement gives the function's columns, by a projection.

    There are none once that projection is left out.
    """

    aliases: tuple[str, ...] | None

    @cached_property
    def names(self) -> tuple[str, ...]:
        own = self.function_type.field_names if self.aliases is None else self.aliases
        return uniquify((*self.input.names, *own))


class SetKind(Enum):
    """The kinds of set operation."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


class Union(Nary, kw_only=True):
    """Rows of several relations of equal column count, nullable where one of them is."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return nullable_types([o.types for o in self.operands])

    @property
    def names(self) -> tuple[str, ...]:
        return self.operands[0].names


class SetOp(Union, kw_only=True):
    """A set operation."""

    kind: SetKind
    all: bool

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        first = self.operands[0].types
        return nullable_types([o.types for o in self.operands]) if self.kind is SetKind.UNION else first


class Windowing(Unary, kw_only=True):
    """A relation with its rows' windows: the input's columns, then window_start, window_end, window_time."""

    @property
    def time_type(self) -> LogicalType:
        """The time attribute that the windows are of."""
        raise NotImplementedError

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        return (*self.input.types, WINDOW_BOUND, WINDOW_BOUND, self.time_type.not_null())

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.input.names, "window_start", "window_end", "window_time")


class WindowFunction(Windowing, kw_only=True):
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

    @property
    def time_type(self) -> LogicalType:
        return self.input.types[self.time_index]


class Matching(Unary, kw_only=True):
    """The matches of a pattern in the rows of each partition: its columns, then the measures.

    ``pattern``, ``after`` and ``interval`` are as plans have them.
    """

    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    pattern: RexNode
    after: RexNode
    interval: RexNode | None
    subsets: tuple[tuple[str, tuple[str, ...]], ...]
    definitions: tuple[tuple[str, RexNode], ...]
    measures: tuple[tuple[str, RexNode], ...]
    perhaps_null: frozenset[str]
    """The measures whose columns may be NULL, whatever the expressions say: averages, of perhaps no rows."""

    @cached_property
    def types(self) -> tuple[LogicalType, ...]:
        measured = [rex.type.nullable_() if name in self.perhaps_null else rex.type for name, rex in self.measures]
        return (*[self.input.types[i] for i in self.partition], *measured)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*[self.input.names[i] for i in self.partition], *[name for name, _ in self.measures])


class Match(Matching, kw_only=True):
    """MATCH_RECOGNIZE."""


class WindowOperator(Leaf, kw_only=True):
    """A window over ``rows``, which are planned by themselves, so that it counts as a source."""

    rows: Rel
    window: StreamWindow


class LateRows(Rel, kw_only=True):
    """The rows that came too late for a window operator."""

    operator: WindowOperator

    @property
    def types(self) -> tuple[LogicalType, ...]:
        return self.operator.rows.types

    @property
    def names(self) -> tuple[str, ...]:
        return self.operator.rows.names


class Sort(Passing, kw_only=True):
    """ORDER BY, OFFSET and FETCH."""

    order: tuple[SortField, ...]
    offset: int | None = None
    fetch: int | None = None


class Writing(Passing, kw_only=True):
    """A relation that a table takes; ``target_columns`` where the statement listed some."""

    table: Table
    overwrite: bool = False
    static_partition: tuple[tuple[str, str], ...] = ()
    target_columns: tuple[int, ...] | None = None
    conflict: str | None = None
    options: tuple[tuple[str, str], ...] = ()


class TableModify(Writing, kw_only=True):
    """INSERT INTO a table."""


# ---------------------------------------------------------------- columns

ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)
"""The kinds of join that yield rows of the left side alone."""


def is_one_sided(rel: Rel) -> TypeGuard[Join]:
    """Whether it is a semi or anti join."""
    return isinstance(rel, Join) and rel.type in ONE_SIDED


LEFT_NULLABLE = (JoinType.RIGHT, JoinType.FULL)
RIGHT_NULLABLE = (JoinType.LEFT, JoinType.FULL)


def joined_types(
    kind: JoinType, left: tuple[LogicalType, ...], right: tuple[LogicalType, ...]
) -> tuple[LogicalType, ...]:
    """The types of a join's columns: those of a side that may be missing are nullable."""
    if kind in LEFT_NULLABLE:
        left = tuple([t.nullable_() for t in left])
    if kind in RIGHT_NULLABLE:
        right = tuple([t.nullable_() for t in right])
    return left if kind in ONE_SIDED else (*left, *right)


def aggregate_names(source: Rel, grouping: Sequence[int], calls: Sequence[AggregateCall]) -> tuple[str, ...]:
    """The names of an aggregation's columns: a call that has none is called by its place."""
    keys = [source.names[g] for g in grouping]
    return uniquify([*keys, *(c.name for c in calls)], separator="_")
