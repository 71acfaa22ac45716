"""Tables of functions by the class of a relation, which name every class that they can meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from .rel import Rel

A = TypeVar("A")

DISPATCHES: list[Dispatch[object]] = []
"""All tables, for the test that each is complete."""


class Dispatch(Generic[A]):
    """The function for each class of relation, or that there is none for it.

    ``rules`` and ``unknown`` together name every class of the algebras that the table covers, so a new operator is not
    treated by a default.  ``logical``: the table covers the logical algebra and the physical operators that logical
    rules make; ``physical``: it covers the physical algebra.
    """

    def __init__(
        self,
        name: str,
        rules: Mapping[type[Rel], Callable[..., A]],
        *,
        unknown: Collection[type[Rel]],
        logical: bool = False,
        physical: bool = False,
    ) -> None:
        self.name = name
        self.rules = rules
        self.unknown = frozenset(unknown)
        self.logical, self.physical = logical, physical
        DISPATCHES.append(self)  # type: ignore[arg-type]

    def get(self, rel: Rel) -> Callable[..., A] | None:
        """The function for a relation; ``None`` where its class has none."""
        return self.rules.get(type(rel))

    def __getitem__(self, rel: Rel) -> Callable[..., A]:
        """The function for a relation.  Raises :class:`TypeError` where its class has none."""
        rule = self.rules.get(type(rel))
        if rule is None:
            raise TypeError(f"{self.name}: not defined for {type(rel).__name__}")
        return rule
