"""Window aggregations in one or two phases.

Sources: ``StreamPhysicalWindowAggregateRule``, ``TwoStageOptimizedWindowAggregateRule``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan import specs
from ...plan.accumulator_columns import accumulators, counts_rows
from ...plan.errors import UnsupportedError
from ...plan.record import replace
from ...plan.settings import PHASES, value_of
from ...plan.types import BIGINT, RowField
from ..algebra.builders import calc
from ..algebra.logical import Aggregate
from ..algebra.physical import Exchange, GlobalWindowAggregate, LocalWindowAggregate, WindowAggregate
from ..algebra.rel import Rel
from ..algebra.tree import copy_as
from ..metadata.window_properties import window_columns
from ..rex.expressions import identity
from .window_pull_up import pull_up_window


def window_aggregate(rel: Aggregate, source: Rel, config: Mapping[str, str], retracts: bool) -> Rel:
    """The window aggregation over its physical input; a calc on top restores the order of columns."""
    window = window_columns(rel.input)
    assert window is not None
    keys = tuple(g for g in rel.grouping if g not in window.all)
    properties: list[specs.NamedWindowProperty] = []
    property_of: dict[int, int] = {}
    kinds = (("window_start", "WindowStart", window.starts), ("window_end", "WindowEnd", window.ends))
    time_kind = "Rowtime" if window.time_type.is_rowtime else "Proctime"
    for name, kind, columns in (*kinds, ("window_time", time_kind, window.times)):
        grouped = [g for g in rel.grouping if g in columns]
        if grouped:
            reference = specs.WindowReference("w$", window.time_type)
            properties.append(specs.NamedWindowProperty(name, specs.WindowProperty(kind, reference)))
            property_of.update(dict.fromkeys(grouped, len(properties) - 1))
    calls = rel.calls
    first = len(keys) + len(calls)
    attached = specs.WindowAttachedWindowing(
        window.spec, window.time_type, min(window.starts), min(window.ends), window.time_type.is_rowtime
    )
    aggregate = WindowAggregate(
        input=source,
        grouping=keys,
        calls=calls,
        windowing=attached,
        properties=tuple(properties),
    )
    physical = two_phases(pull_up_window(aggregate), config, retracts)
    place = {g: keys.index(g) if g in keys else first + property_of[g] for g in rel.grouping}
    order = [*(place[g] for g in rel.grouping), *range(len(keys), first)]
    outputs = identity(physical.types)
    return calc(physical, (outputs[i] for i in order), rel.names)


# ---------------------------------------------------------------- phases


def two_phases(rel: WindowAggregate, config: Mapping[str, str], retracts: bool) -> Rel:
    """Local and global window aggregation with an exchange between, where the window has slices."""
    source = rel.input
    windowing = rel.windowing
    one_phase = value_of(config, PHASES).upper() == "ONE_PHASE"
    spec, is_rowtime = windowing.window, windowing.is_rowtime  # type: ignore[attr-defined]
    by_proctime = isinstance(windowing, specs.TimeAttributeWindowing) and not is_rowtime
    if one_phase or by_proctime or isinstance(spec, specs.SessionWindow) or not _mergeable(rel, retracts):
        exchange = Exchange(input=source, keys=rel.grouping)
        return replace(rel, input=exchange)
    retractions = (retracts,) * len(rel.calls)
    columns = accumulators(rel.calls, retractions, source.types, counts_rows(windowing, retracts))
    end_name = "$slice_end" if isinstance(windowing, specs.TimeAttributeWindowing) else "$window_end"
    local = copy_as(LocalWindowAggregate, rel, accumulators=(*columns.fields, RowField(end_name, BIGINT)))
    grouping = tuple(range(len(rel.grouping)))
    exchange = Exchange(input=local, keys=grouping)
    end = local.width - 1
    merged: specs.WindowingStrategy
    if isinstance(windowing, specs.TimeAttributeWindowing):
        merged = specs.SliceAttachedWindowing(spec, windowing.time_attribute_type, end, is_rowtime)
    else:
        assert isinstance(windowing, specs.WindowAttachedWindowing)
        merged = replace(windowing, window_start=-1, window_end=end)
    return copy_as(
        GlobalWindowAggregate,
        rel,
        input=exchange,
        grouping=grouping,
        windowing=merged,
        local_input=source.row_type,
        local_grouping=rel.grouping,
    )


def _mergeable(rel: WindowAggregate, retracts: bool) -> bool:
    """Whether the accumulators of all calls can be merged."""
    try:
        accumulators(rel.calls, (retracts,) * len(rel.calls), rel.input.types)
    except UnsupportedError:
        return False
    return True
