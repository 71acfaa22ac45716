"""What Flink finds only when it builds a job, which it does for EXPLAIN, though COMPILE PLAN takes it.

Sources: ``translateToPlanInternal`` of ``StreamExecRank``, ``StreamExecSort`` and ``StreamExecOverAggregate``,
``StreamExecWindowAggregateBase.createSliceAssigner``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...plan import nodes
from ...plan.document import Plan
from ...plan.errors import TABLE, UnsupportedError
from ...plan.nodes import ExecNode
from ...plan.specs import HoppingWindow, WindowSpec


def check_explained(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for the first operator, inputs first, that Flink cannot build."""
    for node in plan.nodes:
        for message, hint in _reasons(node):
            error = UnsupportedError(message, hint=hint)
            error.in_flink = (TABLE, message)
            raise error


def _reasons(node: ExecNode) -> Iterator[tuple[str, str]]:
    """Why Flink cannot build an operator, in its words, and how to fix it."""
    match node:
        case nodes.Limit() | nodes.SortLimit() if "fetch=[unlimited]" in (node.description or ""):
            yield "FETCH is missed, which on streaming table is not supported currently.", "add a FETCH"
        case nodes.Rank(rank_type="RANK" | "DENSE_RANK" as kind):
            yield f"{kind}() on streaming table is not supported currently", "use ROW_NUMBER()"
        case nodes.Sort():
            yield (
                "Sort on a non-time-attribute field is not supported.",
                "order by a time attribute, or add LIMIT",
            )
        case nodes.OverAggregate():
            yield from _reasons_of_order(node)
        case nodes.WindowAggregate() | nodes.LocalWindowAggregate() | nodes.GlobalWindowAggregate():
            yield from _reasons_of_window(node.windowing.window)


def _reasons_of_order(node: nodes.OverAggregate) -> Iterator[tuple[str, str]]:
    for group in node.over_spec.groups[:1]:
        fields = group.order_by.fields
        if len(fields) != 1:
            yield "The window can only be ordered by a single time column.", "order by one time attribute"
        elif not fields[0].is_ascending:
            yield "The window can only be ordered in ASCENDING mode.", "order it ascending"


def _reasons_of_window(window: WindowSpec) -> Iterator[tuple[str, str]]:
    """Windows are aggregated in slices, of which each must hold a whole number; CUMULATE is refused when bound."""
    if isinstance(window, HoppingWindow) and window.size_ms % window.slide_ms:
        yield (
            "HOP table function based aggregate requires size must be an integral multiple of slide, "
            f"but got size {window.size_ms} ms and slide {window.slide_ms} ms",
            "make the size a multiple of the slide",
        )
