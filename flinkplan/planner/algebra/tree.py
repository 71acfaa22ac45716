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


def top_down(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the relation, then the inputs of what came out."""
    rel = change(rel)
    return with_inputs(rel, tuple(top_down(i, change) for i in rel.inputs))


def to_fixpoint(rel: Rel, change: Rewrite, limit: int = 100) -> Rel:
    """Apply a rewrite of the whole tree until it changes nothing."""
    for _ in range(limit):
        new = change(rel)
        if new == rel:
            return new
        rel = new
    return rel


def exhaust(rel: Rel, rule: Rewrite, limit: int = 100) -> Rel:
    """Apply a rule to each relation, inputs first, and again to the whole tree until it changes nothing.

    What has come out of one pass as it was is not looked at again, which is noted with it: a rule sees but a relation
    and what is below it.
    """

    def visit(rel: Rel) -> Rel:
        notes: dict[Any, Any] = rel.__dict__
        if rule in notes:
            return rel
        inputs = rel.inputs
        new = rule(with_inputs(rel, tuple([visit(i) for i in inputs])) if inputs else rel)
        if new is rel or new == rel:
            notes[rule] = True
            return rel
        return new

    for _ in range(limit):
        new = visit(rel)
        if new is rel:
            break
        rel = new
    return rel
