"""What a rule is: the relations that it matches, and what it makes of them.

Sources of the terms: ``RelRule.OperandBuilder``, ``HepMatchOrder``, ``HEP_RULES_EXECUTION_TYPE``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias, TypeVar, overload

from ...plan.record import Record
from ..algebra.logical import Rel
from ..algebra.tree import Rewrite, bottom_up, exhaust, to_fixpoint, top_down

R = TypeVar("R", bound=Rel)
S = TypeVar("S", bound=Rel)

Kinds: TypeAlias = type[Rel] | tuple[type[Rel], ...]
Config: TypeAlias = Mapping[str, str]
NO_OPTIONS: Config = {}


class Rule(Record):
    """A rewrite of one relation, ``on`` relations of some classes, ``over`` a first input of some classes.

    ``rewrite`` takes the relation, the input where it matters, and the options where they matter.
    """

    rewrite: Callable[..., Rel]
    on: Kinds
    over: Kinds | None
    configured: bool

    @property
    def name(self) -> str:
        """What the documentation and the tests call it."""
        return self.rewrite.__name__

    def matches(self, rel: Rel) -> bool:
        """Whether the rule looks at a relation."""
        return isinstance(rel, self.on) and (self.over is None or isinstance(rel.inputs[0], self.over))

    def __call__(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The relation, rewritten if the rule matches it and has something to change."""
        if not self.matches(rel):
            return rel
        below = () if self.over is None else rel.inputs[:1]
        return self.rewrite(rel, *below, *([config] if self.configured else ()))

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """A tree after the rule has seen each relation of it once, inputs first."""
        return bottom_up(rel, lambda node: self(node, config))


@overload
def rule(*, on: type[R]) -> Callable[[Callable[[R], Rel]], Rule]: ...
@overload
def rule(*, on: type[R], over: type[S]) -> Callable[[Callable[[R, S], Rel]], Rule]: ...
@overload
def rule(*, on: Kinds, over: Kinds | None = None, configured: bool = False) -> Callable[[Callable[..., Rel]], Rule]: ...
def rule(*, on: Any, over: Any = None, configured: bool = False) -> Callable[[Callable[..., Rel]], Rule]:
    """Make a function a rule; with ``over`` it takes the relation's first input too, if ``configured`` the options."""
    return lambda rewrite: Rule(rewrite, on, over, configured)


class Order(Enum):
    """How rules go through a tree."""

    TOP_DOWN = "from the top"
    """Each relation until no rule changes it, then its inputs."""
    BOTTOM_UP = "inputs first"
    """Each relation once."""


class RuleSet(Record, eq=False):
    """Rules that go through a tree together; a relation is rewritten by the first of them that changes it."""

    name: str
    rules: tuple[Rule, ...]
    order: Order
    to_fixpoint: bool
    """Whether they go through the tree again until they change nothing."""

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """A tree after the rules."""
        if self.order is Order.BOTTOM_UP:
            return exhaust(rel, self._change) if self.to_fixpoint else bottom_up(rel, self._change)
        walk: Rewrite = lambda tree: top_down(tree, self._settled)  # noqa: E731
        return to_fixpoint(rel, walk) if self.to_fixpoint else walk(rel)

    def _change(self, rel: Rel) -> Rel:
        for rule in self.rules:
            new = rule(rel)
            if new is not rel:
                return new
        return rel

    def _settled(self, rel: Rel) -> Rel:
        while (new := self._change(rel)) is not rel:
            rel = new
        return rel


class Walk(Record):
    """A rewrite that goes through the tree itself: what it makes of a relation depends on those above it."""

    through: Rewrite

    @property
    def name(self) -> str:
        """What the documentation and the tests call it."""
        return self.through.__name__

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """A tree after the rewrite."""
        return self.through(rel)


Phase: TypeAlias = Rule | RuleSet | Walk
"""A rewrite of a whole tree by name."""
