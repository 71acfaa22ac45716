"""Rules on process table functions, whose states only their classes know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...plan.nodes import ProcessTableFunction
from ...plan.types import LogicalType
from ...plan.user_functions import user_function_of_call
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .fields import STATELESS
from .keys import KEYS
from .model import Became, Judgement, became, field_judge, pair_judge, rule
from .state import TTL_UNSAID, kept_for, ttl_changed

CALL = rule(
    "process-table-function-changed",
    "a process table function, or an argument of it, is another one",
    "The states and timers of the function are declared by its class, which is not part of a plan. What the new "
    "function, or the same one with other arguments, makes of them is not known.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="`FROM sessions(TABLE clicks PARTITION BY id, 30)` became `sessions(TABLE clicks PARTITION BY id, 60)`.",
    fix="Accept the change if the class reads the old states as you want it to, or start without state.",
)


STATES = rule(
    "process-table-states-changed",
    "a process table function has other states",
    "A function in Python has its states in the plan, by their names. What becomes of a state that the function no "
    "longer has, and whether a checkpoint is read with other states, is not known.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="`eval(self, seen, click)` became `eval(self, seen, last, click)`.",
    fix="Name the operator anew with `uid`, so that it starts without state, or accept the change.",
)
STATE_TYPE = rule(
    "process-table-state-type-changed",
    "a state of a process table function has another type",
    "What the function makes of entries of the old type is not known. Plans in JSON do not say the types of states: "
    "only pipelines are compared by them.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example='`StateHint("ROW<visits INT>")` became `StateHint("ROW<visits BIGINT>")`.',
    fix="Give the state another name, so that it begins empty, or accept the change.",
)


@field_judge("state", ProcessTableFunction)
def states(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """States by their names: their TTLs, and which there are."""
    if edit.old.is_stateful != edit.new.is_stateful:
        return
    old, new = ({state.name: state for state in node.states} for node in (edit.old, edit.new))
    for position, state in enumerate(edit.new.states):
        pointer = f"/state/{position}"
        if state.name in old:
            yield from ttl_changed(c, edit, old[state.name], state, f"{pointer}/ttl")
        elif not old:
            message = f"{state.name} is kept {kept_for(state, edit.new)}"
            yield Judgement(TTL_UNSAID, message, edit.old, edit.new, pointer)
    if not new:
        for state in edit.old.states:
            message = f"{state.name} was kept {kept_for(state, edit.old)}"
            yield Judgement(TTL_UNSAID, message, edit.old, edit.new, "/state")
    elif old and old.keys() != new.keys():
        yield Judgement(STATES, became(", ".join(old), ", ".join(new)), edit.old, edit.new, "/state", changes=changes)


@pair_judge
def state_types(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """The types of states of functions that are known."""
    if not isinstance(edit.old, ProcessTableFunction) or not isinstance(edit.new, ProcessTableFunction):
        return
    old, new = _types(edit.old), _types(edit.new)
    for name in old.keys() & new.keys():
        if old[name] != new[name]:
            before, after = (", ".join(map(str, types)) for types in (old[name], new[name]))
            yield Judgement(STATE_TYPE, f"{name}: {before} → {after}", edit.old, edit.new, "/functionCall")


def _types(node: ProcessTableFunction) -> dict[str, tuple[LogicalType, ...]]:
    """The types of each state, of a map of its keys first."""
    function = None if node.call is None else user_function_of_call(node.call)
    if function is None or function.process is None:
        return {}
    return {s.name: (s.value,) if s.key is None else (s.key, s.value) for s in function.process.states}


@field_judge("function_call", ProcessTableFunction)
def function_call(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Tables are kept by their keys; the rest is the function's."""
    old, new = edit.old, edit.new
    assert isinstance(old, ProcessTableFunction) and isinstance(new, ProcessTableFunction)
    same_keys = old.key_columns() == new.key_columns()
    rule_ = STATELESS if not (old.is_stateful or new.is_stateful) else CALL if same_keys else KEYS
    yield Judgement(rule_, became(_text(old), _text(new)), old, new, changes[0].pointer, changes=changes)


_INVOCATION = re.compile(r"invocation=\[(.*?)\], uid=")


def _text(node: ProcessTableFunction) -> str:
    """The call as the node's description has it."""
    match = _INVOCATION.search(node.description)
    return match[1] if match else "the call"
