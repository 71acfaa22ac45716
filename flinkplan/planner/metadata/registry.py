"""The questions that can be asked of relations, and by which class of relation each is answered how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from ..algebra.rel import Rel

A = TypeVar("A")

METADATA: list[Metadata[object]] = []
"""All questions."""


class Metadata(Generic[A]):
    """A question: a rule for each class of relation that it is asked of, or that this class has no answer.

    Physical relations of some classes are made by logical rules, so both algebras may have to answer.
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
        METADATA.append(self)  # type: ignore[arg-type]

    def rule(self, rel: Rel) -> Callable[..., A] | None:
        """The rule for a relation; ``None`` where it has no answer."""
        return self.rules.get(type(rel))
