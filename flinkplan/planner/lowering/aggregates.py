"""Lowering of aggregations by group and OVER windows."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import nodes, specs
from ...plan.accumulator_columns import accumulators, renamed
from ...plan.durations import parse_iso_duration
from ...plan.nodes.base import OWN, ExecNode
from ...plan.nodes.python import EMITS_ROWS
from ...plan.record import Json, replace
from ...plan.settings import OVER_VERSION, value_of
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.calls import python_calls
from ..algebra.names import uniquify
from ..algebra.row_types import row_of
from ..metadata.monotonicity import call_retractions
from ..rex.printer import expression, typed_literal
from .aggregate_text import call_text, global_phase, local_phase, one_phase, property_texts, together
from .context import Context, Parts, Rules, Texts, columns, group_by, input_fields, order_text


def _group(rel: p.GroupAggregate, ctx: Context) -> ExecNode:
    retracts = ctx.retracts(rel.input)
    retractions = call_retractions(rel, rel.calls, retracts)
    select = one_phase(rel.input.names, rel.grouping, rel.calls, retractions, rel.names)
    parts = [*group_by(rel.input, rel.grouping, rel.phase), f"select=[{select}]"]
    if python_calls(rel.calls):
        return ctx.node(
            nodes.PythonGroupAggregate,
            rel,
            *parts,
            grouping=rel.grouping,
            agg_calls=rel.calls,
            agg_call_need_retractions=retractions,
            generate_update_before=rel.changes.has_update_before,
            need_retraction=retracts,
        )
    return ctx.node(
        nodes.GroupAggregate,
        rel,
        *parts,
        grouping=rel.grouping,
        agg_calls=rel.calls,
        agg_call_need_retractions=retractions,
        generate_update_before=rel.changes.has_update_before,
        need_retraction=retracts,
        state=ctx.states(nodes.GroupAggregate, (rel.ttl,)),
    )


def _table_group(rel: p.GroupTableAggregate, ctx: Context) -> ExecNode:
    """Flink's node cannot be written into a plan: another node has a property instead."""
    retracts = ctx.retracts(rel.input)
    text = call_text(rel.call, rel.input.names, retracts)
    keys = [rel.input.names[g] for g in rel.grouping]
    select = ", ".join([*keys, f"{text} AS ({', '.join(rel.names[len(keys) :])})"])
    node = ctx.node(
        nodes.PythonGroupAggregate,
        rel,
        grouping=rel.grouping,
        agg_calls=(rel.call,),
        agg_call_need_retractions=(retracts,),
        generate_update_before=rel.changes.has_update_before,
        need_retraction=retracts,
        unknown=Json({OWN: {EMITS_ROWS: True}}),
    )
    parts = [*group_by(rel.input, rel.grouping), f"select=[{select}]"]
    return replace(node, description=f"PythonGroupTableAggregate({', '.join(parts)})")


def _local(rel: p.LocalGroupAggregate, ctx: Context) -> ExecNode:
    retractions = call_retractions(rel, rel.calls, rel.need_retraction)
    columns_ = accumulators(rel.calls, retractions, rel.input.types, rel.need_retraction)
    select = local_phase(rel.input.names, rel.grouping, rel.calls, retractions, columns_, retracts=rel.need_retraction)
    parts = [*group_by(rel.input, rel.grouping, rel.phase), f"select=[{select}]"]
    return ctx.node(
        nodes.LocalGroupAggregate,
        rel,
        *parts,
        grouping=rel.grouping,
        agg_calls=rel.calls,
        agg_call_need_retractions=retractions,
        need_retraction=rel.need_retraction,
    )


def _global(rel: p.GlobalGroupAggregate, ctx: Context) -> ExecNode:
    retractions = call_retractions(rel, rel.calls, rel.need_retraction)
    adds_count = rel.need_retraction and rel.count_star is None
    columns_ = accumulators(rel.calls, retractions, rel.local_input.field_types, adds_count)
    keys = [rel.names[i] for i in range(len(rel.grouping))]
    columns_ = renamed(columns_, rel.input.names[len(keys) :])
    output = rel.names[len(keys) :]
    select = global_phase(keys, rel.calls, retractions, columns_, output, retracts=rel.need_retraction)
    parts = [*group_by(rel.input, rel.grouping, rel.phase), f"select=[{select}]"]
    parts += [] if rel.count_star is None else [f"indexOfCountStar=[{rel.count_star}]"]
    return ctx.node(
        nodes.GlobalGroupAggregate,
        rel,
        *parts,
        grouping=rel.grouping,
        agg_calls=rel.calls,
        agg_call_need_retractions=retractions,
        local_agg_input_row_type=rel.local_input.nullable_(),
        generate_update_before=rel.changes.has_update_before,
        need_retraction=rel.need_retraction,
        index_of_count_star=rel.count_star,
        state=ctx.states(nodes.GlobalGroupAggregate, (rel.ttl,)),
    )


def _incremental(rel: p.IncrementalGroupAggregate, ctx: Context) -> ExecNode:
    first = rel.input.inputs[0]  # below the exchange
    retractions = call_retractions(first, rel.partial_calls, rel.need_retraction)
    columns_ = accumulators(rel.partial_calls, retractions, rel.partial_local_input.field_types, rel.need_retraction)
    keys = [rel.input.names[g] for g in rel.final_grouping]
    flat = iter(rel.names[len(keys) :])
    output = [*(together([next(flat) for _ in parts]) for parts in columns_.by_call), *flat]
    select = global_phase(keys, rel.partial_calls, retractions, columns_, output, retracts=rel.need_retraction)
    text = (
        f"partialAggGrouping=[{columns(rel.input, rel.partial_grouping)}], "
        f"finalAggGrouping=[{columns(rel.input, rel.final_grouping)}], select=[{select}]"
    )
    return ctx.node(
        nodes.IncrementalGroupAggregate,
        rel,
        text,
        partial_agg_grouping=rel.partial_grouping,
        final_agg_grouping=rel.final_grouping,
        partial_original_agg_calls=rel.partial_calls,
        partial_agg_call_need_retractions=retractions,
        partial_local_agg_input_row_type=rel.partial_local_input.nullable_(),
        partial_agg_need_retraction=rel.need_retraction,
        state=ctx.states(nodes.IncrementalGroupAggregate, (rel.ttl,)),
    )


def _legacy_window(rel: p.LegacyWindowAggregate, ctx: Context) -> ExecNode:
    retracts = ctx.retracts(rel.input)
    properties = property_texts(rel.properties)
    plain = (False,) * len(rel.calls)
    select = one_phase(rel.input.names, rel.grouping, rel.calls, plain, rel.names, properties)
    parts = [*group_by(rel.input, rel.grouping), f"window=[{group_window_text(rel.window)}]"]
    if rel.properties:
        parts.append(f"properties=[{', '.join(q.name for q in rel.properties)}]")
    parts.append(f"select=[{select}]")
    parts += [f"emit=[{rel.emit}]"] if rel.emit else []
    if python_calls(rel.calls):
        return ctx.node(
            nodes.PythonGroupWindowAggregate,
            rel,
            *parts,
            grouping=rel.grouping,
            agg_calls=rel.calls,
            window=rel.window,
            named_window_properties=rel.properties,
            generate_update_before=rel.changes.has_update_before,
            need_retraction=retracts,
        )
    return ctx.node(
        nodes.GroupWindowAggregate,
        rel,
        *parts,
        grouping=rel.grouping,
        agg_calls=rel.calls,
        window=rel.window,
        named_window_properties=rel.properties,
        need_retraction=retracts,
    )


def group_window_text(window: specs.GroupWindow) -> str:
    """``TumblingGroupWindow('w$, ts, 300000)``."""
    assert isinstance(window, (specs.TumblingGroupWindow, specs.SlidingGroupWindow, specs.SessionGroupWindow))
    match window:
        case specs.TumblingGroupWindow():
            times = [window.size]
        case specs.SlidingGroupWindow():
            times = [window.size, window.slide]
        case specs.SessionGroupWindow():
            times = [window.gap]
    millis = ", ".join(str(t if isinstance(t, int) else parse_iso_duration(t)) for t in times)
    return f"{type(window).__name__}('{window.alias.name}, {window.time_field.field_name}, {millis})"


def _over(rel: p.OverAggregate, ctx: Context) -> ExecNode:
    """Aggregates over preceding rows; only the node tells those over one another from those below."""
    named = row_of(uniquify([*rel.input.names, *rel.names[rel.input.width :]], separator="_"), rel.types)
    fields = [*rel.input.names, *(typed_literal(c) for c in rel.constants)]  # type: ignore[arg-type]
    group_ = rel.groups[0]
    parts = [f"partitionBy=[{columns(rel.input, rel.partition)}]"] if rel.partition else []
    parts.append(f"orderBy=[{order_text(rel.input, group_.order_by.fields)}]")
    frame = "ROWS" if group_.is_rows else "RANGE"
    lower, upper = (_bound(b, rel, len(rel.input.names)) for b in (group_.lower_bound, group_.upper_bound))
    parts.append(f"window=[ {frame} BETWEEN {lower} AND {upper}]")
    output = named.field_names[rel.input.width :]
    values = [f"{call_text(c, fields)} AS {n}" for c, n in zip(rel.calls, output, strict=True)]
    parts.append(f"select=[{', '.join([*rel.input.names, *values])}]")
    spec = specs.OverSpec(specs.PartitionSpec(rel.partition), rel.groups, rel.constants, len(rel.input.names))
    if python_calls(rel.calls):
        node = ctx.node(nodes.PythonOverAggregate, rel, *parts, over_spec=spec)
    else:
        version = int(value_of(ctx.config, OVER_VERSION))
        node = ctx.node(nodes.OverAggregate, rel, *parts, over_spec=spec, unbounded_over_version=version)
    return replace(node, output_type=named.nullable_())


def _bound(bound: specs.OverBound, rel: p.OverAggregate, width: int) -> str:
    if bound.kind != "BOUNDED_WINDOW":
        return bound.kind.replace("_", " ")
    constant = rel.constants[bound.offset.index - width]  # type: ignore[union-attr]
    direction = "PRECEDING" if bound.is_preceding else "FOLLOWING"
    return f"{constant.value} {direction}"  # type: ignore[union-attr]


# ---------------------------------------------------------------- the texts of explain --rules


def aggregation_parts(rel: a.Aggregate | p.GroupAggregate | p.GlobalGroupAggregate) -> Parts:
    """Groups and calls; those of a second phase are over the columns that the first one reads."""
    yield from group_by(rel.input, rel.grouping, rel.phase)
    if isinstance(rel, a.Aggregate) and rel.grouping_sets is not None:
        sets = (f"{{{columns(rel.input, grouping)}}}" for grouping in rel.grouping_sets)
        yield f"groupingSets=[{', '.join(sets)}]"
    fields = rel.local_input.field_names if isinstance(rel, p.GlobalGroupAggregate) else input_fields(rel)
    yield calls_part(rel.calls, rel.names[len(rel.grouping) :], fields)


def table_aggregation_parts(rel: a.TableAggregate | p.GroupTableAggregate) -> Parts:
    """Groups, and the call with the columns that it emits."""
    yield from group_by(rel.input, rel.grouping)
    yield f"select=[{call_text(rel.call, input_fields(rel))} AS ({', '.join(rel.fields)})]"


def calls_part(calls: Sequence[specs.AggregateCall], names: Sequence[str], fields: Sequence[str]) -> str:
    """``select=[SUM(a) AS total]``."""
    texts = (f"{call_text(call, fields)} AS {name}" for call, name in zip(calls, names, strict=False))
    return f"select=[{', '.join(texts)}]"


def _local_parts(rel: p.LocalGroupAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping, rel.phase)
    yield f"select=[{', '.join(call_text(call, rel.input.names) for call in rel.calls)}]"


def _incremental_parts(rel: p.IncrementalGroupAggregate) -> Parts:
    yield f"partialAggGrouping=[{columns(rel.input, rel.partial_grouping)}]"
    yield f"finalAggGrouping=[{columns(rel.input, rel.final_grouping)}]"


def _legacy_window_parts(rel: p.LegacyWindowAggregate) -> Parts:
    yield from group_by(rel.input, rel.grouping)
    yield f"window=[{group_window_text(rel.window)}]"
    if rel.properties:
        yield f"properties=[{', '.join(named.name for named in rel.properties)}]"
    yield calls_part(rel.calls, rel.names[len(rel.grouping) :], input_fields(rel))
    if rel.emit is not None:
        yield f"emit=[{rel.emit}]"


def _over_parts(rel: p.OverAggregate) -> Parts:
    fields = [*rel.input.names, *(expression(constant, ()) for constant in rel.constants)]
    if rel.partition:
        yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.groups[0].order_by.fields)}]"
    yield calls_part(rel.calls, rel.names[rel.input.width :], fields)


TEXTS: Texts = {
    p.GroupAggregate: aggregation_parts,
    p.LocalGroupAggregate: _local_parts,
    p.GlobalGroupAggregate: aggregation_parts,
    p.GroupTableAggregate: table_aggregation_parts,
    p.IncrementalGroupAggregate: _incremental_parts,
    p.LegacyWindowAggregate: _legacy_window_parts,
    p.OverAggregate: _over_parts,
}


RULES: Rules = {
    p.GroupAggregate: _group,
    p.LocalGroupAggregate: _local,
    p.GlobalGroupAggregate: _global,
    p.GroupTableAggregate: _table_group,
    p.IncrementalGroupAggregate: _incremental,
    p.LegacyWindowAggregate: _legacy_window,
    p.OverAggregate: _over,
}
