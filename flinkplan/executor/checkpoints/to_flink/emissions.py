"""What windows have emitted that may emit again, early or late.

Source: Flink's ``AggregateWindowOperator``, ``EventTimeTriggers.AfterEndOfWindowEarlyAndLate`` and
``ProcessingTimeTriggers.AfterFirstElementPeriodic``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....plan.nodes import GroupWindowAggregate
from ....plan.record import replace
from ....plan.savepoint import flink_states
from ....state.form import Column, StateTable
from ...build.windows.assignment import window_property
from ...jvm.spark import F
from ...prepare.known.emission import Emission
from .givers import FlinkEntries, Given, Giver

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

    from ...prepare.windows import Clock

_NEVER = -1


def emitted(giver: Giver, node: GroupWindowAggregate, windows: DataFrame, clock: Clock, emission: Emission) -> Given:
    """The last result of each window that has emitted one, which have fired, and when they fire by the clock.

    ``windows`` are as a kernel's.
    """
    kept = F.col("window")
    result = kept.getField("emitted")
    names = windows.schema["window"].dataType["emitted"].dataType.names  # type: ignore[index]
    start, end = F.col("start"), F.col("end")
    value = [result.getField(name) for name in names]
    value += [_property(p.property.kind, clock, start, end) for p in node.named_window_properties]
    windows = windows.withColumn("accessed", F.lit(giver.now))
    table = _beside(giver.tables[flink_states.WINDOW_ACCUMULATORS], flink_states.WINDOW_HAS_FIRED, "BOOLEAN", "boolean")
    fired = FlinkEntries(windows.where(kept.getField("fired")), [F.lit(True)], (), [start, end], table=table)
    return {
        flink_states.WINDOW_RESULTS: FlinkEntries(windows.where(result.isNotNull()), value, (), [start, end]),
        flink_states.WINDOW_HAS_FIRED: fired,
        **dict(_periodic(giver, windows, emission)),
    }


def _periodic(giver: Giver, windows: DataFrame, emission: Emission) -> Iterator[tuple[str, FlinkEntries]]:
    """When windows fire that wait for the clock: before their end, or behind it where they take late rows."""
    fired, due = F.col("window.fired"), F.col("window.next")
    bounds = [F.col("start"), F.col("end")]
    waiting = windows.where(due != _NEVER)
    accumulators = giver.tables[flink_states.WINDOW_ACCUMULATORS]
    intervals = sorted({interval for interval in (emission.early, emission.late) if interval > 0})
    for interval in intervals:
        name = f"{flink_states.WINDOW_PERIODIC}{interval}"
        own = waiting.where(F.when(fired, F.lit(emission.late)).otherwise(F.lit(emission.early)) == interval)
        table = _beside(accumulators, name, "BIGINT", "long")
        table = replace(table, written_by={**table.written_by, "type": "REDUCING"})
        yield name, FlinkEntries(own, [due], (), bounds, table=table)
    if intervals:
        yield flink_states.WINDOW_CLOCK_TIMERS, FlinkEntries(waiting, [due], (), bounds)


def _beside(accumulators: StateTable, name: str, column_type: str, serializer: str) -> StateTable:
    """A state of windows with a single value, beside that of their accumulators."""
    written_by = {**accumulators.written_by, "value": {serializer: []}}
    return replace(accumulators, name=name, value=(Column("value", column_type),), time="", written_by=written_by)


def _property(kind: str, clock: Clock, start: Expression, end: Expression) -> Expression:
    return F.lit(None) if kind == "Proctime" else window_property(clock, kind, start, end)
