"""Watermarks of sources that the rows of a batch do not show.

They are those of sources that hold no watermark back, being without rows for a while, or having the clock for a
watermark, and of sources whose partitions have each their own.

Sources: Flink's ``WatermarkAssignerOperator``, ``StatusWatermarkValve`` and ``CombinedWatermarkStatus``, and FLIP-326.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....plan.document import Plan
from ....plan.files import Place
from ....plan.nodes import ExecNode, TableSourceScan, Union, WatermarkAssigner
from ...connectors.tables import Table, table_of
from ...jvm.java import java_class
from ...prepare.choose.watermarks import Watermarked
from ...prepare.known.source_names import source_names
from ...prepare.known.sources import scan_below
from ...prepare.modes import Mode
from ..context import TranslationContext
from .switches import switch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def source_watermarks(context: TranslationContext) -> Any:
    """The Java ``SourceWatermarks`` of a query; ``None`` where rows show the watermarks of all its sources."""
    parts = context.parts
    if not parts.has_watermarks:
        assigners = [(node, _step(node, context)) for node in _assigners(context)]
        needed = any(step.idle_timeout or step.by_clock or step.by_partition for _, step in assigners)
        needed = needed or bool(context.advanced)
        parts.watermarks = _registered(assigners, context) if needed else None
        parts.has_watermarks = True
    return parts.watermarks and parts.watermarks[0]


def activity_of(source: int | None, context: TranslationContext) -> Any:
    """The Java ``SourceActivity`` that is told of the rows of the watermark assigner with this id, if anybody asks."""
    source_watermarks(context)
    if context.parts.watermarks is not None:
        return None if source is None else context.parts.watermarks[1].get(source)
    if context.reached is None or source is None or not _keeps_each(context):
        return None
    activities = context.parts.activities
    if source not in activities:
        activities[source] = context.reached.activity(context.spark._jsparkSession)
    return activities[source]


def reached_watermarks(plan: Plan, spark: SparkSession, checkpoint: Place, mode: Mode) -> Any:
    """The Java ``ReachedWatermarks`` of the stream of a plan; ``None`` where no rows have watermarks."""
    if not any(isinstance(node, WatermarkAssigner) for node in plan.nodes):
        return None
    made = java_class(spark._jvm, "flinkplan.runtime.watermark.ReachedWatermarks")
    return made(spark._jsparkSession, str(checkpoint), mode is Mode.REAL_TIME)


def recording(take: Callable[[DataFrame, int], None], reached: Any) -> Callable[[DataFrame, int], None]:
    """What takes batches, and has a Java ``ReachedWatermarks`` keep how far their sources are behind each."""

    def taking(frame: DataFrame, batch: int) -> None:
        take(frame, batch)
        if reached is not None:
            reached.end(batch)

    return taking


def reached_before(source: int | None, activity: Any, context: TranslationContext) -> tuple[Any, str | None]:
    """The Java ``ReachedWatermarks`` that tells what the source of a watermark assigner had reached before a batch, and
    the source's name there.

    A single source of a query in micro-batches has reached what Spark's watermark has.
    """
    name = None if source is None else source_names(context.plan).get(source)
    if context.reached is not None and name is not None and activity is not None and _keeps_each(context):
        context.reached.add(name, activity)
    return context.reached, name


def _keeps_each(context: TranslationContext) -> bool:
    """Whether what each source has reached is kept beside Spark's watermark."""
    return context.is_real_time or len(_assigners(context)) > 1


def divide(scan: TableSourceScan, partitions: Sequence[str], context: TranslationContext) -> None:
    """Let the watermark of a source be the lowest of its partitions'."""
    watermarks = source_watermarks(context)
    for node in _assigners(context) if watermarks is not None else ():
        if scan_below(node, context.plan) == scan:
            watermarks.divide(node.id, list(partitions))


def _registered(
    assigners: Sequence[tuple[WatermarkAssigner, Watermarked]], context: TranslationContext
) -> tuple[Any, dict[int, Any]]:
    watermarks = context.runtime.watermark.SourceWatermarks(_is_united(context.plan))
    session = context.spark._jsparkSession
    activities = {
        node.id: watermarks.add(session, node.id, step.idle_timeout, _switch(node, step, context))
        for node, step in assigners
    }
    for node_id, time in context.advanced.items():
        watermarks.advance(node_id, time)
    return watermarks, activities


def _step(node: WatermarkAssigner, context: TranslationContext) -> Watermarked:
    step = context.query.step(node)
    assert isinstance(step, Watermarked)
    return step


def _switch(node: WatermarkAssigner, step: Watermarked, context: TranslationContext) -> Any:
    """The Java ``Switch`` behind which the watermark of a source is the clock; ``None`` where it never is."""
    scan = scan_below(node, context.plan)
    return switch_of(scan, context) if step.by_clock and scan is not None else None


def _assigners(context: TranslationContext) -> list[WatermarkAssigner]:
    return [node for node in context.plan.nodes if isinstance(node, WatermarkAssigner)]


def source_of(node: ExecNode, context: TranslationContext) -> Table | None:
    """The table that a watermark assigner stands on."""
    scan = scan_below(node, context.plan)
    return None if scan is None else table_of(scan.scan_table_source.table, context.variables)


def _is_united(plan: Plan) -> bool:
    """Whether nothing but unions brings several inputs together."""
    return all(isinstance(node, Union) for node in plan.nodes if len(plan.inputs(node)) > 1)
