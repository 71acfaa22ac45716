"""Deduplication, Top-N, LIMIT and order."""

from __future__ import annotations

from typing import Annotated

from ..codec import Place
from ..rex import RexNode
from ..specs import ConstantRankRange, PartitionSpec, RankRange, RankStrategy, SortSpec, StateMetadata
from .aggregates import MINI_BATCH_OPTIONS
from .base import ExecNode, exec_node

_RANK_OPTIONS = ("table.exec.rank.topn-cache-size",)


@exec_node(
    "deduplicate",
    versions={1: "1.15"},
    states=("deduplicateState",),
    consumed_options=(
        *MINI_BATCH_OPTIONS,
        "table.exec.deduplicate.insert-update-after-sensitive-enabled",
        "table.exec.deduplicate.mini-batch.compact-changes-enabled",
    ),
    identity=("is_rowtime", "keep_last_row", "output_insert_only"),
    results=("generate_update_before",),
    judged=("unique_keys", "state"),
)
class Deduplicate(ExecNode, kw_only=True):
    """The first or last row of each key, by event or processing time."""

    unique_keys: tuple[int, ...]
    is_rowtime: bool
    keep_last_row: bool
    output_insert_only: bool | None = None
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None


@exec_node(
    "changelog-normalize",
    versions={1: "1.15"},
    states=("changelogNormalizeState",),
    consumed_options=MINI_BATCH_OPTIONS,
    identity=("filter_condition",),
    results=("generate_update_before",),
    judged=("unique_keys", "state"),
)
class ChangelogNormalize(ExecNode, kw_only=True):
    """Makes a complete changelog of upserts by key."""

    unique_keys: tuple[int, ...]
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    filter_condition: Annotated[RexNode | None, Place.LAST] = None


@exec_node(
    "rank",
    versions={1: "1.15"},
    states=("rankState",),
    consumed_options=_RANK_OPTIONS,
    identity=("rank_type", "order_by", "rank_range", "rank_strategy"),
    results=("output_row_number", "generate_update_before"),
    judged=("partition", "state"),
)
class Rank(ExecNode, kw_only=True):
    """Top-N of each partition."""

    rank_type: str
    partition: PartitionSpec
    order_by: SortSpec
    rank_range: RankRange
    rank_strategy: RankStrategy
    output_row_number: bool
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None

    @property
    def takes_first_to_stay(self) -> bool:
        """Whether Flink takes the first row of each key to stay the first, so that it plans inserts alone.

        Source: ``RankUtil.isDeduplication``, ``RankUtil.keepLastDeduplicateRow``.
        """
        if self.rank_type != "ROW_NUMBER" or self.output_row_number or self.generate_update_before:
            return False
        fields = self.order_by.fields
        keeps_last = len(fields) == 1 and not fields[0].is_ascending
        return self.rank_range == ConstantRankRange(1, 1) and not keeps_last


@exec_node(
    "sort-limit",
    versions={1: "1.15"},
    states=("rankState",),
    consumed_options=_RANK_OPTIONS,
    identity=("order_by", "rank_range", "rank_strategy"),
    results=("rank_type", "partition", "output_row_number", "generate_update_before"),
    judged=("state",),
)
class SortLimit(ExecNode, kw_only=True):
    """ORDER BY … LIMIT over the whole stream."""

    order_by: SortSpec
    rank_range: RankRange
    rank_strategy: RankStrategy
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    rank_type: Annotated[str | None, Place.LAST] = None
    partition: Annotated[PartitionSpec | None, Place.LAST] = None
    output_row_number: Annotated[bool | None, Place.LAST] = None


@exec_node(
    "limit",
    versions={1: "1.15"},
    states=("rankState",),
    consumed_options=_RANK_OPTIONS,
    identity=("rank_range", "rank_strategy"),
    results=("rank_type", "partition", "order_by", "output_row_number", "generate_update_before"),
    judged=("state",),
)
class Limit(ExecNode, kw_only=True):
    """LIMIT over the whole stream."""

    rank_range: RankRange
    rank_strategy: RankStrategy
    generate_update_before: bool
    state: tuple[StateMetadata, ...] | None = None
    rank_type: Annotated[str | None, Place.LAST] = None
    partition: Annotated[PartitionSpec | None, Place.LAST] = None
    order_by: Annotated[SortSpec | None, Place.LAST] = None
    output_row_number: Annotated[bool | None, Place.LAST] = None


@exec_node("temporal-sort", versions={1: "1.15"}, timed=True, identity=("order_by",))
class TemporalSort(ExecNode, kw_only=True):
    """ORDER BY a time attribute, ascending, then others."""

    order_by: SortSpec


@exec_node("sort", versions={1: "1.18"}, timed=True, identity=("order_by",))
class Sort(ExecNode, kw_only=True):
    """A full sort, for tests of bounded input."""

    order_by: SortSpec
