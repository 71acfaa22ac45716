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
    "windows have another trigger",
    "The counts and timers of one trigger have no meaning for another one.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`trigger: {count: 100}` became `{every: 1 min}`.",
    fix="Start without state, or add a second window with the new trigger and run both for a while.",
)
EVICTOR = rule(
    "evictor-changed",
    "the evictor of windows was added, removed or changed",
    "With an evictor a window stores all its rows, without one it may store only an accumulator.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`evict: {count: 10}` was added.",
    fix="Start without state.",
)
SETTING = rule(
    "window-setting-changed",
    "a trigger or an evictor has another count, time or threshold",
    "The format of the state is the same. Open windows continue with the new setting; a timer that was set still "
    "fires once at its old time.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`trigger: {count: 100}` became `{count: 50}`.",
    fix="Nothing to do.",
)
FUNCTION = rule(
    "window-function-changed",
    "windows have another function",
    "Open windows contain the accumulators of the old function.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`aggregate: {total: SUM(amount)}` became `{total: SUM(amount), best: MAX(amount)}`.",
    fix="Start without state.",
)
TIME = rule(
    "window-time-changed",
    "the event time of rows in global windows was added, removed or changed",
    "All rows of a key are in one window, whatever their time. Only evictors by time and Python classes use it.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="`SELECT product, amount FROM orders` became `SELECT product, amount, ts FROM orders` in the view that a "
    "window reads.",
    fix="Nothing to do if nothing uses the time of rows.",
)
NAMES = rule(
    "element-names-changed",
    "Python classes get the columns of rows under other names",
    "Rows are stored by position and passed to classes with the names of the new plan. A class fails if it uses an "
    "old name, or a new name in rows that it stored in its own state.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.UNKNOWN,
    example="`SELECT amount FROM orders` became `SELECT amount AS total FROM orders` in the view that a window reads.",
    fix="Use the new names in the classes, or positions.",
)


@field_judge("keys", WindowOperator)
def keys(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Other keys have other windows."""
    yield Judgement(KEYS, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("time_attribute_index", WindowOperator)
def time_attribute(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """All windows except global ones depend on the time of rows."""
    nodes = (edit.old, edit.new)
    are_global = all(isinstance(n, WindowOperator) and isinstance(n.assigner, GlobalWindows) for n in nodes)
    rule_ = TIME if are_global else WINDOW
    yield Judgement(rule_, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("assigner", WindowOperator)
def assigner(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """State is stored by window."""
    yield Judgement(WINDOW, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("trigger", WindowOperator)
def trigger(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """The same trigger with another setting keeps its state."""
    assert isinstance(edit.old, WindowOperator) and isinstance(edit.new, WindowOperator)
    same = _shape(edit.old.trigger) == _shape(edit.new.trigger)
    yield Judgement(
        SETTING if same else TRIGGER, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes
    )


@field_judge("evictor", WindowOperator)
def evictor(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """With any evictor, the rows of windows are stored."""
    assert isinstance(edit.old, WindowOperator) and isinstance(edit.new, WindowOperator)
    have_evictors = edit.old.evictor is not None and edit.new.evictor is not None
    rule_ = SETTING if have_evictors else EVICTOR
    yield Judgement(rule_, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("function", WindowOperator)
def function(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Accumulators belong to one function."""
    yield Judgement(FUNCTION, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


@field_judge("element_names", WindowOperator)
def element_names(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """The names of columns in Python classes."""
    yield Judgement(NAMES, arrows(changes), edit.old, edit.new, changes[0].pointer, changes=changes)


def _shape(value: object) -> object:
    """The classes of a trigger and its nested triggers."""
    if not isinstance(value, Record):
        return None
    nested = getattr(value, "nested_trigger", None)
    return (type(value), getattr(value, "python_class", None), _shape(nested))
