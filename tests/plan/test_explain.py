from __future__ import annotations

import pytest

from flinkplan.plan.changelog import row_kinds, sink_kinds
from flinkplan.plan.document import Plan, load
from flinkplan.plan.explain import explain_json, explain_text
from flinkplan.plan.nodes import Sink
from tests.conftest import Golden
from tests.parity.corpus import HERE, Case, cases

COMPILING = [case for case in cases() if case.compiles]


def plan_of(case: str) -> Plan:
    return load(HERE / "cases" / case / "plan.json")


@pytest.mark.parametrize("case", COMPILING, ids=lambda case: case.name)
def test_the_kinds_of_rows_are_those_that_flink_says_of_the_sinks(case: Case) -> None:
    plan = load(case.plan_file)
    kinds = row_kinds(plan)
    sinks = [sink for sink in plan.sinks if isinstance(sink, Sink)]
    assert sinks
    for sink in sinks:
        assert kinds[plan.inputs(sink)[0].id] == sink_kinds(sink), sink.description


@pytest.mark.parametrize(
    "case",
    [
        "join-statement-set-views-cte-sub-plan-reuse",
        "changelog-cdc-events-duplicate-filtered-twice",
        "ttl-one-hour-join-aggregate-dedup-topn-pipeline",
        "window-tumble-key-many-aggs",
    ],
)
def test_tree(case: str, golden: Golden) -> None:
    golden.check(f"explain/{case}.txt", explain_text(plan_of(case)))


def test_json_has_one_object_a_node() -> None:
    plan = plan_of("join-statement-set-views-cte-sub-plan-reuse")
    explained = explain_json(plan)
    assert [node["id"] for node in explained] == [node.id for node in plan.nodes]
    join = next(node for node in explained if node["type"] == "stream-exec-join_1")
    assert join["states"] == [
        {"index": 0, "name": "leftState", "ttl": "0 ms"},
        {"index": 1, "name": "rightState", "ttl": "0 ms"},
    ]
    assert join["keys"] == ["driver = driver"]
    assert join["changelog"] == ["I"]
