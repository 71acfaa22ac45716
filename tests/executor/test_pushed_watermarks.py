"""Watermarks that a plan leaves to its sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from flinkplan.executor.prepare.choose.watermarks import Watermarked
from flinkplan.executor.prepare.known.pushed_watermarks import with_assigners
from flinkplan.plan.document import Plan, load
from flinkplan.plan.nodes import TableSourceScan, WatermarkAssigner
from flinkplan.plan.record import replace
from flinkplan.plan.settings import IDLE_TIMEOUT
from flinkplan.plan.specs import WatermarkPushDown
from flinkplan.planner import compile_script

from .building import query_of

FLINKS = Path(__file__).parent / "kafka" / "flink" / "plan.json"

SCRIPT = """
CREATE TABLE a (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'datagen');
CREATE TABLE o (n INT, ts TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO o SELECT n, ts FROM a WHERE CURRENT_WATERMARK(ts) IS NULL;
"""


def pushed(timeout: int = 0) -> tuple[Plan, Plan]:
    """A plan with a watermark assigner, and the same where the source makes the watermarks."""
    plan = compile_script(SCRIPT)
    return plan, push(plan, timeout)


def push(plan: Plan, timeout: int = 0, params: Mapping[str, str] | None = None) -> Plan:
    """The plan as Flink has it where the source, which is idle after so many milliseconds, makes the watermarks."""
    (assigner,) = (node for node in plan.nodes if isinstance(node, WatermarkAssigner))
    (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
    ability = WatermarkPushDown(
        watermark_expr=assigner.watermark_expr,
        idle_timeout_millis=timeout,
        produced_type=assigner.output_type,
        watermark_params=params,
    )
    source = replace(
        scan,
        scan_table_source=replace(scan.scan_table_source, abilities=(ability,)),
        output_type=assigner.output_type,
    )
    nodes = tuple(source if node is scan else node for node in plan.nodes if node is not assigner)
    edges = tuple(
        replace(edge, source=scan.id) if edge.source == assigner.id else edge
        for edge in plan.edges
        if edge.target != assigner.id
    )
    return Plan(plan.flink_version, nodes, edges)


def test_an_assigner_stands_behind_the_source() -> None:
    plan, without = pushed()
    found = with_assigners(without)
    assert [node.type for node in found.nodes] == [node.type for node in plan.nodes]
    (assigner,) = (node for node in found.nodes if isinstance(node, WatermarkAssigner))
    (scan,) = found.inputs(assigner)
    assert isinstance(scan, TableSourceScan)
    assert (assigner.rowtime_field_index, assigner.configuration) == (1, None)
    assert [found.inputs(node)[0].id for node in found.outputs(assigner)] == [assigner.id]


def test_the_rowtime_may_be_made_behind_the_source() -> None:
    """As Flink 2.3 has it: the scan's column is a time, of which a projection makes the rowtime."""
    (scan,) = (node for node in with_assigners(load(FLINKS)).nodes if isinstance(node, TableSourceScan))
    assert not any(field.type.is_rowtime for field in scan.fields)
    (assigner,) = (node for node in with_assigners(load(FLINKS)).nodes if isinstance(node, WatermarkAssigner))
    assert scan.fields[assigner.rowtime_field_index].name == "ts"


def test_the_sources_timeout_is_the_assigners() -> None:
    (assigner,) = (n for n in with_assigners(pushed(5000)[1]).nodes if isinstance(n, WatermarkAssigner))
    assert assigner.configuration == {IDLE_TIMEOUT: "5000 ms"}


@pytest.mark.parametrize(("strategy", "on_event"), [("ON_EVENT", True), ("ON_PERIODIC", False)])
def test_the_plan_says_when_watermarks_of_the_source_are_announced(strategy: str, on_event: bool) -> None:
    plan = with_assigners(push(compile_script(SCRIPT), params={"emitStrategy": strategy}))
    (assigner,) = (node for node in plan.nodes if isinstance(node, WatermarkAssigner))
    step = query_of(plan).step(assigner)
    assert isinstance(step, Watermarked)
    assert step.on_event is on_event


def test_other_plans_stay_as_they_are() -> None:
    plan, _ = pushed()
    assert with_assigners(plan) is plan
