"""The fluent form of windows gives the plan that the spec gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from flinkplan.datastream import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountTrigger,
    DataStream,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EndOfStreamTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    OutputTag,
    ProcessingTimeoutTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    Time,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    create_temporary_view,
    to_data_stream,
)
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import LateRows
from flinkplan.planner import compile_script
from flinkplan.table import EnvironmentSettings, TableEnvironment
from tests.parity.datastream import window_classes as classes

COLUMNS = {"person": "STRING", "amount": "INT", "ts": "TIMESTAMP_LTZ(3)"}
CLICKS = {"connector": "datagen"}
INSERT = "INSERT INTO report SELECT COUNT(*) FROM w"


def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    env.execute_sql(f"CREATE TABLE clicks ({columns}, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE TABLE report (n BIGINT) WITH ('connector' = 'blackhole')")
    return env


def spec(**windows: Any) -> str:
    tables = {
        "clicks": {"columns": COLUMNS, "watermark": {"column": "ts", "as": "ts"}, "with": CLICKS},
        "report": {"columns": {"n": "BIGINT"}, "with": {"connector": "blackhole"}},
    }
    inserts = [{"into": "report", "query": "SELECT COUNT(*) FROM w"}]
    return json.dumps({"version": 1, "tables": tables, "windows": windows, "inserts": inserts})


Build = Callable[[DataStream], DataStream]
COUNTED = {"n": "COUNT(*)"}


@pytest.mark.parametrize(
    ("build", "window"),
    [
        (
            lambda s: s.key_by("person").window(TumblingEventTimeWindows.of(Time.seconds(5))).aggregate(COUNTED),
            {"key-by": "person", "assign": {"tumbling": "5 s"}, "aggregate": COUNTED},
        ),
        (
            lambda s: (
                s.window_all(TumblingProcessingTimeWindows.of("1 d", "-8 h"))
                .trigger(ProcessingTimeTrigger.create())
                .evictor(TimeEvictor.of(timedelta(minutes=1)))
                .elements()
            ),
            {
                "assign": {"tumbling": "1 d", "offset": "-8 h", "time": "processing"},
                "trigger": "processing-time",
                "evict": {"time": "1 min"},
                "elements": "all",
            },
        ),
        (
            lambda s: (
                s.window_all(SlidingEventTimeWindows.of("10 s", "5 s"))
                .trigger(PurgingTrigger.of(EventTimeTrigger.create()))
                .allowed_lateness("2 s")
                .reduce(amount="a.amount + b.amount")
            ),
            {
                "assign": {"sliding": "10 s", "slide": "5 s"},
                "trigger": {"purging": "event-time"},
                "allowed-lateness": "2 s",
                "reduce": {"amount": "a.amount + b.amount"},
            },
        ),
        (
            lambda s: (
                s.key_by("person", "amount")
                .window(SlidingProcessingTimeWindows.of(10_000, 5_000))
                .trigger(ContinuousProcessingTimeTrigger.of("1 s"))
                .elements(first=3, by=("ts DESC",))
            ),
            {
                "key-by": ["person", "amount"],
                "assign": {"sliding": "10 s", "slide": "5 s", "time": "processing"},
                "trigger": {"every-by-clock": "1 s"},
                "elements": {"first": 3, "by": "ts DESC"},
            },
        ),
        (
            lambda s: (
                s.window_all(EventTimeSessionWindows.with_gap("5 s"))
                .trigger(ContinuousEventTimeTrigger.of("1 s"))
                .aggregate(n="COUNT(*)")
            ),
            {"assign": {"session": "5 s"}, "trigger": {"every": "1 s"}, "aggregate": COUNTED},
        ),
        (
            lambda s: (
                s.key_by("person")
                .window(classes.Session("gap", True))
                .trigger(PurgingTrigger.of(classes.Count(3)))
                .evictor(classes.CountEvictor(2, after=True))
                .process(classes.KeyedEmit("count"), person="STRING", n="BIGINT NOT NULL")
            ),
            {
                "key-by": "person",
                "assign": {
                    "class": f"{classes.__name__}:Session",
                    "with": {"gap": "gap", "event_time": True},
                    "merging": True,
                },
                "trigger": {"purging": {"class": f"{classes.__name__}:Count", "with": {"count": 3}}},
                "evict": {"class": f"{classes.__name__}:CountEvictor", "with": {"count": 2, "after": True}},
                "process": {
                    "class": f"{classes.__name__}:KeyedEmit",
                    "with": {"emit": "count"},
                    "columns": {"person": "STRING", "n": "BIGINT NOT NULL"},
                },
            },
        ),
        (
            lambda s: s.window_all(DynamicEventTimeSessionWindows.with_dynamic_gap("amount * 10")).aggregate(COUNTED),
            {"assign": {"session-by": "amount * 10"}, "aggregate": COUNTED},
        ),
        (
            lambda s: (
                s.window_all(ProcessingTimeSessionWindows.with_gap("5 s"))
                .trigger(CountTrigger.of(3))
                .aggregate(COUNTED)
            ),
            {"assign": {"session": "5 s", "time": "processing"}, "trigger": {"count": 3}, "aggregate": COUNTED},
        ),
        (
            lambda s: (
                s.window_all(GlobalWindows.create())
                .trigger(DeltaTrigger.of(5, "b.amount - a.amount"))
                .evictor(DeltaEvictor.of(3, "b.amount - a.amount", True))
                .elements(last=1)
            ),
            {
                "assign": "global",
                "trigger": {"delta": "b.amount - a.amount", "threshold": 5},
                "evict": {"delta": "b.amount - a.amount", "threshold": 3, "after": True},
                "elements": "last",
            },
        ),
        (
            lambda s: (
                s.window_all(GlobalWindows.create())
                .trigger(ProcessingTimeoutTrigger.of(EndOfStreamTrigger.create(), "1 min", True, False))
                .evictor(CountEvictor.of(5))
                .elements()
            ),
            {
                "assign": "global",
                "trigger": {"timeout": "1 min", "of": "end-of-stream", "reset": True, "clear": False},
                "evict": {"count": 5},
                "elements": "all",
            },
        ),
    ],
)
def test_the_plan_is_that_of_the_spec(build: Build, window: dict[str, Any]) -> None:
    env = environment()
    create_temporary_view(env, "w", build(to_data_stream(env, "clicks")))
    plan = compile_script(spec(w={"from": "clicks", **window}), file="pipeline.yaml")
    assert json.loads(env.compile_plan_sql(INSERT).as_json_string()) == json.loads(_text(plan))


def _text(plan: Any) -> str:
    from flinkplan.plan.document import dumps

    return dumps(plan)


def test_late_rows_are_a_stream() -> None:
    env, tag = environment(), OutputTag("late")
    counts = (
        to_data_stream(env, "clicks")
        .window_all(TumblingEventTimeWindows.of("5 s"))
        .side_output_late_data(tag)
        .aggregate(COUNTED)
    )
    create_temporary_view(env, "w", counts.get_side_output(tag))
    assert any(isinstance(node, LateRows) for node in env.compile_plan_sql(INSERT).plan.nodes)
    with pytest.raises(FlinkplanError, match="no side output 'other'"):
        counts.get_side_output(OutputTag("other"))


def test_windows_follow_windows() -> None:
    env = environment()
    sums = to_data_stream(env, "clicks").key_by("person").window(TumblingEventTimeWindows.of("5 s")).aggregate(COUNTED)
    create_temporary_view(env, "w", sums.window_all(TumblingEventTimeWindows.of("5 s")).elements())
    text = spec(
        sums={"from": "clicks", "key-by": "person", "assign": {"tumbling": "5 s"}, "aggregate": COUNTED},
        w={"from": "sums", "assign": {"tumbling": "5 s"}, "elements": "all"},
    )
    plan = compile_script(text, file="pipeline.yaml")
    assert json.loads(env.compile_plan_sql(INSERT).as_json_string()) == json.loads(_text(plan))


def test_what_is_wrong_is_told() -> None:
    env = environment()
    with pytest.raises(FlinkplanError, match="there is no table or view 'nothing'"):
        to_data_stream(env, "nothing")
    stream = to_data_stream(env, "clicks").window_all(TumblingEventTimeWindows.of("5 s"))
    with pytest.raises(FlinkplanError, match="a lateness cannot be negative"):
        stream.allowed_lateness("-1 s")
    with pytest.raises(FlinkplanError, match="there is no column 'amout'"):
        create_temporary_view(env, "w", stream.aggregate(n="SUM(amout)"))
    with pytest.raises(FlinkplanError, match="expected the end of the expression"):
        stream.aggregate(n="COUNT(*) COUNT(*)")


def test_there_is_no_fold() -> None:
    windows = to_data_stream(environment(), "clicks").window_all(GlobalWindows.create())
    with pytest.raises(FlinkplanError, match="'fold' is not supported: its results cannot be merged"):
        windows.fold("", "a || b")


def test_classes_must_be_found_by_an_import() -> None:
    class Local(classes.Count):
        """Inside of a function."""

    windows = to_data_stream(environment(), "clicks").window_all(GlobalWindows.create())
    with pytest.raises(FlinkplanError, match="must be at the top of a module"):
        windows.trigger(Local(1))
