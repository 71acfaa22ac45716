"""Windows in a spec: what they compile to, and what is refused, with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError, Location
from flinkplan.plan.findings import Finding
from flinkplan.plan.nodes import LateRows, WindowOperator
from flinkplan.planner import compile_script
from flinkplan.planner.spec.reader import read
from flinkplan.planner.sql.source import Source

PAGE = Path(__file__).parents[3] / "docs" / "windows.md"
(CLASSES,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)

TABLES = """\
version: 1
tables:
  clicks:
    columns: {person: STRING, amount: INT, gap: INT, ts: TIMESTAMP_LTZ(3)}
    watermark: {column: ts, as: ts}
    with: {connector: filesystem, path: in, format: json}
  timeless:
    columns: {person: STRING, amount: INT}
    with: {connector: filesystem, path: in, format: json}
  changes:
    columns: {person: STRING, amount: INT}
    primary-key: person
    with: {connector: filesystem, path: in, format: debezium-json}
  report:
    columns: {n: BIGINT}
    with: {connector: blackhole}
windows:
"""
INSERTS = "inserts:\n  - {into: report, query: SELECT COUNT(*) FROM w}\n"


def compiled(warn: Callable[[Finding], None] | None = None, **window: Any) -> Plan:
    """The plan of one window over clicks, ``w``."""
    defaults = {"from": "clicks", "assign": {"tumbling": "5 s"}, "aggregate": {"n": "COUNT(*)"}}
    entry = {key.replace("_", "-"): value for key, value in {**defaults, **window}.items() if value is not None}
    if entry.keys() & {"reduce", "elements"}:
        del entry["aggregate"]
    text = f"{TABLES}  w: {json.dumps(entry)}\n{INSERTS}"
    return compile_script(text, file="pipeline.yaml", warn=warn)


def window(plan: Plan) -> WindowOperator:
    (operator,) = (node for node in plan.nodes if isinstance(node, WindowOperator))
    return operator


@pytest.mark.parametrize(
    ("entry", "described"),
    [
        ({}, "window=[TumblingEventTimeWindows(5 s)], trigger=[EventTimeTrigger()]"),
        ({"assign": {"tumbling": "1 d", "offset": "-8 h"}}, "window=[TumblingEventTimeWindows(1 d, -8 h)]"),
        (
            {"assign": {"sliding": "10 min", "slide": "1 min", "time": "processing"}},
            "window=[SlidingProcessingTimeWindows(10 min, 1 min)], trigger=[ProcessingTimeTrigger()]",
        ),
        ({"assign": {"session": "30 min"}}, "window=[EventTimeSessionWindows(30 min)]"),
        (
            {"assign": {"session-by": "gap * 1000"}},
            "window=[DynamicEventTimeSessionWindows(CAST((gap * 1000) AS BIGINT))]",
        ),
        ({"assign": "global"}, "window=[GlobalWindows()], trigger=[NeverTrigger()]"),
        ({"trigger": {"purging": {"count": 3}}}, "trigger=[PurgingTrigger(CountTrigger(3))]"),
        ({"trigger": {"every": "1 s"}}, "trigger=[ContinuousEventTimeTrigger(1 s)]"),
        (
            {"trigger": {"timeout": "1 min", "of": {"count": 3}}},
            "trigger=[ProcessingTimeoutTrigger(CountTrigger(3), 1 min)]",
        ),
        (
            {"trigger": {"delta": "b.amount - a.amount", "threshold": 2.5}},
            "trigger=[DeltaTrigger(CAST((amount0 - amount) AS DOUBLE), 2.5)]",
        ),
        ({"evict": {"count": 10, "after": True}}, "evictor=[CountEvictor(10, after)]"),
        ({"evict": {"time": "10 s"}}, "evictor=[TimeEvictor(10 s)]"),
        ({"allowed_lateness": "1 h"}, "allowedLateness=[1 h]"),
        ({"reduce": {"amount": "a.amount + b.amount"}}, "function=[reduce(person, (amount + amount0), gap, ts)]"),
        ({"elements": {"first": 3, "by": "amount DESC"}}, "function=[elements(first 3 by amount DESC)]"),
        ({"key_by": "person"}, "WindowOperator(keyBy=[person], window="),
    ],
)
def test_described_as_flinks_classes(entry: dict[str, Any], described: str) -> None:
    plan = compiled(**entry)
    assert described in window(plan).description
    assert loads(dumps(plan)) == plan


def test_states_have_the_ttl_of_the_session() -> None:
    states = window(compiled()).states
    assert [s.name for s in states] == [state.name for state in WindowOperator.metadata.states]
    assert {s.ttl for s in states} == {"0 ms"}


def test_late_rows_come_from_the_same_operator() -> None:
    text = (
        TABLES
        + "  w: {from: clicks, assign: {tumbling: 5 s}, late-into: late, aggregate: {n: COUNT(*)}}\n"
        + INSERTS
        + "  - {into: report, query: SELECT amount FROM late}\n"
    )
    plan = compile_script(text, file="pipeline.yaml")
    (late,) = (node for node in plan.nodes if isinstance(node, LateRows))
    assert plan.inputs(late) == (window(plan),)
    assert [f.name for f in late.fields] == ["person", "amount", "gap", "ts"]
    assert late.fields[3].type.is_rowtime


def test_a_window_reads_a_window_by_its_time() -> None:
    text = (
        TABLES
        + "  sums: {from: clicks, key-by: person, assign: {tumbling: 5 s}, aggregate: {total: SUM(amount)}}\n"
        + "  w: {from: sums, assign: {tumbling: 5 s}, elements: all}\n"
        + INSERTS
    )
    first, second = (n for n in compile_script(text, file="p.yaml").nodes if isinstance(n, WindowOperator))
    assert second.time_attribute_index == [f.name for f in first.fields].index("window_time") - 1


@pytest.mark.parametrize(
    ("entry", "message", "place"),
    [
        ({"assign": {"tumbling": "0 s"}}, "the size of a window must be positive, not 0 ms", "0 s"),
        ({"assign": {"tumbling": "-5 s"}}, "the size of a window must be positive, not -5 s", "-5 s"),
        ({"assign": {"sliding": "5 s", "slide": "0 s"}}, "the slide of a window must be positive", "5 s"),
        ({"assign": {"sliding": "5 s"}}, "'sliding' needs a 'slide'", "sliding"),
        ({"assign": {"sliding": "1 d", "slide": "1 ms"}}, "each row would be in 86,400,000 windows", "1 d"),
        ({"assign": {"session": "0 s"}}, "the gap of a window must be positive", "0 s"),
        ({"assign": {"tumbling": "5 s", "offset": "5 s"}}, "the offset of a window must be smaller", "5 s"),
        ({"assign": {"tumbling": "5 s", "session": "5 s"}}, "cannot stand beside", ""),
        ({"assign": {"offset": "5 s"}}, "there is none of 'tumbling'", "offset"),
        ({"assign": "globe"}, "must be 'global' or a mapping, not 'globe'", "globe"),
        ({"assign": {"tumbling": "5 lightyears"}}, "unknown time unit 'lightyears'", "5 light"),
        ({"from": "timeless"}, "windows of event time need a watermark", "5 s"),
        ({"from": "timeless", "assign": "global", "trigger": {"every": "1 s"}}, "needs a watermark", "every"),
        ({"from": "nothing"}, "there is no table or view 'nothing'", "nothing"),
        ({"from": "changes", "assign": "global"}, "takes inserts only", None),
        (
            {"assign": {"session": "5 s"}, "trigger": {"delta": "a.amount", "threshold": 1}},
            "DeltaTrigger cannot be merged",
            "delta",
        ),
        (
            {"assign": {"session": "5 s"}, "aggregate": {"n": "window_firing"}},
            "have no state of their own",
            "window_fi",
        ),
        ({"trigger": "never"}, "is for global windows", "never"),
        ({"trigger": {"count": 0}}, "the count of a trigger must be positive", "count"),
        ({"trigger": {"delta": "a.person", "threshold": 1}}, "a delta is a number, not STRING", "a.person"),
        ({"trigger": {"delta": "a.amount"}}, "'delta' needs a number as its 'threshold'", "delta"),
        ({"trigger": {"timeout": "1 s"}}, "'timeout' needs the trigger", "timeout"),
        ({"evict": {"count": -1}}, "an evictor cannot keep fewer than 0 rows", "count"),
        ({"allowed_lateness": "-1 s"}, "a lateness cannot be negative", "-1 s"),
        ({"aggregate": None}, "there is none of 'reduce', 'aggregate', 'elements', 'process'", None),
        ({"aggregate": None, "fold": {"n": "1"}}, "'fold' is not supported: its results cannot be merged", "fold"),
        ({"evict": {"class": "evicting:Absent"}}, "there is no Python module 'evicting'", "evicting"),
        ({"aggregate": {"n": "amount"}}, "neither grouped nor aggregated", "amount"),
        ({"aggregate": {"n": "MAX(window_end)"}}, "reads rows, not the window", None),
        ({"reduce": {"amount": "a.person"}}, "'amount' is INT, but two of them are reduced to STRING", "a.person"),
        ({"reduce": {"amout": "a.amount"}}, "there is no column 'amout' to reduce", "amout"),
        ({"reduce": {"person": "a.person"}, "key_by": "person"}, "'person' is the key", "person"),
        ({"key_by": "persons"}, "there is no column 'persons'", "persons"),
    ],
)
def test_refused_with_place_and_reason(entry: dict[str, Any], message: str, place: str | None) -> None:
    with pytest.raises(FlinkplanError) as refused:
        compiled(**entry)
    error = refused.value.errors[0]
    assert message in error.message
    if place is not None:
        assert isinstance(error.where, Location)
        assert error.where.line is not None
        assert place in (error.snippet or "")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"assign": "global"}, "nothing ever comes out of global windows without a trigger"),
        (
            {"assign": {"sliding": "10 h", "slide": "1 h"}, "evict": {"count": 5}, "allowed_lateness": "1 h"},
            "with an evictor nothing is aggregated as rows come: each row is kept 10 times, for 11 h",
        ),
        ({"evict": {"count": 5}}, None),
        ({"assign": {"tumbling": "1 d"}, "evict": {"count": 5}, "elements": "all"}, None),
    ],
)
def test_warned_of(entry: dict[str, Any], message: str | None) -> None:
    warnings: list[Finding] = []
    compiled(warnings.append, **entry)
    assert [w.message for w in warnings] == ([] if message is None else [message])
    assert all(isinstance(w.location, Location) and w.hint for w in warnings)


def test_what_the_page_on_windows_shows_compiles(tmp_path: Path) -> None:
    blocks: list[Any] = [read(Source(block)).data for block in BLOCKS]
    tables, example, *others = blocks
    complete = {**tables, **example, "tables": {**tables["tables"], **example["tables"]}}
    compile_script(json.dumps(complete), file="page.yaml")
    (tmp_path / "my_windows.py").write_text(CLASSES)
    assert len(others) >= 10
    for other in others:
        tables_ = {**tables["tables"], "results": {"columns": {"n": "BIGINT"}, "with": {"connector": "print"}}}
        inserts = [{"into": "results", "query": f"SELECT COUNT(*) FROM {name}"} for name in other["windows"]]
        spec = {"version": 1, "tables": tables_, "windows": other["windows"]}
        compile_script(json.dumps({**spec, "inserts": inserts}), file=str(tmp_path / "page.yaml"))


def test_python_classes_see_the_columns_of_what_a_window_is_declared_from(tmp_path: Path) -> None:
    (tmp_path / "my_windows.py").write_text(CLASSES)
    process = {"class": "my_windows:Count", "columns": {"n": "BIGINT"}}
    entry = {"from": "spent", "key-by": "who", "assign": {"tumbling": "5 s"}, "process": process}
    views = 'views:\n  spent: "SELECT person AS who, amount AS paid, ts FROM clicks"\n'
    text = f"{TABLES.replace('windows:', f'{views}windows:')}  w: {json.dumps(entry)}\n{INSERTS}"
    plan = compile_script(text, file=str(tmp_path / "pipeline.yaml"))
    (source,) = plan.inputs(window(plan))
    assert source.output_type.field_names == ("person", "amount", "ts")
    assert window(plan).element_names == ("who", "paid", "ts")
    assert window(compiled()).element_names is None


def test_the_sample_compiles_to_its_plan() -> None:
    folder = Path(__file__).parents[3] / "sample_plans" / "plane-sessions"
    spec = (folder / "pipeline.yaml").read_text("utf-8")
    plan = compile_script(spec, file="pipeline.yaml")
    assert dumps(plan) == (folder / "plan.json").read_text("utf-8")
