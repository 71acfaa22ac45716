"""The same tests on Apache Flink: it executes the plans that Spark does, over the same rows."""

from __future__ import annotations

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..plan.document import Plan, dumps
from ..plan.errors import FlinkplanError
from ..plan.nodes import LookupJoin, Sink
from ..plan.record import Record, replace
from ..plan.tables import with_variables
from ..plan.types import LogicalType
from .comparing import Difference, Result, compare
from .model import KINDS, Case, Expectation, Suite
from .planning import Pipeline, column_names, primary_key
from .tables import source_tables, with_sink, with_test_tables, write_rows

RUNNER = Path(__file__).with_name("flink_runner.py")
"""What a Python with apache-flink runs to execute plans."""
_INSERT, _DELETE = KINDS.index("+I"), KINDS.index("-D")
_OPTIONS = {"parallelism.default": "1", "table.local-time-zone": "UTC"}
"""Those of each session on Flink, unless a file of tests sets them: rows keep their order, times are those of Spark."""


class FlinkOutcome(Record):
    """How a test ended on Flink: where it differs from what is expected, why it failed, or why it was not run."""

    differences: tuple[Difference, ...] = ()
    error: str = ""
    not_run: str = ""


class FlinkRunner:
    """A Flink in a process of its own, as long as this context lasts; ``python`` is a Python with apache-flink."""

    def __init__(self, python: str) -> None:
        self._python = python

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [self._python, str(RUNNER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
                encoding="utf-8",
            )
        except OSError as e:
            hint = "--flink takes a Python that has the package apache-flink"
            raise FlinkplanError(f"{self._python} cannot be run: {e.strerror or e}", hint=hint) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        if error is not None:
            self._process.kill()
        else:
            self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def outcome(self, suite: Suite, case: Case, pipeline: Pipeline) -> FlinkOutcome:
        """Run a test.  Raises :class:`FlinkplanError` where Flink does not run at all."""
        if reason := _obstacle(case):
            return FlinkOutcome(not_run=reason)
        differences: list[Difference] = []
        for expected in _last_expectations(case):
            plan = pipeline.plan_of(expected)
            if any(isinstance(node, LookupJoin) for node in plan.nodes):
                return FlinkOutcome(not_run="Flink looks up no files, which hold the rows of the test")
            with tempfile.TemporaryDirectory(prefix="flinkplan-test-") as folder:
                result, error = self._result(suite, case, plan, Path(folder))
            if result is None:
                return FlinkOutcome(error=error)
            if (difference := compare(expected, result)) is not None:
                differences.append(difference)
        return FlinkOutcome(tuple(differences))

    def _result(self, suite: Suite, case: Case, plan: Plan, folder: Path) -> tuple[Result | None, str]:
        tables = source_tables(plan)
        for number, step in enumerate(case.steps):
            for name, (rows, _) in step.given.items():
                if name in tables:
                    write_rows(folder / "in", tables[name], rows, number)
        for name in tables:
            (folder / "in" / name).mkdir(parents=True, exist_ok=True)
        out = folder / "out"
        sink = {"connector": "filesystem", "path": str(out), "format": "debezium-json"}
        tested = with_sink(with_test_tables(with_variables(plan, suite.variables), folder / "in"), sink)
        file = folder / "plan.json"
        file.write_text(dumps(tested), "utf-8")
        if error := self._ask({"plan": str(file), "options": {**_OPTIONS, **suite.options}}):
            return None, error
        return Result(tuple(column_names(plan)), tuple(_changes(out, plan)), primary_key(plan)), ""

    def _ask(self, request: Mapping[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{json.dumps(request)}\n")
            self._process.stdin.flush()
        except OSError:
            pass  # its end is read below
        answer = self._process.stdout.readline()
        if not answer:
            self._log.seek(0)
            last = self._log.read().decode(errors="replace").strip().rpartition("\n")[2]
            hint = "--flink takes a Python that has the package apache-flink"
            raise FlinkplanError(f"Flink does not run: {last or 'it has ended'}", where=self._python, hint=hint)
        error: str = json.loads(answer)["error"]
        return error


def _obstacle(case: Case) -> str:
    """Why a test is not run on Flink; empty: it is."""
    if not case.ends:
        return "its input does not end"
    if any(step.pipeline is not None for step in case.steps):
        return "its pipeline changes"
    if any(step.later for step in case.steps):
        return "its clock is set"
    if not any(_comparable(each) for each in _last_expectations(case)):
        return "nothing is expected of it but changes in their order, or numbers"
    return ""


def _last_expectations(case: Case) -> Iterator[Expectation]:
    """What is expected of final rows behind the last step."""
    expected = case.steps[-1].expected
    yield from (replace(each, late=None, dropped={}, state={}) for each in expected if _comparable(each))


def _comparable(expected: Expectation) -> bool:
    """Whether rows are compared that do not go by batches, nor by what a sink on files cannot tell of changes."""
    return expected.rows is not None and not expected.is_changelog


def _changes(folder: Path, plan: Plan) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows that Flink has written, as messages of Debezium, in which an update is a deletion and an insertion."""
    [sink] = [node for node in plan.nodes if isinstance(node, Sink)]
    types = [field.type for field in plan.inputs(sink)[0].fields]
    names = column_names(plan)
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        for line in file.read_text("utf-8").splitlines():
            message = json.loads(line, parse_float=Decimal)
            is_deletion = message["op"] == "d"
            row = message["before" if is_deletion else "after"]
            values = (from_json(row.get(name), t) for name, t in zip(names, types, strict=True))
            yield (_DELETE if is_deletion else _INSERT), tuple(values)


def from_json(value: Any, t: LogicalType) -> Any:
    """A value of Flink's JSON format as the one that a job here gives."""
    if value is None:
        return None
    match t.root:
        case "TIMESTAMP":
            return datetime.fromisoformat(value)
        case "TIMESTAMP_LTZ":
            return datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=UTC)
        case "BINARY" | "VARBINARY":
            return base64.b64decode(value)
        case "FLOAT" | "DOUBLE":
            return float(value)
        case "DECIMAL":
            return Decimal(value)
        case "ARRAY":
            return [from_json(item, t.element) for item in value]
        case "MAP":
            return {key: from_json(item, t.children[1]) for key, item in value.items()}
        case "ROW" | "STRUCTURED":
            return tuple(from_json(value.get(f.name), f.type) for f in t.fields)
    return value
