"""Lowering of windowing table functions and what is computed per window."""

from __future__ import annotations

from typing import Any

from ...plan import nodes, specs
from ...plan.accumulator_columns import accumulators, counts_rows
from ...plan.nodes.base import ExecNode
from ..algebra import physical as p
from ..algebra.rel import Rel
from .aggregate_text import bare_properties, call_text, global_phase, local_phase, one_phase, property_texts
from .aggregates import calls_part
from .context import Context, Parts, Rules, Texts, columns, duration_text, group_by, input_fields, order_text
from .ranks import range_text, ranking_parts


def windowing_text(strategy: specs.WindowingStrategy, fields: tuple[str, ...]) -> str:
    """``TUMBLE(time_col=[ts], size=[10 min])``."""
    match strategy:
        case specs.TimeAttributeWindowing():
            source = f"time_col=[{fields[strategy.time_attribute_index]}]"
        case specs.SliceAttachedWindowing():
            source = f"slice_end=[{fields[strategy.slice_end]}]"
        case specs.WindowAttachedWindowing() if strategy.window_start >= 0:
            source = f"win_start=[{fields[strategy.window_start]}], win_end=[{fields[strategy.window_end]}]"
        case specs.WindowAttachedWindowing():
            source = f"win_end=[{fields[strategy.window_end]}]"
    match strategy.window:
        case specs.TumblingWindow(size, offset):
            name, parts = "TUMBLE", [f"size=[{duration_text(size)}]"]
        case specs.HoppingWindow(size, slide, offset):
            name, parts = "HOP", [f"size=[{duration_text(size)}]", f"slide=[{duration_text(slide)}]"]
        case specs.CumulativeWindow(size, step, offset):
            name, parts = "CUMULATE", [f"max_size=[{duration_text(size)}]", f"step=[{duration_text(step)}]"]
        case specs.SessionWindow(gap, keys):
            name, parts, offset = "SESSION", [f"gap=[{duration_text(gap)}]"], None
            if keys:
                parts.append(f"partition keys=[{', '.join(fields[k] for k in keys)}]")
    if offset is not None:
        parts.append(f"offset=[{duration_text(offset)}]")
    return f"{name}({', '.join([source, *parts])})"


def _window(rel: Rel, strategy: specs.WindowingStrategy) -> str:
    return f"window=[{windowing_text(strategy, rel.names)}]"


def _table_function(rel: p.WindowTableFunction, ctx: Context) -> ExecNode:
    return ctx.node(nodes.WindowTableFunction, rel, _window(rel.input, rel.windowing), windowing=rel.windowing)


def _one(rel: p.WindowAggregate, ctx: Context) -> ExecNode:
    retracts = ctx.retracts(rel.input)
    retractions = (retracts,) * len(rel.calls)
    properties = property_texts(rel.properties)
    select = one_phase(rel.input.names, rel.grouping, rel.calls, retractions, rel.names, properties)
    return _aggregate(nodes.WindowAggregate, rel, ctx, select, retracts, named_window_properties=rel.properties)


def _local(rel: p.LocalWindowAggregate, ctx: Context) -> ExecNode:
    retracts = ctx.retracts(rel.input)
    retractions = (retracts,) * len(rel.calls)
    columns_ = accumulators(rel.calls, retractions, rel.input.types, counts_rows(rel.windowing, retracts))
    end = [f"slice_end('w$) AS {rel.names[-1]}"]
    select = local_phase(rel.input.names, rel.grouping, rel.calls, retractions, columns_, end, retracts=retracts)
    return _aggregate(nodes.LocalWindowAggregate, rel, ctx, select, retracts)


def _global(rel: p.GlobalWindowAggregate, ctx: Context) -> ExecNode:
    local_rel = rel.input.inputs[0]
    retracts = ctx.retracts(local_rel.inputs[0])
    retractions = (retracts,) * len(rel.calls)
    columns_ = accumulators(rel.calls, retractions, rel.local_input.field_types, counts_rows(rel.windowing, retracts))
    keys = [rel.names[i] for i in range(len(rel.grouping))]
    output = rel.names[len(keys) :]
    properties = bare_properties(rel.properties)
    select = global_phase(keys, rel.calls, retractions, columns_, output, properties, retracts=retracts)
    own = {"named_window_properties": rel.properties, "local_agg_input_row_type": rel.local_input.nullable_()}
    return _aggregate(nodes.GlobalWindowAggregate, rel, ctx, select, retracts, **own)


_WindowAggregate = p.WindowAggregate | p.LocalWindowAggregate | p.GlobalWindowAggregate


def _aggregate(
    cls: type[ExecNode], rel: _WindowAggregate, ctx: Context, select: str, retracts: bool, **own: Any
) -> ExecNode:
    """A node of that class with what all three of them say."""
    parts = [*group_by(rel.input, rel.grouping), _window(rel.input, rel.windowing), f"select=[{select}]"]
    common = {"grouping": rel.grouping, "agg_calls": rel.calls, "windowing": rel.windowing}
    return ctx.node(cls, rel, *parts, **common, need_retraction=retracts, **own)


def _rank(rel: p.WindowRank, ctx: Context) -> ExecNode:
    text = (
        f"{_window(rel.input, rel.windowing)}, rankType=[{rel.kind}], rankRange=[{range_text(rel.range, rel.input)}], "
        f"partitionBy=[{columns(rel.input, rel.partition)}], orderBy=[{order_text(rel.input, rel.order)}], "
        f"select=[{', '.join(rel.names)}]"
    )
    return ctx.node(
        nodes.WindowRank,
        rel,
        text,
        rank_type=rel.kind,
        partition_spec=specs.PartitionSpec(rel.partition),
        sort_spec=specs.SortSpec(rel.order),
        rank_range=rel.range,
        output_row_number=rel.rank is not None,
        windowing=rel.windowing,
    )


def is_event_time(strategy: specs.WindowingStrategy) -> bool:
    """Whether the windows are of event time."""
    return bool(strategy.is_rowtime)  # type: ignore[attr-defined]


def _deduplicate(rel: p.WindowDeduplicate, ctx: Context) -> ExecNode:
    time = "ROWTIME" if is_event_time(rel.windowing) else "PROCTIME"
    text = (
        f"{_window(rel.input, rel.windowing)}, keep=[{'LastRow' if rel.keep_last else 'FirstRow'}], "
        f"partitionKeys=[{columns(rel.input, rel.partition)}], orderKey=[{rel.input.names[rel.order_key]}], "
        f"order=[{time}]"
    )
    return ctx.node(
        nodes.WindowDeduplicate,
        rel,
        text,
        partition_keys=rel.partition,
        order_key=rel.order_key,
        keep_last_row=rel.keep_last,
        windowing=rel.windowing,
    )


# ---------------------------------------------------------------- the texts of explain --rules


def _table_function_parts(rel: p.WindowTableFunction) -> Parts:
    return (_window(rel.input, rel.windowing),)


def _aggregate_parts(rel: p.WindowAggregate | p.GlobalWindowAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping)
    yield _window(rel.input, rel.windowing)
    fields = rel.local_input.field_names if isinstance(rel, p.GlobalWindowAggregate) else input_fields(rel)
    yield calls_part(rel.calls, rel.names[len(rel.grouping) :], fields)


def _local_parts(rel: p.LocalWindowAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping)
    yield _window(rel.input, rel.windowing)
    yield f"select=[{', '.join(call_text(call, rel.input.names) for call in rel.calls)}]"


def _rank_parts(rel: p.WindowRank) -> Parts:
    yield from ranking_parts(rel)
    yield _window(rel.input, rel.windowing)
    if rel.rank is not None:
        yield f"rank=[{rel.rank}]"


def _deduplicate_parts(rel: p.WindowDeduplicate) -> Parts:
    yield f"keep=[{'LastRow' if rel.keep_last else 'FirstRow'}]"
    yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{rel.input.names[rel.order_key]}]"
    yield _window(rel.input, rel.windowing)


TEXTS: Texts = {
    p.WindowTableFunction: _table_function_parts,
    p.WindowAggregate: _aggregate_parts,
    p.LocalWindowAggregate: _local_parts,
    p.GlobalWindowAggregate: _aggregate_parts,
    p.WindowRank: _rank_parts,
    p.WindowDeduplicate: _deduplicate_parts,
}


RULES: Rules = {
    p.WindowTableFunction: _table_function,
    p.WindowAggregate: _one,
    p.LocalWindowAggregate: _local,
    p.GlobalWindowAggregate: _global,
    p.WindowRank: _rank,
    p.WindowDeduplicate: _deduplicate,
}
