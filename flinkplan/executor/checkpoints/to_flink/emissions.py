"""What windows have emitted that may emit again, early or late.

Source: Flink's ``AggregateWindowOperator`` and ``EventTimeTriggers.AfterEndOfWindowEarlyAndLate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.nodes import GroupWindowAggregate
from ...build.windows.assignment import window_property
from ...jvm.spark import F
from .givers import FlinkEntries, Giver

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ...prepare.windows import Clock

_NEVER = -1


def emitted(giver: Giver, node: GroupWindowAggregate, windows: DataFrame, clock: Clock) -> FlinkEntries:
    """The last result of each window that has emitted one; ``windows`` are as a kernel keeps them.

    Raises :class:`.StateError` where windows have fired, or wait for the clock, of which Flink keeps more.
    """
    kept = F.col("window")
    giver.refuse_entries(windows.where(kept.getField("fired")), "windows have fired and may do so again")
    giver.refuse_entries(windows.where(kept.getField("next") != _NEVER), "windows are to fire early by the clock")
    result = kept.getField("emitted")
    names = windows.schema["window"].dataType["emitted"].dataType.names  # type: ignore[index]
    start, end = F.col("start"), F.col("end")
    value = [result.getField(name) for name in names]
    value += [_property(p.property.kind, clock, start, end) for p in node.named_window_properties]
    shown = windows.where(result.isNotNull()).withColumn("accessed", F.lit(giver.now))
    return FlinkEntries(shown, value, (), [start, end])


def _property(kind: str, clock: Clock, start: Column, end: Column) -> Column:
    return F.lit(None) if kind == "Proctime" else window_property(clock, kind, start, end)
