"""One row a key and window, when the window closes.

The local phase is passed by: the global one assigns the windows that the local one would have, and Spark's own
partial aggregation takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import GlobalWindowAggregate, LocalWindowAggregate, WindowAggregate
from ...plan.record import replace
from ...plan.specs import HoppingWindow, WindowSpec
from ..aggregate_functions import check_calls
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import Execution, QueryPlan, passed_by, query_of, until_watermark, window_kernel
from ..native_aggregates import group_windows
from ..registry import by_watermark, translator
from ..stream import BEHIND, END, SEQUENCE, START, TIME, Stream, column_name
from ..window_folding import WindowAggregation
from ..window_kernels import aggregate_windows, check_merges
from ..windows import Clock


def _runs(node: GlobalWindowAggregate | WindowAggregate, query: QueryPlan) -> Execution:
    obstacle = query.obstacle_of(node)
    if obstacle is None:
        keys = query.window_keys(node)
        state = until_watermark("", "state", "accumulators by key and window")
        why = "insert-only, and all functions are the same in Spark"
        return Execution("native", "Aggregate", why, shuffle=keys, states=(state,))
    return window_kernel(node, node.windowing, node.agg_calls, query, obstacle)


def _check(node: LocalWindowAggregate | WindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    _check_slices(node.windowing.window)
    check_calls(node.agg_calls)
    check_merges(node.windowing, node.agg_calls)


@translator(
    LocalWindowAggregate,
    runs=lambda node, query: passed_by("the global phase does all"),
    check=_check,
    real_time=by_watermark,
)
def local_window_aggregate(
    node: LocalWindowAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """Left to the global phase."""
    return replace(inputs[0], local=node)


@translator(GlobalWindowAggregate, runs=_runs, real_time=by_watermark)
def global_window_aggregate(
    node: GlobalWindowAggregate, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """The whole aggregation of what the local phase passed by."""
    (stream,) = inputs
    local = stream.local
    assert isinstance(local, LocalWindowAggregate), "a global phase follows its local one"
    return _aggregate(
        context,
        local,
        replace(stream, local=None),
        WindowAggregation(
            local.grouping,
            local.agg_calls,
            local.windowing,
            node.named_window_properties,
            Clock.of(node, local.windowing.time_attribute_type, context),
            node.output_type,
            has_local_phase=True,
        ),
    )


@translator(WindowAggregate, runs=_runs, check=_check, real_time=by_watermark)
def window_aggregate(node: WindowAggregate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The aggregation in one phase."""
    (stream,) = inputs
    return _aggregate(
        context,
        node,
        stream,
        WindowAggregation(
            node.grouping,
            node.agg_calls,
            node.windowing,
            node.named_window_properties,
            Clock.of(node, node.windowing.time_attribute_type, context),
            node.output_type,
        ),
    )


def _aggregate(
    context: TranslationContext,
    node: LocalWindowAggregate | WindowAggregate,
    stream: Stream,
    what: WindowAggregation,
) -> Stream:
    timed = stream if what.windowing.is_proctime else with_event_time(stream)
    if _is_native(context, node):
        return _aggregate_natively(timed, what, context)
    return aggregate_windows(context, timed, what)


def _is_native(context: TranslationContext, node: LocalWindowAggregate | WindowAggregate) -> bool:
    """Whether Spark groups by itself: in a stream all operators of a query must, in a batch each goes its own way."""
    return query_of(context).obstacle_of(node) is None


def _check_slices(window: WindowSpec) -> None:
    """Refuse what Flink, which aggregates slices of windows, compiles but never runs."""
    if isinstance(window, HoppingWindow) and window.size_ms % window.slide_ms:
        raise UnsupportedError(
            f"an aggregation of HOP windows of {window.size_ms} ms every {window.slide_ms} ms",
            hint="as in Flink, make the size a multiple of the slide",
        )


def _aggregate_natively(stream: Stream, what: WindowAggregation, context: TranslationContext) -> Stream:
    """By Spark's own grouping, on whose time its watermark is."""
    from pyspark.sql import functions as F

    values, frame = group_windows(stream, what.grouping, what.calls, what.windowing, what.clock, context)
    columns = [*values, *(what.clock.property(p.property.kind, frame[START], frame[END]) for p in what.properties)]
    named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
    sequence = F.unix_millis(frame[TIME])
    if context.is_batch:
        sequence = sequence + F.lit(BEHIND)
    return replace(stream, frame=frame.select(*named, sequence.alias(SEQUENCE)), type=what.output_type)
