"""Rules on process table functions, whose states only their classes know."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...plan.nodes import ProcessTableFunction
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .fields import STATELESS
from .keys import KEYS
from .model import Judgement, became, field_judge, rule

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
