"""What ``explain --physical`` tells of plans, without Spark."""

from __future__ import annotations

from itertools import product

import pytest

from flinkplan.executor.connectors import is_bounded
from flinkplan.executor.execution import QueryPlan
from flinkplan.executor.parts import queries_of
from flinkplan.executor.physical import execute_nodes, physical_json, physical_lines
from flinkplan.executor.runtime.jar import SOURCES
from flinkplan.plan.document import Plan, load, loads
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.nodes import WindowJoin, WindowRank
from tests.conftest import Golden
from tests.parity.corpus import HERE, Case, cases

COMPILING = [case for case in cases() if case.compiles]
TREES = (
    "join-statement-set-views-cte-sub-plan-reuse",
    "ttl-one-hour-join-aggregate-dedup-topn-pipeline",
    "ttl-not-applied-to-interval-temporal-window",
    "window-hop-agg-docs-bid",
    "window-tumble-key-many-aggs",
    "window-tumble-count-distinct-split",
    "window-session-agg-partition",
)


def plan_of(case: str) -> Plan:
    return load(HERE / "cases" / case / "plan.json")


@pytest.mark.parametrize("case", TREES)
def test_tree(case: str, golden: Golden) -> None:
    plan = plan_of(case)
    lines = physical_lines(queries_of(plan), is_batch=is_bounded(plan, {}))
    golden.check(f"physical/{case}.txt", "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    "case", [case for case in COMPILING if not case.name.startswith("window-error-")], ids=lambda case: case.name
)
def test_every_kernel_that_is_named_is_there(case: Case) -> None:
    for plan, is_batch in product(queries_of(load(case.plan_file)).values(), (False, True)):
        for execution in execute_nodes(QueryPlan(plan, is_batch)).values():
            if execution.engine == "kernel":
                file = SOURCES / "flinkplan/runtime" / f"{execution.by.replace('.', '/')}.java"
                assert file.exists(), execution.by
            assert bool(execution.states) == (execution.shuffle is not None)


def test_json_has_one_object_a_query() -> None:
    queries = queries_of(plan_of("ttl-changelog-normalize-and-upsert-materialize"))
    first, second = physical_json(queries, is_batch=False)
    assert (first["mode"], [(q["mode"], q["encoding"]) for q in physical_json(queries, is_batch=True)]) == (
        "stream",
        [("batch", None), ("batch", None)],
    )
    assert (first["query"], first["encoding"], second["query"]) == ("by_acc", "avro", "by_owner")
    sink = second["nodes"][-1]
    assert (sink["engine"], sink["by"]) == ("kernel", "changelog.UpsertMaterialize")
    assert sink["shuffle"] == ["owner"]
    assert sink["states"] == [
        {
            "name": "sinkMaterializeState",
            "kind": "ValueState",
            "holds": "the rows of a primary key, in order",
            "kept": "TTL 36 h",
        }
    ]


def test_a_node_that_is_not_executed_is_named() -> None:
    text = (HERE / "cases/expr-literals-of-every-type/plan.json").read_text("utf-8")
    plan = loads(text.replace("stream-exec-calc_1", "stream-exec-python-calc_1"), "plan.json")
    with pytest.raises(UnsupportedError, match="stream-exec-python-calc_1"):
        list(physical_lines(queries_of(plan), is_batch=True))


@pytest.mark.parametrize(("case", "keys"), [("window-topn-after-agg", []), ("window-join-semi-in", ["num = num"])])
def test_a_batch_brings_the_rows_of_each_window_together(case: str, keys: list[str]) -> None:
    (plan,) = queries_of(plan_of(case)).values()
    node = next(node for node in plan.nodes if isinstance(node, (WindowRank, WindowJoin)))
    shuffles = [execute_nodes(QueryPlan(plan, is_batch))[node.id].shuffle for is_batch in (False, True)]
    assert shuffles == [tuple(keys), (*keys, "window start", "window end")]


def test_a_batch_groups_windows_natively_beside_kernels() -> None:
    """In a stream all state is encoded alike: the Top-N behind, a kernel, has the aggregation be one, too."""
    (plan,) = queries_of(plan_of("window-topn-after-agg")).values()
    aggregation = next(node for node in plan.nodes if "window-aggregate" in node.type and "local" not in node.type)
    engines = [execute_nodes(QueryPlan(plan, is_batch))[aggregation.id].engine for is_batch in (False, True)]
    assert engines == ["kernel", "native"]
