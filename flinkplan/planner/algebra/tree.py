"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable

from .logical import Rel

Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    given = iter(inputs)
    return rel.over(lambda _: next(given))


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    return change(rel.over(lambda below: bottom_up(below, change)))
