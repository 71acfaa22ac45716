"""OVER windows: each row, followed by aggregates over it and the rows before it.

Source of the rules: Flink's ``StreamExecOverAggregate`` and the functions that it runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import OverAggregate, PythonOverAggregate
from ....plan.rex import InputRef, Literal
from ....plan.settings import is_batch_mode
from ....plan.specs import OverGroup, OverSpec
from ....plan.types import LogicalType
from ...aggregate_functions import check_calls
from ...jvm.types import is_year_month
from ..known.carried import carries_late_rows
from ..query import QueryPlan, chooser
from ..steps import ROWS_AHEAD, TIMER, Kernel, accumulators, until_watermark, with_ttl
from ..watermarks import by_watermark
from .batch_over import NativeOver, check_over, native_over

UNBOUNDED = -1


class KernelOverByTime(Kernel, kw_only=True):
    """Aggregates in the order of a time attribute: each row comes out once.

    ``order``: the index of that column.  ``by_clock``: it is processing time.  ``preceding``: how many rows or
    milliseconds before the current row the frame begins; :data:`UNBOUNDED`.  ``by_rows``: it counts rows.
    ``takes_late``: rows may come later than the watermark; ``keeps_late``: none of them is dropped, as in PyFlink.
    """

    group: OverGroup
    order: int
    by_clock: bool
    preceding: int
    by_rows: bool
    takes_late: bool
    keeps_late: bool


class KernelOver(Kernel, kw_only=True):
    """Aggregates in an order of any columns: rows come out at once, and again when others come before them."""

    group: OverGroup


def _check(node: OverAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    if is_batch_mode(options):
        check_over(node, plan, options)
        return
    check_calls(_only_group(node.over_spec).agg_calls)
    check_frame(node, plan)


def check_frame(node: OverAggregate | PythonOverAggregate, plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for a frame or an order that is not executed."""
    group = _only_group(node.over_spec)
    preceding = _preceding(node.over_spec, group)
    (source,) = plan.inputs(node)
    order = source.output_type.field_types[group.order_by.fields[0].index]
    if not order.is_time_attribute:
        if preceding != UNBOUNDED:
            raise UnsupportedError("a bounded frame of an OVER window that is not ordered by time")
    elif len(group.order_by.fields) > 1 or not group.order_by.fields[0].is_ascending:
        raise UnsupportedError("OVER ordered by time downwards or by more", hint="order by the time attribute alone")


def _order_type(node: OverAggregate | PythonOverAggregate, query: QueryPlan) -> LogicalType:
    return query.input(node).output_type.field_types[_only_group(node.over_spec).order_by.fields[0].index]


def _real_time(node: OverAggregate, query: QueryPlan) -> str | None:
    return by_watermark(node, query) if _order_type(node, query).is_time_attribute else None


@chooser(OverAggregate, check=_check, real_time=_real_time)
def over_aggregate(node: OverAggregate, query: QueryPlan) -> KernelOverByTime | KernelOver | NativeOver:
    """Aggregate up to the current row, or over any frame where all rows are there."""
    if query.is_final:
        return native_over(node, query)
    group = _only_group(node.over_spec)
    order = _order_type(node, query)
    if not order.is_time_attribute:
        return KernelOver(
            kernel="aggregate.OrderedAggregate",
            why="a row may come before others and update them",
            shuffle=query.keys(node),
            states=(with_ttl("ListState", "rows", "all rows", 0),),
            group=group,
        )
    return over_by_time(node, query, group)


def over_by_time(node: OverAggregate | PythonOverAggregate, query: QueryPlan, group: OverGroup) -> KernelOverByTime:
    """Aggregate in the order of a time attribute; ``group`` is that of ``node``, perhaps with other calls."""
    order = _order_type(node, query)
    preceding = _preceding(node.over_spec, group)
    takes_late = preceding != UNBOUNDED and not order.is_proctime
    ahead = (ROWS_AHEAD,) if takes_late and carries_late_rows(query.plan, query.input(node)) else ()
    rows = until_watermark("MapState", "rows", "rows by their times")
    frame = until_watermark("ValueState", "frame", accumulators(group.agg_calls))
    return KernelOverByTime(
        kernel="time.OverAggregate",
        why="rows come out, in order, when the watermark reaches them",
        shuffle=query.keys(node),
        states=(rows, frame, *ahead, TIMER),
        group=group,
        order=group.order_by.fields[0].index,
        by_clock=order.is_proctime,
        preceding=preceding,
        by_rows=group.is_rows or (order.is_proctime and preceding == UNBOUNDED),
        takes_late=takes_late,
        keeps_late=takes_late and group.is_rows and isinstance(node, PythonOverAggregate),
    )


def _only_group(spec: OverSpec) -> OverGroup:
    if len(spec.groups) != 1:
        raise UnsupportedError("aggregates over different windows", hint="Flink wants one window a query, too")
    if not spec.groups[0].order_by.fields:
        raise UnsupportedError("OVER without an order", hint="add ORDER BY a time attribute, as Flink wants it")
    return spec.groups[0]


def _preceding(spec: OverSpec, group: OverGroup) -> int:
    """How many rows or milliseconds before the current row the frame begins; :data:`UNBOUNDED`."""
    if group.upper_bound.kind != "CURRENT_ROW":
        raise UnsupportedError("frames that do not end with the current row", hint="Flink has none in streams")
    lower = group.lower_bound
    if lower.kind == "UNBOUNDED_PRECEDING":
        return UNBOUNDED
    if lower.kind == "CURRENT_ROW":
        raise UnsupportedError(
            "frames that begin with the current row, which Flink compiles, but no job with one starts",
            hint="take the row's own values, or write RANGE BETWEEN INTERVAL '0' SECOND PRECEDING AND CURRENT ROW",
        )
    bound = lower.offset
    if isinstance(bound, InputRef):
        bound = spec.constants[bound.index - spec.original_input_fields]
    if not lower.is_preceding or not isinstance(bound, Literal) or is_year_month(bound.type):
        raise UnsupportedError("this bound of a frame")
    return int(bound.value)
