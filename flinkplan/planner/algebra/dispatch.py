"""Tables of functions by the class of a relation, which cover every class that they can meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from .rel import Rel

A = TypeVar("A")

DISPATCHES: list[Dispatch[object]] = []
"""All tables, for the test that each is complete."""


class Dispatch(Generic[A]):
    """The function for each class of relation, or that there is none for it.

    ``rules`` and ``unknown`` name classes of relations, and traits (:mod:`.traits`), which stand for all operators that
    have them; together they cover every class of the algebras that the table is for, so a new operator is not treated
    by a default.  What is said of a class comes before what is said of its traits.  ``logical``: the table covers the
    logical algebra and the physical operators that logical rules make; ``physical``: it covers the physical algebra.
    """

    def __init__(
        self,
        name: str,
        rules: Mapping[type, Callable[..., A]],
        *,
        unknown: Collection[type],
        logical: bool = False,
        physical: bool = False,
    ) -> None:
        self.name = name
        self.rules = rules
        self.unknown = frozenset(unknown)
        self.logical, self.physical = logical, physical
        self._resolved: dict[type[Rel], Callable[..., A] | None] = {}
        DISPATCHES.append(self)  # type: ignore[arg-type]

    def get(self, rel: Rel) -> Callable[..., A] | None:
        """The function for a relation; ``None`` where its class has none."""
        cls = type(rel)
        try:
            return self._resolved[cls]
        except KeyError:
            rule = self._resolved[cls] = self.rule_of(cls)
            return rule

    def __getitem__(self, rel: Rel) -> Callable[..., A]:
        """The function for a relation.  Raises :class:`TypeError` where its class has none."""
        rule = self.get(rel)
        if rule is None:
            raise TypeError(f"{self.name}: not defined for {type(rel).__name__}")
        return rule

    def rule_of(self, cls: type[Rel]) -> Callable[..., A] | None:
        """The function for a class.  Raises :class:`TypeError` where two traits of it contradict each other."""
        names = self.names_of(cls)
        if len(names) > 1:
            raise TypeError(f"{self.name}: {cls.__name__} is both {' and '.join(t.__name__ for t in names)}")
        return self.rules.get(names[0]) if names else None

    def names_of(self, cls: type[Rel]) -> list[type]:
        """Under what the table has a class: itself, or else traits, of which those that imply others count."""
        if cls in self.rules or cls in self.unknown:
            return [cls]
        traits = [t for t in cls.__mro__ if not issubclass(t, Rel) and (t in self.rules or t in self.unknown)]
        return [t for t in traits if not any(t is not other and issubclass(other, t) for other in traits)]
