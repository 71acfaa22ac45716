"""Every step that is chosen is built, and each decision stands in one place."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from flinkplan.executor.build.registry import builders
from flinkplan.executor.prepare.choose.stream_windows import EMISSION_ORDER
from flinkplan.executor.prepare.job_plan import JobSettings, prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.query import QueryPlan, choices
from flinkplan.executor.prepare.steps import Kernel, PassedBy, Step
from flinkplan.executor.runtime.jar import SOURCES
from flinkplan.plan.document import Plan, load
from flinkplan.plan.nodes import GlobalWindowAggregate, WindowOperator
from flinkplan.planner import compile_script
from tests.parity.corpus import HERE, cases
from tests.parity.datastream.pipeline import pipeline

EXECUTOR = Path(__file__).parents[2] / "flinkplan/executor"
PLANS = [case.plan_file for case in cases() if case.compiles and not case.name.startswith("window-error-")]


def queries(plan: Plan) -> list[QueryPlan]:
    """The queries of a plan as batches, as streams and in real-time mode."""
    jobs = [
        prepare(plan, Mode.BOUNDED),
        prepare(plan, Mode.BOUNDED, JobSettings(streams=True)),
        prepare(plan, Mode.REAL_TIME),
    ]
    return [query for job in jobs for query in job.queries.values()]


def test_every_step_is_built_and_every_builder_is_used() -> None:
    chosen: set[tuple[type, type[Step]]] = set()
    for file in PLANS:
        for query in queries(load(file)):
            steps = [(type(query.plan.by_id[id]), type(step)) for id, step in query.steps.items()]
            chosen |= {kinds for kinds in steps if kinds[1] is not PassedBy}
    assert chosen <= builders().keys()
    assert {node for node, _ in builders()} <= choices().keys()


@pytest.mark.parametrize("folder", ["prepare", "build"])
def test_the_class_of_a_kernel_stands_in_one_module(folder: str) -> None:
    modules = defaultdict(set)
    for module in sorted((EXECUTOR / folder).rglob("*.py")):
        for name in re.findall(r'"([a-z]+\.[A-Z]\w+)"', module.read_text("utf-8")):
            if (SOURCES / "flinkplan/runtime" / f"{name.replace('.', '/')}.java").exists():
                modules[name].add(module.name)
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}
    assert bool(modules) == (folder == "prepare")


def test_a_kernel_has_the_states_of_its_step() -> None:
    """By their names in the sources of the kernel and of the classes that it uses."""
    sources = {file.stem: file.read_text("utf-8") for file in SOURCES.rglob("*.java")}
    texts = "".join(sources.values())
    for file in PLANS:
        for query in queries(load(file)):
            for step in query.steps.values():
                if isinstance(step, Kernel):
                    for state in step.states:
                        name = re.sub(r"-(few|first|\d+)$", "", state.name)
                        assert f'"{name}' in texts or name in ("leftState", "rightState", "input-state"), state


def test_windows_behind_a_bounded_over_take_a_kernel_in_a_batch() -> None:
    """Rows that are late only for what follows are not Spark's to group."""
    plan = load(HERE / "own/window-counts-behind-bounded-over/plan.json")
    for query in prepare(plan, Mode.BOUNDED).queries.values():
        (step,) = (query.step(node) for node in query.plan.nodes if isinstance(node, GlobalWindowAggregate))
        assert isinstance(step, Kernel)
        assert step.why == "reads rows that are late only for what follows"


def test_windows_over_windows_have_their_rows_put_in_order_before() -> None:
    case = json.loads((HERE / "datastream/cases/consecutive.jsonl").read_text("utf-8").splitlines()[0])
    plan = compile_script(json.dumps(pipeline([case], Path("folder"))), file="case.yaml")
    for query in queries(plan):
        windows = [node for node in query.plan.nodes if isinstance(node, WindowOperator)]
        kernels = [step.by for node, step in query.operators if isinstance(node, WindowOperator)]
        own = [query.step(node).by for node in windows]
        expected = [kernel for name in reversed(own[1:]) for kernel in (name, EMISSION_ORDER.kernel)]
        assert kernels == [*expected, own[0]]
