"""Process table functions: operators that users have written in Java or Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from ..codec import Place
from ..references import Input
from ..rex import Call, RexNode, TableArgument
from ..row_kinds import Flow, Kinds
from ..savepoint.layout import Inputs
from ..specs import ReceivedKind, StateMetadata
from .base import ColumnOrder, ExecNode, State, exec_node
from .mixins import WholeRows


@exec_node(
    "process-table-function",
    order=ColumnOrder.FIXED,
    versions={1: "2.1"},
    inputs=None,
    timed=True,
    transformations=("process",),
    identity=("uid", "input_changelog_modes"),
    results=("output_changelog_mode",),
    judged=("function_call", "state"),
)
class ProcessTableFunction(WholeRows, ExecNode, kw_only=True):
    """Calls a process table function for each row, and when a timer fires.

    ``function_call`` is the call with its scalar arguments, and a :class:`TableArgument` for each table.  ``uid`` names
    the operator, whose states only the function's class declares; it is ``None`` for a function of single rows.
    ``state`` has the TTLs of states, by their names; those that it does not have are the class's.  Flink neither writes
    nor reads it: we write it for functions in Python, which Flink cannot call.
    """

    state: tuple[StateMetadata, ...] | None = None
    uid: Annotated[str | None, Place.LAST]
    function_call: Annotated[RexNode, Input.NONE, Place.LAST]
    input_changelog_modes: Annotated[tuple[tuple[ReceivedKind, ...], ...], Place.LAST]
    output_changelog_mode: Annotated[tuple[ReceivedKind, ...] | None, Place.LAST] = None

    @property
    def call(self) -> Call | None:
        """The call, if the plan has one."""
        return self.function_call if type(self.function_call) is Call else None

    @property
    def tables(self) -> Iterator[TableArgument]:
        """The arguments that are tables, in the order of the function's parameters."""
        if self.call is not None:
            yield from (o for o in self.call.operands if type(o) is TableArgument)

    @property
    def scalars(self) -> tuple[RexNode, ...]:
        """The arguments that are no tables, with what stands for those that are left out."""
        return () if self.call is None else tuple(o for o in self.call.operands if type(o) is not TableArgument)

    @property
    def is_stateful(self) -> bool:
        """Whether it may have states and timers: functions of whole tables always have a UID."""
        return self.uid is not None

    def ttl_states(self, inputs: int) -> tuple[State, ...]:
        return tuple(State(state.name, "the function finds it empty") for state in self.states)

    def ttl_of(self, name: str) -> int | None:
        """The TTL of a state in milliseconds, if the plan has it."""
        return next((state.ttl_ms for state in self.states if state.name == name), None)

    @property
    def own_uid(self) -> str | None:
        return self.uid

    def layout(self, inputs: Inputs) -> None:
        """Not known: the function's class declares its states."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        keys = {table.input_index: table.partition_keys for table in self.tables}
        return tuple(keys.get(i, ()) for i in range(len(self.input_properties or ())))

    def yields(self, inputs: Inputs) -> None:
        """Not known: the function makes the columns, or passes some of them through."""

    def row_kinds(self, flow: Flow) -> Kinds | None:
        if self.output_changelog_mode is None:
            return None
        return frozenset(kind.row_kind for kind in self.output_changelog_mode)
