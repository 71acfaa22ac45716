"""Windows in Python: the interfaces of functions, triggers, assigners and evictors, and the operator that runs them.

This package runs in Spark's Python workers, and imports neither Spark nor anything else of this project.
"""

from .functions import Evictor, ProcessAllWindowFunction, ProcessWindowFunction, TimestampedValue
from .rows import Row
from .state import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReduceFunction,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from .triggers import OnMergeContext, Trigger, TriggerContext, TriggerResult
from .windows import GlobalWindow, MergingWindowAssigner, TimeWindow, Window, WindowAssigner

__all__ = [
    "AggregateFunction",
    "AggregatingStateDescriptor",
    "Evictor",
    "GlobalWindow",
    "ListStateDescriptor",
    "MapStateDescriptor",
    "MergingWindowAssigner",
    "OnMergeContext",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReducingStateDescriptor",
    "Row",
    "TimeWindow",
    "TimestampedValue",
    "Trigger",
    "TriggerContext",
    "TriggerResult",
    "ValueStateDescriptor",
    "Window",
    "WindowAssigner",
]
