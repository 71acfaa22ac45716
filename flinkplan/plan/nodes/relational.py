"""Nodes without state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from ..references import Input
from ..rex import RexNode
from ..row_kinds import Flow, Kinds, forwarded
from ..savepoint.layout import Inputs
from ..settings import ASYNC_SCALAR
from ..specs import MiniBatchInterval, RowKind
from ..yields import Computed, FunctionColumn, OneOf, UnionColumn, Yield, input_columns
from .base import ColumnOrder, ExecNode, exec_node, spread_by
from .mixins import RowByRow, SameChanges, SameColumns


@exec_node("calc", order=ColumnOrder.CHOSEN, versions={1: "1.15"}, results=("projection", "condition"))
class Calc(RowByRow, SameChanges, ExecNode, kw_only=True):
    """Filters rows by ``condition`` and computes ``projection`` for the rows that remain."""

    projection: Annotated[tuple[RexNode, ...], Input.ALL]
    condition: Annotated[RexNode | None, Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(Computed, self.projection)


ASYNC_SCALAR_OPTIONS = tuple(
    f"{ASYNC_SCALAR}{name}"
    for name in ("max-attempts", "max-concurrent-operations", "retry-delay", "retry-strategy", "timeout")
)


@exec_node(
    "async-calc",
    order=ColumnOrder.CHOSEN,
    versions={1: "1.19"},
    results=("projection",),
    consumed_options=ASYNC_SCALAR_OPTIONS,
)
class AsyncCalc(RowByRow, SameChanges, ExecNode, kw_only=True):
    """Computes ``projection``: a call of an asynchronous function in Java, and columns."""

    projection: Annotated[tuple[RexNode, ...], Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(Computed, self.projection)


@exec_node("union", order=ColumnOrder.FIXED, versions={1: "1.15"}, inputs=None, transformations=())
class Union(RowByRow, SameChanges, ExecNode, kw_only=True):
    """All rows of all inputs."""

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(UnionColumn, range(len(inputs[0])))


@exec_node("exchange", order=ColumnOrder.PASSED, versions={1: "1.15"})
class Exchange(SameColumns, SameChanges, ExecNode, kw_only=True):
    """Distributes rows as ``input_properties`` requires."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return spread_by(self.input_properties)


@exec_node("expand", order=ColumnOrder.COMPILED, versions={1: "1.15"}, results=("projects",))
class Expand(RowByRow, SameChanges, ExecNode, kw_only=True):
    """Each row once per projection (grouping sets, split distinct aggregates)."""

    projects: Annotated[tuple[tuple[RexNode, ...], ...], Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(OneOf, zip(*self.projects, strict=False))


@exec_node(
    "correlate", order=ColumnOrder.FIXED, versions={1: "1.15"}, results=("join_type", "function_call", "condition")
)
class Correlate(RowByRow, SameChanges, ExecNode, kw_only=True):
    """Joins each row with the rows that a table function returns for it; ``join_type`` is INNER or LEFT."""

    join_type: str
    function_call: Annotated[RexNode, Input.ALL]
    condition: Annotated[RexNode | None, Input.FUNCTION]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        width = len(self.fields) - len(inputs[0])
        return (*input_columns(inputs), *(FunctionColumn(self.function_call, i) for i in range(width)))


@exec_node("drop-update-before", order=ColumnOrder.PASSED, versions={1: "1.15"})
class DropUpdateBefore(RowByRow, SameColumns, ExecNode, kw_only=True):
    """Drops -U rows."""

    def row_kinds(self, flow: Flow) -> Kinds:
        return forwarded(flow.inputs) - {RowKind.UPDATE_BEFORE}


@exec_node("mini-batch-assigner", order=ColumnOrder.PASSED, versions={1: "1.15"}, results=("mini_batch_interval",))
class MiniBatchAssigner(RowByRow, SameColumns, SameChanges, ExecNode, kw_only=True):
    """Marks where mini-batches end."""

    mini_batch_interval: MiniBatchInterval


@exec_node(
    "watermark-assigner",
    order=ColumnOrder.PASSED,
    versions={1: "1.15"},
    results=("watermark_expr", "rowtime_field_index"),
)
class WatermarkAssigner(RowByRow, SameColumns, SameChanges, ExecNode, kw_only=True):
    """Derives watermarks from the rows' time column."""

    watermark_expr: Annotated[RexNode, Input.ALL]
    rowtime_field_index: Annotated[int, Input.ALL]
