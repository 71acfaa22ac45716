"""One row a key and window, when the window closes.

The local phase is passed by: the global one assigns the windows that the local one would have, and Spark's own partial
aggregation takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import ExecNode, GlobalWindowAggregate, LocalWindowAggregate, WindowAggregate
from ....plan.specs import HoppingWindow, WindowSpec
from ...aggregate_functions import check_calls
from ..known.carried import carries_late_rows
from ..known.native_calls import obstacle_of
from ..query import QueryPlan, chooser
from ..steps import PassedBy
from ..watermarks import by_watermark
from ..windows import (
    KernelSessions,
    KernelWindows,
    NativeWindows,
    WindowAggregation,
    check_merges,
    clock_of,
    kernel_windows,
    native_windows,
)


def _check(node: LocalWindowAggregate | WindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    _check_slices(node.windowing.window)
    check_calls(node.agg_calls)
    check_merges(node.windowing, node.agg_calls)


def _check_slices(window: WindowSpec) -> None:
    """Refuse what Flink, which aggregates slices of windows, compiles but never runs."""
    if isinstance(window, HoppingWindow) and window.size_ms % window.slide_ms:
        raise UnsupportedError(
            f"an aggregation of HOP windows of {window.size_ms} ms every {window.slide_ms} ms",
            hint="as in Flink, make the size a multiple of the slide",
        )


@chooser(LocalWindowAggregate, check=_check, real_time=by_watermark)
def local_window_aggregate(node: LocalWindowAggregate, query: QueryPlan) -> PassedBy:
    """Left to the global phase."""
    return PassedBy(why="the global phase does all")


@chooser(GlobalWindowAggregate, real_time=by_watermark)
def global_window_aggregate(
    node: GlobalWindowAggregate, query: QueryPlan
) -> NativeWindows | KernelWindows | KernelSessions:
    """The whole aggregation of what the local phase passed by."""
    local = query.input(query.input(node))
    assert isinstance(local, LocalWindowAggregate), "a global phase follows its local one"
    return _choose(node, local, query)


@chooser(WindowAggregate, check=_check, real_time=by_watermark)
def window_aggregate(node: WindowAggregate, query: QueryPlan) -> NativeWindows | KernelWindows | KernelSessions:
    """The aggregation in one phase."""
    return _choose(node, node, query)


def _choose(
    node: GlobalWindowAggregate | WindowAggregate, first: LocalWindowAggregate | WindowAggregate, query: QueryPlan
) -> NativeWindows | KernelWindows | KernelSessions:
    """The step of ``node``, whose rows come to its ``first`` phase."""
    aggregation = WindowAggregation(
        tuple(first.grouping),
        tuple(first.agg_calls),
        first.windowing,
        tuple(node.named_window_properties),
        clock_of(node, first.windowing.time_attribute_type, query),
        node.output_type,
        has_local_phase=first is not node,
    )
    source = query.input(first)
    obstacle = _obstacle(first, source, query)
    if obstacle is None:
        return native_windows(node, aggregation, query)
    return kernel_windows(node, aggregation, query, obstacle, source)


def _obstacle(first: ExecNode, source: ExecNode, query: QueryPlan) -> str | None:
    """Why a window aggregation takes a kernel; ``None``: Spark's own grouping does it.

    All state of a stream is encoded alike, so that one kernel has all others be kernels; a batch has no state.
    """
    if query.is_real_time:
        return "fires as soon as the watermark has passed"
    if not query.is_batch:
        return query.obstacle
    if (obstacle := obstacle_of(query.plan, first)) is not None:
        return obstacle
    return "reads rows that are late only for what follows" if carries_late_rows(query.plan, source) else None
