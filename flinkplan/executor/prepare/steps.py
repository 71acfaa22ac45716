"""What runs a node on Spark: a step, which carries every decision of how.

A step is chosen once, from the plan alone (see :mod:`.choose`).  What builds the node obeys it, and ``explain``,
pages, progress and the reader of states show it.  Each family of nodes has records of its own, which add what its nodes
need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...plan.durations import format_duration
from ...plan.nodes import ExecNode
from ...plan.record import Record
from ...plan.specs import AggregateCall

_UNTIL_WATERMARK = "until the watermark passes"


FOLDS_ROWS = "rows are folded in each task before they are shuffled"
"""The note of kernels whose functions come to the same whether rows are folded in parts first or not."""


class StateLayout(Record):
    """A state in the state store.

    ``name``: what it is called there.  ``kind``: Spark's kind of state.  ``holds``: what it holds for a key.  ``kept``:
    for how long.
    """

    name: str
    kind: str
    holds: str
    kept: str

    def __str__(self) -> str:
        return f"{f'{self.name} {self.kind}'.rstrip()}: {self.holds}; {self.kept}"

    @property
    def is_timed(self) -> bool:
        """Whether the watermark cleans it."""
        return self.kept == _UNTIL_WATERMARK


class Step(Record, kw_only=True):
    """How a node is run.

    ``why``: why it is run so, for people.  ``shuffle``: the columns by which rows are brought together before, none for
    one partition; ``None``: rows stay where they are.  ``states``: what is kept in the state store.
    ``runs_before``: kernels that put the rows of the input in order before they come to the node's own operator.
    """

    engine: ClassVar[str]
    """``native``, ``kernel``, ``python`` or ``passed by``."""

    why: str
    shuffle: tuple[str, ...] | None = None
    states: tuple[StateLayout, ...] = ()
    runs_before: tuple[Kernel, ...] = ()

    @property
    def by(self) -> str:
        """What of the engine runs it: Spark's operators, or the kernel's class."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is decided of how it runs, for people, and by which rule what only the data can decide."""
        return ()


class Native(Step, kw_only=True):
    """Spark's own operators, whose names are ``operators``."""

    engine: ClassVar[str] = "native"

    operators: str
    why: str = "each row by itself"

    @property
    def by(self) -> str:
        return self.operators


class Kernel(Step, kw_only=True):
    """A Java class below ``flinkplan.runtime``, whose name is ``kernel``."""

    engine: ClassVar[str] = "kernel"

    kernel: str

    @property
    def by(self) -> str:
        return self.kernel


class Python(Step, kw_only=True):
    """Classes of the plan in Spark's Python workers."""

    engine: ClassVar[str] = "python"

    @property
    def by(self) -> str:
        return "transformWithState"


class PassedBy(Step, kw_only=True):
    """Nothing: the rows go on as they are."""

    engine: ClassVar[str] = "passed by"


def own_state(node: ExecNode, kind: str, holds: str, index: int = 0, *, inputs: int = 1, part: str = "") -> StateLayout:
    """A state that the class of ``node`` declares, whose entries expire by the TTL that the plan has for it.

    ``inputs`` is how many inputs the node has.  ``part`` is added to its name where one state is kept in several.
    """
    return with_ttl(kind, declared_name(node, index, inputs) + part, holds, node.ttl_ms(index))


def declared_name(node: ExecNode, index: int = 0, inputs: int = 1) -> str:
    """What the class of a node with so many inputs calls one of its states."""
    return type(node).declared_states(inputs)[index].name


def with_ttl(kind: str, name: str, holds: str, ttl_ms: int) -> StateLayout:
    """A state whose entries expire so many milliseconds after their last write; 0: never."""
    return StateLayout(name, kind, holds, f"TTL {format_duration(ttl_ms)}" if ttl_ms else "for ever")


def until_watermark(kind: str, name: str, holds: str) -> StateLayout:
    """A state that the watermark cleans."""
    return StateLayout(name, kind, holds, _UNTIL_WATERMARK)


TIMER = until_watermark("ValueState", "timer", "when the key is due next")
"""What kernels keep that emit rows when their time has come."""
ROWS_AHEAD = until_watermark("ListState", "ahead", "rows that come ahead of the watermark")
"""What those keep beside it where late rows come to them and depend on what was emitted before."""


def accumulators(calls: Sequence[AggregateCall]) -> str:
    """What a state of these calls' accumulators holds."""
    distinct = sum(call.is_distinct for call in calls)
    maps = f", a MapState for each DISTINCT ({distinct})" if distinct else ""
    return f"a struct for each call ({len(calls)}){maps}"
