"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .logical import Rel

R = TypeVar("R", bound=Rel)
Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    given = iter(inputs)
    return rel.over(lambda _: next(given))


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    return change(rel.over(lambda below: bottom_up(below, change)))


def become(kind: type[R], rel: Rel, **changes: Any) -> R:
    """A relation of another class, with what both classes say of themselves but for the changes."""
    shared = {name: getattr(rel, name) for name in kind.__struct_fields__ if name in rel.__struct_fields__}
    return kind(**{**shared, **changes})
