"""The exec nodes of plans of batch mode, which Flink compiles since 2.0.

Their input is bounded, they keep no state, and all rows that they emit are inserts.  Nodes with the fields of a node of
streaming mode extend its class, so that what reads those fields reads both.
Source: the classes ``BatchExec…`` with ``@ExecNodeMetadata``.  Other operators of batch mode, such as the sort-merge
join, runtime filters and Python functions, have no such annotation: Flink refuses to compile plans with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from ..codec import Aside, Place
from ..record import field
from ..references import Input, Keys, Mark, Number, OwnKeys
from ..rex import RexNode
from ..row_kinds import INSERTS, NOTHING, Flow, Kinds
from ..savepoint.layout import Inputs
from ..specs import (
    AggregateCall,
    ConflictStrategy,
    JoinSpec,
    JoinType,
    OverSpec,
    ReceivedKind,
    SortSpec,
    StateMetadata,
)
from ..types import LogicalType
from ..yields import Accumulator, Aggregated, OverAggregated, Yield, input_columns, joined_columns, ranks
from .base import ColumnOrder, ExecNode, exec_node
from .joins import LookupJoin
from .mixins import RowByRow, SameColumns
from .opaque import OpaqueNode
from .patterns import Match
from .relational import Calc, Correlate, Exchange, Expand, Union
from .tables import Sink, TableSourceScan, Values
from .windows import WindowTableFunction

_SINCE = {1: "2.0"}
_SPILLING = ("table.exec.spill-compression.enabled", "table.exec.spill-compression.block-size")
_BUFFERED = ("table.exec.resource.external-buffer-memory",)

TuningFlag = Annotated[bool, Mark.TUNING]
"""A choice of the planner that does not affect results."""
Estimate = Annotated[int, Input.NONE, Mark.TUNING]
"""A size or a number of rows that the planner expects."""


class BatchNode:
    """The node keeps no state and emits only inserts."""

    __slots__ = ()

    def row_kinds(self, flow: Flow) -> Kinds:
        return INSERTS

    def layout(self, inputs: Inputs) -> None:
        """None: there is no state."""

    @property
    def keeps_rows(self) -> bool:
        return False

    @property
    def is_stateful(self) -> bool:
        return False

    @property
    def stateful_transformations(self) -> tuple[str, ...]:
        return ()


@exec_node("calc", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, results=("projection", "condition"))
class BatchCalc(BatchNode, Calc, kw_only=True):
    """Filters rows by ``condition`` and computes ``projection`` for the rows that remain."""


@exec_node(
    "correlate",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    results=("join_type", "function_call", "condition"),
)
class BatchCorrelate(BatchNode, Correlate, kw_only=True):
    """Joins each row with the rows that a table function returns for it; ``join_type`` is INNER or LEFT."""


@exec_node("exchange", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, results=("required_exchange_mode",))
class BatchExchange(BatchNode, Exchange, kw_only=True):
    """Distributes rows as ``input_properties`` requires; ``required_exchange_mode`` is when readers see them."""

    required_exchange_mode: Annotated[str | None, Mark.TUNING, Place.LAST] = None


@exec_node("expand", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, results=("projects",))
class BatchExpand(BatchNode, Expand, kw_only=True):
    """Each row once per projection (grouping sets)."""


@exec_node("union", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, inputs=None, transformations=())
class BatchUnion(BatchNode, Union, kw_only=True):
    """All rows of all inputs."""


@exec_node("values", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, inputs=0, results=("tuples",))
class BatchValues(BatchNode, Values, kw_only=True):
    """Constant rows."""


class BatchAggregate(BatchNode, ExecNode, kw_only=True):
    """GROUP BY in one phase or in two.

    The local phase (``is_final`` is false) emits accumulators, which the global phase (``is_merge`` is true) merges.
    ``aux_grouping`` are columns that depend on the ``grouping`` columns.  ``agg_calls`` refer to the row that the first
    phase reads, of the type ``agg_input_row_type``.
    """

    grouping: OwnKeys
    aux_grouping: Keys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.BEFORE, Mark.CALL]
    agg_input_row_type: Annotated[LogicalType, Mark.DERIVED]
    is_merge: bool
    is_final: bool

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    @property
    def all_keys(self) -> tuple[int, ...]:
        """The grouping columns and those that depend on them, in the order of the output."""
        return (*self.grouping, *self.aux_grouping)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        keys = input_columns(inputs, self.all_keys)
        if self.is_final:
            return (*keys, *map(Aggregated, self.agg_calls))
        return (*keys, *(Accumulator(self.agg_calls, i) for i in range(len(self.fields) - len(self.all_keys))))


_AGGREGATE_FIELDS = ("grouping", "aux_grouping", "agg_calls", "agg_input_row_type", "is_merge", "is_final")


@exec_node(
    "hash-aggregate",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    consumed_options=(
        "table.exec.resource.hash-agg.memory",
        "table.exec.sort.max-num-file-handles",
        *_SPILLING,
    ),
    results=(*_AGGREGATE_FIELDS, "support_adaptive_local_hash_agg"),
)
class BatchHashAggregate(BatchAggregate, kw_only=True):
    """GROUP BY with a hash table."""

    support_adaptive_local_hash_agg: TuningFlag


@exec_node("sort-aggregate", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, results=_AGGREGATE_FIELDS)
class BatchSortAggregate(BatchAggregate, kw_only=True):
    """GROUP BY of rows that are sorted by the keys."""


@exec_node(
    "join",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    inputs=2,
    consumed_options=(
        "table.exec.resource.hash-join.memory",
        *_BUFFERED,
        "table.exec.resource.sort.memory",
        *_SPILLING,
    ),
    transformations=("hash-join",),
    results=(
        "join_spec",
        "estimated_left_avg_row_size",
        "estimated_right_avg_row_size",
        "estimated_left_row_count",
        "estimated_right_row_count",
        "is_broadcast",
        "left_is_build",
        "try_distinct_build_row",
        "with_job_strategy_hint",
    ),
)
class BatchHashJoin(BatchNode, ExecNode, kw_only=True):
    """A join with a hash table of one side, which is the left one if ``left_is_build``."""

    join_spec: JoinSpec
    estimated_left_avg_row_size: Estimate
    estimated_right_avg_row_size: Estimate
    estimated_left_row_count: Estimate
    estimated_right_row_count: Estimate
    is_broadcast: TuningFlag
    left_is_build: TuningFlag
    try_distinct_build_row: TuningFlag
    with_job_strategy_hint: Annotated[bool | None, Mark.TUNING, Place.LAST] = None

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.join_spec.left_keys, self.join_spec.right_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.join_spec, inputs)


@exec_node(
    "nested-loop-join",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    inputs=2,
    consumed_options=_BUFFERED,
    results=("join_type", "join_condition", "left_is_build", "single_row_join"),
)
class BatchNestedLoopJoin(BatchNode, ExecNode, kw_only=True):
    """A join that compares each pair of rows; with ``single_row_join`` one side has a single row."""

    join_type: JoinType
    join_condition: Annotated[RexNode | None, Input.ALL] = field(name="condition")
    left_is_build: TuningFlag
    single_row_join: TuningFlag

    @property
    def join_spec(self) -> JoinSpec:
        """The join without keys: all that is compared is in its condition."""
        return JoinSpec(self.join_type, (), (), (), self.join_condition)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return ()

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return joined_columns(self.join_spec, inputs)


@exec_node(
    "lookup-join",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    consumed_options=(
        "table.exec.async-lookup.buffer-capacity",
        "table.exec.async-lookup.timeout",
        "table.exec.async-lookup.output-mode",
    ),
    results=(
        "join_type",
        "pre_filter_condition",
        "join_condition",
        "temporal_table",
        "lookup_keys",
        "projection_on_temporal_table",
        "filter_on_temporal_table",
        "async_options",
        "retry_options",
        "input_changelog_mode",
        "prefer_custom_shuffle",
    ),
)
class BatchLookupJoin(BatchNode, LookupJoin, kw_only=True):
    """Joins rows with an external table by lookups."""

    input_changelog_mode: Annotated[tuple[ReceivedKind, ...] | None, Place.LAST] = None
    lookup_key_contains_primary_key: Aside[bool] = False
    require_upsert_materialize: Aside[bool] = False
    input_upsert_key: Aside[tuple[int, ...] | None] = None
    state: Aside[tuple[StateMetadata, ...] | None] = None


@exec_node(
    "match",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    transformations=("timestamp-inserter", "match"),
    results=("match_spec",),
)
class BatchMatch(BatchNode, Match, kw_only=True):
    """MATCH_RECOGNIZE."""


@exec_node(
    "over-aggregate",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    consumed_options=_BUFFERED,
    transformations=("over",),
    results=("over_spec",),
)
class BatchOverAggregate(BatchNode, ExecNode, kw_only=True):
    """Aggregates over frames around each row; each group of ``over_spec`` has a frame of its own."""

    over_spec: OverSpec

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.over_spec.partition.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        calls = (call for group in self.over_spec.groups for call in group.agg_calls)
        return (*input_columns(inputs), *map(OverAggregated, calls))


@exec_node(
    "rank",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    results=("partition_fields", "sort_fields", "rank_start", "rank_end", "output_row_number"),
)
class BatchRank(BatchNode, ExecNode, kw_only=True):
    """The rows whose RANK in their partition is from ``rank_start`` to ``rank_end``, both included.

    The input is sorted, and ``sort_fields`` only say which columns rows of equal rank have in common.
    """

    partition_fields: OwnKeys
    sort_fields: Keys
    rank_start: Number
    rank_end: Number
    output_row_number: bool

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.partition_fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs), *ranks(self.output_row_number))


_SORT_OPTIONS = (
    "table.exec.sort.max-num-file-handles",
    "table.exec.sort.async-merge-enabled",
    *_SPILLING,
    "table.exec.resource.sort.memory",
)


@exec_node(
    "sort", batch=True, order=ColumnOrder.FIXED, versions=_SINCE, consumed_options=_SORT_OPTIONS, results=("sort_spec",)
)
class BatchSort(BatchNode, RowByRow, SameColumns, ExecNode, kw_only=True):
    """Sorts the rows of each task: for ORDER BY, or for an operator that reads sorted rows."""

    sort_spec: SortSpec


@exec_node(
    "limit",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    results=("limit_start", "limit_end", "is_global"),
)
class BatchLimit(BatchNode, RowByRow, SameColumns, ExecNode, kw_only=True):
    """The rows from ``limit_start``, counted from 0, to before ``limit_end``: of each task, or if global of all."""

    limit_start: Number
    limit_end: Number
    is_global: bool


@exec_node(
    "sort-limit",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    results=("sort_spec", "limit_start", "limit_end", "is_global"),
)
class BatchSortLimit(BatchNode, RowByRow, SameColumns, ExecNode, kw_only=True):
    """ORDER BY … LIMIT: as :class:`BatchLimit`, of the rows in the order of ``sort_spec``."""

    sort_spec: SortSpec
    limit_start: Number
    limit_end: Number
    is_global: bool


@exec_node(
    "table-source-scan",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    inputs=0,
    transformations=("source",),
    results=("dynamic_filtering_id",),
    judged=("scan_table_source",),
)
class BatchTableSourceScan(BatchNode, TableSourceScan, kw_only=True):
    """Reads a bounded table; ``dynamic_filtering_id`` is generated anew by each compilation."""

    dynamic_filtering_id: Annotated[str | None, Mark.TUNING, Place.LAST] = field(
        name="dynamicFilteringDataListenerID", default=None
    )


@exec_node(
    "sink",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    consumed_options=("table.exec.sink.not-null-enforcer", "table.exec.sink.type-length-enforcer"),
    transformations=("constraint-validator", "partitioner", "sink"),
    judged=("dynamic_table_sink",),
)
class BatchSink(BatchNode, Sink, kw_only=True):
    """Writes a table."""

    input_changelog_mode: Aside[tuple[ReceivedKind, ...]] = (ReceivedKind.INSERT,)
    require_upsert_materialize: Aside[bool] = False
    state: Aside[tuple[StateMetadata, ...] | None] = None
    input_upsert_key: Aside[tuple[int, ...] | None] = None
    upsert_materialize_strategy: Aside[str | None] = None
    conflict_strategy: Aside[ConflictStrategy | None] = None

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return ()

    def row_kinds(self, flow: Flow) -> Kinds:
        """A sink emits no rows."""
        return NOTHING


@exec_node(
    "window-table-function",
    batch=True,
    order=ColumnOrder.FIXED,
    versions=_SINCE,
    transformations=("window",),
    results=("windowing",),
)
class BatchWindowTableFunction(BatchNode, WindowTableFunction, kw_only=True):
    """Appends window_start, window_end and window_time to each row, once per window."""


@exec_node(
    "vector-search-table-function",
    batch=True,
    order=ColumnOrder.FIXED,
    versions={1: "2.2"},
    inputs=None,
    consumed_options=tuple(
        f"table.exec.async-vector-search.{name}" for name in ("max-concurrent-operations", "timeout", "output-mode")
    ),
)
class BatchVectorSearchTableFunction(BatchNode, OpaqueNode, kw_only=True):
    """A node whose fields are kept unchanged in ``unknown``."""
