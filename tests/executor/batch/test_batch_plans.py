"""Plans of Flink's batch mode: what they write, and what is told of them without a job."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.compat.diff import Diff, Source, diff_texts
from flinkplan.compat.validation import validate_text
from flinkplan.compat.verdicts import Effect, Verdict
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.checks import check_runnable
from flinkplan.executor.prepare.job_plan import prepare, prepare_by_default
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.cloned_exchanges import with_edges_of_clones
from flinkplan.plan.document import dumps, loads
from flinkplan.plan.errors import FlinkplanError, UnsupportedError
from flinkplan.plan.lineage import origins_of
from flinkplan.plan.nodes import BatchAggregate, BatchNestedLoopJoin, BatchSort

from . import CASES, PLAN, plan_in, rounded, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What one job writes, by the names of the sinks."""
    folder = tmp_path_factory.mktemp("batch")
    execute(plan_in(folder), JobOptions(spark=spark)).wait()
    return {name: rows_of(folder / name) for name in CASES}


@pytest.mark.spark
@pytest.mark.parametrize("name", CASES)
def test_it_writes_the_rows_that_flink_writes(name: str, written: dict[str, list[Any]]) -> None:
    case, rows = CASES[name], rounded(written[name])
    expected = rounded(case["rows"])
    if case["ordered"]:
        assert rows == expected, case["sql"]
    else:
        assert sorted(map(json.dumps, rows)) == sorted(map(json.dumps, expected)), case["sql"]


def test_the_plan_is_written_as_it_was_read() -> None:
    assert json.loads(dumps(loads(PLAN))) == json.loads(PLAN)
    assert [list(node) for node in json.loads(dumps(loads(PLAN)))["nodes"]] == [
        list(node) for node in json.loads(PLAN)["nodes"]
    ]


def test_nothing_is_wrong_with_it() -> None:
    assert validate_text(PLAN) == []
    check_runnable(loads(PLAN))


def test_it_runs_in_bounded_mode_only() -> None:
    plan = loads(PLAN)
    assert prepare_by_default(plan).is_batch
    with pytest.raises(UnsupportedError, match="batch mode does not run in the mode 'streaming'"):
        prepare(plan, Mode.STREAMING)


def test_local_phases_and_sorts_for_operators_are_passed_by() -> None:
    job = prepare_by_default(loads(PLAN))
    for query in job.queries.values():
        for node in query.plan.nodes:
            is_passed = query.step(node).engine == "passed by"
            if isinstance(node, BatchAggregate):
                assert is_passed is not node.is_final
            if isinstance(node, BatchSort) and not is_passed:
                assert not any(isinstance(reader, BatchAggregate) for reader in query.plan.outputs(node))


def test_columns_are_traced_through_both_phases() -> None:
    lineage = {sink.table.name: sink for sink in origins_of(loads(PLAN)).sinks}["a1"]
    columns = {name: [str(origin.column) for origin in origins] for name, origins in lineage.columns}
    assert columns["c2"] == ["t.v"]


def _diff(change: Callable[[dict[str, Any]], object]) -> Diff:
    changed = json.loads(PLAN)
    for node in changed["nodes"]:
        change(node)
    return diff_texts(Source("old", PLAN), Source("new", json.dumps(changed)), locate=False)


def _join_type(node: dict[str, Any]) -> None:
    if node["type"] == "batch-exec-join_1" and node["joinSpec"]["joinType"] == "FULL":
        node["joinSpec"]["joinType"] = "INNER"


def _path(node: dict[str, Any]) -> None:
    if node["type"] == "batch-exec-table-source-scan_1":
        node["scanTableSource"]["table"]["resolvedTable"]["options"]["connector"] = "datagen"


def test_a_change_is_compatible_and_may_change_results() -> None:
    for change in (_join_type, _path):
        diff = _diff(change)
        assert (diff.flink, diff.results) == (Verdict.COMPATIBLE, Effect.YES)
        assert diff.spark in (Verdict.COSMETIC, Verdict.COMPATIBLE)


def _estimates(node: dict[str, Any]) -> None:
    for key in ("isBroadcast", "leftIsBuild", "estimatedLeftRowCount", "dynamicFilteringDataListenerID"):
        if key in node:
            node[key] = {bool: not node[key], int: 7}.get(type(node[key]), "x")


def test_estimates_of_the_planner_do_not_change_results() -> None:
    assert _diff(_estimates).verdict is Verdict.COSMETIC


def test_the_other_mode_is_another_job() -> None:
    plan = json.loads(PLAN)
    (streaming, *_) = plan["nodes"]
    stream = {"flinkVersion": "2.3", "nodes": [{**streaming, "type": "stream-exec-table-source-scan_2"}], "edges": []}
    diff = diff_texts(Source("old", json.dumps(stream)), Source("new", PLAN), locate=False)
    assert [finding.rule for finding in diff.judged] == ["runtime-mode-changed"]
    plan["nodes"][1]["type"] = "stream-exec-exchange_1"
    with pytest.raises(FlinkplanError, match=r"is a node of streaming mode, but batch-exec-\S+ is one of batch mode"):
        loads(json.dumps(plan))


def test_what_is_not_executed_is_refused_by_name() -> None:
    plan = json.loads(PLAN)
    for node in plan["nodes"]:
        if node["type"] == "batch-exec-hash-aggregate_1" and not node["isFinal"]:
            node["isFinal"] = True
    with pytest.raises(FlinkplanError, match="merges the accumulators of no local phase"):
        check_runnable(loads(json.dumps(plan)))


def test_a_condition_is_all_that_a_nested_loop_join_has() -> None:
    joins = [node for node in loads(PLAN).nodes if isinstance(node, BatchNestedLoopJoin)]
    assert joins
    assert all(join.join_spec.left_keys == () for join in joins)


def _exchange(number: int) -> dict[str, Any]:
    kind = {"requiredDistribution": {"type": "HASH", "keys": [0]}, "damBehavior": "BLOCKING", "priority": 0}
    shown = {"inputProperties": [kind], "outputType": "ROW<`a` INT>", "description": ""}
    return {"id": number, "type": "batch-exec-exchange_1", **shown}


@pytest.mark.parametrize("targets", [(2, 2), (2, 9)], ids=["the original is there", "the original is gone"])
def test_a_clone_of_an_exchange_gets_the_edge_of_its_original(targets: tuple[int, int]) -> None:
    values = {"id": 1, "type": "batch-exec-values_1", "outputType": "ROW<`a` INT>"}
    nodes = [values, _exchange(2), _exchange(3)]
    edges = [{"source": 1, "target": target} for target in targets]
    repaired = with_edges_of_clones({"nodes": nodes, "edges": edges})
    assert repaired["edges"] == [{"source": 1, "target": 2}, {"source": 1, "target": 3}]
    assert with_edges_of_clones(repaired) is repaired
