"""Rules on windows of the DataStream API."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.nodes import WindowOperator
from ...plan.record import Record
from ...plan.specs import GlobalWindows
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .fields import WINDOW
from .keys import KEYS
from .model import Judgement, arrows, field_judge, rule

TRIGGER = rule(
    "trigger-changed",
    "windows fire by another trigger",
    "What a trigger has counted, or the time that it waits for, means nothing to another one.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`trigger: {count: 100}` became `{every: 1 min}`.",
    fix="Start without state, or let a second window with the new trigger run beside the old one for a while.",
)
EVICTOR = rule(
    "evictor-changed",
    "windows have another evictor, or none any more",
    "With an evictor a window keeps all its rows, without one it may have an accumulator alone.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`evict: {count: 10}` was added.",
    fix="Start without state.",
)
SETTING = rule(
    "window-setting-changed",
    "a trigger or an evictor has another count, time or threshold",
    "What is kept is the same. Windows that are open go on with the new setting; a timer that is set already comes "
    "once more at its old time.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`trigger: {count: 100}` became `{count: 50}`.",
    fix="Nothing to do.",
)
FUNCTION = rule(
    "window-function-changed",
    "windows are handed to another function",
    "Windows that are open hold what the old function made of their rows.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`aggregate: {total: SUM(amount)}` became `{total: SUM(amount), best: MAX(amount)}`.",
    fix="Start without state.",
)
TIME = rule(
    "window-time-changed",
    "rows of global windows have another event time, or none",
    "All rows of a key are in one window, whatever their time. Evictors by time and Python classes look at it.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="`SELECT product, amount FROM orders` became `SELECT product, amount, ts FROM orders` in the view that a "
    "window reads.",
    fix="Nothing to do where nothing looks at the time of rows.",
)
NAMES = rule(
    "element-names-changed",
    "Python classes see the columns of rows under other names",
    "Rows are kept by place, and seen under the names of the new plan. A class that goes by an old name fails, and so "
    "does one that goes by a new name in rows which it has put into its own state, with their names.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="`SELECT amount FROM orders` became `SELECT amount AS total FROM orders` in the view that a window reads.",
    fix="Let the classes go by the new names, or by place.",
)


@field_judge("keys", WindowOperator)
def keys(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Other keys are other windows."""
    yield Judgement(KEYS, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("time_attribute_index", WindowOperator)
def time_attribute(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Windows are cut by the time of rows, but for global ones."""
    both = all(isinstance(n, WindowOperator) and isinstance(n.assigner, GlobalWindows) for n in (edit.old, edit.new))
    yield Judgement(TIME if both else WINDOW, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("assigner", WindowOperator)
def assigner(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """State is kept by window."""
    yield Judgement(WINDOW, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("trigger", WindowOperator)
def trigger(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """The same trigger with another setting goes on with what it has."""
    assert isinstance(edit.old, WindowOperator) and isinstance(edit.new, WindowOperator)
    same = _shape(edit.old.trigger) == _shape(edit.new.trigger)
    yield Judgement(
        SETTING if same else TRIGGER, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes
    )


@field_judge("evictor", WindowOperator)
def evictor(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Rows are kept wherever there is an evictor, of whatever kind."""
    assert isinstance(edit.old, WindowOperator) and isinstance(edit.new, WindowOperator)
    both = edit.old.evictor is not None and edit.new.evictor is not None
    yield Judgement(
        SETTING if both else EVICTOR, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes
    )


@field_judge("function", WindowOperator)
def function(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Accumulators are those of one function."""
    yield Judgement(FUNCTION, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("element_names", WindowOperator)
def element_names(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """What Python classes call columns."""
    yield Judgement(NAMES, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


def _shape(value: object) -> object:
    """The classes of a trigger and of those inside it; of one in Python, its own."""
    if not isinstance(value, Record):
        return None
    nested = getattr(value, "nested_trigger", None)
    return (type(value), getattr(value, "python_class", None), _shape(nested))
