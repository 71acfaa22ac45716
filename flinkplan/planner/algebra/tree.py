"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

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


Kinds: TypeAlias = type[Rel] | tuple[type[Rel], ...]


class Occurrences(dict[frozenset[type[Rel]], bool]):
    """By the classes of a tree's relations: whether for one of several patterns there are some of all its kinds."""

    def __init__(self, patterns: Sequence[Sequence[Kinds]]) -> None:
        self._patterns = patterns

    def __missing__(self, classes: frozenset[type[Rel]]) -> bool:
        found = any(all(any(issubclass(c, kind) for c in classes) for kind in kinds) for kinds in self._patterns)
        self[classes] = found
        return found


class Pass(Struct):
    """A rewrite on its way through a tree; ``change`` makes something of a relation, given what visits its inputs.

    A relation that stands at several places, such as a query in WITH, is rewritten once, and what comes of it is one
    again.  Source: ``HepPlanner``, whose tree is a graph.  What has settled by the name of the rewrite is passed over,
    and so is what the rewrite matches nothing of.
    """

    change: Callable[[Rel, Rewrite], Rel]
    name: Hashable = None
    matching: Occurrences = Occurrences([[]])
    seen: dict[int, tuple[Rel, Rel]] = field(default_factory=dict)
    """Relations by their identities, and what has come of them."""

    def visit(self, rel: Rel) -> Rel:
        """What comes of a relation and all below it."""
        if self.name in rel.settled or not self.matching[rel.classes]:
            return rel
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
