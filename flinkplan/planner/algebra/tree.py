"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from ...plan.record import replace
from .logical import Binary, JoinOfMany, Rel, Unary, Union

Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    if all(map(is_, rel.inputs, inputs)):
        return rel
    changes: dict[str, Any] = {}
    match rel:
        case Unary():
            changes = {"input": inputs[0]}
        case Binary():
            changes = {"left": inputs[0], "right": inputs[1]}
        case Union() | JoinOfMany():
            changes = {"operands": inputs}
    return replace(rel, **changes)


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    if inputs := rel.inputs:
        rel = with_inputs(rel, tuple([bottom_up(i, change) for i in inputs]))
    return change(rel)
