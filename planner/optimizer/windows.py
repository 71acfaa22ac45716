"""Aggregations per window.

Sources: ``StreamPhysicalWindowAggregateRule``, ``PullUpWindowTableFunctionIntoWindowAggregateRule``,
``ExpandWindowTableFunctionTransposeRule``, ``TwoStageOptimizedWindowAggregateRule``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...plan.errors import UnsupportedError
from ...plan.rex import InputRef, RexNode
from ...plan.specs import (
    NamedWindowProperty,
    SessionWindow,
    SliceAttachedWindowing,
    TimeAttributeWindowing,
    WindowAttachedWindowing,
    WindowingStrategy,
    WindowProperty,
    WindowReference,
)
from ...plan.types import BIGINT, LogicalType
from ..accumulators import accumulators, counts_rows
from ..algebra import Aggregate, Rel
from ..physical import (
    Calc,
    Exchange,
    Expand,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    WindowAggregate,
    WindowTableFunction,
)
from .calcs import calc
from .rexes import identity, refs, remap
from .row_types import row_of, unique_names
from .window_properties import window_columns


def groups_by_window(rel: Aggregate) -> bool:
    """Whether an aggregation groups by the start and the end of its input's window."""
    found = window_columns(rel.input)
    if found is None or rel.grouping_sets is not None:
        return False
    grouping = set(rel.grouping)
    return bool(found.starts & grouping) and bool(found.ends & grouping)


def window_aggregate(rel: Aggregate, source: Rel, config: Mapping[str, str], retracts: bool) -> Rel:
    """An aggregation per window, over a physical input; a calc on top brings the columns into order."""
    found = window_columns(source)
    assert found is not None
    keys = tuple(g for g in rel.grouping if g not in found.all)
    properties: list[NamedWindowProperty] = []
    property_of: dict[int, int] = {}
    kinds = (("window_start", "WindowStart", found.starts), ("window_end", "WindowEnd", found.ends))
    time_kind = "Rowtime" if found.time_type.is_rowtime else "Proctime"
    for name, kind, columns in (*kinds, ("window_time", time_kind, found.times)):
        grouped = [g for g in rel.grouping if g in columns]
        if grouped:
            reference = WindowReference("w$", found.time_type)
            properties.append(NamedWindowProperty(name, WindowProperty(kind, reference)))
            property_of.update(dict.fromkeys(grouped, len(properties) - 1))
    names_of = dict(zip(rel.grouping, rel.row_type.field_names, strict=False))
    calls = rel.calls
    first = len(keys) + len(calls)
    call_names = [c.name or f"$f{len(keys) + i}" for i, c in enumerate(calls)]
    names = unique_names([*(names_of[k] for k in keys), *call_names, *(p.name for p in properties)])
    types = [
        *(source.row_type.fields[k].type for k in keys),
        *(c.type for c in calls),
        *(_property_type(i, property_of, source) for i in range(len(properties))),
    ]
    attached = WindowAttachedWindowing(
        found.spec, found.time_type, min(found.starts), min(found.ends), found.time_type.is_rowtime
    )
    aggregate = WindowAggregate(
        input=source,
        grouping=keys,
        calls=calls,
        windowing=attached,
        properties=tuple(properties),
        row_type=row_of(names, types),
    )
    aggregate = pull_up_window(aggregate)
    physical = two_phases(aggregate, config, retracts)
    place = {g: keys.index(g) if g in keys else first + property_of[g] for g in rel.grouping}
    order = [*(place[g] for g in rel.grouping), *range(len(keys), first)]
    outputs = identity(physical.row_type)
    return calc(physical, (outputs[i] for i in order), rel.row_type.field_names)


def _property_type(index: int, property_of: Mapping[int, int], source: Rel) -> LogicalType:
    column = next(c for c, i in property_of.items() if i == index)
    return source.row_type.fields[column].type


def pull_up_window(rel: WindowAggregate) -> WindowAggregate:
    """The window is assigned by the aggregation itself where only a calc or an expand stands between.

    The calc then passes the time column, behind the others unless it does so already.
    """
    expand = rel.input if isinstance(rel.input, Expand) else None
    below = rel.input if expand is None else expand.input
    above = below if isinstance(below, Calc) else None
    function = below if above is None else above.input
    if not isinstance(function, WindowTableFunction):
        return rel
    width = len(function.input.row_type.fields)
    exprs = identity(function.row_type) if above is None else above.projection
    condition = None if above is None else above.condition
    window = {width, width + 1, width + 2}
    if condition is not None and refs(condition) & window:
        return rel
    if any(refs(e) & window and not isinstance(e, InputRef) for e in exprs):
        return rel
    strategy = function.windowing
    assert isinstance(strategy, TimeAttributeWindowing)
    source_rel = function.input.input if isinstance(function.input, Exchange) else function.input
    kept = [i for i, e in enumerate(exprs) if not refs(e) & window]
    names = (function if above is None else above).row_type.field_names
    new_exprs: list[RexNode] = [exprs[i] for i in kept]
    new_names = [names[i] for i in kept]
    time = InputRef(strategy.time_attribute_index, function.input.row_type.fields[strategy.time_attribute_index].type)
    time_name = function.input.row_type.field_names[time.index]
    if expand is not None:
        return _pull_up_through_expand(rel, expand, function, kept, new_exprs, new_names, time, time_name, condition)
    if time in new_exprs:
        time_index = new_exprs.index(time)
    else:
        time_index = len(new_exprs)
        new_exprs.append(time)
        new_names.append(time_name)
    mapping = {old: new for new, old in enumerate(kept)}
    source = calc(source_rel, new_exprs, unique_names(new_names, "_"), condition)
    return _over_time(rel, strategy, source, mapping, time_index)


def _over_time(
    rel: WindowAggregate, strategy: TimeAttributeWindowing, source: Rel, mapping: dict[int, int], time_index: int
) -> WindowAggregate:
    spec = strategy.window
    if isinstance(spec, SessionWindow) and spec.partition_key_indices:
        grouping = tuple(mapping[g] for g in rel.grouping)
        spec = replace(spec, partition_key_indices=grouping)
    return replace(
        rel,
        input=source,
        grouping=tuple(mapping[g] for g in rel.grouping),
        calls=tuple(
            replace(
                c,
                arg_list=tuple(mapping[a] for a in c.arg_list),
                filter_arg=mapping[c.filter_arg] if c.filter_arg >= 0 else -1,
            )
            for c in rel.calls
        ),
        windowing=replace(strategy, window=spec, time_attribute_index=time_index),
    )


def _pull_up_through_expand(
    rel: WindowAggregate,
    expand: Expand,
    function: WindowTableFunction,
    kept: list[int],
    exprs: list[RexNode],
    names: list[str],
    time: InputRef,
    time_name: str,
    condition: RexNode | None,
) -> WindowAggregate:
    """ExpandWindowTableFunctionTransposeRule: the expand passes the time column behind its own."""
    if time in exprs:
        time_below = exprs.index(time)
    else:
        time_below = len(exprs)
        exprs, names = [*exprs, time], [*names, time_name]
    mapping = {old: new for new, old in enumerate(kept)}
    source = calc(function.input, exprs, unique_names(names, "_"), condition)
    types = source.row_type.field_types
    passed = len(kept)
    projects = tuple(
        (*(remap(p[i], mapping) for i in kept), p[expand.expand_index], InputRef(time_below, types[time_below]))
        for p in expand.projects
    )
    kept_fields = [expand.row_type.fields[i] for i in (*kept, expand.expand_index)]
    new = Expand(
        input=source,
        projects=projects,
        expand_index=passed,
        row_type=row_of(
            (*(f.name for f in kept_fields), source.row_type.field_names[time_below]),
            (*(f.type for f in kept_fields), types[time_below]),
        ),
    )
    mapping[expand.expand_index] = passed
    assert isinstance(function.windowing, TimeAttributeWindowing)
    return _over_time(rel, function.windowing, new, mapping, passed + 1)


# ---------------------------------------------------------------- phases


def two_phases(rel: WindowAggregate, config: Mapping[str, str], retracts: bool) -> Rel:
    """Local and global aggregation, with an exchange between, where the window can be cut into slices."""
    source = rel.input
    windowing = rel.windowing
    one_phase = config.get("table.optimizer.agg-phase-strategy", "AUTO").upper() == "ONE_PHASE"
    spec, is_rowtime = windowing.window, windowing.is_rowtime  # type: ignore[attr-defined]
    by_proctime = isinstance(windowing, TimeAttributeWindowing) and not is_rowtime
    if one_phase or by_proctime or isinstance(spec, SessionWindow) or not _mergeable(rel, retracts):
        exchange = Exchange(input=source, keys=rel.grouping, row_type=source.row_type)
        return replace(rel, input=exchange)
    retractions = (retracts,) * len(rel.calls)
    columns = accumulators(rel.calls, retractions, source.row_type.field_types, counts_rows(windowing, retracts))
    end_name = "$slice_end" if isinstance(windowing, TimeAttributeWindowing) else "$window_end"
    keys = [source.row_type.fields[g] for g in rel.grouping]
    names = [*(k.name for k in keys), *(f.name for f in columns.fields), end_name]
    types = [*(k.type for k in keys), *(f.type for f in columns.fields), BIGINT]
    local = LocalWindowAggregate(
        input=source, grouping=rel.grouping, calls=rel.calls, windowing=windowing, row_type=row_of(names, types)
    )
    grouping = tuple(range(len(keys)))
    exchange = Exchange(input=local, keys=grouping, row_type=local.row_type)
    end = len(names) - 1
    merged: WindowingStrategy
    if isinstance(windowing, TimeAttributeWindowing):
        merged = SliceAttachedWindowing(spec, windowing.time_attribute_type, end, is_rowtime)
    else:
        assert isinstance(windowing, WindowAttachedWindowing)
        merged = replace(windowing, window_start=-1, window_end=end)
    return GlobalWindowAggregate(
        input=exchange,
        grouping=grouping,
        calls=rel.calls,
        windowing=merged,
        properties=rel.properties,
        local_input=source.row_type,
        local_grouping=rel.grouping,
        row_type=rel.row_type,
    )


def _mergeable(rel: WindowAggregate, retracts: bool) -> bool:
    """Whether accumulators of all the calls can be handed on."""
    try:
        accumulators(rel.calls, (retracts,) * len(rel.calls), rel.input.row_type.field_types)
    except UnsupportedError:
        return False
    return True
