"""Flink's watermarks on Spark.

Spark moves its watermark between batches and starts it at 1970; Flink moves it with each row, and rows may be
older than 1970.  So Spark's watermark is kept on a column of our own, Flink's watermark with each row moved up by
:data:`SHIFT_MS`, and each row carries Flink's watermark as it arrived (``LATENESS``), which goes on from batch to
batch.  Operators tell late rows by the latter and by the watermark before the batch, and fire when Spark's watermark
has passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING
from uuid import uuid4

from ....plan.record import replace
from ...jvm.spark import F, fields, sql
from ...prepare.modes import Mode
from ...prepare.steps import Kernel
from ..context import TranslationContext
from ..kernels import kernel_class, run
from ..stream import (
    BEHIND,
    CAUSE,
    CLOCKED,
    FIRST_BEHIND,
    LATENESS,
    PART,
    ROW,
    SEQUENCE,
    TICK,
    TIME,
    Stream,
    column_name,
)
from .source_watermarks import activity_of, reached_before, source_watermarks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHIFT_MS = 70_000_000_000_000
"""Added to every time that Spark's watermark is compared with, so that no row is older than 1970."""

END_MS = 1_000_000_000_000_000
"""The shifted time at which input has ended; no row is as late."""

CUT_MS = END_MS - 1

CONTROL_SOURCE = f"ControlStream[time={END_MS * 1000}]"
"""How the source of rows of time alone names itself in progress reports."""

END = "end of input"
"""The watermark behind all rows, for people."""

AUTO_WATERMARK_INTERVAL_MS = 200
"""Flink's default of ``pipeline.auto-watermark-interval``."""

CLOCK = -1
"""The sequence number of what sources tell of time in real-time mode; the same as in ``RealTimeReader.java``."""

NO_WATERMARK = -(2**63)
"""Flink's watermark before there is one."""

_NULL_ROWTIME = "RowTime field should not be null, please convert it to a non-null long value."


def assign_watermarks(
    stream: Stream,
    rowtime: Column,
    watermark: Column,
    context: TranslationContext,
    *,
    on_event: bool = False,
    source: int | None = None,
) -> Stream:
    """The stream with event time: rows carry the watermark at their arrival, Spark's watermark follows.

    ``watermark`` is the row's own watermark in epoch milliseconds.  ``on_event``: it is announced behind each row that
    moves it, from whatever time on, as by sources that make watermarks themselves.  A NULL ``rowtime`` fails the job.
    ``source``: the id of the assigner, by which it may be idle.  Rows that are ``CLOCKED`` move no watermark: theirs is
    the clock, by which they are late.  Where each ``PART`` of the source has one, Spark's watermark is the lowest of
    these, and rows are late by it.
    """

    checked = F.when(rowtime.isNull(), F.raise_error(F.lit(_NULL_ROWTIME))).otherwise(watermark).cast("bigint")
    if TICK in stream.hidden:
        checked = F.when(stream.frame[TICK].isNull(), checked).otherwise(F.lit(NO_WATERMARK))
    clocked = [CLOCKED] if CLOCKED in stream.hidden else []
    if clocked:
        checked = F.when(stream.frame[CLOCKED], F.lit(NO_WATERMARK)).otherwise(checked)
    trackers, activity = context.runtime.watermark.WatermarkTracker, activity_of(source, context)
    if PART in stream.hidden:
        tracker = trackers.trackParts(checked._jc, stream.frame[PART]._jc, activity)
    elif on_event:
        reached = reached_before(source, activity, context)
        tracker = trackers.trackEach(F.coalesce(checked, F.lit(NO_WATERMARK))._jc, activity, *reached)
    else:
        reached = reached_before(source, activity, context)
        tracker = trackers.track(checked._jc, AUTO_WATERMARK_INTERVAL_MS, activity, *reached)
    kept = [c for c in stream.frame.columns if c not in (LATENESS, CLOCKED, PART)]
    tracked = fields.select(stream.frame, [*kept, *clocked, sql.Column(tracker).alias(TIME)])
    if context.common_rows:
        tracked = context.common_rows.share(tracked)
    announced = tracked[TIME]["announced"]
    ticks = tracked.where(announced.isNotNull()).select(announced.alias(TIME))
    if context.is_real_time:
        frame = fields.select(tracked, [*kept, tracked[TIME]["before"].alias(LATENESS), announced.alias(TIME)])
        return replace(stream, frame=_with_ticks(frame, source) if context.announces else frame.drop(TIME))
    before = tracked[TIME]["before"]
    if clocked:
        before = F.when(tracked[CLOCKED], context.arrival()).otherwise(before)
    if context.is_batch:
        # true of each row, but Spark cannot know, and so computes the watermark also where nobody asks for it
        seen = tracked.where(tracked[TIME]["after"] >= F.lit(NO_WATERMARK))
        frame = fields.select(seen, [*kept, before.alias(LATENESS)])
        return replace(stream, frame=frame, event_time=True, ticks=ticks)
    frame = fields.select(tracked, [*kept, before.alias(LATENESS), _shifted(tracked[TIME]["after"]).alias(TIME)])
    control = _control_times(source, context)
    pulse = control if context.is_closed else frame.select(TIME).union(control)
    return replace(stream, frame=_timed(frame, control), event_time=True, pulse=pulse, ticks=ticks)


def never_late(stream: Stream, context: TranslationContext) -> Stream:
    """The rows of a batch without a watermark before its end, with or without a time.

    What windows have emitted at the end of their input comes before the end of what reads it.
    """
    kept = [c for c in stream.frame.columns if c not in (LATENESS, CLOCKED, PART, SEQUENCE)]
    sequence = stream.frame[SEQUENCE]
    before = F.when(sequence >= F.lit(FIRST_BEHIND), sequence - F.lit(BEHIND)).otherwise(sequence).alias(SEQUENCE)
    frame = fields.select(stream.frame, [*kept, before, F.lit(None).cast("bigint").alias(LATENESS)])
    ticks = context.spark.range(0).select(F.col("id").alias(TIME))
    return replace(stream, frame=frame, event_time=True, ticks=ticks)


def _with_ticks(frame: DataFrame, source: int | None) -> DataFrame:
    """The rows, and behind each one the watermark (``TIME``) that is announced then."""

    time = frame[TIME]
    tick = F.struct(F.lit(source).cast("int").alias("source"), time.alias("time"))
    row = F.lit(None).cast("struct<source:int,time:bigint>")
    both = F.when(time.isNull(), F.array(row)).otherwise(F.array(row, tick))
    return frame.select(*(c for c in frame.columns if c != TIME), F.explode(both).alias(TICK))


def with_clock(stream: Stream, source: int) -> Stream:
    """The rows, and among them the time, by which all that comes behind is later; ``source`` tells it."""

    passed = F.unix_millis(F.current_timestamp()) - F.lit(1)
    tick = F.struct(F.lit(source).cast("int").alias("source"), passed.cast("bigint").alias("time"))
    told = F.when(stream.frame[SEQUENCE] == CLOCK, tick)
    return replace(stream, frame=stream.frame.select("*", told.alias(TICK)))


def with_event_time(stream: Stream) -> Stream:
    """The stream with Spark's watermark, taken anew from its sources where an operator has lost it.

    A batch has none: all that it would tell is that the input ends.
    """
    if stream.event_time or stream.pulse is None:
        return stream

    frame = stream.frame.select("*", F.timestamp_millis(F.lit(0)).alias(TIME))
    return replace(stream, frame=_timed(frame, stream.pulse), event_time=True)


def _timed(frame: DataFrame, pulse: DataFrame) -> DataFrame:
    """``frame``, watermarked by its own times and those of ``pulse``, whose rows are gone behind.

    Spark moves filters below a watermark where they do not look at the time, so that only rows that pass would
    move it.  Hence every column is made to look at it.
    """

    rows = frame.select("*", F.lit(True).alias("__row"))
    times = pulse.select(TIME, F.lit(False).alias("__row"))
    timed = rows.unionByName(times, allowMissingColumns=True).withWatermark(TIME, "0 seconds")
    live = timed[TIME] < F.timestamp_millis(F.lit(CUT_MS))
    names = [name for name in timed.columns if name != TIME]
    return fields.select_where(timed.where(live), live, names).where("__row").drop("__row")


def _shifted(millis: Column) -> Column:

    return F.timestamp_millis(F.greatest(millis + F.lit(SHIFT_MS), F.lit(0)))


def fires_at(millis: Column) -> Column:
    """A time (epoch ms) as a column on which Spark's watermark is: a group by it is done when that has passed."""
    return _shifted(millis).alias(TIME, metadata={"spark.watermarkDelayMs": 0})


def is_on_time(stream: Stream, millis: Column) -> Column:
    """Whether Flink's watermark had not reached ``millis`` when the row arrived."""

    if LATENESS not in stream.hidden:
        return F.lit(True)
    late = stream.frame[LATENESS]
    return late.isNull() | (late < millis)


def drop_late(stream: Stream, fires: Column, counts: Column, context: TranslationContext) -> Stream:
    """The rows that no watermark had reached by which ``fires`` (epoch ms) is due: neither that of their source when
    they arrived, nor the query's before the batch.  The others are counted where ``counts``."""

    watermark = F.coalesce(stream.frame[LATENESS], F.lit(NO_WATERMARK))
    on_time = context.late_rows.filter(watermark._jc, fires.cast("bigint")._jc, counts._jc)
    return replace(stream, frame=stream.frame.where(sql.Column(on_time)))


def by_watermark_of_all(stream: Stream) -> Stream:
    """The stream whose rows are late by the lowest watermark of all sources, not by that of their own."""

    if LATENESS not in stream.hidden:
        return stream
    return replace(stream, frame=stream.frame.withColumn(LATENESS, F.lit(None).cast("bigint")))


def one_row(context: TranslationContext) -> DataFrame:
    """A row, once, to make others of."""
    if context.is_batch:
        return context.spark.range(0, 1, 1, 1)
    source = context.reader.format("flinkplan.runtime.source.ControlSource")
    return source.option("time", "0").option("batches", "1").load()


def read_once(rows: DataFrame, context: TranslationContext) -> DataFrame:
    """The rows of a bounded frame; in a stream they come with its first batch."""
    if context.is_batch:
        return rows
    return one_row(context).select(F.lit(True).alias("once")).crossJoin(rows).drop("once")


def _control_times(source: int | None, context: TranslationContext) -> DataFrame:
    """The rows of time alone that come beside a source's own: at the end of input in bounded mode, and in its place
    while it is idle, or its watermark is the clock.  One frame a query has those of all sources."""
    sources = source_watermarks(context)
    if context.parts.control_times is None:
        reader = context.spark.readStream.format("flinkplan.runtime.source.ControlSource")
        reader = reader.option("time", str(END_MS * 1000))
        reader = reader.option("batches", "2" if context.mode is Mode.BOUNDED else "0")
        if sources is not None:
            name = str(uuid4())
            sources.name(name)
            reader = reader.option("sources", name)
        context.parts.control_times = reader.load()
    times = context.parts.control_times
    if sources is not None:
        times = times.where(times["source"].isNull() | (times["source"] == source))
    return times.select(times["time"].alias(TIME))


_EPOCH = datetime(1970, 1, 1)
_CYCLE = timedelta(days=146_097)
_SPARK_TIME = re.compile(r"\+?(\d+)-(\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z")


def watermark_text(spark_watermark: str | None) -> str | None:
    """Flink's watermark, of Spark's as a progress report has it; ``None``: none yet; ``end of input``: infinite."""
    match = _SPARK_TIME.fullmatch(spark_watermark or "")
    if match is None or int(match[1]) < 1971:
        return None
    # Python has no times behind the year 9999, but every 400 years are alike
    cycles, year = divmod(int(match[1]) - _EPOCH.year, 400)
    time = datetime.fromisoformat(f"{_EPOCH.year + year}-{match[2]}") - _EPOCH + cycles * _CYCLE
    if time >= timedelta(milliseconds=END_MS):
        return END
    cycles, time = divmod(time - timedelta(milliseconds=SHIFT_MS), _CYCLE)
    known = (_EPOCH + time).isoformat(sep=" ", timespec="milliseconds")
    return f"{int(known[:4]) + 400 * cycles:04}{known[4:]}"


def in_emission_order(step: Kernel, stream: Stream, context: TranslationContext) -> Stream:
    """What window operators emit as rows of a source again: in Flink's order, with the watermark that Flink had.

    ``step`` is the kernel that does it.
    """

    stream = with_event_time(stream)
    assert stream.ticks is not None
    cause = stream.frame[CAUSE]
    values = F.struct(*stream.columns)
    rows = stream.frame.select(
        F.lit(0).alias("key"),
        F.lit(None).cast("bigint").alias("tick"),
        values.alias("values"),
        cause["time"].alias("time"),
        cause["row"].alias("cause"),
    )
    empty = F.lit(None).cast(rows.schema["values"].dataType)
    ticks = stream.ticks.select(
        F.lit(0).alias("key"),
        stream.ticks[TIME].alias("tick"),
        empty.alias("values"),
        F.lit(0).cast("bigint").alias("time"),
        F.lit(0).cast("bigint").alias("cause"),
    )
    frame = rows.union(ticks)
    context.record_kernel(step.kernel)
    kernel = kernel_class(context, step.kernel)(context.java_schema(frame.schema))
    result = run(context, frame, 1, kernel)
    columns = [result[ROW][column_name(i)].alias(column_name(i)) for i in range(len(stream.type.fields))]
    return replace(stream, frame=result.select(*columns, SEQUENCE, LATENESS))


def union_of(frames: Iterable[DataFrame | None]) -> DataFrame | None:
    """The rows of several frames together; ``None`` where there are none."""
    present = [frame for frame in frames if frame is not None]
    return reduce(lambda a, b: a.union(b), present) if present else None
