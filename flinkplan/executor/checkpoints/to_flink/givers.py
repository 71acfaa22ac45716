"""What is known of how to give the states of a kernel to Flink's operator, by type of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from ....plan.document import Plan
from ....plan.nodes import ExecNode
from ....plan.record import Record, field
from ....plan.types import LogicalType, RowField
from ....state.form import Kind, StateError, StateTable
from ...jvm.spark import F
from ...jvm.types import field_name, spark_type
from ..entries import TIMERS
from ..from_flink.carriers import LASTING
from ..operators import Operator, StatefulQuery

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class FlinkEntries(Record):
    """Entries of a state of Flink, of a ``frame`` with the kernel's ``key``: columns by position.

    ``kind`` is the row kind of values that are rows, if not +I.  ``key`` are the fields of the key, if they are not
    those of the kernel's.  A column ``accessed`` of the frame says when entries were written.
    ``table`` is the state, where Flink's operator makes it only when there are entries; its number does not matter.
    """

    frame: DataFrame
    value: Sequence[Column]
    map_key: Sequence[Column] = ()
    namespace: Sequence[Column] = ()
    position: Column | None = None
    kind: Column | None = None
    key: Sequence[Column] | None = None
    table: StateTable | None = None


Given = Mapping[str, FlinkEntries]
"""Entries by the names of Flink's states."""


class Giver(Record):
    """What is given of one operator: ``entries`` are those of the kernel's variables, ``tables`` Flink's states.

    ``now`` is the time at which the checkpoint is read, ``watermark`` that of the query (epoch milliseconds), if there
    has been one, ``clock`` the time of its last batch.  ``time_zone`` is that of nodes that fix none.  ``query`` is the
    query with the operator, ``options`` are those of the session.
    """

    node: ExecNode
    plan: Plan
    query: StatefulQuery
    operator: Operator
    entries: Mapping[str, DataFrame]
    tables: Mapping[str, StateTable]
    now: int
    time_zone: str = "UTC"
    watermark: int | None = None
    clock: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def kernel(self) -> Any:
        """The kernel of the operator, an object of Java."""
        return self.query.java.kernel(self.operator.number)

    def refuse_entries(self, frame: DataFrame, reason: str) -> None:
        """Raise :class:`StateError` where a frame has rows."""
        if not frame.isEmpty():
            raise StateError(f"{reason}, which are not given to Flink yet")

    def fields(self, index: int = 0) -> Sequence[RowField]:
        """The columns of an input."""
        return self.plan.inputs(self.node)[index].fields

    def types(self, index: int = 0) -> list[LogicalType]:
        """Their types."""
        return [field.type for field in self.fields(index)]

    def state(self, name: str, ttl: int) -> DataFrame | None:
        """The entries of a state here, with ``accessed`` (epoch milliseconds): when they were written, or now.

        ``None`` where the kernel has no such state.  Those that have expired are left out.
        """
        frames = []
        for variable in (name, f"{name}{LASTING}"):
            if variable not in self.entries:
                continue
            frame = self.entries[variable]
            if "expires" in frame.columns:
                frame = frame.where(F.col("expires") > self.now).withColumn("accessed", F.col("expires") - ttl)
                frame = frame.drop("expires")
            else:
                frame = frame.withColumn("accessed", F.lit(self.now))
            frames.append(frame)
        return reduce(lambda one, other: one.unionByName(other), frames) if frames else None

    @property
    def timers(self) -> DataFrame:
        """The timers of the operator."""
        return self.entries[TIMERS]


def parts(frame: DataFrame, column: str, *path: str) -> list[Column]:
    """The fields of a struct in a column, or of one within it."""
    value, t = F.col(column), frame.schema[column].dataType
    for name in path:
        value, t = value.getField(name), t[name].dataType  # type: ignore[index]
    return [value.getField(name) for name in t.names]  # type: ignore[attr-defined]


def as_row(column: Column, types: Sequence[LogicalType]) -> Column:
    """A struct with the names that fields of rows have."""
    fields = ",".join(f"{field_name(i)}:{spark_type(t).simpleString()}" for i, t in enumerate(types))
    return column.cast(f"struct<{fields}>")


def event_timers(giver: Giver) -> str:
    """The name under which Flink's operator has its timers of event time."""
    return timers_of(giver, by_clock=False)


def timers_of(giver: Giver, by_clock: bool) -> str:
    """The name under which Flink's operator has its timers of event time, or of processing time."""
    clock = "processing" if by_clock else "event"
    return next(name for name, t in giver.tables.items() if t.kind is Kind.TIMERS and t.clock == clock)


Give = Callable[[Giver], Given]

_GIVES: dict[type[ExecNode], tuple[Give, frozenset[str]]] = {}


def gives(*types: type[ExecNode], empty: Sequence[str] = ()) -> Callable[[Give], Give]:
    """Register what gives the states of nodes of these types; those called ``empty`` need no entries."""

    def register(give: Give) -> Give:
        for cls in types:
            _GIVES[cls] = give, frozenset(empty)
        return give

    return register


def given_nodes() -> frozenset[type[ExecNode]]:
    """The types of nodes whose states are given."""
    return frozenset(_GIVES)


def give(giver: Giver) -> Given:
    """The entries of Flink's states.  Raises :class:`StateError` where the states here cannot be given."""
    if type(giver.node) not in _GIVES:
        raise StateError(f"the state of nodes {giver.node.type} is not given to Flink yet")
    giving, empty = _GIVES[type(giver.node)]
    given = giving(giver)
    for name, table in giver.tables.items():
        if name not in given and name not in empty and table.kind is not Kind.TIMERS:
            raise StateError(f"it is not known what of it is in Flink's state {name}")
    known = giver.tables.keys() | {name for name, entries in given.items() if entries.table is not None}
    if unknown := sorted(given.keys() - known):
        raise StateError(f"Flink's operator has no state {unknown[0]}")
    return given
