"""Walking and rebuilding trees of relations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from ...plan.record import Struct, field
from .rel import Rel

R = TypeVar("R", bound=Rel)
Rewrite = Callable[[Rel], Rel]


def with_inputs(rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
    """The relation over other inputs; itself where they are the same."""
    given = iter(inputs)
    return rel.over(lambda _: next(given))


def walk(rel: Rel) -> Iterator[Rel]:
    """The relation and all relations below it, each before its inputs."""
    pending = [rel]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.inputs)


def walk_once(rel: Rel) -> dict[int, tuple[Rel, int]]:
    """The relations of a tree by ``id``, in the order of :func:`walk`, each with its number of places."""
    relations: dict[int, Rel] = {}
    inputs_first: list[Rel] = []

    def enter(each: Rel) -> None:
        relations[id(each)] = each
        for below in each.inputs:
            if id(below) not in relations:
                enter(below)
        inputs_first.append(each)

    enter(rel)
    places = dict.fromkeys(relations, 0)
    places[id(rel)] = 1
    for each in reversed(inputs_first):
        for below in each.inputs:
            places[id(below)] += places[id(each)]
    return {key: (each, places[key]) for key, each in relations.items()}


Kinds: TypeAlias = type[Rel] | tuple[type[Rel], ...]


class Occurrences(dict[frozenset[type[Rel]], bool]):
    """Whether a tree can match one of several patterns, by the classes of its relations.

    A pattern is a list of classes (or tuples of classes) that must all occur in the tree.
    """

    def __init__(self, patterns: Sequence[Sequence[Kinds]]) -> None:
        self._patterns = patterns

    def __missing__(self, classes: frozenset[type[Rel]]) -> bool:
        occurs = any(all(any(issubclass(c, kind) for c in classes) for kind in kinds) for kinds in self._patterns)
        self[classes] = occurs
        return occurs


class Pass(Struct):
    """One traversal of a tree by a rewrite; ``change`` takes a relation and the function that visits its inputs.

    A relation that stands at several places, such as a query in WITH, is rewritten once, and the result is shared
    again.  Source: ``HepPlanner``, whose tree is a graph.  Sub-trees are skipped that the rewrite of this ``name`` is
    known to leave as they are (:attr:`Rel.settled`), and those in which nothing can match.
    """

    change: Callable[[Rel, Rewrite], Rel]
    name: Hashable = None
    matching: Occurrences = Occurrences([[]])
    equals: Equals | None = None
    """If given, equal relations are replaced by the first of them."""
    seen: dict[int, tuple[Rel, Rel]] = field(default_factory=dict)
    """By the ``id`` of a relation: the relation, which keeps its ``id`` in use, and its rewritten form."""

    def visit(self, rel: Rel) -> Rel:
        """The rewritten form of a relation and of all below it."""
        if self.equals is not None:
            rel = self.equals.first(rel)
        if self.name in rel.settled or not self.matching[rel.classes]:
            return rel
        rewritten = self.seen.get(id(rel))
        if rewritten is None:
            rewritten = self.seen[id(rel)] = rel, self.change(rel, self.visit)
        return rewritten[1]


class Equals(Struct):
    """Replaces equal relations by the first of them, inputs first, so that equal results of a rewrite are shared."""

    known: dict[int, tuple[Rel, Rel]] = field(default_factory=dict)
    """By the ``id`` of a relation: the relation and the first one that equals it."""
    firsts: dict[Hashable, Rel] = field(default_factory=dict)

    def first(self, rel: Rel) -> Rel:
        """The first relation that equals the given one."""
        entry = self.known.get(id(rel))
        if entry is None:
            new = rel.over(self.first)
            first = self.firsts.setdefault(_identity(new), new)
            entry = self.known[id(rel)] = rel, first
            self.known[id(first)] = first, first
        return entry[1]


def _identity(rel: Rel) -> Hashable:
    """A key that equal relations share: the class, the fields, and the ``id`` of each input."""
    own: list[Hashable] = [type(rel), *map(id, rel.inputs)]
    for name in rel.__struct_fields__:
        value = getattr(rel, name)
        if isinstance(value, Rel) or (name == "operands" and isinstance(value, tuple)):
            continue
        try:
            hash(value)
        except TypeError:
            value = id(value)
        own.append(value)
    return tuple(own)


def bottom_up(rel: Rel, change: Rewrite) -> Rel:
    """Rewrite the inputs, then the relation."""
    return Pass(lambda rel, visit: change(rel.over(visit))).visit(rel)


def copy_as(kind: type[R], rel: Rel, **changes: Any) -> R:
    """A relation of the class ``kind`` with the fields that it has in common with ``rel``, and with the ``changes``."""
    shared = {name: getattr(rel, name) for name in kind.__struct_fields__ if name in rel.__struct_fields__}
    return kind(**{**shared, **changes})
