"""Top-N and deduplication within windows: both are known when the window closes."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import WindowDeduplicate, WindowRank
from ....plan.specs import ConstantRankRange, SortField
from ..query import QueryPlan, chooser
from ..steps import TIMER, Kernel
from ..watermarks import by_watermark
from ..windows import ROWS_OF_WINDOWS, Clock, clock_of


class KernelWindowRank(Kernel, kw_only=True):
    """The first rows of each key and window.

    ``keys`` and ``order``: by which rows belong together and are ranked.  ``first`` and ``last``: the ranks.
    ``numbered``: the row number is emitted.  ``latest_first``: of equal rows the latest comes first.
    """

    keys: tuple[int, ...]
    order: tuple[SortField, ...]
    first: int
    last: int
    numbered: bool
    latest_first: bool
    clock: Clock


def _check(node: WindowRank | WindowDeduplicate, plan: Plan, options: Mapping[str, str]) -> None:
    if isinstance(node, WindowRank) and not (
        node.rank_type == "ROW_NUMBER" and isinstance(node.rank_range, ConstantRankRange)
    ):
        raise UnsupportedError(f"{node.rank_type} within windows", hint="Flink has ROW_NUMBER with constant ranks")
    if node.windowing.is_proctime:
        raise UnsupportedError("Top-N in windows over processing time", hint="Flink has none either")


@chooser(WindowRank, check=_check, real_time=by_watermark)
def window_rank(node: WindowRank, query: QueryPlan) -> KernelWindowRank:
    """The rows of the given ranks."""
    assert isinstance(node.rank_range, ConstantRankRange), "it was checked"
    kept = node.rank_range
    return _kernel(
        node, query, node.partition_spec.fields, node.sort_spec.fields, (kept.start, kept.end), node.output_row_number
    )


@chooser(WindowDeduplicate, check=_check, real_time=by_watermark)
def window_deduplicate(node: WindowDeduplicate, query: QueryPlan) -> KernelWindowRank:
    """The first or last row by time; of several last ones the one that came last."""
    order = (SortField(node.order_key, not node.keep_last_row, node.keep_last_row),)
    return _kernel(node, query, node.partition_keys, order, (1, 1), False, latest_first=node.keep_last_row)


def _kernel(
    node: WindowRank | WindowDeduplicate,
    query: QueryPlan,
    keys: tuple[int, ...],
    order: tuple[SortField, ...],
    ranks: tuple[int, int],
    numbered: bool,
    *,
    latest_first: bool = False,
) -> KernelWindowRank:
    return KernelWindowRank(
        kernel="time.WindowRank",
        why="a window's rows wait until it closes",
        shuffle=query.kernel_keys(node),
        states=(ROWS_OF_WINDOWS, TIMER),
        keys=tuple(keys),
        order=tuple(order),
        first=ranks[0],
        last=ranks[1],
        numbered=numbered,
        latest_first=latest_first,
        clock=clock_of(node, node.windowing.time_attribute_type, query),
    )
