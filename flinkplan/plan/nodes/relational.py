"""Nodes without state of their own."""

from __future__ import annotations

from ..rex import RexNode
from ..specs import MiniBatchInterval
from .base import ExecNode, exec_node


@exec_node("calc", versions={1: "1.15"}, results=("projection", "condition"))
class Calc(ExecNode, kw_only=True):
    """Keeps the rows for which ``condition`` is true and computes ``projection`` of them."""

    projection: tuple[RexNode, ...]
    condition: RexNode | None


@exec_node("union", versions={1: "1.15"}, inputs=None, transformations=())
class Union(ExecNode, kw_only=True):
    """All rows of all inputs."""


@exec_node("exchange", versions={1: "1.15"})
class Exchange(ExecNode, kw_only=True):
    """Spreads rows as ``input_properties`` requires."""


@exec_node("expand", versions={1: "1.15"}, results=("projects",))
class Expand(ExecNode, kw_only=True):
    """Each row once per projection (grouping sets, split distinct aggregates)."""

    projects: tuple[tuple[RexNode, ...], ...]


@exec_node("correlate", versions={1: "1.15"}, results=("join_type", "function_call", "condition"))
class Correlate(ExecNode, kw_only=True):
    """Each row with each row that a table function yields for it; ``join_type`` is INNER or LEFT."""

    join_type: str
    function_call: RexNode
    condition: RexNode | None


@exec_node("drop-update-before", versions={1: "1.15"})
class DropUpdateBefore(ExecNode, kw_only=True):
    """Drops -U rows."""


@exec_node("mini-batch-assigner", versions={1: "1.15"}, results=("mini_batch_interval",))
class MiniBatchAssigner(ExecNode, kw_only=True):
    """Marks where mini-batches end."""

    mini_batch_interval: MiniBatchInterval


@exec_node("watermark-assigner", versions={1: "1.15"}, results=("watermark_expr", "rowtime_field_index"))
class WatermarkAssigner(ExecNode, kw_only=True):
    """Derives watermarks from the rows' time column."""

    watermark_expr: RexNode
    rowtime_field_index: int
