"""Windows of the DataStream API: nodes of this project, which Flink's planner does not have."""

from __future__ import annotations

from typing import Annotated

from ..durations import parse_iso_duration
from ..references import Input, Keys, Mark
from ..savepoint.layout import Inputs
from ..specs import Evictor, PythonPart, StateMetadata, Trigger, WindowAssigner, WindowFunction, python_parts
from .base import NOT_FLINKS, ColumnOrder, ExecNode, State, exec_node
from .mixins import InsertsOnly, NoRows, RowByRow


@exec_node(
    "window-operator",
    order=ColumnOrder.FIXED,
    versions={1: NOT_FLINKS},
    timed=True,
    states=(
        State("windowContents", "the window goes on without its older rows, or without its accumulator"),
        State("mergingWindowSet", "the key's sessions are forgotten; a new row begins a new one"),
        State("triggerState", "the trigger counts, or waits, from the next row on anew"),
        State("windowState", "the firings of the window are counted from 1 on anew"),
        State("globalState", "the firings of the key are counted from 1 on anew"),
    ),
    results=("allowed_lateness", "properties"),
    judged=("keys", "time_attribute_index", "assigner", "trigger", "evictor", "function", "element_names", "state"),
)
class WindowOperator(InsertsOnly, NoRows, ExecNode, kw_only=True):
    """Flink's WindowOperator: assigns the rows of a key to windows, which triggers hand to a function.

    ``keys`` are empty for windows over all rows; ``time_attribute_index`` is -1 if rows have no event time.
    The result has the columns of the function, then ``properties`` of the window.  ``element_names`` are the names of
    the columns in Python classes; they are not set if there are no such classes.
    """

    keys: Keys
    time_attribute_index: Annotated[int, Input.ALL, Mark.PERHAPS]
    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    allowed_lateness: str
    function: WindowFunction
    properties: tuple[str, ...]
    element_names: tuple[str, ...] | None = None
    state: tuple[StateMetadata, ...] | None = None

    @property
    def lateness_ms(self) -> int:
        """For how many milliseconds after its end a window accepts rows."""
        return parse_iso_duration(self.allowed_lateness)

    @property
    def python_parts(self) -> tuple[PythonPart, ...]:
        """Its parts that are Python classes."""
        return python_parts(self.assigner, self.trigger, self.evictor, self.function)

    def layout(self, inputs: Inputs) -> None:
        """None, since Flink has no such node."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.keys,)

    def yields(self, inputs: Inputs) -> None:
        """Not known: the columns of the function and the properties of the window."""


@exec_node("late-rows", order=ColumnOrder.FIXED, versions={1: NOT_FLINKS})
class LateRows(RowByRow, InsertsOnly, ExecNode, kw_only=True):
    """The side output of a window operator: the rows that arrived too late for any window, unchanged."""

    def yields(self, inputs: Inputs) -> None:
        """Not known: the columns are those of the window operator's input, not of its output."""
