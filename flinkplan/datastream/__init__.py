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
from .assigners import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    Time,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from .evictors import CountEvictor, DeltaEvictor, TimeEvictor
from .stream import (
    AllWindowedStream,
    DataStream,
    KeyedStream,
    OutputTag,
    WindowedStream,
    create_temporary_view,
    to_data_stream,
)
from .triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EndOfStreamTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeoutTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
)

__all__ = [
    "AggregateFunction",
    "AggregatingStateDescriptor",
    "AllWindowedStream",
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountEvictor",
    "CountTrigger",
    "DataStream",
    "DeltaEvictor",
    "DeltaTrigger",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EndOfStreamTrigger",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "GlobalWindow",
    "GlobalWindows",
    "KeyedStream",
    "ListStateDescriptor",
    "MapStateDescriptor",
    "MergingWindowAssigner",
    "NeverTrigger",
    "OutputTag",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "ProcessingTimeoutTrigger",
    "PurgingTrigger",
    "ReduceFunction",
    "ReducingStateDescriptor",
    "Row",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "Time",
    "TimeEvictor",
    "TimeWindow",
    "TimestampedValue",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "ValueStateDescriptor",
    "WindowAssigner",
    "WindowedStream",
    "create_temporary_view",
    "to_data_stream",
]
