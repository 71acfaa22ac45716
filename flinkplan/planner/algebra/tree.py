"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ...plan.record import Struct, field
from .logical import Rel

R = TypeVar("R", bound=Rel)
Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    given = iter(inputs)
    return rel.over(lambda _: next(given))


def walk(rel: Rel) -> Iterator[Rel]:
    """The relation and all below it, each before its inputs."""
    pending = [rel]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.inputs)


class Pass(Struct):
    """A rewrite on its way through a tree; ``change`` makes something of a relation, given what visits its inputs.

    A relation that stands at several places, such as a query in WITH, is rewritten once, and what comes of it is one
    again.  Source: ``HepPlanner``, whose tree is a graph.
    """

    change: Callable[[Rel, Rewrite], Rel]
    seen: dict[int, tuple[Rel, Rel]] = field(default_factory=dict)
    """Relations by their identities, and what has come of them."""

    def visit(self, rel: Rel) -> Rel:
        """What comes of a relation and all below it."""
        found = self.seen.get(id(rel))
        if found is None:
            found = self.seen[id(rel)] = rel, self.change(rel, self.visit)
        return found[1]


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    return Pass(lambda rel, visit: change(rel.over(visit))).visit(rel)


def become(kind: type[R], rel: Rel, **changes: Any) -> R:
    """A relation of another class, with what both classes say of themselves but for the changes."""
    shared = {name: getattr(rel, name) for name in kind.__struct_fields__ if name in rel.__struct_fields__}
    return kind(**{**shared, **changes})
