"""Lowering of windowing table functions and what is computed per window."""

from __future__ import annotations

from ...plan import nodes
from ...plan.accumulator_columns import accumulators, counts_rows
from ...plan.durations import parse_iso_duration
from ...plan.nodes.base import ExecNode
from ...plan.specs import (
    CumulativeWindow,
    HoppingWindow,
    PartitionSpec,
    SessionWindow,
    SliceAttachedWindowing,
    SortSpec,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowAttachedWindowing,
    WindowingStrategy,
)
from ..algebra import physical as p
from ..algebra.logical import Rel
from .aggregate_text import bare_properties, global_phase, local_phase, one_phase, property_texts
from .context import Context, Rules, columns, names, order_text
from .ranks import range_text

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def duration_text(iso: str) -> str:
    """``10 min``: a duration in the highest unit that divides it."""
    millis = parse_iso_duration(iso)
    for factor, unit in _UNITS:
        if millis and millis % factor == 0:
            return f"{millis // factor} {unit}"
    return f"{millis} ms"


def windowing_text(strategy: WindowingStrategy, fields: tuple[str, ...]) -> str:
    """``TUMBLE(time_col=[ts], size=[10 min])``."""
    match strategy:
        case TimeAttributeWindowing():
            source = f"time_col=[{fields[strategy.time_attribute_index]}]"
        case SliceAttachedWindowing():
            source = f"slice_end=[{fields[strategy.slice_end]}]"
        case WindowAttachedWindowing() if strategy.window_start >= 0:
            source = f"win_start=[{fields[strategy.window_start]}], win_end=[{fields[strategy.window_end]}]"
        case WindowAttachedWindowing():
            source = f"win_end=[{fields[strategy.window_end]}]"
    match strategy.window:
        case TumblingWindow(size, offset):
            name, parts = "TUMBLE", [f"size=[{duration_text(size)}]"]
        case HoppingWindow(size, slide, offset):
            name, parts = "HOP", [f"size=[{duration_text(size)}]", f"slide=[{duration_text(slide)}]"]
        case CumulativeWindow(size, step, offset):
            name, parts = "CUMULATE", [f"max_size=[{duration_text(size)}]", f"step=[{duration_text(step)}]"]
        case SessionWindow(gap, keys):
            name, parts, offset = "SESSION", [f"gap=[{duration_text(gap)}]"], None
            if keys:
                parts.append(f"partition keys=[{', '.join(fields[k] for k in keys)}]")
    if offset is not None:
        parts.append(f"offset=[{duration_text(offset)}]")
    return f"{name}({', '.join([source, *parts])})"


def _window(rel: Rel, strategy: WindowingStrategy) -> str:
    return f"window=[{windowing_text(strategy, names(rel))}]"


def _group_by(rel: Rel, grouping: tuple[int, ...]) -> list[str]:
    return [f"groupBy=[{columns(rel, grouping)}]"] if grouping else []


def table_function(rel: p.WindowTableFunction, ctx: Context) -> ExecNode:
    """A windowing table function."""
    text = f"WindowTableFunction({_window(rel.input, rel.windowing)})"
    return ctx.node(nodes.WindowTableFunction, rel, text, windowing=rel.windowing)


def one(rel: p.WindowAggregate, ctx: Context) -> ExecNode:
    """A window aggregation in one phase."""
    retracts = ctx.retracts(rel.input)
    retractions = (retracts,) * len(rel.calls)
    properties = property_texts(rel.properties)
    select = one_phase(names(rel.input), rel.grouping, rel.calls, retractions, names(rel), properties)
    parts = [*_group_by(rel.input, rel.grouping), _window(rel.input, rel.windowing), f"select=[{select}]"]
    return ctx.node(
        nodes.WindowAggregate,
        rel,
        f"WindowAggregate({', '.join(parts)})",
        grouping=rel.grouping,
        agg_calls=rel.calls,
        windowing=rel.windowing,
        named_window_properties=rel.properties,
        need_retraction=retracts,
    )


def local(rel: p.LocalWindowAggregate, ctx: Context) -> ExecNode:
    """The first phase."""
    retracts = ctx.retracts(rel.input)
    retractions = (retracts,) * len(rel.calls)
    columns_ = accumulators(rel.calls, retractions, rel.input.types, counts_rows(rel.windowing, retracts))
    end = [f"slice_end('w$) AS {names(rel)[-1]}"]
    select = local_phase(names(rel.input), rel.grouping, rel.calls, retractions, columns_, end, retracts=retracts)
    parts = [*_group_by(rel.input, rel.grouping), _window(rel.input, rel.windowing), f"select=[{select}]"]
    return ctx.node(
        nodes.LocalWindowAggregate,
        rel,
        f"LocalWindowAggregate({', '.join(parts)})",
        grouping=rel.grouping,
        agg_calls=rel.calls,
        windowing=rel.windowing,
        need_retraction=retracts,
    )


def global_(rel: p.GlobalWindowAggregate, ctx: Context) -> ExecNode:
    """The second phase."""
    local_rel = rel.input.inputs[0]
    retracts = ctx.retracts(local_rel.inputs[0])
    retractions = (retracts,) * len(rel.calls)
    columns_ = accumulators(rel.calls, retractions, rel.local_input.field_types, counts_rows(rel.windowing, retracts))
    keys = [names(rel)[i] for i in range(len(rel.grouping))]
    output = names(rel)[len(keys) :]
    properties = bare_properties(rel.properties)
    select = global_phase(keys, rel.calls, retractions, columns_, output, properties, retracts=retracts)
    parts = [*_group_by(rel.input, rel.grouping), _window(rel.input, rel.windowing), f"select=[{select}]"]
    return ctx.node(
        nodes.GlobalWindowAggregate,
        rel,
        f"GlobalWindowAggregate({', '.join(parts)})",
        grouping=rel.grouping,
        agg_calls=rel.calls,
        windowing=rel.windowing,
        named_window_properties=rel.properties,
        need_retraction=retracts,
        local_agg_input_row_type=rel.local_input.nullable_(),
    )


def rank(rel: p.WindowRank, ctx: Context) -> ExecNode:
    """Top-N of each window."""
    text = (
        f"{_window(rel.input, rel.windowing)}, rankType=[{rel.kind}], rankRange=[{range_text(rel.range, rel.input)}], "
        f"partitionBy=[{columns(rel.input, rel.partition)}], orderBy=[{order_text(rel.input, rel.order)}], "
        f"select=[{', '.join(names(rel))}]"
    )
    return ctx.node(
        nodes.WindowRank,
        rel,
        f"WindowRank({text})",
        rank_type=rel.kind,
        partition_spec=PartitionSpec(rel.partition),
        sort_spec=SortSpec(rel.order),
        rank_range=rel.range,
        output_row_number=rel.rank is not None,
        windowing=rel.windowing,
    )


def is_event_time(strategy: WindowingStrategy) -> bool:
    """Whether the windows are of event time."""
    return bool(strategy.is_rowtime)  # type: ignore[attr-defined]


def deduplicate(rel: p.WindowDeduplicate, ctx: Context) -> ExecNode:
    """The first or last row of each window."""
    time = "ROWTIME" if is_event_time(rel.windowing) else "PROCTIME"
    text = (
        f"{_window(rel.input, rel.windowing)}, keep=[{'LastRow' if rel.keep_last else 'FirstRow'}], "
        f"partitionKeys=[{columns(rel.input, rel.partition)}], orderKey=[{names(rel.input)[rel.order_key]}], "
        f"order=[{time}]"
    )
    return ctx.node(
        nodes.WindowDeduplicate,
        rel,
        f"WindowDeduplicate({text})",
        partition_keys=rel.partition,
        order_key=rel.order_key,
        keep_last_row=rel.keep_last,
        windowing=rel.windowing,
    )


RULES: Rules = {
    p.WindowTableFunction: table_function,
    p.WindowAggregate: one,
    p.LocalWindowAggregate: local,
    p.GlobalWindowAggregate: global_,
    p.WindowRank: rank,
    p.WindowDeduplicate: deduplicate,
}
