"""Rules and rule sets: the relations that they match, and how they go through a tree.

Sources of the terms: ``RelRule.OperandBuilder``, ``HepMatchOrder``, ``HEP_RULES_EXECUTION_TYPE``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from ...plan.record import Record, cached_property
from ..algebra.rel import Rel
from ..algebra.tree import Equals, Kinds, Occurrences, Pass, Rewrite, walk_once

R = TypeVar("R", bound=Rel)
S = TypeVar("S", bound=Rel)

Config: TypeAlias = Mapping[str, str]
NO_OPTIONS: Config = {}

_is_subclass = cache(issubclass)
"""``issubclass``, cached because it is slow for structs when the answer is no."""


class Rule(Record):
    """A rewrite of single relations: those of the classes ``on`` whose first input is of the classes ``over``.

    ``rewrite`` takes the relation, its first input if ``over`` is given, and the options if it is ``configured``.
    """

    rewrite: Callable[..., Rel]
    on: Kinds
    over: Kinds | None
    configured: bool

    @property
    def name(self) -> str:
        """The name in the documentation, in ``explain --rules`` and in tests."""
        return self.rewrite.__name__

    def matches(self, rel: Rel) -> bool:
        """Whether the rule applies to a relation by its class and that of its first input."""
        return _is_subclass(type(rel), self.on) and (self.over is None or _is_subclass(type(rel.inputs[0]), self.over))

    def __call__(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The rewritten relation; the relation itself where the rule does not match or changes nothing."""
        return self.applied(rel, config) if self.matches(rel) else rel

    def applied(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The same for a relation that the rule is known to match."""
        below = () if self.over is None else rel.inputs[:1]
        new = self.rewrite(rel, *below, config) if self.configured else self.rewrite(rel, *below)
        return rel if new is rel or new == rel else new

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The tree after the rule was applied once to each relation, inputs first."""

        def change(rel: Rel, visit: Rewrite) -> Rel:
            new = rel.over(visit)
            if self.matches(new):
                new = self.applied(new, config)
            if new is rel and not self.configured:
                rel.settled.add(self.rewrite)
            return new

        return Pass(change, self.rewrite, _matching(self)).visit(rel)


@cache
def _matching(*rules: Rule) -> Occurrences:
    """The classes that must occur in a tree for one of the rules to match."""
    return Occurrences([[rule.on] if rule.over is None else [rule.on, rule.over] for rule in rules])


@overload
def rule(*, on: type[R]) -> Callable[[Callable[[R], Rel]], Rule]: ...
@overload
def rule(*, on: type[R], over: type[S]) -> Callable[[Callable[[R, S], Rel]], Rule]: ...
@overload
def rule(*, on: Kinds, over: Kinds | None = None, configured: bool = False) -> Callable[[Callable[..., Rel]], Rule]: ...
def rule(*, on: Any, over: Any = None, configured: bool = False) -> Callable[[Callable[..., Rel]], Rule]:
    """Declare a function as a rule; the parameters are those of :class:`Rule`."""
    return lambda rewrite: Rule(rewrite, on, over, configured)


class Order(Enum):
    """The order in which a rule set goes through a tree.  Source: ``HepMatchOrder``."""

    TOP_DOWN = "from the top"
    """A relation is rewritten until no rule changes it, then its inputs are."""
    BOTTOM_UP = "inputs first"
    """Inputs first, and each relation is rewritten once."""


class RuleSet(Record, dict=True):
    """Rules that go through a tree together: a relation is rewritten by the first rule that changes it."""

    name: str
    rules: tuple[Rule, ...]
    order: Order
    to_fixpoint: bool
    """Whether the rule set goes through the tree again until it changes nothing."""

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The tree after the rules.  Sub-trees that the rule set is known to leave as they are are skipped.

        Top-down rules insert relations between a relation and its readers.  Where a relation has several readers, equal
        inserted relations are made one again.
        """
        matching = _matching(*self.rules)
        for _ in range(_LIMIT if self.to_fixpoint else 1):
            if self.name in rel.settled or not matching[rel.classes]:
                break
            equals = Equals() if self.order is Order.TOP_DOWN and _is_read_twice(rel) else None
            new = Pass(self._rewritten, self.name, matching, equals).visit(rel)
            if new is rel:
                break
            rel = new
        return rel

    def _rewritten(self, rel: Rel, visit: Rewrite) -> Rel:
        """The rewritten relation; the relation itself where that is equal, and then it is marked as settled."""
        if self.order is Order.BOTTOM_UP:
            new = self._change(rel.over(visit))
        else:
            top = rel
            while (new := self._change(top)) is not top:
                top = new
            new = top.over(visit)
        if new is not rel and new != rel:
            return new
        rel.settled.add(self.name)
        return rel

    def _change(self, rel: Rel) -> Rel:
        for rule in self._rules_for(rel):
            new = rule.applied(rel)
            if new is not rel:
                return new
        return rel

    def _rules_for(self, rel: Rel) -> tuple[Rule, ...]:
        """The rules that match a relation, cached by its class and that of its first input."""
        inputs = rel.inputs
        classes = (type(rel), type(inputs[0]) if inputs else None)
        matching = self._by_classes.get(classes)
        if matching is None:
            matching = self._by_classes[classes] = tuple([rule for rule in self.rules if rule.matches(rel)])
        return matching

    @cached_property
    def _by_classes(self) -> dict[tuple[type[Rel], type[Rel] | None], tuple[Rule, ...]]:
        return {}


def _is_read_twice(rel: Rel) -> bool:
    """Whether some relation stands at several places of a tree."""
    return any(places > 1 for _, places in walk_once(rel).values())


class RuleSequence(Record):
    """Rules that go through a tree one after the other, inputs first.  Source: ``RULE_SEQUENCE``."""

    name: str
    rules: tuple[Rule, ...]

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The tree after the rules."""
        for rule in self.rules:
            rel = rule.run(rel, config)
        return rel


_LIMIT = 100
"""The most often that a rule set goes through a tree."""


class Walk(Record):
    """A function that rewrites a whole tree by itself, because what it makes of a relation depends on those above it.

    ``rewrite`` takes the tree and, if ``configured``, the options.
    """

    rewrite: Callable[..., Rel]
    configured: bool = False

    @property
    def name(self) -> str:
        """The name in the documentation, in ``explain --rules`` and in tests."""
        return self.rewrite.__name__

    def run(self, rel: Rel, config: Config = NO_OPTIONS) -> Rel:
        """The tree after the rewrite."""
        return self.rewrite(rel, config) if self.configured else self.rewrite(rel)


class Phase(Protocol):
    """A named rewrite of a whole tree, such as a :class:`Rule`, a :class:`RuleSet` or a :class:`Walk`."""

    @property
    def name(self) -> str:
        """What the documentation, ``explain --rules`` and the tests call it."""

    def run(self, rel: Rel, config: Config) -> Rel:
        """The tree after the rewrite, with the options of the job."""
