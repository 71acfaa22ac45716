"""Windows, and other operators of event time, that wait for a watermark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..plan.nodes import ExecNode, WatermarkAssigner
from ..plan.record import field
from ..plan.session import time_zone
from ..plan.specs import CumulativeWindow, HoppingWindow, TumblingWindow, WindowingStrategy, WindowSpec
from .model import Diagnosis, diagnosis
from .query import QUIET_MS, QueryCase, delay_ms
from .texts import duration, moment, quoted

_IDLE_TIMEOUT = "table.exec.source.idle-timeout"


@diagnosis(
    "watermark",
    "A window, or another operator of event time, waits for the watermark of a source.",
    "the watermark of each source, and the rows that went into and came out of the operator",
)
class WaitsForWatermark(Diagnosis, kw_only=True):
    """``table`` is the source that holds the watermark back, ``watermark_ms`` where it is; ``None``: it has none yet.

    ``window_end_ms`` is the end of the next window to close, for windows that are aligned to times, and
    ``window_start_ms`` its start.  ``needed_ms``: the time of a row that closes it, where the delay of the watermark is
    known.  ``others`` are the watermarks of further sources by their tables.  ``quiet_ms``: for how long the source has
    had no rows.
    """

    table: str
    column: str
    watermark_ms: int | None
    window_start_ms: int | None = None
    window_end_ms: int | None = None
    needed_ms: int | None = None
    others: Mapping[str, int | None] = field(default_factory=dict)
    quiet_ms: int = 0
    has_idle_timeout: bool = False

    @property
    def message(self) -> str:
        reached = "there is none yet" if self.watermark_ms is None else f"it is {moment(self.watermark_ms)}"
        source = f"that of {quoted(self.table)}"
        if self.window_end_ms is None:
            return f"{self.node} waits for the watermark, {source}: {reached}{self._others}"
        start = (
            "" if self.window_start_ms is None else f"[{moment(self.window_start_ms)}, {moment(self.window_end_ms)}) "
        )
        return (
            f"the window {start}of {self.node} closes when the watermark passes {moment(self.window_end_ms)}; "
            f"{source} holds it back: {reached}{self._others}"
        )

    @property
    def _others(self) -> str:
        parts = [
            f"{quoted(table)} {'has none' if reached is None else f'is at {moment(reached)}'}"
            for table, reached in self.others.items()
        ]
        return f" ({', '.join(parts)})" if parts else ""

    @property
    def hint(self) -> str | None:
        hints = []
        if self.needed_ms is not None:
            needed = f"a row of {quoted(self.table)} with {quoted(self.column)} at or after {moment(self.needed_ms)}"
            hints.append(f"{needed} moves it there; watermarks move with rows alone")
        if self.quiet_ms >= QUIET_MS:
            hints.append(f"{quoted(self.table)} has had no rows for {duration(self.quiet_ms)}")
        if self.others and not self.has_idle_timeout:
            hints.append(f"SET '{_IDLE_TIMEOUT}' = '30 s' lets the watermark go on without sources that have no rows")
        return "; ".join(hints) or None

    @classmethod
    def examine(cls, query: QueryCase) -> Iterator[WaitsForWatermark]:
        if not query.is_silent or query.has_input_ended:
            return
        for node in query.plan.nodes:
            if not _waits(node, query):
                continue
            assigners = query.assigners(node)
            if not assigners:
                continue
            holder = min(assigners, key=lambda each: _order(query.watermark_of(each)))
            yield cls._held(query, node, holder, [each for each in assigners if each is not holder])

    @classmethod
    def _held(
        cls, query: QueryCase, node: ExecNode, holder: WatermarkAssigner, others: list[WatermarkAssigner]
    ) -> WaitsForWatermark:
        reached, delay = query.watermark_of(holder), delay_ms(holder)
        start, end = _next_window(query, node, reached) if reached is not None else (None, None)
        scans = query.sources_of(holder)
        return cls(
            sink=query.sink,
            node=query.names[node.id],
            node_id=node.id,
            table=query.table(holder),
            column=holder.fields[holder.rowtime_field_index].name,
            watermark_ms=reached,
            window_start_ms=start,
            window_end_ms=end,
            needed_ms=None if end is None or delay is None else end + delay,
            others={query.table(each): query.watermark_of(each) for each in others},
            quiet_ms=min((query.quiet_ms(scan) for scan in scans), default=0),
            has_idle_timeout=query.query.options.get(_IDLE_TIMEOUT, "0 ms") not in ("0 ms", "0"),
        )


def _order(watermark: int | None) -> int:
    return -(2**63) if watermark is None else watermark


def _waits(node: ExecNode, query: QueryCase) -> bool:
    """Whether an operator has rows that the watermark is to let out."""
    if not node.metadata.timed or node.id not in query.counts.operators:
        return False
    windowing = _windowing(node)
    if windowing is not None and windowing.is_proctime:
        return False
    counts = query.operator(node)
    return counts.rows_in != 0 and counts.state_rows != 0


def _windowing(node: ExecNode) -> WindowingStrategy | None:
    return getattr(node, "windowing", None) or getattr(node, "left_windowing", None)


def _next_window(query: QueryCase, node: ExecNode, watermark: int) -> tuple[int | None, int | None]:
    """The next window of a node to close; those of TIMESTAMP_LTZ are aligned to the clocks of the session's zone."""
    windowing = _windowing(node)
    if windowing is None:
        return None, None
    shift = 0
    if windowing.time_attribute_type.root == "TIMESTAMP_LTZ":
        shift = _offset(time_zone(query.plan, query.query.options), watermark)
    start, end = next_window(windowing.window, watermark + shift)
    return None if start is None else start - shift, None if end is None else end - shift


def _offset(zone: str, time: int) -> int:
    """By how many milliseconds the clocks of a zone are ahead of UTC; 0 for a zone that Python does not know."""
    try:
        offset = datetime.fromtimestamp(time / 1000, ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return 0
    return 0 if offset is None else int(offset.total_seconds() * 1000)


def next_window(window: WindowSpec | None, watermark: int) -> tuple[int | None, int | None]:
    """The next window to close behind a watermark: its start, where all that end then have the same, and its end.

    A window closes when the watermark has reached its end less a millisecond.
    """
    match window:
        case TumblingWindow(size_ms=step, offset_ms=offset):
            end = _next_end(watermark, step, offset)
            return end - step, end
        case HoppingWindow(size_ms=size, slide_ms=step, offset_ms=offset):
            end = _next_end(watermark, step, offset + size % step)
            return end - size, end
        case CumulativeWindow(size_ms=size, step_ms=step, offset_ms=offset):
            end = _next_end(watermark, step, offset)
            return (end - offset - 1) // size * size + offset, end
    return None, None


def _next_end(watermark: int, step: int, offset: int) -> int:
    return (watermark + 1 - offset) // step * step + step + offset
