"""Lowering of Top-N, deduplication, limits and sorts."""

from __future__ import annotations

from ...plan import nodes
from ...plan.nodes.base import ExecNode
from ...plan.specs import (
    AppendFastStrategy,
    ConstantRankRange,
    ConstantRankRangeWithoutEnd,
    PartitionSpec,
    RankRange,
    RankStrategy,
    SortSpec,
    UpdateFastStrategy,
    VariableRankRange,
)
from ...plan.types import TimeKind
from ..algebra import physical as p
from ..algebra.logical import Rel
from .context import Context, Rules, columns, names, order_text

_NO_PARTITION = PartitionSpec(())
_UNLIMITED = 2**63 - 1


def range_text(found: RankRange, rel: Rel) -> str:
    """``rankStart=1, rankEnd=3``."""
    match found:
        case ConstantRankRange(start, end):
            return f"rankStart={start}, rankEnd={end}"
        case ConstantRankRangeWithoutEnd(start):
            return f"rankStart={start}"
        case VariableRankRange(index):
            return f"rankEnd={names(rel)[index]}"
    raise TypeError(found)


def strategy_text(strategy: RankStrategy) -> str:
    """``UpdateFastStrategy[0,1]``."""
    match strategy:
        case AppendFastStrategy():
            return "AppendFastStrategy"
        case UpdateFastStrategy(keys):
            return f"UpdateFastStrategy[{','.join(map(str, keys))}]"
    return "RetractStrategy"


def rank(rel: p.Rank, ctx: Context) -> ExecNode:
    """Top-N."""
    by_rowtime = any(rel.input.types[f.index].kind is TimeKind.ROWTIME for f in rel.order)
    text = (
        f"strategy=[{strategy_text(rel.strategy)}], rankType=[{rel.kind}], "
        f"rankRange=[{range_text(rel.range, rel.input)}], partitionBy=[{columns(rel.input, rel.partition)}], "
        f"orderBy=[{'ROWTIME ' * by_rowtime}{order_text(rel.input, rel.order)}], select=[{', '.join(names(rel))}]"
    )
    return ctx.node(
        nodes.Rank,
        rel,
        f"Rank({text})",
        rank_type=rel.kind,
        partition=PartitionSpec(rel.partition),
        order_by=SortSpec(rel.order),
        rank_range=rel.range,
        rank_strategy=rel.strategy,
        output_row_number=rel.rank is not None,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Rank),
    )


def deduplicate(rel: p.Deduplicate, ctx: Context) -> ExecNode:
    """The first or last row of each key."""
    insert_only = rel.changes.are_insertions
    text = (
        f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}], key=[{columns(rel, rel.keys)}], "
        f"order=[{'ROWTIME' if rel.is_rowtime else 'PROCTIME'}], outputInsertOnly=[{str(insert_only).lower()}]"
    )
    return ctx.node(
        nodes.Deduplicate,
        rel,
        f"Deduplicate({text})",
        unique_keys=rel.keys,
        is_rowtime=rel.is_rowtime,
        keep_last_row=rel.keep_last,
        output_insert_only=insert_only,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Deduplicate),
    )


def _limits(offset: int, fetch: int | None) -> tuple[str, RankRange]:
    text = f"offset=[{offset}], fetch=[{'unlimited' if fetch is None else fetch}]"
    if fetch is None:
        return text, ConstantRankRange(offset + 1, _UNLIMITED)
    return text, ConstantRankRange(offset + 1, offset + fetch)


def sort_limit(rel: p.SortLimit, ctx: Context) -> ExecNode:
    """ORDER BY … LIMIT."""
    limits, rank_range = _limits(rel.offset, rel.fetch)
    text = f"orderBy=[{order_text(rel, rel.order)}], {limits}, strategy=[{strategy_text(rel.strategy)}]"
    return ctx.node(
        nodes.SortLimit,
        rel,
        f"SortLimit({text})",
        order_by=SortSpec(rel.order),
        rank_range=rank_range,
        rank_strategy=rel.strategy,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.SortLimit),
        rank_type="ROW_NUMBER",
        partition=_NO_PARTITION,
        output_row_number=False,
    )


def limit(rel: p.Limit, ctx: Context) -> ExecNode:
    """LIMIT."""
    limits, rank_range = _limits(rel.offset, rel.fetch)
    return ctx.node(
        nodes.Limit,
        rel,
        f"Limit({limits})",
        rank_range=rank_range,
        rank_strategy=rel.strategy,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Limit),
        rank_type="ROW_NUMBER",
        partition=_NO_PARTITION,
        order_by=SortSpec(()),
        output_row_number=False,
    )


def temporal_sort(rel: p.TemporalSort, ctx: Context) -> ExecNode:
    """ORDER BY time."""
    text = f"TemporalSort(orderBy=[{order_text(rel, rel.order)}])"
    return ctx.node(nodes.TemporalSort, rel, text, order_by=SortSpec(rel.order))


def full_sort(rel: p.FullSort, ctx: Context) -> ExecNode:
    """ORDER BY of a bounded stream."""
    return ctx.node(nodes.Sort, rel, f"Sort(orderBy=[{order_text(rel, rel.order)}])", order_by=SortSpec(rel.order))


RULES: Rules = {
    p.Rank: rank,
    p.Deduplicate: deduplicate,
    p.SortLimit: sort_limit,
    p.Limit: limit,
    p.TemporalSort: temporal_sort,
    p.FullSort: full_sort,
}
