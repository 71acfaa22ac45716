"""Deduplication, Top-N and LIMIT: which rows of a key or partition are kept."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import Deduplicate, Limit, Rank, SortLimit
from ....plan.settings import is_batch_mode
from ....plan.specs import (
    ConstantRankRange,
    ConstantRankRangeWithoutEnd,
    SortField,
    UpdateFastStrategy,
    VariableRankRange,
)
from ..known.carried import carries_late_rows
from ..query import QueryPlan, chooser
from ..steps import ROWS_AHEAD, TIMER, Kernel, declared_name, own_state, until_watermark
from ..watermarks import by_watermark, row_by_row
from .batch import NativeLimit, NativeRank

_FIRST = 1000
"""Up to so many rows that are wanted stand in one value, which is written whole."""

_ROW_NUMBER = "ROW_NUMBER"
_RANGES = (ConstantRankRange, ConstantRankRangeWithoutEnd, VariableRankRange)


class KernelKeepFirst(Kernel, kw_only=True):
    """The first row of each key by event time, once no earlier one can come; ``time``: the index of that column."""

    time: int


class KernelDeduplicate(Kernel, kw_only=True):
    """The first or last row of each key.

    ``time``: the index of the column that says which one is first; -1: rows are as they come.  ``changelog``: rows that
    are out may be taken back.  ``folds``: the changes of a batch to a key come to one.
    """

    time: int
    changelog: bool
    folds: bool


class KernelTopN(Kernel, kw_only=True):
    """The first rows of each partition.

    ``partition`` and ``order``: by which rows belong together and are ranked.  ``numbered``: the row number is emitted.
    ``keeps_first``: the first rows of a partition stand in one value.  ``changelog``: rows that are out may be taken
    back.  ``stays``: what is out is to stay, so that an update of it is one more row.  ``folds``: as of
    :class:`KernelDeduplicate`.
    """

    partition: tuple[int, ...]
    order: tuple[SortField, ...]
    numbered: bool
    keeps_first: bool
    changelog: bool
    stays: bool
    folds: bool


def _waits(node: Deduplicate) -> bool:
    """Whether the first row of a key is known only when the watermark says so."""
    return bool(node.is_rowtime and node.output_insert_only)


def _real_time_deduplicate(node: Deduplicate, query: QueryPlan) -> str | None:
    return by_watermark(node, query) if _waits(node) else None


@chooser(Deduplicate, real_time=_real_time_deduplicate)
def deduplicate(node: Deduplicate, query: QueryPlan) -> KernelKeepFirst | KernelDeduplicate:
    """The first or last row of each key."""
    types = query.input(node).output_type.field_types
    time = next((i for i, t in enumerate(types) if t.is_rowtime), -1)
    if _waits(node):
        state = until_watermark("ValueState", declared_name(node), "the first row, and whether it is out")
        why = "the first row is known when the watermark says so"
        ahead = (ROWS_AHEAD,) if carries_late_rows(query.plan, query.input(node)) else ()
        return KernelKeepFirst(
            kernel="time.KeepFirst", why=why, shuffle=query.keys(node), states=(state, *ahead, TIMER), time=time
        )
    holds = "the row" if node.is_rowtime or node.keep_last_row else "that there was one"
    return KernelDeduplicate(
        kernel="rank.Deduplicate",
        why="each key's state expires by itself",
        shuffle=query.keys(node),
        states=(own_state(node, "ValueState", holds),),
        time=time if node.is_rowtime else -1,
        changelog=node.keep_last_row or node.is_rowtime,
        folds=query.folds_at(node),
    )


def _check(node: Rank | SortLimit | Limit, plan: Plan, options: Mapping[str, str]) -> None:
    """With RANK and DENSE_RANK Flink compiles plans that it cannot run as streams."""
    if isinstance(node, Rank) and node.rank_type != _ROW_NUMBER and not _ranks_values(node, options):
        raise UnsupportedError(f"{node.rank_type}() on a stream", hint="as in Flink, rank by ROW_NUMBER()")
    if not isinstance(node.rank_range, _RANGES):
        raise UnsupportedError(f"the rank range {node.rank_range} cannot be executed")


def _ranks_values(node: Rank, options: Mapping[str, str]) -> bool:
    """Whether rows that are equal in the order have the same rank, and all rows are there."""
    return is_batch_mode(options) and isinstance(node.rank_range, ConstantRankRange)


@chooser(Rank, check=_check, real_time=row_by_row)
def rank(node: Rank, query: QueryPlan) -> KernelTopN | NativeRank:
    """Top-N of each partition."""
    kept = node.rank_range
    if query.is_final and node.rank_type != _ROW_NUMBER and isinstance(kept, ConstantRankRange):
        return NativeRank(
            operators="Window, Filter",
            why="all rows are there",
            shuffle=query.keys(node),
            partition=node.partition.fields,
            order=node.order_by.fields,
            start=kept.start,
            end=kept.end,
            shows_rank=node.output_row_number,
            is_dense=node.rank_type == "DENSE_RANK",
            nets=query.must_net(query.input(node)),
        )
    return _top_n(node, query, node.partition.fields, node.order_by.fields, numbered=node.output_row_number)


@chooser(SortLimit, check=_check, real_time=row_by_row)
def sort_limit(node: SortLimit, query: QueryPlan) -> KernelTopN | NativeLimit:
    """The first rows of all in an order, in which they come out where all rows are there."""
    kept = node.rank_range
    if query.is_final and isinstance(kept, ConstantRankRange):
        return NativeLimit(
            operators="Sort, Limit",
            why="all rows are there",
            shuffle=(),
            order=node.order_by.fields,
            start=kept.start - 1,
            end=kept.end,
            nets=query.must_net(query.input(node)),
        )
    return _top_n(node, query, (), node.order_by.fields)


@chooser(Limit, check=_check, real_time=row_by_row)
def limit(node: Limit, query: QueryPlan) -> KernelTopN:
    """The first rows of all in the order they came."""
    return _top_n(node, query, (), ())


def _top_n(
    node: Rank | SortLimit | Limit,
    query: QueryPlan,
    partition: tuple[int, ...],
    order: tuple[SortField, ...],
    *,
    numbered: bool = False,
) -> KernelTopN:
    known_by = "content"
    if isinstance(node.rank_strategy, UpdateFastStrategy):
        known_by = query.columns(query.input(node), node.rank_strategy.primary_keys)
    entries = f"row and arrivals by {known_by}"
    states = [own_state(node, "MapState", entries)]
    keeps_first = _keeps_first(node)
    if keeps_first:
        first = own_state(node, "ValueState", "the first rows", part="-first")
        states = [first, own_state(node, "MapState", f"of others, {entries}")]
    stays = isinstance(node, Rank) and node.is_first_row_final and not query.is_final
    return KernelTopN(
        kernel="rank.TopN",
        why="rows that leave the ranking are taken back",
        shuffle=query.keys(node),
        states=tuple(states),
        partition=tuple(partition),
        order=tuple(order),
        numbered=numbered,
        keeps_first=keeps_first,
        changelog=query.is_changelog(query.input(node)) or not isinstance(node, Limit),
        stays=stays and not query.is_changelog(node),
        folds=query.folds_at(node) and not stays,
    )


def _keeps_first(node: Rank | SortLimit | Limit) -> bool:
    """Whether the first rows of a partition stand in one value: none expires by itself, and it is known how many."""
    kept = node.rank_range
    return node.ttl_ms() == 0 and isinstance(kept, ConstantRankRange) and kept.end <= _FIRST
