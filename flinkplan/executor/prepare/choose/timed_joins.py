"""Joins that the watermark cleans: in windows, by intervals, and with versions."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import ExecNode, IntervalJoin, TemporalJoin, WindowJoin
from ....plan.settings import PROCESSING_TIME_JOINS, WAIT_FOR_SNAPSHOT
from ..known.carried import carries_watermarks, timing_sources
from ..modes import Mode
from ..query import QueryPlan, chooser
from ..steps import TIMER, Kernel, until_watermark, with_ttl
from ..watermarks import by_watermark
from ..windows import ROWS_OF_WINDOWS, Clock, clock_of

_SIDES = ("left", "right")


class KernelWindowJoin(Kernel, kw_only=True):
    """Rows that share key and window; ``late``: rows are late by their watermark, which is the same on both sides."""

    clock: Clock
    late: bool


class KernelIntervalJoin(Kernel, kw_only=True):
    """Rows whose times are within bounds.

    ``by_clock``: these are processing times.  ``late``: as of :class:`KernelWindowJoin`.
    """

    by_clock: bool
    late: bool


class KernelTemporalJoin(Kernel, kw_only=True):
    """Each left row with the right side's version of its time.

    ``right_first``: all right rows are there before the first left one.
    """

    right_first: bool


class KernelLatestJoin(Kernel, kw_only=True):
    """Each left row with the right side's latest row; ``ttl``: for how long (ms) that is kept, 0: for ever."""

    ttl: int


def _check_window(node: WindowJoin, plan: Plan, options: Mapping[str, str]) -> None:
    if node.left_windowing.is_proctime:
        raise UnsupportedError("joins of windows over processing time", hint="Flink has none either")


@chooser(WindowJoin, check=_check_window, real_time=by_watermark)
def window_join(node: WindowJoin, query: QueryPlan) -> KernelWindowJoin:
    """Join the rows that share key and window."""
    return KernelWindowJoin(
        kernel="time.WindowJoin",
        why="both sides wait until a window closes",
        shuffle=query.kernel_keys(node),
        states=(ROWS_OF_WINDOWS, TIMER),
        clock=clock_of(node, node.left_windowing.time_attribute_type, query),
        late=_share_watermark(node, query),
    )


@chooser(IntervalJoin, real_time=by_watermark)
def interval_join(node: IntervalJoin, query: QueryPlan) -> KernelIntervalJoin:
    """Join the rows whose times are within bounds."""
    by_clock = not node.interval_join_spec.window_bounds.is_event_time
    states = (until_watermark("MapState", side, "rows by their times, and whether matched") for side in _SIDES)
    return KernelIntervalJoin(
        kernel="time.IntervalJoin",
        why="a row that is left alone comes out once no match can come",
        shuffle=query.keys(node),
        states=(*states, TIMER),
        by_clock=by_clock,
        late=not by_clock and _share_watermark(node, query),
    )


def _check_temporal(node: TemporalJoin, plan: Plan, options: Mapping[str, str]) -> None:
    if node.is_processing_time and node.snapshot_ttl_ms is None:
        hint = f"Flink has none either; compile with {PROCESSING_TIME_JOINS} = {WAIT_FOR_SNAPSHOT.lower()}"
        raise UnsupportedError("temporal joins in processing time", hint=hint)


def _real_time_temporal(node: TemporalJoin, query: QueryPlan) -> str | None:
    return "it waits for a snapshot, which batches have" if node.is_processing_time else by_watermark(node, query)


@chooser(TemporalJoin, check=_check_temporal, real_time=_real_time_temporal)
def temporal_join(node: TemporalJoin, query: QueryPlan) -> KernelTemporalJoin | KernelLatestJoin:
    """Join each left row with the right side's version of its time, or with its latest row."""
    left, right = _SIDES
    if node.is_processing_time:
        assert node.snapshot_ttl_ms is not None, "it was checked"
        return KernelLatestJoin(
            kernel="time.ProcessingTimeTemporalJoin",
            why="a row finds at least the snapshot: all that there is when the first batch begins",
            shuffle=query.keys(node),
            states=(with_ttl("ValueState", right, "the latest row", node.snapshot_ttl_ms),),
            ttl=node.snapshot_ttl_ms,
        )
    states = (until_watermark("MapState", left, "rows by their times"), until_watermark("MapState", right, "versions"))
    return KernelTemporalJoin(
        kernel="time.TemporalJoin",
        why="a row waits for the version of its time",
        shuffle=query.keys(node),
        states=(*states, TIMER),
        right_first=query.mode is Mode.BOUNDED,
    )


def _share_watermark(node: ExecNode, query: QueryPlan) -> bool:
    """Whether the rows of both sides come from one source as they are, so that neither is ahead of the other."""
    left, right = query.plan.inputs(node)
    if not (carries_watermarks(query.plan, left) and carries_watermarks(query.plan, right)):
        return False
    sources = timing_sources(query.plan, left)
    return bool(sources) and sources == timing_sources(query.plan, right)
