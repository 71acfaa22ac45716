"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...plan.record import replace
from . import physical as p
from .logical import Join, Lateral, MultiJoin, Rel, SetOp, TemporalJoin, Unary

Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    if all(a is b for a, b in zip(rel.inputs, inputs, strict=True)):
        return rel
    changes: dict[str, Any] = {}
    match rel:
        case Unary():
            changes = {"input": inputs[0]}
        case Join() | Lateral() | TemporalJoin() | p.Binary():
            changes = {"left": inputs[0], "right": inputs[1]}
        case SetOp() | MultiJoin() | p.UnionAll() | p.MultiJoin():
            changes = {"operands": inputs}
    return replace(rel, **changes)


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    return change(with_inputs(rel, tuple(bottom_up(i, change) for i in rel.inputs)))


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
