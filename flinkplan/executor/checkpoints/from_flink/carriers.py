"""What is known of how to carry the states of an operator over, by type of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ....plan.document import Plan
from ....plan.nodes import ExecNode
from ....plan.record import Record, field
from ....plan.types import LogicalType, RowField
from ....state.form import StateError
from ...build.kernels import key_part
from ...build.time.event_time import SHIFT_MS
from ...jvm.spark import F
from ...jvm.types import field_name
from ...prepare.steps import Step
from ..entries import TIMERS
from ..operators import Operator
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LASTING = "-lasting"
"""What the name of the variable of entries that stay has behind the state's, as ``StateVariables.java`` calls it."""

_TIMER = "timer"
"""The state in which kernels that wait for the watermark keep what they wait for, as ``TimedKernel.java`` calls it."""

_EVENT_TIME = "EventTime"
"""The time mode of an operator whose timers go by the watermark."""

Carried = Mapping[str, "DataFrame"]
"""Frames of entries by the names of variables, as :mod:`..entries` has them."""


class Carrier(Record):
    """What is carried over at one operator: ``tables`` are Flink's states by name, ``operator`` is the one here, which
    runs ``node`` as ``step`` says.

    ``now`` is the time at which the checkpoint is written, ``watermark`` the operator's own in the savepoint, if it has
    one (epoch milliseconds).  ``time_zone`` is that of nodes that fix none.  ``timers`` are Flink's by their
    names; ``asked``: the states that were asked for.
    """

    node: ExecNode
    step: Step
    plan: Plan
    operator: Operator
    tables: Mapping[str, FlinkTable]
    now: int
    time_zone: str = "UTC"
    watermark: int | None = None
    timers: Mapping[str, FlinkTable] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def fields(self, index: int = 0) -> Sequence[RowField]:
        """The columns of an input."""
        return self.plan.inputs(self.node)[index].fields

    def types(self, index: int = 0) -> list[LogicalType]:
        """Their types."""
        return [field.type for field in self.fields(index)]

    def table(self, name: str) -> FlinkTable | None:
        """A state of Flink; ``None`` where the savepoint has none of it."""
        self.asked.add(name)
        return self.tables.get(name)

    def key(self, table: FlinkTable) -> Column:
        """The key of a table's entries as the kernel has it; a constant where all rows belong together."""
        assert self.operator.key is not None
        types = table.key_types
        if not types:
            return F.struct(F.lit(0)).cast(self.operator.key)
        if len(types) != len(self.operator.key.fields):
            raise StateError(
                f"the key of {table.table.name} has {len(types)} columns, of which the operator has others"
            )
        parts = [key_part(table.frame["key"].getField(field_name(i)), t) for i, t in enumerate(types)]
        return F.struct(*parts).cast(self.operator.key)

    def put(
        self, state: str, ttl: int, table: FlinkTable, value: Column, map_key: Column | None = None, **more: Column
    ) -> tuple[str, DataFrame]:
        """Entries of a state that have the ``table``'s key, and expire a ``ttl`` (milliseconds) after its access."""
        frame = table.frame
        columns = {"key": self.key(table), "value": value, **more}
        if map_key is not None:
            columns["map_key"] = map_key
        return self.entries(
            state, ttl, frame.select(*(c.alias(name) for name, c in columns.items()), *_accessed(frame))
        )

    def entries(self, state: str, ttl: int, frame: DataFrame) -> tuple[str, DataFrame]:
        """Entries in the variable where a state of this TTL stands; ``accessed`` says when they were written."""
        name = self.variable_of(state, ttl)
        if self.operator.variable(name).expires:
            accessed = F.unix_millis("accessed") if "accessed" in frame.columns else F.lit(self.now)
            frame = frame.withColumn("expires", accessed + ttl)
        return name, frame.drop("accessed")

    def variable_of(self, state: str, ttl: int) -> str:
        """The name of the variable where a state of this TTL stands."""
        names = {variable.name for variable in self.operator.variables}
        return state if ttl or f"{state}{LASTING}" not in names else f"{state}{LASTING}"

    def due(self, frame: DataFrame) -> Carried:
        """When each key is due, of a frame with ``key`` and ``time`` (epoch milliseconds): the kernel's own state that
        says so, and Spark's timers.
        """
        own = frame.select("key", F.struct("time").alias("value"))
        shift = SHIFT_MS if self.operator.time_mode == _EVENT_TIME else 0
        timers = frame.select("key", (F.col("time") + shift).alias("due"))
        return dict([self.entries(_TIMER, 0, own), (TIMERS, timers)])

    def input_row(self, state: str, held: Mapping[str, Column]) -> Column:
        """A row that a kernel keeps as it has read it: its key, the columns in ``held`` by their names, else NULL."""
        assert self.operator.key is not None
        known = {field.name: F.col("key").getField(field.name) for field in self.operator.key.fields} | dict(held)
        fields = self.operator.variable(state).value.fields
        return F.struct(*(known.get(f.name, F.lit(None)).cast(f.dataType).alias(f.name) for f in fields))


def _accessed(frame: DataFrame) -> list[str]:
    return ["accessed"] if "accessed" in frame.columns else []


Carry = Callable[[Carrier], Carried]

_CARRIES: dict[type[ExecNode], tuple[Carry, frozenset[str]]] = {}


def carries(*types: type[ExecNode], implied: Sequence[str] = ()) -> Callable[[Carry], Carry]:
    """Register what carries the states of nodes of these types over; those called ``implied`` follow from others."""

    def register(carry: Carry) -> Carry:
        for cls in types:
            _CARRIES[cls] = carry, frozenset(implied)
        return carry

    return register


def carried_nodes() -> frozenset[type[ExecNode]]:
    """The types of nodes whose states are carried over."""
    return frozenset(_CARRIES)


def carry(carrier: Carrier) -> Carried:
    """The entries of the operator's variables.  Raises :class:`StateError` where its states cannot be carried over."""
    if type(carrier.node) not in _CARRIES:
        raise StateError(f"the state of nodes {carrier.node.type} is not carried over yet")
    carrying, implied = _CARRIES[type(carrier.node)]
    carried = carrying(carrier)
    left = sorted(carrier.tables.keys() - carrier.asked - implied)
    if left:
        raise StateError(f"the state {left[0]} is not carried over yet")
    return carried
