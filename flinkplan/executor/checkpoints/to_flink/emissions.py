"""What windows have emitted that may emit again, early or late.

Source: Flink's ``AggregateWindowOperator`` and ``EventTimeTriggers.AfterEndOfWindowEarlyAndLate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import GroupWindowAggregate
from ....plan.record import replace
from ....plan.savepoint import flink_states
from ....state.form import Column, StateTable
from ...build.windows.assignment import window_property
from ...jvm.spark import F
from .givers import FlinkEntries, Given, Giver

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

    from ...prepare.windows import Clock

_NEVER = -1


def emitted(giver: Giver, node: GroupWindowAggregate, windows: DataFrame, clock: Clock) -> Given:
    """The last result of each window that has emitted one, and which have fired; ``windows`` are as a kernel's.

    Raises :class:`.StateError` where windows wait for the clock.
    """
    kept = F.col("window")
    giver.refuse_entries(windows.where(kept.getField("next") != _NEVER), "windows are to fire by the clock")
    result = kept.getField("emitted")
    names = windows.schema["window"].dataType["emitted"].dataType.names  # type: ignore[index]
    start, end = F.col("start"), F.col("end")
    value = [result.getField(name) for name in names]
    value += [_property(p.property.kind, clock, start, end) for p in node.named_window_properties]
    windows = windows.withColumn("accessed", F.lit(giver.now))
    table = _has_fired(giver.tables[flink_states.WINDOW_ACCUMULATORS])
    fired = FlinkEntries(windows.where(kept.getField("fired")), [F.lit(True)], (), [start, end], table=table)
    return {
        flink_states.WINDOW_RESULTS: FlinkEntries(windows.where(result.isNotNull()), value, (), [start, end]),
        flink_states.WINDOW_HAS_FIRED: fired,
    }


def _has_fired(accumulators: StateTable) -> StateTable:
    """The state of whether windows have fired, beside that of their accumulators."""
    written_by = {**accumulators.written_by, "value": {"boolean": []}}
    value, name = (Column("value", "BOOLEAN"),), flink_states.WINDOW_HAS_FIRED
    return replace(accumulators, name=name, value=value, time="", written_by=written_by)


def _property(kind: str, clock: Clock, start: Expression, end: Expression) -> Expression:
    return F.lit(None) if kind == "Proctime" else window_property(clock, kind, start, end)
