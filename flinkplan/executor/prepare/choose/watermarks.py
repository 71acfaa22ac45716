"""Where event time begins."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.durations import format_duration, parse_duration
from ....plan.nodes import TableSourceScan, WatermarkAssigner
from ....plan.settings import IDLE_TIMEOUT
from ...connectors.tables import defined_options
from ..known.pushed_watermarks import pushed_watermark
from ..known.sources import scan_below, switches_to_clock
from ..modes import Mode
from ..query import QueryPlan, chooser
from ..steps import Native
from ..watermarks import row_by_row

TABLE_TIMEOUT = "scan.watermark.idle-timeout"
"""The option of a table that goes before the session's."""

_EMIT_STRATEGY = "scan.watermark.emit.strategy"


class Watermarked(Native, kw_only=True):
    """Each row carries Flink's watermark.

    ``on_event``: it is announced behind each row that moves it, not from time to time.  ``idle_timeout``: after so many
    milliseconds without rows the source is idle, and holds no watermark back; 0: never.  ``by_clock``: the watermark is
    the clock once the last source of the table is read (FLIP-326).  ``by_partition``: it is the lowest of those of the
    source's partitions.  ``at_end``: there is none before the end of the input, so that no row is late.
    """

    on_event: bool
    idle_timeout: int
    by_clock: bool
    by_partition: bool
    at_end: bool

    @property
    def notes(self) -> tuple[str, ...]:
        idle = f"idle after {format_duration(self.idle_timeout)} without rows" if self.idle_timeout else None
        clock = "the watermark is the clock once the last source of the table is read" if self.by_clock else None
        lowest = "the watermark is the lowest of the source's partitions" if self.by_partition else None
        end = "no row is late: there is no watermark before the end" if self.at_end else None
        return tuple(note for note in (idle, clock, lowest, end) if note)


@chooser(WatermarkAssigner, real_time=row_by_row)
def watermark_assigner(node: WatermarkAssigner, query: QueryPlan) -> Watermarked:
    """Derive the watermark from each row.

    Sources are idle in streaming mode alone: elsewhere all input is there, and nobody waits for any.  Input that ends
    has its end for a watermark, whatever the clock shows.
    """
    scan = scan_below(node, query.plan)
    is_open = query.mode is not Mode.BOUNDED
    return Watermarked(
        operators="Project, EventTimeWatermark",
        why="each row carries Flink's watermark",
        on_event=scan is not None and _emit_strategy(scan, query.variables) == "on-event",
        idle_timeout=_idle_timeout(node, scan, query) if query.mode is Mode.STREAMING else 0,
        by_clock=scan is not None and is_open and switches_to_clock(scan, query.variables),
        by_partition=scan is not None and is_open and pushed_watermark(scan) is not None,
        at_end=query.is_final,
    )


def _emit_strategy(scan: TableSourceScan, variables: Mapping[str, str]) -> str | None:
    """When watermarks are announced: as the plan says of those that the source makes, else as the table does."""
    pushed = pushed_watermark(scan)
    params = pushed.watermark_params if pushed is not None else None
    own = params.get("emitStrategy") if isinstance(params, Mapping) else None
    strategy = own or defined_options(scan.scan_table_source.table, variables).get(_EMIT_STRATEGY)
    return str(strategy).lower().replace("_", "-") if strategy else None


def _idle_timeout(node: WatermarkAssigner, scan: TableSourceScan | None, query: QueryPlan) -> int:
    """After how many milliseconds without rows the source is idle; 0: never."""
    options = {} if scan is None else defined_options(scan.scan_table_source.table, query.variables)
    return max(parse_duration(options.get(TABLE_TIMEOUT) or query.option(node, IDLE_TIMEOUT)), 0)
