"""Nodes without state: each row by itself."""

from __future__ import annotations

from ....plan.document import Plan
from ....plan.nodes import (
    AsyncCalc,
    Calc,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    MiniBatchAssigner,
    Union,
    WatermarkAssigner,
)
from ..modes import Mode
from ..query import QueryPlan, chooser
from ..steps import Native, PassedBy
from ..watermarks import row_by_row, united


class United(Native, kw_only=True):
    """All rows of all inputs.

    ``lowers_watermark``: whether the rows of each input are late by the lowest watermark of all inputs, not by that of
    their own.
    """

    lowers_watermark: tuple[bool, ...]


@chooser(AsyncCalc, real_time=row_by_row)
def async_calc(node: AsyncCalc, query: QueryPlan) -> Native:
    """Project; each call is waited for."""
    return Native(operators="Project")


@chooser(Calc, real_time=row_by_row)
def calc(node: Calc, query: QueryPlan) -> Native:
    """Filter, then project."""
    return Native(operators="Filter, Project" if node.condition else "Project")


@chooser(Exchange, real_time=row_by_row)
def exchange(node: Exchange, query: QueryPlan) -> PassedBy:
    """Spark spreads rows by the keys of the operator behind, as the plan wants."""
    return PassedBy(why="Spark shuffles where the operator behind wants it")


@chooser(MiniBatchAssigner, real_time=row_by_row)
def mini_batch_assigner(node: MiniBatchAssigner, query: QueryPlan) -> PassedBy:
    """Every operator works in the batches of Spark."""
    return PassedBy(why="every operator works in micro-batches")


@chooser(DropUpdateBefore, real_time=row_by_row)
def drop_update_before(node: DropUpdateBefore, query: QueryPlan) -> Native | PassedBy:
    """All rows but -U."""
    if query.is_changelog(query.input(node)):
        return Native(operators="Filter")
    return PassedBy(why="no row is taken back")


@chooser(Union, real_time=united)
def union(node: Union, query: QueryPlan) -> United:
    """All rows of all inputs.

    Where these have sources of their own that end, Flink reads them one after the other if they are small: the
    watermark is the last one's then, and no row of the others is late.
    """
    inputs = query.plan.inputs(node)
    differ = len({frozenset(watermark_assigners(query.plan, source)) for source in inputs}) > 1
    lowers = [differ] * len(inputs)
    if query.mode is Mode.BOUNDED:
        lowers[-1] = False
    return United(operators="Union", lowers_watermark=tuple(lowers))


@chooser(Expand, real_time=row_by_row)
def expand(node: Expand, query: QueryPlan) -> Native:
    """Each row once per projection."""
    return Native(operators="Generate")


def watermark_assigners(plan: Plan, node: ExecNode) -> list[int]:
    """The ids of the watermark assigners that ``node`` gets its event time from."""

    def is_one(source: ExecNode) -> bool:
        return isinstance(source, WatermarkAssigner)

    return [source.id for source in plan.upstream([node], is_one) if is_one(source)]
