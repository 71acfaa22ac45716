"""Top-N and deduplication within windows: both are known when the window closes."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.document import Plan
from ...plan.errors import UnsupportedError
from ...plan.nodes import WindowDeduplicate, WindowRank
from ...plan.specs import ConstantRankRange, SortField
from ..context import TranslationContext
from ..event_time import with_event_time
from ..execution import TIMER, Execution, QueryPlan, until_watermark, windowed_kernel
from ..registry import by_watermark, translator
from ..stream import Stream
from ..window_kernels import rank_windows
from ..windows import Clock

_WHY = "a window's rows wait until it closes"
_ROWS = until_watermark("ListState", "rows", "the rows of open windows")


def _runs(node: WindowRank | WindowDeduplicate, query: QueryPlan) -> Execution:
    return windowed_kernel(node, query, "time.WindowRank", _WHY, _ROWS, TIMER)


def _check(node: WindowRank | WindowDeduplicate, plan: Plan, options: Mapping[str, str]) -> None:
    if isinstance(node, WindowRank) and not (
        node.rank_type == "ROW_NUMBER" and isinstance(node.rank_range, ConstantRankRange)
    ):
        raise UnsupportedError(f"{node.rank_type} within windows", hint="Flink has ROW_NUMBER with constant ranks")
    if node.windowing.is_proctime:
        raise UnsupportedError("Top-N in windows over processing time", hint="Flink has none either")


@translator(WindowRank, runs=_runs, check=_check, real_time=by_watermark)
def window_rank(node: WindowRank, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The rows of the given ranks."""
    (stream,) = inputs
    assert isinstance(node.rank_range, ConstantRankRange), "it was checked"
    return rank_windows(
        context,
        with_event_time(stream),
        node.partition_spec.fields,
        node.sort_spec.fields,
        (node.rank_range.start, node.rank_range.end),
        node.output_row_number,
        False,
        node.windowing,
        Clock.of(node, node.windowing.time_attribute_type, context),
        node.output_type,
    )


@translator(WindowDeduplicate, runs=_runs, check=_check, real_time=by_watermark)
def window_deduplicate(node: WindowDeduplicate, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """The first or last row by time; of several last ones the one that came last."""
    (stream,) = inputs
    return rank_windows(
        context,
        with_event_time(stream),
        node.partition_keys,
        [SortField(node.order_key, not node.keep_last_row, node.keep_last_row)],
        (1, 1),
        False,
        node.keep_last_row,
        node.windowing,
        Clock.of(node, node.windowing.time_attribute_type, context),
        node.output_type,
    )
