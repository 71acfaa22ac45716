from __future__ import annotations

from itertools import pairwise

import pytest

from flinkplan.plan.changelog import row_kinds
from flinkplan.plan.document import Edge, Plan, load
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.explain import DEEPEST, explain_json, explain_text
from flinkplan.plan.nodes import Calc, GroupAggregate, Sink, node_classes
from flinkplan.plan.record import replace
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
        assert kinds[plan.inputs(sink)[0].id] == sink.input_kinds, sink.description


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


def test_unknown_changes_are_shown_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("agg-over-agg-retraction")
    classes = {cls.metadata.name: cls for cls in node_classes()}
    unknown = classes["stream-exec-vector-search-table-function"]
    monkeypatch.setattr(unknown, "row_kinds", lambda self, flow: None)
    first = next(n for n in plan.nodes if isinstance(n, GroupAggregate))
    made = unknown(id=first.id, version=1, output_type=first.output_type)
    nodes = [made if n is first else n for n in plan.nodes]
    explained = explain_json(replace(plan, nodes=tuple(nodes)))
    not_known = {node["type"] for node in explained if node["changelog"] == ["UNKNOWN"]}
    assert not_known == {f"stream-exec-{name}_1" for name in ("vector-search-table-function", "calc", "exchange")}


def chain(case: str, length: int) -> Plan:
    """The case's plan with so many Calcs one below the other above its sink, where it has one."""
    plan = plan_of(case)
    (sink,) = plan.sinks
    (calc,) = plan.inputs(sink)
    assert isinstance(calc, Calc)
    ids = [calc.id, *range(1000, 1000 + length - 1)]
    place = plan.nodes.index(calc)
    return Plan(
        plan.flink_version,
        (*plan.nodes[:place], *(replace(calc, id=i) for i in ids), *plan.nodes[place + 1 :]),
        (
            *(edge for edge in plan.edges if edge.target != sink.id),
            *(Edge(above, below) for above, below in pairwise([*ids, sink.id])),
        ),
    )


def test_a_tree_may_be_deep() -> None:
    lines = explain_text(chain("expr-arithmetic-decimals", DEEPEST - 1)).splitlines()
    assert lines[-2].lstrip(" └─").startswith("1 TableSourceScan")


@pytest.mark.parametrize("case", ["expr-arithmetic-decimals", "join-left-outer-no-keys"])
def test_a_plan_that_is_too_deep_for_a_tree_is_listed_all_the_same(case: str) -> None:
    plan = chain(case, 4000)
    with pytest.raises(UnsupportedError, match="deeper than 500 operators"):
        explain_text(plan)
    assert len(explain_json(plan)) == len(plan.nodes)
