"""Running tests on Spark: all in one session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..plan.document import Plan
from ..plan.errors import FlinkplanError, UnsupportedError
from ..plan.findings import did_you_mean
from ..plan.nodes import TableSourceScan, WatermarkAssigner
from ..plan.record import Record
from ..plan.tables import with_variables
from ..planner.spec.errors import SpecError
from .comparing import Difference, Result, compare
from .model import ALL, Case, Expectation, Step, Suite
from .planning import Pipeline, column_names, primary_key
from .tables import check_pushed, source_tables, with_test_tables, write_rows

if TYPE_CHECKING:
    from ..executor.jobs.progress import QueryProgress

POLL_SECONDS = 0.02


class Outcome(Record):
    """How a test ended: with differences, with an error, or well."""

    case: Case
    differences: tuple[Difference, ...] = ()
    error: FlinkplanError | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.differences and self.error is None


def run_suite(
    suite: Suite,
    py_files: Sequence[str] = (),
    only: Callable[[Case], bool] = lambda case: True,
    pipeline: Pipeline | None = None,
) -> Iterator[Outcome]:
    """Run the tests of a file, and give how each ended.  Raises nothing that is wrong with a test.

    ``pipeline`` is that of the file where it has been compiled before.
    """
    from time import monotonic

    pipeline = pipeline or pipeline_of(suite, py_files)
    for case in suite.cases:
        if only(case):
            begin = monotonic()
            try:
                differences = tuple(_CaseRun(suite, case, pipeline, py_files).differences())
                outcome = Outcome(case, differences, seconds=monotonic() - begin)
            except FlinkplanError as error:
                outcome = Outcome(case, error=error, seconds=monotonic() - begin)
            yield outcome


def pipeline_of(suite: Suite, py_files: Sequence[str] = ()) -> Pipeline:
    """The pipeline that a file tests."""
    return Pipeline(suite.pipeline, suite.options, py_files)


class _CaseRun:
    """One test at work: each sink and view that it looks at is run by itself, over the same rows."""

    def __init__(self, suite: Suite, case: Case, pipeline: Pipeline, py_files: Sequence[str]) -> None:
        self._suite, self._case, self._py_files = suite, case, py_files
        self._clock = round(datetime.now(UTC).timestamp() * 1000) if case.clock is None else case.clock
        self._pipelines = [pipeline]
        for step in case.steps:
            changed = step.pipeline
            self._pipelines.append(
                self._pipelines[-1] if changed is None else Pipeline(changed, suite.options, py_files)
            )

    def differences(self) -> Iterator[Difference]:
        """How what came differs from what was expected, in the order of the steps."""
        names = dict.fromkeys(each.name for step in self._case.steps for each in step.expected)
        found: list[tuple[int, Difference]] = []
        for name in names:
            with TemporaryDirectory(prefix="flinkplan-test-") as folder:
                found += self._of_target(name, Path(folder))
        yield from (difference for _, difference in sorted(found, key=lambda each: each[0]))

    def _of_target(self, name: str, folder: Path) -> Iterator[tuple[int, Difference]]:
        steps = self._case.steps
        last = max(number for number, step in enumerate(steps) if any(each.name == name for each in step.expected))
        changes: list[tuple[int, tuple[Any, ...]]] = []
        late, plan = _Late(), None
        for number, step in enumerate(steps[: last + 1]):
            expected = [each for each in step.expected if each.name == name]
            plan = self._plan(number, name, plan)
            self._write(step, plan, folder / "in", number)
            ends = self._case.ends and number == len(steps) - 1
            clock = self._clock + sum(each.later for each in steps[: number + 1])
            changes += self._run(plan, folder, ends, clock, late, self._watermarks(number, plan))
            state = {}
            if any(each.state for each in expected):
                state = _entries(folder / "checkpoint", clock)
            columns = tuple(column_names(plan))
            result = Result(columns, tuple(changes), primary_key(plan), late.count, late.by_operator, state)
            for each in expected:
                if (difference := compare(each, result)) is not None:
                    yield number, difference

    def _plan(self, number: int, name: str, before: Plan | None) -> Plan:
        """The plan of a sink or view in a step; a changed pipeline keeps the ids of the one before it."""
        from ..compat.successor import predecessor, succeed

        if before is not None and self._case.steps[number].pipeline is None:
            return before
        pipeline = self._pipelines[number + 1]
        plan = pipeline.plan_of(self._expectation(name))
        return plan if before is None else succeed(predecessor(before), plan, keep_ttls=False).plan

    def _expectation(self, name: str) -> Expectation:
        return next(each for step in self._case.steps for each in step.expected if each.name == name)

    def _write(self, step: Step, plan: Plan, folder: Path, number: int) -> None:
        tables = source_tables(plan)
        whole = source_tables(self._pipelines[number + 1].plan)
        for name, (rows, span) in step.given.items():
            if name in tables:
                write_rows(folder, tables[name], rows, number)
            elif name not in whole:
                raise SpecError(f"the pipeline has no source '{name}'", span, did_you_mean(name, whole))
        for name in tables:
            (folder / name).mkdir(parents=True, exist_ok=True)

    def _watermarks(self, number: int, plan: Plan) -> dict[str, int]:
        """The watermarks that sources reach in a step, by the names of their tables."""
        timed = {
            scan.scan_table_source.table.name
            for node in plan.nodes
            if isinstance(node, WatermarkAssigner)
            for scan in plan.upstream([node])
            if isinstance(scan, TableSourceScan)
        }
        whole = source_tables(self._pipelines[number + 1].plan)
        watermarks: dict[str, int] = {}
        for name, (time, span) in self._case.steps[number].watermarks.items():
            if name == ALL:
                watermarks |= dict.fromkeys(timed, time)
            elif name in timed:
                watermarks[name] = time
            elif name in source_tables(plan):
                raise SpecError(
                    f"the source '{name}' has no watermark", span, "only tables with WATERMARK FOR have one"
                )
            elif name not in whole:
                raise SpecError(f"the pipeline has no source '{name}'", span, did_you_mean(name, whole))
        return watermarks

    def _run(
        self, plan: Plan, folder: Path, ends: bool, clock: int, late: _Late, watermarks: Mapping[str, int]
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """The rows that a step brings, with the numbers of their kinds; ``late`` counts those that come too late."""
        from ..compat.diff import Exceptions
        from ..compat.restart import check_restart
        from ..executor.jobs.collecting import Collector
        from ..executor.jobs.job import JobOptions, execute
        from ..executor.jvm.quiet import quiet_jvm
        from ..executor.jvm.session import PARTITIONS
        from ..executor.prepare.modes import Mode
        from ..executor.prepare.python_classes import PythonCode
        from ..plan.clock import goes_by_clock
        from ..table.java_jars import function_jars

        check_pushed(plan)
        if any(step.later for step in self._case.steps) and goes_by_clock(plan):
            raise UnsupportedError("windows of processing time go by the machine's clock, which a test cannot move")
        checkpoint = str(folder / "checkpoint") if self._case.is_stepwise else None
        tested = with_test_tables(with_variables(plan, self._suite.variables), folder / "in")
        tested = _with_functions(tested, self._py_files)
        if checkpoint is not None:
            check_restart(checkpoint, tested, Exceptions(), {})
        collector = Collector(as_text=False)
        options = JobOptions(
            checkpoint=checkpoint,
            conf={PARTITIONS: "1"},
            mode=Mode.BOUNDED if ends else Mode.AVAILABLE_NOW,
            listener=late,
            collector=collector,
            python=PythonCode((), tuple(self._py_files)),
            streams=self._case.is_stepwise,
            clock=clock if self._case.is_stepwise else None,
            java_jars=function_jars,
            watermarks=watermarks,
            durable=False,
            runs_small=True,
        )
        with quiet_jvm():
            job = execute(tested, options)
        try:
            rows = list(collector.rows(lambda: job.wait(POLL_SECONDS), patience=0))
        finally:
            job.stop()
        return rows


class _Late:
    """Counts the rows that come too late, in all and by operator."""

    def __init__(self) -> None:
        self.count = 0
        self.by_operator: dict[str, int] = {}

    def batch_done(self, progress: QueryProgress) -> None:
        self.count += progress.rows_dropped
        for operator in progress.operators:
            self.by_operator[operator.name] = self.by_operator.get(operator.name, 0) + operator.dropped_rows


def _entries(checkpoint: Path, clock: int) -> dict[str, int]:
    """How many entries that have not expired at a time (epoch ms) each operator keeps, by its name."""
    from ..executor.jobs.states import count_live, find_states
    from ..executor.jvm.session import session

    entries: dict[str, int] = {}
    for state in find_states(checkpoint):
        name = state.node or f"operator {state.operator}"
        entries[name] = entries.get(name, 0) + count_live(session(), state, clock)
    return entries


def _with_functions(plan: Plan, py_files: Sequence[str]) -> Plan:
    """The plan with the Python functions that it calls by name."""
    from ..plan.user_functions import unbound_functions

    if not any(map(unbound_functions, plan.nodes)):
        return plan
    from ..table.plan_functions import bind_to_files

    return bind_to_files(plan, py_files, (), {})
