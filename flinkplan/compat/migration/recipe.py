"""Recipes: how each state of a new plan is made from the states of the old one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum
from fnmatch import fnmatchcase

from ...plan.record import Record, replace
from .recipe_steps import FirstRows, Frame, JoinRows, MergeSlices, Step, relations, stored_in


class RecipeKind(Enum):
    """How the states of an operator are made, from the plainest to the most far-reaching way."""

    SAME = "same"
    """All entries are copied; ids may change."""
    PROJECTED = "projected"
    """Values are dropped, reordered, renamed or get wider types."""
    EXTENDED = "extended"
    """Values are added."""
    DERIVED = "derived"
    """Entries are computed from other values or entries that are kept."""
    REKEYED = "rekeyed"
    """Entries get other keys."""
    WINDOWS = "windows"
    """Entries get other windows."""
    HISTORY = "history"
    """Entries are computed anew from what the sources have read."""
    EMPTY = "empty"
    """The state starts empty."""
    IMPOSSIBLE = "impossible"
    """The state cannot be made."""

    @property
    def rank(self) -> int:
        """The position in the order, from 0."""
        return list(RecipeKind).index(self)


class NeedKind(Enum):
    """What the user has to accept."""

    EMPTY = "empty"
    """A value, or a state, that starts empty."""
    MIXED = "mixed"
    """State of rows that the old query has selected."""


class Need(Record):
    """Something that is carried out only if the user names it; ``fix`` is the smallest change that avoids it."""

    kind: NeedKind
    name: str
    why: str
    fix: str = ""

    @property
    def option(self) -> str:
        """The option that accepts it."""
        return f"--allow-{self.kind.value} {self.name}"


class Allowed(Record):
    """What the user accepts: patterns of names, by what they accept."""

    empty: Collection[str] = ()
    mixed: Collection[str] = ()

    def accepts(self, need: Need) -> bool:
        """Whether a need is accepted: by its name, or by a pattern."""
        patterns = {NeedKind.EMPTY: self.empty, NeedKind.MIXED: self.mixed}[need.kind]
        return any(fnmatchcase(need.name, pattern) for pattern in patterns)


class StateRecipe(Record):
    """How a state of the new plan is made; ``name`` is that of the state in a savepoint."""

    name: str
    step: Step


class Recipe(Record):
    """How the states of an operator of the new plan are made.

    ``node`` and ``name`` are those of the new plan, ``old`` the id of the old node whose states are read.
    ``old_operator`` and ``operator`` are the operators' transformations.  ``words`` say what is done, ``untold`` what
    changes that the sink is not told.  ``reason`` and ``fix`` are given where it is impossible.

    With ``history`` the same state can be computed anew from what the sources have read: instead of a recipe that has
    needs, or where the entries do not suffice.  Of such a recipe ``sink`` is the id of a sink that the operator's rows
    reach, and ``in_order`` says that its state depends on the order in which rows come.
    """

    kind: RecipeKind
    node: int
    name: str
    old: int | None = None
    old_name: str = ""
    old_operator: str = ""
    operator: str = ""
    states: tuple[StateRecipe, ...] = ()
    words: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    untold: tuple[str, ...] = ()
    reason: str = ""
    fix: str = ""
    history: Recipe | None = None
    sink: int | None = None
    in_order: bool = False

    @property
    def is_uncertain(self) -> bool:
        """Whether the entries say in the end if they suffice."""
        return any(_is_uncertain(state.step) for state in self.states)

    @property
    def sources(self) -> frozenset[int]:
        """The ids of the old nodes whose states are read."""
        read = {stored.node for state in self.states for each in relations(state.step) for stored in stored_in(each)}
        return frozenset(read if self.old is None else {*read, self.old})

    @property
    def start_empty(self) -> Need:
        """What the user may accept where the entries do not suffice."""
        return Need(NeedKind.EMPTY, self.name, "its entries do not suffice")

    def is_replaceable(self, allowed: Allowed) -> bool:
        """Whether the state comes from history, or starts empty, where the entries do not suffice."""
        return self.is_uncertain and (self.history is not None or allowed.accepts(self.start_empty))


def _is_uncertain(step: Step) -> bool:
    match step:
        case FirstRows():
            return step.needs_all or step.may_tie or step.is_unique
        case Frame():
            return step.most > step.had + 1
        case MergeSlices():
            return step.is_uncertain
        case JoinRows():
            return "with a number" not in step.form
    return False


class Migration(Record):
    """The recipes of all operators with state of a new plan, in the order of its nodes, and what is left behind."""

    recipes: tuple[Recipe, ...]
    left: tuple[str, ...] = ()
    """The old operators whose state nobody takes."""

    @property
    def from_history(self) -> tuple[Recipe, ...]:
        """The recipes of states that are computed anew from what the sources have read."""
        return tuple(recipe for recipe in self.recipes if recipe.kind is RecipeKind.HISTORY)

    def without(self, insufficient: Collection[int]) -> Migration:
        """The migration without the recipes of these nodes, whose entries do not suffice: from history, or empty."""

        def instead(recipe: Recipe) -> Recipe:
            if recipe.node not in insufficient:
                return recipe
            return recipe.history or Recipe(RecipeKind.EMPTY, recipe.node, recipe.name)

        return replace(self, recipes=tuple(map(instead, self.recipes)))

    @property
    def without_history(self) -> Migration:
        """The migration from what is kept alone."""
        return replace(self, recipes=tuple(replace(recipe, history=None) for recipe in self.recipes))

    def settled(self, allowed: Allowed) -> Migration:
        """The migration with recipes from history for what the user has to accept and has not."""
        recipes = (r.history if r.history and not all(map(allowed.accepts, r.needs)) else r for r in self.recipes)
        return replace(self, recipes=tuple(recipes))

    @property
    def origins(self) -> dict[int, int]:
        """The ids of the old nodes whose states are read, by those of the new nodes."""
        return {recipe.node: recipe.old for recipe in self.recipes if recipe.old is not None}

    def refusals(self, allowed: Allowed) -> Iterator[tuple[str, str, str]]:
        """What prevents the migration: where, why, and how to avoid it."""
        for recipe in self.recipes:
            for need in recipe.needs:
                if not allowed.accepts(need):
                    yield f"{recipe.name} (node {recipe.node})", need.why, _advice(need)


def _advice(need: Need) -> str:
    option = f"accept this with {need.option}"
    return f"{need.fix}, or {option}" if need.fix else option
