"""Top-N and deduplication within windows: both are known when the window closes."""

from __future__ import annotations

from ....plan.nodes import WindowDeduplicate, WindowRank
from ...prepare.choose.window_ranks import KernelWindowRank
from ..context import TranslationContext
from ..registry import builder
from ..stream import Stream
from ..time.event_time import with_event_time
from ..windows.kernels import rank_windows


@builder(KernelWindowRank, WindowRank, WindowDeduplicate)
def window_rank(
    node: WindowRank | WindowDeduplicate,
    step: KernelWindowRank,
    inputs: tuple[Stream, ...],
    context: TranslationContext,
) -> Stream:
    """The first rows of each window in an order."""
    (stream,) = inputs
    return rank_windows(context, step, with_event_time(stream), node)
