"""Compiled plans as objects."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from ..plan.document import Plan, dumps
from ..plan.errors import PlanError, UnsupportedError
from ..plan.explain import explain_text
from ..plan.files import Place
from ..plan.record import Record
from .result import TableResult

if TYPE_CHECKING:
    from ..executor.jobs.job import Job

Runner = Callable[[Plan], "Job"]
"""Starts a plan."""

Restorer = Callable[[Plan], Plan]
"""Adds the definitions of tables from the catalog to a plan that has only their names."""


class ExplainDetail(Enum):
    """Details that an explanation can show besides the operators; changelog modes are always shown."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3


class PlanReference(Record):
    """A plan in a file or a text."""

    text: str
    file: str | None = None

    @staticmethod
    def from_file(path: str | Path) -> PlanReference:
        """The plan in a file, which is read at once.  Raises :class:`PlanError` where it cannot be read."""
        return PlanReference(Place.of(path).read(), str(path))

    @staticmethod
    def from_json_string(json_string: str) -> PlanReference:
        """The plan in a text."""
        return PlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> PlanReference:
        """Raises :class:`UnsupportedError`: plans are read as JSON."""
        raise UnsupportedError("from_smile_bytes is not supported", hint="write the plan as JSON: as_json_string()")

    @staticmethod
    def from_name(name: str) -> PlanReference:
        """The plan in a file, at ``REVISION:PATH`` in git, or of a checkpoint directory.

        Raises :class:`PlanError` where it cannot be read.
        """
        if "://" in name:
            return PlanReference.from_file(name)
        from ..compat.references import read_plan

        source = read_plan(name)
        return PlanReference(source.text, source.name)

    def load(self) -> Plan:
        """The plan.  Raises :class:`PlanError`, or :class:`ErrorGroup` for several errors."""
        from ..compat.validation import read_plan

        return read_plan(self.text, self.file)


class CompiledPlan:
    """A plan that can be written, explained and executed."""

    def __init__(self, plan: Plan, runner: Runner, restorer: Restorer) -> None:
        self.plan = plan
        self._runner = runner
        self._restorer = restorer

    def as_json_string(self) -> str:
        """The plan's text, as Flink writes it."""
        return dumps(self.plan)

    def as_smile_bytes(self) -> bytes:
        """Raises :class:`UnsupportedError`: plans are written as JSON."""
        raise UnsupportedError("as_smile_bytes is not supported", hint="as_json_string() writes the plan as JSON")

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Write the plan's text to a file, completely or not at all.

        An existing file is never replaced; without ``ignore_if_exists`` it raises :class:`PlanError`.
        """
        if not Place.of(file).would_be_replaced():
            Place.of(file).write(self.as_json_string())
        elif not ignore_if_exists:
            raise PlanError("the plan exists already", where=str(file), hint="ignore_if_exists leaves it alone")

    def like(self, old: PlanReference) -> CompiledPlan:
        """This plan with the ids and TTLs of the operators that are also in an older plan.

        Flink finds state by ids, so a job can continue under this plan from a savepoint that it wrote under the old
        one.
        """
        from ..compat.diff import Source
        from ..compat.successor import read_predecessor, succeed

        predecessor = read_predecessor(Source(old.file or "the older plan", old.text))
        return CompiledPlan(succeed(predecessor, self.plan).plan, self._runner, self._restorer)

    def get_flink_version(self) -> str:
        """The Flink release that the plan belongs to."""
        return self.plan.flink_version

    def print_json_string(self) -> None:
        """Print the plan's text."""
        print(self.as_json_string())

    def explain(self, *extra_details: ExplainDetail) -> str:
        """The operators as a tree, with keys, states, TTLs and the kinds of rows."""
        return explain_text(self._restorer(self.plan))

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the explanation."""
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Start the plan on Spark; ``wait()`` on the result waits for its end."""
        return TableResult(job=self._runner(self._restorer(self.plan)))

    def __str__(self) -> str:
        return self.explain()
