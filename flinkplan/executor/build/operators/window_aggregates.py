"""One row a key and window, when the window closes; of group windows also before and after that."""

from __future__ import annotations

from ....plan.nodes import GlobalWindowAggregate, GroupWindowAggregate, WindowAggregate
from ....plan.record import replace
from ...jvm.spark import F
from ...prepare.choose.group_windows import KernelCountWindows
from ...prepare.windows import KernelSessions, KernelWindows, NativeWindows
from ..context import TranslationContext
from ..registry import builder
from ..stream import BEHIND, END, SEQUENCE, START, TIME, Stream, column_name
from ..time.event_time import with_event_time
from ..windows.assignment import window_property
from ..windows.counts import aggregate_count_windows
from ..windows.kernels import aggregate_sessions, aggregate_windows
from ..windows.native_aggregates import group_windows


@builder(KernelWindows, GlobalWindowAggregate, WindowAggregate, GroupWindowAggregate)
def kernel_windows(
    node: GlobalWindowAggregate | WindowAggregate | GroupWindowAggregate,
    step: KernelWindows,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """By a kernel, of whatever functions and row kinds."""
    (stream,) = inputs
    timed = stream if step.aggregation.windowing.is_proctime else with_event_time(stream)
    return aggregate_windows(context, step, timed)


@builder(KernelSessions, GlobalWindowAggregate, WindowAggregate, GroupWindowAggregate)
def kernel_sessions(
    node: GlobalWindowAggregate | WindowAggregate | GroupWindowAggregate,
    step: KernelSessions,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """Sessions by a kernel."""
    (stream,) = inputs
    timed = stream if step.aggregation.windowing.is_proctime else with_event_time(stream)
    return aggregate_sessions(context, step, timed)


@builder(KernelCountWindows, GroupWindowAggregate)
def kernel_count_windows(
    node: GroupWindowAggregate, step: KernelCountWindows, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Windows that count rows, by a kernel."""
    (stream,) = inputs
    return aggregate_count_windows(context, step, stream)


@builder(NativeWindows, GlobalWindowAggregate, WindowAggregate)
def native_windows(
    node: GlobalWindowAggregate | WindowAggregate,
    step: NativeWindows,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """By Spark's own grouping, on whose time its watermark is."""
    (stream,) = inputs
    what = step.aggregation
    stream = with_event_time(stream)
    values, frame = group_windows(stream, what, context)
    bounds = frame[START], frame[END]
    columns = [*values, *(window_property(what.clock, p.property.kind, *bounds) for p in what.properties)]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    sequence = F.unix_millis(frame[TIME])
    if context.is_batch:
        sequence = sequence + F.lit(BEHIND)
    return replace(stream, frame=frame.select(*named, sequence.alias(SEQUENCE)), type=what.output_type)
