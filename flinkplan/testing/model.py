"""What a file of tests says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..plan.record import Record, field
from ..planner.spec import nodes as yaml
from ..planner.sql.source import Span

KINDS = ("+I", "-U", "+U", "-D")
"""The kinds of rows, by their numbers in Spark's rows."""


class Rows(Record):
    """Rows as they are written in a file of tests, or in a ``file`` beside it.

    ``items`` are mappings or lists of values, each perhaps under the kind of its row; ``columns`` are the names for
    lists.  ``span`` is the place.
    """

    items: tuple[yaml.Node, ...]
    span: Span
    columns: tuple[str, ...] | None = None
    file: Path | None = None


ALL = "*"
"""What stands for all operators of a plan where numbers are expected of each."""


class Expectation(Record):
    """The rows that a sink or view is to have.

    ``rows`` are the final rows, or with ``is_changelog`` the changes.  Only ``columns`` are compared, all if ``None``;
    floating-point numbers may differ by ``tolerance``.  ``late`` is how many rows have been dropped for being late,
    ``dropped`` how many by each operator, and ``state`` how many entries each operator keeps that have not expired; the
    name :data:`ALL` stands for all operators together.
    """

    name: str
    rows: Rows | None
    span: Span
    late: int | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    state: Mapping[str, int] = field(default_factory=dict)
    is_changelog: bool = False
    is_ordered: bool = False
    columns: tuple[str, ...] | None = None
    tolerance: float = 0.0


class Step(Record):
    """Rows that come, and what has come out then.

    ``given`` are the rows by the names of tables, each with the place of the name; ``pipeline`` is the changed
    pipeline with which the job continues; ``later`` is by how many milliseconds the clock is moved forward before.
    ``watermarks`` are those (milliseconds since 1970) that tables reach behind the rows, each with the place of the
    table's name; the name :data:`ALL` stands for all tables that have any.
    """

    given: Mapping[str, tuple[Rows, Span]] = field(default_factory=dict)
    expected: tuple[Expectation, ...] = ()
    pipeline: Path | None = None
    span: Span | None = None
    later: int = 0
    watermarks: Mapping[str, tuple[int, Span]] = field(default_factory=dict)


class Case(Record):
    """One test.

    ``ends`` says whether the input ends behind the last step, so that all windows fire.  ``clock`` is the time at the
    beginning, in milliseconds since 1970; that of the machine if ``None``.
    """

    name: str
    steps: tuple[Step, ...]
    span: Span
    ends: bool = True
    clock: int | None = None

    @property
    def is_stepwise(self) -> bool:
        """Whether the job stops and continues, instead of reading all its input at once."""
        is_timed = self.clock is not None or any(step.watermarks for step in self.steps)
        keeps_state = any(each.state for step in self.steps for each in step.expected)
        return len(self.steps) > 1 or not self.ends or is_timed or keeps_state


class Suite(Record):
    """The tests in a file: of a pipeline, with the values of its variables and the options of its session."""

    file: Path
    pipeline: Path
    cases: tuple[Case, ...]
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
