"""Windows of the DataStream API: nodes of this project, which Flink's planner does not have."""

from __future__ import annotations

from ..durations import parse_iso_duration
from ..specs import Evictor, StateMetadata, Trigger, WindowAssigner, WindowFunction
from .base import NOT_FLINKS, ExecNode, exec_node


@exec_node(
    "window-operator",
    versions={1: NOT_FLINKS},
    timed=True,
    states=("windowContents", "mergingWindowSet", "triggerState", "windowState", "globalState"),
    results=("allowed_lateness", "properties"),
    judged=("keys", "time_attribute_index", "assigner", "trigger", "evictor", "function", "state"),
)
class WindowOperator(ExecNode, kw_only=True):
    """Flink's WindowOperator: rows of a key into windows, which triggers hand to a function.

    ``keys`` are empty for windows over all rows, ``time_attribute_index`` is -1 where no row has a time of its own.
    The result has the columns of the function, then ``properties`` of the window.
    """

    keys: tuple[int, ...]
    time_attribute_index: int
    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None
    allowed_lateness: str
    function: WindowFunction
    properties: tuple[str, ...]
    state: tuple[StateMetadata, ...] | None = None

    @property
    def lateness_ms(self) -> int:
        """How long beyond its end a window takes rows."""
        return parse_iso_duration(self.allowed_lateness)


@exec_node("late-rows", versions={1: NOT_FLINKS})
class LateRows(ExecNode, kw_only=True):
    """The side output of a window operator: the rows that came too late for any window, as they were."""
