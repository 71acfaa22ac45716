"""Inputs in event time."""

from __future__ import annotations

from flinkplan.executor.build.stream import Stream
from flinkplan.executor.build.time.event_time import assign_watermarks
from flinkplan.plan.types import LogicalType, TimeKind, timestamp

from ..conftest import Bench

ROWTIME = timestamp(3, kind=TimeKind.ROWTIME)


def minute(minutes: int) -> str:
    """A time as sources read it."""
    return f"2024-01-01T00:{minutes:02}:00Z"


def timed_source(
    bench: Bench, name: str, of: LogicalType, time: int, *, delay: int = 0, changelog: bool = False
) -> Stream:
    """A source whose watermark is ``delay`` milliseconds behind its column ``time``."""
    from pyspark.sql import functions as F

    stream = bench.source(name, of, changelog=changelog)
    return assign_watermarks(stream, stream.column(time), F.unix_millis(stream.column(time)) - delay, bench.context)
