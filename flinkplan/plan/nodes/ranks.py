"""Deduplication, Top-N, LIMIT and sorting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from ..codec import Place
from ..references import Input, OwnKeys
from ..rex import RexNode
from ..row_kinds import CHANGES, Flow, Kinds, deduplicated, first_row_is_final, limited, ranked, rows
from ..savepoint import flink_states
from ..savepoint.layout import Column, Inputs, KeptState, Layout, Value, columns
from ..specs import (
    AppendFastStrategy,
    ConstantRankRange,
    PartitionSpec,
    RankRange,
    RankStrategy,
    RetractStrategy,
    SortSpec,
    StateMetadata,
    UpdateFastStrategy,
    VariableRankRange,
)
from ..yields import Yield, input_columns, ranks
from .aggregates import MINI_BATCH_OPTIONS
from .base import ColumnOrder, ExecNode, State, exec_node
from .mixins import InsertsOnly, RowByRow, SameColumns, WholeRows

_RANKED = State("rankState", "older rows leave the ranking")
_RANK_OPTIONS = ("table.exec.rank.topn-cache-size",)


@exec_node(
    "deduplicate",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    states=(State("deduplicateState", "the key counts as never seen"),),
    consumed_options=(
        *MINI_BATCH_OPTIONS,
        "table.exec.deduplicate.insert-update-after-sensitive-enabled",
        "table.exec.deduplicate.mini-batch.compact-changes-enabled",
    ),
    identity=("is_rowtime", "keep_last_row", "output_insert_only"),
    results=("generate_update_before",),
    judged=("unique_keys", "state"),
)
class Deduplicate(SameColumns, ExecNode, kw_only=True):
    """The first or last row of each key, by event or processing time."""

    unique_keys: OwnKeys
    is_rowtime: bool
    keep_last_row: bool
    output_insert_only: bool | None = None
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None

    @property
    def keeps_rows(self) -> bool:
        """For the first row by processing time the state only holds that there was one."""
        return self.is_rowtime or self.keep_last_row

    def layout(self, inputs: Inputs) -> Layout:
        row = columns(inputs)
        states: tuple[KeptState, ...]
        if self.is_rowtime and not self.keep_last_row and self.output_insert_only:
            states = (
                KeptState(flink_states.WAITING_ROW, row),
                KeptState(flink_states.HAS_EMITTED, form="a boolean"),
            )
        elif self.is_rowtime or self.keep_last_row:
            states = (KeptState(flink_states.LAST_ROWS, row),)
        else:
            states = (KeptState(flink_states.LAST_ROWS, form="a boolean"),)
        return Layout("deduplicate", columns(inputs, only=self.unique_keys), states)

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.unique_keys,)

    def row_kinds(self, flow: Flow) -> Kinds:
        inserts_only = self.output_insert_only or not (self.keep_last_row or self.is_rowtime)
        return rows(deduplicated(bool(inserts_only)), self.generate_update_before)


@exec_node(
    "changelog-normalize",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    states=(State("changelogNormalizeState", "the key's last row is forgotten; an update of it becomes an insert"),),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("filter_condition",),
    results=("generate_update_before",),
    judged=("unique_keys", "state"),
)
class ChangelogNormalize(SameColumns, WholeRows, ExecNode, kw_only=True):
    """Completes an upsert stream to a changelog with old rows."""

    unique_keys: OwnKeys
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    filter_condition: Annotated[RexNode | None, Input.ALL, Place.LAST] = None

    def layout(self, inputs: Inputs) -> Layout:
        key = columns(inputs, only=self.unique_keys)
        return Layout("changelog-normalize", key, (KeptState(flink_states.LAST_ROWS, columns(inputs)),))

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.unique_keys,)

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(CHANGES, self.generate_update_before)


@exec_node(
    "rank",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    states=(_RANKED,),
    consumed_options=_RANK_OPTIONS,
    identity=("rank_type", "order_by", "rank_range", "rank_strategy"),
    results=("output_row_number", "generate_update_before"),
    judged=("partition", "state"),
)
class Rank(WholeRows, ExecNode, kw_only=True):
    """Top-N of each partition."""

    rank_type: str
    partition: PartitionSpec
    order_by: SortSpec
    rank_range: RankRange
    rank_strategy: RankStrategy
    output_row_number: bool
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None

    def layout(self, inputs: Inputs) -> Layout:
        key = columns(inputs, only=self.partition.fields)
        return Layout("rank", key, _ranked_rows(inputs, self.order_by, self.rank_range, self.rank_strategy))

    @property
    def is_first_row_final(self) -> bool:
        """Whether Flink treats the first row of each key as final, so that it plans for inserts only."""
        order = self.order_by.fields
        stays = first_row_is_final(self.rank_type, self.rank_range, order, with_rank=self.output_row_number)
        return stays and not self.generate_update_before

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.partition.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs), *ranks(self.output_row_number))

    def row_kinds(self, flow: Flow) -> Kinds:
        stays = self.is_first_row_final and not flow.uses_mini_batches
        return rows(ranked(stays, flow.inputs[0]), self.generate_update_before)


@exec_node(
    "sort-limit",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.15"},
    states=(_RANKED,),
    consumed_options=_RANK_OPTIONS,
    transformations=("rank",),
    identity=("order_by", "rank_range", "rank_strategy"),
    results=("rank_type", "partition", "output_row_number", "generate_update_before"),
    judged=("state",),
)
class SortLimit(RowByRow, SameColumns, WholeRows, ExecNode, kw_only=True):
    """ORDER BY … LIMIT over the whole stream."""

    order_by: SortSpec
    rank_range: RankRange
    rank_strategy: RankStrategy
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    rank_type: Annotated[str | None, Place.LAST] = None
    partition: Annotated[PartitionSpec | None, Place.LAST] = None
    output_row_number: Annotated[bool | None, Place.LAST] = None

    def layout(self, inputs: Inputs) -> Layout:
        return Layout("rank", (), _ranked_rows(inputs, self.order_by, self.rank_range, self.rank_strategy))

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(CHANGES, self.generate_update_before)


@exec_node(
    "limit",
    order=ColumnOrder.FIXED,
    versions={1: "1.15"},
    states=(_RANKED,),
    consumed_options=_RANK_OPTIONS,
    transformations=("rank",),
    identity=("rank_range", "rank_strategy"),
    results=("rank_type", "partition", "order_by", "output_row_number", "generate_update_before"),
    judged=("state",),
)
class Limit(RowByRow, SameColumns, WholeRows, ExecNode, kw_only=True):
    """LIMIT over the whole stream."""

    rank_range: RankRange
    rank_strategy: RankStrategy
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    rank_type: Annotated[str | None, Place.LAST] = None
    partition: Annotated[PartitionSpec | None, Place.LAST] = None
    order_by: Annotated[SortSpec | None, Place.LAST] = None
    output_row_number: Annotated[bool | None, Place.LAST] = None

    def layout(self, inputs: Inputs) -> Layout:
        order = self.order_by or SortSpec(())
        return Layout("rank", (), _ranked_rows(inputs, order, self.rank_range, self.rank_strategy))

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(limited(flow.inputs[0]), self.generate_update_before)


@exec_node("temporal-sort", order=ColumnOrder.EXTENDED, versions={1: "1.15"}, timed=True, identity=("order_by",))
class TemporalSort(RowByRow, SameColumns, InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """ORDER BY a time attribute, ascending, then others."""

    order_by: SortSpec

    def layout(self, inputs: Inputs) -> Layout:
        times = [f.index for f in self.order_by.fields[:1]]
        by_clock = any(inputs[0][i].type.is_proctime for i in times if 0 <= i < len(inputs[0]))
        name, form = ("sortState", "rows") if by_clock else (flink_states.SORTED_BY_TIME, "rows by time")
        return Layout("temporal-sort", (), (KeptState(name, columns(inputs), form),))


@exec_node("sort", order=ColumnOrder.EXTENDED, versions={1: "1.18"}, timed=True, identity=("order_by",))
class Sort(RowByRow, SameColumns, InsertsOnly, WholeRows, ExecNode, kw_only=True):
    """A full sort, for tests of bounded input."""

    order_by: SortSpec

    def layout(self, inputs: Inputs) -> Layout:
        return Layout("sort", (), (KeptState("localBufferState", columns(inputs), "rows"),))


def _ranked_rows(inputs: Inputs, order: SortSpec, range_: RankRange, strategy: RankStrategy) -> tuple[KeptState, ...]:
    """The state of a Top-N.  Source: ``StreamExecRank`` and the functions that it chooses from."""
    rows, sort_key = columns(inputs), columns(inputs, only=[f.index for f in order.fields])
    is_top_1 = isinstance(range_, ConstantRankRange) and range_.end == 1
    states: tuple[KeptState, ...]
    match strategy:
        case AppendFastStrategy() if _by_clock(inputs, order):
            states = (KeptState("counterState", form="a number"),)
        case AppendFastStrategy() | UpdateFastStrategy() if is_top_1:
            states = (KeptState(flink_states.TOP_1, rows),)
        case UpdateFastStrategy(primary_keys):
            key_values = columns(inputs, only=primary_keys)
            states = (KeptState(flink_states.UPDATED, (*key_values, *rows), "rows and ranks by their key"),)
        case RetractStrategy():
            directions = [(f.is_ascending, f.null_is_last) for f in order.fields]
            states = (
                KeptState(flink_states.SORTED, (*sort_key, *rows), "rows by the order"),
                KeptState(flink_states.SORTED_COUNTS, sort_key, f"numbers in the order {directions}"),
            )
        case _:
            states = (KeptState(flink_states.APPENDED, (*sort_key, *rows), "rows by the order"),)
    if isinstance(range_, VariableRankRange):
        end = inputs[0][range_.end_index].type if 0 <= range_.end_index < len(inputs[0]) else None
        states = (
            *states,
            KeptState(flink_states.RANK_END, (Value(str(end), Column(0, range_.end_index)),), "a number"),
        )
    return states


def _by_clock(inputs: Inputs, order: SortSpec) -> bool:
    """Whether the order is by processing time, in which rows arrive anyway."""
    if len(order.fields) != 1 or not order.fields[0].is_ascending:
        return False
    index = order.fields[0].index
    return 0 <= index < len(inputs[0]) and inputs[0][index].type.is_proctime
