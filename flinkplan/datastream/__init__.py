"""The windows of the DataStream API with PyFlink's names, over tables; the same as ``windows`` in a YAML pipeline.

    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    late = OutputTag("late")
    sums = (
        to_data_stream(env, "clicks")
        .key_by("person")
        .window(TumblingEventTimeWindows.of(Time.seconds(5)))
        .side_output_late_data(late)
        .aggregate(person="person", total="SUM(amount)")
    )
    create_temporary_view(env, "sums", sums)
    create_temporary_view(env, "too_late", sums.get_side_output(late))

Expressions are Flink SQL.  The plan is the same as that of the YAML pipeline.
"""

from ..table import execution_environment
from ..table.execution_environment import *
from ..windowing import (
    AggregateFunction,
    AggregatingStateDescriptor,
    Evictor,
    GlobalWindow,
    ListStateDescriptor,
    MapStateDescriptor,
    MergingWindowAssigner,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    ReducingStateDescriptor,
    Row,
    TimestampedValue,
    TimeWindow,
    Trigger,
    TriggerResult,
    ValueStateDescriptor,
    WindowAssigner,
)
from . import assigners, evictors, triggers
from .assigners import *
from .evictors import *
from .stream import (
    AllWindowedStream,
    DataStream,
    KeyedStream,
    OutputTag,
    WindowedStream,
    create_temporary_view,
    to_data_stream,
)
from .triggers import *

__all__ = [
    *assigners.__all__,
    *evictors.__all__,
    *execution_environment.__all__,
    *triggers.__all__,
    "AggregateFunction",
    "AggregatingStateDescriptor",
    "AllWindowedStream",
    "DataStream",
    "Evictor",
    "GlobalWindow",
    "KeyedStream",
    "ListStateDescriptor",
    "MapStateDescriptor",
    "MergingWindowAssigner",
    "OutputTag",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReducingStateDescriptor",
    "Row",
    "TimeWindow",
    "TimestampedValue",
    "Trigger",
    "TriggerResult",
    "ValueStateDescriptor",
    "WindowAssigner",
    "WindowedStream",
    "create_temporary_view",
    "to_data_stream",
]
