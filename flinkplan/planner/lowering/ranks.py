"""Lowering of Top-N, deduplication, limits and sorts."""

from __future__ import annotations

from ...plan import nodes, specs
from ...plan.nodes.base import ExecNode
from ...plan.record import replace
from ...plan.types import TimeKind
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.physical_bases import RankBase
from ..algebra.rel import Rel
from ..rex.printer import is_prefix
from .context import Context, Parts, Rules, Texts, columns, order_text

_NO_PARTITION = specs.PartitionSpec(())
_UNLIMITED = 2**63 - 1


def range_text(rank_range: specs.RankRange, rel: Rel) -> str:
    """``rankStart=1, rankEnd=3``."""
    match rank_range:
        case specs.ConstantRankRange(start, end):
            return f"rankStart={start}, rankEnd={end}"
        case specs.ConstantRankRangeWithoutEnd(start):
            return f"rankStart={start}"
        case specs.VariableRankRange(index):
            return f"rankEnd={rel.names[index]}"
    raise TypeError(rank_range)


def strategy_text(strategy: specs.RankStrategy) -> str:
    """``UpdateFastStrategy[0,1]``."""
    match strategy:
        case specs.AppendFastStrategy():
            return "AppendFastStrategy"
        case specs.UpdateFastStrategy(keys):
            return f"UpdateFastStrategy[{','.join(map(str, keys))}]"
    return "RetractStrategy"


def _rank(rel: p.Rank, ctx: Context) -> ExecNode:
    by_rowtime = any(rel.input.types[f.index].kind is TimeKind.ROWTIME for f in rel.order)
    text = (
        f"strategy=[{strategy_text(rel.strategy)}], rankType=[{rel.kind}], "
        f"rankRange=[{range_text(rel.range, rel.input)}], partitionBy=[{columns(rel.input, rel.partition)}], "
        f"orderBy=[{'ROWTIME ' * by_rowtime}{order_text(rel.input, rel.order)}], select=[{', '.join(rel.names)}]"
    )
    return ctx.node(
        nodes.Rank,
        rel,
        text,
        rank_type=rel.kind,
        partition=specs.PartitionSpec(rel.partition),
        order_by=specs.SortSpec(rel.order),
        rank_range=rel.range,
        rank_strategy=rel.strategy,
        output_row_number=rel.rank is not None,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Rank),
    )


def _deduplicate(rel: p.Deduplicate, ctx: Context) -> ExecNode:
    insert_only = rel.changes.are_insertions
    text = (
        f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}], key=[{columns(rel, rel.keys)}], "
        f"order=[{'ROWTIME' if rel.is_rowtime else 'PROCTIME'}], outputInsertOnly=[{str(insert_only).lower()}]"
    )
    node = ctx.node(
        nodes.Deduplicate,
        rel,
        text,
        unique_keys=rel.keys,
        is_rowtime=rel.is_rowtime,
        keep_last_row=rel.keep_last,
        output_insert_only=insert_only,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Deduplicate),
    )
    return replace(node, description=f"Rank({', '.join(_as_rank(rel))})") if is_prefix() else node


def _as_rank(rel: p.Deduplicate) -> Parts:
    """The deduplication as Flink's optimized physical plan shows it."""
    kind = TimeKind.ROWTIME if rel.is_rowtime else TimeKind.PROCTIME
    time = next(name for name, t in zip(rel.names, rel.types, strict=True) if t.kind is kind)
    order = f"{'ROWTIME ' * rel.is_rowtime}{time} {'DESC' if rel.keep_last else 'ASC'}"
    yield "strategy=[AppendFastStrategy]"
    yield "rankType=[ROW_NUMBER]"
    yield "rankRange=[rankStart=1, rankEnd=1]"
    yield f"partitionBy=[{columns(rel, rel.keys)}]"
    yield f"orderBy=[{order}]"
    yield f"select=[{', '.join(rel.names)}]"


def _limits(offset: int, fetch: int | None) -> tuple[str, specs.RankRange]:
    text = f"offset=[{offset}], fetch=[{'unlimited' if fetch is None else fetch}]"
    if fetch is None:
        return text, specs.ConstantRankRange(offset + 1, _UNLIMITED)
    return text, specs.ConstantRankRange(offset + 1, offset + fetch)


def _sort_limit(rel: p.SortLimit, ctx: Context) -> ExecNode:
    limits, rank_range = _limits(rel.offset, rel.fetch)
    text = f"orderBy=[{order_text(rel, rel.order)}], {limits}, strategy=[{strategy_text(rel.strategy)}]"
    return ctx.node(
        nodes.SortLimit,
        rel,
        text,
        order_by=specs.SortSpec(rel.order),
        rank_range=rank_range,
        rank_strategy=rel.strategy,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.SortLimit),
        rank_type="ROW_NUMBER",
        partition=_NO_PARTITION,
        output_row_number=False,
    )


def _limit(rel: p.Limit, ctx: Context) -> ExecNode:
    limits, rank_range = _limits(rel.offset, rel.fetch)
    return ctx.node(
        nodes.Limit,
        rel,
        limits,
        rank_range=rank_range,
        rank_strategy=rel.strategy,
        generate_update_before=rel.changes.has_update_before,
        state=ctx.states(nodes.Limit),
        rank_type="ROW_NUMBER",
        partition=_NO_PARTITION,
        order_by=specs.SortSpec(()),
        output_row_number=False,
    )


def _temporal_sort(rel: p.TemporalSort, ctx: Context) -> ExecNode:
    text = f"orderBy=[{order_text(rel, rel.order)}]"
    return ctx.node(nodes.TemporalSort, rel, text, order_by=specs.SortSpec(rel.order))


def _full_sort(rel: p.FullSort, ctx: Context) -> ExecNode:
    return ctx.node(nodes.Sort, rel, f"orderBy=[{order_text(rel, rel.order)}]", order_by=specs.SortSpec(rel.order))


# ---------------------------------------------------------------- the texts of explain --rules


def ranking_parts(rel: RankBase) -> Parts:
    """Which ranks are kept, and by which order."""
    yield f"rankType=[{rel.kind}]"
    yield f"rankRange=[{range_text(rel.range, rel.input)}]"
    yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.order)}]"


def _rank_parts(rel: p.Rank) -> Parts:
    yield from ranking_parts(rel)
    if rel.change_trait is not None:
        yield f"strategy=[{strategy_text(rel.strategy)}]"
    if rel.rank is not None:
        yield f"rank=[{rel.rank}]"


def _deduplicate_parts(rel: p.Deduplicate) -> Parts:
    yield f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}]"
    yield f"key=[{columns(rel.input, rel.keys)}]"
    yield f"order=[{'ROWTIME' if rel.is_rowtime else 'PROCTIME'}]"


def sort_parts(rel: a.Sort | p.SortLimit | p.Limit | p.TemporalSort | p.FullSort) -> Parts:
    """An order and a limit, as far as there are."""
    if not isinstance(rel, p.Limit) and rel.order:
        yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    if isinstance(rel, (a.Sort, p.SortLimit, p.Limit)):
        if rel.offset:
            yield f"offset=[{rel.offset}]"
        if rel.fetch is not None:
            yield f"fetch=[{rel.fetch}]"
    if rel.change_trait is not None and isinstance(rel, (p.SortLimit, p.Limit)):
        yield f"strategy=[{strategy_text(rel.strategy)}]"


TEXTS: Texts = {
    p.Rank: _rank_parts,
    p.Deduplicate: _deduplicate_parts,
    **dict.fromkeys((p.SortLimit, p.Limit, p.TemporalSort, p.FullSort), sort_parts),
}


RULES: Rules = {
    p.Rank: _rank,
    p.Deduplicate: _deduplicate,
    p.SortLimit: _sort_limit,
    p.Limit: _limit,
    p.TemporalSort: _temporal_sort,
    p.FullSort: _full_sort,
}
