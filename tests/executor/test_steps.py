"""Every step that is chosen is built, and each decision stands in one place."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.build.registry import builders
from flinkplan.executor.prepare.choose.aggregates import KernelGroups
from flinkplan.executor.prepare.choose.stream_windows import EMISSION_ORDER
from flinkplan.executor.prepare.choose.watermarks import Watermarked
from flinkplan.executor.prepare.job_plan import JobSettings, prepare
from flinkplan.executor.prepare.known import input_size
from flinkplan.executor.prepare.modes import Mode
from flinkplan.executor.prepare.query import QueryPlan, choice_of
from flinkplan.executor.prepare.steps import FOLDS_ROWS, Kernel, PassedBy, Step
from flinkplan.executor.prepare.windows import KernelWindows
from flinkplan.executor.runtime.jar import SOURCES
from flinkplan.plan.document import Plan, load
from flinkplan.plan.nodes import ExecNode, GlobalWindowAggregate, GroupAggregate, WatermarkAssigner, WindowOperator
from flinkplan.planner import compile_script
from tests.parity.corpus import HERE, cases
from tests.parity.datastream.pipeline import pipeline

from .test_pushed_watermarks import push

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
    assert all(choice_of(node) for node, _ in builders())


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


ROWS = """\
CREATE TABLE t (k INT, d DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
    'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'{options});
CREATE TABLE o (k INT, n {type}) WITH ('connector' = 'print');
INSERT INTO o {query};
"""


def step_of(
    node: type[ExecNode], mode: Mode, query: str, *, type: str = "BIGINT", path: object = "in", **options: str
) -> Any:
    """The step of the node of a class in a query over the table ``t``."""
    more = "".join(f", '{key.replace('_', '.')}' = '{value}'" for key, value in options.items())
    plan = compile_script(ROWS.format(path=path, options=more, type=type, query=query))
    (of_sink,) = prepare(plan, mode).queries.values()
    (step,) = (of_sink.step(each) for each in of_sink.plan.nodes if isinstance(each, node))
    return step


@pytest.mark.parametrize(
    ("call", "type", "folds"),
    [
        ("COUNT(*)", "BIGINT", True),
        ("SUM(k)", "INT", True),
        ("SUM(CAST(k AS DECIMAL(10, 2)))", "DECIMAL(38, 2)", True),
        ("SUM(CAST(k AS DECIMAL(38, 2)))", "DECIMAL(38, 2)", False),
        ("SUM(d)", "DOUBLE", False),
        ("COUNT(DISTINCT d)", "BIGINT", False),
        ("LAST_VALUE(k)", "INT", False),
    ],
)
def test_rows_are_folded_where_no_function_can_tell_the_difference(call: str, type: str, folds: bool) -> None:
    step = step_of(GroupAggregate, Mode.STREAMING, f"SELECT k, {call} FROM t GROUP BY k", type=type)
    assert (step.folds_rows, step.notes) == (folds, (FOLDS_ROWS,) if folds else ())
    table = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    windows = f"SELECT k, {call} FROM {table} GROUP BY k, window_start, window_end"
    plan = compile_script(ROWS.format(path="in", options="", type=type, query=windows))
    (query,) = prepare(plan, Mode.STREAMING).in_kernels(("o",)).queries.values()
    (step,) = (step for step in query.steps.values() if isinstance(step, KernelWindows))
    assert step.folds_rows == folds


def test_rows_that_are_taken_back_are_not_folded() -> None:
    query = "SELECT CAST(n AS INT), COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n"
    plan = compile_script(ROWS.format(path="in", options="", type="BIGINT", query=query))
    (of_sink,) = prepare(plan, Mode.STREAMING).queries.values()
    first, second = (step for step in of_sink.steps.values() if isinstance(step, KernelGroups))
    assert (first.folds_rows, second.folds_rows) == (True, False)


@pytest.mark.parametrize(
    ("query", "large", "samples"),
    [
        ("SELECT k, COUNT(*) FROM t GROUP BY k", True, True),
        ("SELECT k, COUNT(*) FROM t GROUP BY k", False, False),
        ("SELECT k, COUNT(DISTINCT k) FROM t GROUP BY k", True, False),
        ("SELECT CAST(d AS INT), COUNT(*) FROM t GROUP BY d", True, False),
        ("SELECT 1, COUNT(*) FROM t", True, False),
        ("SELECT a.k, COUNT(*) FROM t a JOIN t b ON a.k = b.k GROUP BY a.k", True, False),
    ],
)
def test_the_first_rows_of_large_input_tell_how_many_groups_there_are(
    query: str, large: bool, samples: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_size, "LARGE_INPUT", 1)
    (tmp_path / "rows").write_text("{}\n" if large else "")
    step = step_of(GroupAggregate, Mode.BOUNDED, query, path=tmp_path)
    assert step.samples == samples
    assert [note for note in step.notes if "decided while it runs" in note] == list(step.notes)
    assert bool(step.notes) == samples


@pytest.mark.parametrize(("mode", "timeout"), [(Mode.STREAMING, 5000), (Mode.AVAILABLE_NOW, 0), (Mode.BOUNDED, 0)])
def test_sources_are_idle_in_streams_without_an_end(mode: Mode, timeout: int) -> None:
    options = {"scan_watermark_idle-timeout": "5 s"}
    step = step_of(WatermarkAssigner, mode, "SELECT k, 1 FROM t WHERE CURRENT_WATERMARK(ts) IS NULL", **options)
    assert step.idle_timeout == timeout
    assert step.notes == (("idle after 5 s without rows",) if timeout else ())


@pytest.mark.parametrize(("mode", "by_partition"), [(Mode.STREAMING, True), (Mode.BOUNDED, False)])
def test_a_source_that_makes_its_watermarks_makes_them_of_each_partition(mode: Mode, by_partition: bool) -> None:
    watermarked = "SELECT k, 1 FROM t WHERE CURRENT_WATERMARK(ts) IS NULL"
    script = ROWS.format(path="in", options="", type="BIGINT", query=watermarked)
    (query,) = prepare(push(compile_script(script), 2000), mode).queries.values()
    (step,) = (query.step(each) for each in query.plan.nodes if isinstance(each, WatermarkAssigner))
    assert isinstance(step, Watermarked)
    assert step.by_partition == by_partition
    assert step.idle_timeout == (2000 if by_partition else 0)
