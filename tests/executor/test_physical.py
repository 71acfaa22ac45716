"""What ``explain --physical`` tells of plans, without Spark."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.explain import physical_json, physical_lines
from flinkplan.executor.prepare.job_plan import JobSettings, prepare, prepare_by_default
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.query import QueryPlan
from flinkplan.executor.prepare.steps import Kernel
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


STREAM = JobSettings(streams=True)


def plan_of(case: str) -> Plan:
    return load(HERE / "cases" / case / "plan.json")


def both_ways(plan: Plan) -> list[QueryPlan]:
    """The one query of a plan as a stream, and as a batch."""
    jobs = [prepare(plan, Mode.BOUNDED, settings) for settings in (STREAM, JobSettings())]
    return [query for job in jobs for query in job.queries.values()]


@pytest.mark.parametrize("case", TREES)
def test_tree(case: str, golden: Golden) -> None:
    lines = physical_lines(prepare_by_default(plan_of(case)))
    golden.check(f"physical/{case}.txt", "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    "case", [case for case in COMPILING if not case.name.startswith("window-error-")], ids=lambda case: case.name
)
def test_every_kernel_that_is_named_is_there(case: Case) -> None:
    for query in both_ways(load(case.plan_file)):
        for step in query.steps.values():
            if isinstance(step, Kernel):
                file = SOURCES / "flinkplan/runtime" / f"{step.kernel.replace('.', '/')}.java"
                assert file.exists(), step.kernel
            assert bool(step.states) == (step.shuffle is not None)


def test_json_has_one_object_a_query() -> None:
    plan = plan_of("ttl-changelog-normalize-and-upsert-materialize")
    first, second = physical_json(prepare(plan, Mode.BOUNDED, STREAM))
    batches = physical_json(prepare(plan, Mode.BOUNDED))
    assert first["mode"] == "stream"
    assert [(query["mode"], query["encoding"]) for query in batches] == [("batch", None), ("batch", None)]
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
    plan = loads(text.replace("stream-exec-calc_1", "stream-exec-async-correlate_1"), "plan.json")
    with pytest.raises(UnsupportedError, match="stream-exec-async-correlate_1"):
        list(physical_lines(prepare(plan, Mode.BOUNDED)))


@pytest.mark.parametrize(("case", "keys"), [("window-topn-after-agg", []), ("window-join-semi-in", ["num = num"])])
def test_a_batch_brings_the_rows_of_each_window_together(case: str, keys: list[str]) -> None:
    plan = plan_of(case)
    node = next(node for node in plan.nodes if isinstance(node, (WindowRank, WindowJoin)))
    shuffles = [query.step(node).shuffle for query in both_ways(plan)]
    assert shuffles == [tuple(keys), (*keys, "window start", "window end")]


def test_a_batch_groups_windows_natively_beside_kernels() -> None:
    """In a stream all state is encoded alike: the Top-N behind, a kernel, has the aggregation be one, too."""
    plan = plan_of("window-topn-after-agg")
    aggregation = next(node for node in plan.nodes if "window-aggregate" in node.type and "local" not in node.type)
    engines = [query.step(aggregation).engine for query in both_ways(plan)]
    assert engines == ["kernel", "native"]
