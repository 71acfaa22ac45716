"""Watermarks of sources that the rows of a batch do not show.

They are those of sources that hold no watermark back, being without rows for a while, or having the clock for a
watermark, and of sources whose partitions have each their own.

Sources: Flink's ``WatermarkAssignerOperator``, ``StatusWatermarkValve`` and ``CombinedWatermarkStatus``, and FLIP-326.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....plan.document import Plan
from ....plan.durations import parse_duration
from ....plan.files import Place
from ....plan.nodes import ExecNode, TableSourceScan, Union, WatermarkAssigner
from ....plan.settings import IDLE_TIMEOUT
from ...connectors.tables import Table, table_of
from ...jvm.java import java_class
from ...prepare.known.pushed_watermarks import pushed_watermark
from ...prepare.known.sources import scan_below, switches_to_clock
from ...prepare.modes import Mode
from ..context import TranslationContext
from .switches import switch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE_TIMEOUT = "scan.watermark.idle-timeout"
"""The option of a table that goes before the session's."""


def source_watermarks(context: TranslationContext) -> Any:
    """The Java ``SourceWatermarks`` of a query; ``None`` where rows show the watermarks of all its sources.

    Idle they are in streaming mode alone: elsewhere all input is there, and nobody waits for any.  Input that ends has
    its end for a watermark, whatever the clock shows.
    """
    parts = context.parts
    if not parts.has_watermarks:
        timeouts = _timeouts(context) if context.mode is Mode.STREAMING else {}
        switches = _switches(context) if context.mode is not Mode.BOUNDED else {}
        divided = context.mode is not Mode.BOUNDED and _is_any_pushed(context.plan)
        needed = any(timeouts.values()) or switches or divided
        parts.watermarks = _registered(timeouts, switches, context) if needed else None
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


def source_names(plan: Plan) -> dict[int, str]:
    """Names of the sources by the ids of their watermark assigners, which are others whenever a plan is compiled."""
    counts: Counter[str] = Counter()
    names = {}
    for node in plan.nodes:
        if isinstance(node, WatermarkAssigner):
            scan = scan_below(node, plan)
            identifier = "" if scan is None else scan.scan_table_source.table.identifier
            counts[identifier] += 1
            names[node.id] = f"{identifier}#{counts[identifier]}"
    return names


def divide(scan: TableSourceScan, partitions: Sequence[str], context: TranslationContext) -> None:
    """Let the watermark of a source be the lowest of its partitions'."""
    watermarks = source_watermarks(context)
    for node in _assigners(context) if watermarks is not None else ():
        if scan_below(node, context.plan) == scan:
            watermarks.divide(node.id, list(partitions))


def _registered(
    timeouts: dict[int, int], switches: dict[int, Any], context: TranslationContext
) -> tuple[Any, dict[int, Any]]:
    watermarks = context.runtime.watermark.SourceWatermarks(_is_united(context.plan))
    session = context.spark._jsparkSession
    return watermarks, {
        node.id: watermarks.add(session, node.id, timeouts.get(node.id, 0), switches.get(node.id))
        for node in _assigners(context)
    }


def _assigners(context: TranslationContext) -> list[WatermarkAssigner]:
    return [node for node in context.plan.nodes if isinstance(node, WatermarkAssigner)]


def _timeouts(context: TranslationContext) -> dict[int, int]:
    """After how many milliseconds without rows a source is idle, by the id of its watermark assigner; 0: never."""
    return {node.id: idle_timeout(node, context) for node in _assigners(context)}


def _switches(context: TranslationContext) -> dict[int, Any]:
    """The Java ``Switch`` behind which a source's watermark is the clock, by the id of its watermark assigner."""
    scans = {node.id: scan_below(node, context.plan) for node in _assigners(context)}
    return {
        number: switch_of(scan, context)
        for number, scan in scans.items()
        if scan is not None and switches_to_clock(scan, context.variables)
    }


def idle_timeout(node: WatermarkAssigner, context: TranslationContext) -> int:
    """After how many milliseconds without rows the source of a watermark assigner is idle; 0: never."""
    table = source_of(node, context)
    own = table.options.get(TABLE_TIMEOUT) if table is not None else None
    return max(parse_duration(own or context.query.option(node, IDLE_TIMEOUT)), 0)


def source_of(node: ExecNode, context: TranslationContext) -> Table | None:
    """The table that a watermark assigner stands on."""
    scan = scan_below(node, context.plan)
    return None if scan is None else table_of(scan.scan_table_source.table, context.variables)


def _is_any_pushed(plan: Plan) -> bool:
    """Whether a source makes its watermarks itself, and so of each partition."""
    return any(isinstance(node, TableSourceScan) and pushed_watermark(node) is not None for node in plan.nodes)


def _is_united(plan: Plan) -> bool:
    """Whether nothing but unions brings several inputs together."""
    return all(isinstance(node, Union) for node in plan.nodes if len(plan.inputs(node)) > 1)
