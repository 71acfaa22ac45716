"""Sources that have had no rows for a while, which hold no watermark back.

Sources: Flink's ``WatermarkAssignerOperator``, ``StatusWatermarkValve`` and ``CombinedWatermarkStatus``.
"""

from __future__ import annotations

from typing import Any

from ..plan.document import Plan
from ..plan.durations import parse_duration
from ..plan.nodes import ExecNode, TableSourceScan, Union, WatermarkAssigner
from ..plan.settings import IDLE_TIMEOUT
from .context import Mode, TranslationContext
from .tables import Table, table_of

TABLE_TIMEOUT = "scan.watermark.idle-timeout"
"""The option of a table that goes before the session's."""

_IDLE = "idle sources"


def idle_sources(context: TranslationContext) -> Any:
    """The Java ``IdleSources`` of a query; ``None`` where no source is ever idle.

    So it is but in streaming mode: elsewhere all input is there, and nobody waits for any.
    """
    if _IDLE not in context.shared:
        timeouts = _timeouts(context) if context.mode is Mode.STREAMING else {}
        context.shared[_IDLE] = _registered(timeouts, context) if any(timeouts.values()) else None
    found = context.shared[_IDLE]
    return found and found[0]


def activity_of(source: int | None, context: TranslationContext) -> Any:
    """The Java ``SourceActivity`` that is told of the rows of the watermark assigner with this id, if anybody asks."""
    return None if idle_sources(context) is None else context.shared[_IDLE][1].get(source)


def _registered(timeouts: dict[int, int], context: TranslationContext) -> tuple[Any, dict[int, Any]]:
    idle = context.runtime.time.IdleSources(_is_united(context.plan))
    session = context.spark._jsparkSession
    return idle, {source: idle.add(session, source, timeout) for source, timeout in timeouts.items()}


def _timeouts(context: TranslationContext) -> dict[int, int]:
    """After how many milliseconds without rows a source is idle, by the id of its watermark assigner; 0: never."""
    assigners = (node for node in context.plan.nodes if isinstance(node, WatermarkAssigner))
    return {node.id: idle_timeout(node, context) for node in assigners}


def idle_timeout(node: WatermarkAssigner, context: TranslationContext) -> int:
    """After how many milliseconds without rows the source of a watermark assigner is idle; 0: never."""
    table = source_of(node, context)
    own = table.options.get(TABLE_TIMEOUT) if table is not None else None
    return max(parse_duration(own or context.option(node, IDLE_TIMEOUT)), 0)


def source_of(node: ExecNode, context: TranslationContext) -> Table | None:
    """The table that a watermark assigner stands on."""
    for source in context.plan.inputs(node):
        if isinstance(source, TableSourceScan):
            return table_of(source.scan_table_source.table, context.variables)
        return source_of(source, context)
    return None


def _is_united(plan: Plan) -> bool:
    """Whether nothing but unions brings several inputs together."""
    return all(isinstance(node, Union) for node in plan.nodes if len(plan.inputs(node)) > 1)
