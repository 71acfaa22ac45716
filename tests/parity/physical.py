"""What runs a job is what ``explain --physical`` and the page of its plan say."""

from __future__ import annotations

from collections.abc import Iterator

from flinkplan.cli.pages.plan_page import plan_page
from flinkplan.executor.build.context import PYTHON, Built
from flinkplan.executor.build.stream import CAUSE, LATENESS, PASSED
from flinkplan.executor.jobs.job import Job
from flinkplan.executor.jobs.queries import BatchQuery
from flinkplan.executor.prepare.explain import engine_of
from flinkplan.executor.prepare.job_plan import JobSettings, prepare, prepare_by_default
from flinkplan.executor.prepare.known.carried import carries_causes, carries_late_rows, carries_watermarks
from flinkplan.executor.prepare.query import QueryPlan
from flinkplan.executor.prepare.steps import Kernel, PassedBy, Python, Step
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import ExecNode, IncrementalGroupAggregate, LocalGroupAggregate, LocalWindowAggregate

_PHASES = (IncrementalGroupAggregate, LocalGroupAggregate, LocalWindowAggregate)


def differences(plan: Plan, job: Job, *, page: bool = True) -> list[str]:
    """Where a job of a plan has been built otherwise than is said of it; ``page``: its page is compared, too."""
    is_batch = any(isinstance(query, BatchQuery) for query in job.queries)
    explained = prepare(plan, job.mode, JobSettings(streams=not is_batch))
    found = [
        f"query {name}, node {id}: {difference}"
        for name, query in explained.queries.items()
        for id, built in job.built[name].items()
        if id in query.plan.by_id
        for difference in _differences(query.plan.by_id[id], built, query)
    ]
    return [*found, *(_on_page(plan) if page else ())]


def _differences(node: ExecNode, built: Built, query: QueryPlan) -> Iterator[str]:
    step = query.step(node)
    if built.kernels != _kernels(step) or built.is_passed != isinstance(step, PassedBy):
        yield f"explained as {engine_of(step)}, built as {built.kernels or built.is_passed}"
    if _is_between_phases(node, query) or not query.plan.outputs(node):
        return
    if built.stream.changelog != query.is_changelog(node):
        yield f"its rows have kinds: {built.stream.changelog}"
    for column, carries in ((LATENESS, carries_watermarks), (PASSED, carries_late_rows), (CAUSE, carries_causes)):
        if (column in built.stream.hidden) != carries(query.plan, node):
            yield f"its rows carry {column}: {column in built.stream.hidden}"


def _kernels(step: Step) -> tuple[str, ...]:
    before = tuple(each.kernel for each in step.runs_before)
    own = (step.kernel,) if isinstance(step, Kernel) else (PYTHON,) if isinstance(step, Python) else ()
    return before + own


def _is_between_phases(node: ExecNode, query: QueryPlan) -> bool:
    """Whether what a node emits is read by the next phase of an aggregation alone: it is not what flows in Flink."""
    return any(isinstance(each, _PHASES) for each in (node, *query.plan.inputs(node)))


def _on_page(plan: Plan) -> Iterator[str]:
    """Where the page of a plan says something else than its text."""
    queries = prepare_by_default(plan).queries.values()
    steps = {str(id): step for query in queries for id, step in query.steps.items()}
    for node in plan_page(plan, "plan").nodes:
        rows = next((section.rows for section in node.sections if section.head == "On Spark"), ())
        shown = {row[0]: row[1] for row in rows}.get("by", "")
        if shown != engine_of(steps[node.id]):
            yield f"node {node.id}: the text says {engine_of(steps[node.id])}, the page {shown}"
