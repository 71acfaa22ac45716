"""The states of operators that a user names by a number, a name, or a pattern of them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..executor.jobs.states import State


def chosen_states(states: list[State], sink: str | None, operator: str | None) -> list[State]:
    """The states of this sink and operator.  Raises :class:`PlanError` where there are none."""
    from ..plan.errors import PlanError

    chosen = [s for s in states if (sink is None or s.sink == sink) and (operator is None or _matches(s, operator))]
    if not chosen:
        known = dict.fromkeys(f"{s.sink}: {s.operator}{f' {s.node}' if s.node else ''}" for s in states)
        hint = f"the operators are {', '.join(known)}" if known else "no operator has state"
        raise PlanError("the checkpoint has no such operator", hint=hint)
    return chosen


def _matches(state: State, operator: str) -> bool:
    names = (str(state.operator), state.node or "", (state.node or "").partition("#")[0])
    return any(fnmatchcase(name, operator) for name in names)
