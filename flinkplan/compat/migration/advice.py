"""What ``migrate`` does about a change that breaks state, in a sentence for findings."""

from __future__ import annotations

from ...plan.record import Record, cached_property
from ..comparing import Comparison
from .planning import migration_of
from .recipe import Allowed, Migration, Recipe, RecipeKind

_NOTHING_ACCEPTED = Allowed()


class Carried(Record):
    """What becomes of state: ``recipe`` is how it is made, and ``why`` says what is done or why it cannot be."""

    recipe: str
    why: str = ""

    @property
    def is_possible(self) -> bool:
        """Whether the state is carried over without anything to accept."""
        return self.recipe != RecipeKind.IMPOSSIBLE.value

    @property
    def sentence(self) -> str:
        """``flinkplan migrate carries the state over: derived, …``."""
        why = f" ({self.why})" if self.why else ""
        if self.is_possible:
            return f"`flinkplan migrate` carries the state over: {self.recipe}{why}."
        return f"`flinkplan migrate` cannot carry the state over{why}."


class MigrationAdvice:
    """Says of each node of a comparison whether its state can be carried over; computed when it is first asked."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def about(self, node: int | None) -> Carried:
        """What becomes of the state of a node of the new plan; without one, of the whole state."""
        own = self._by_node.get(node) if node is not None else None
        return self._whole if own is None else own

    @cached_property
    def _by_node(self) -> dict[int, Carried]:
        return {recipe.node: _carried(recipe) for recipe in self._migration.recipes}

    @cached_property
    def _whole(self) -> Carried:
        refusals = list(self._migration.refusals(_NOTHING_ACCEPTED))
        if refusals:
            where, why, _ = refusals[0]
            return Carried(RecipeKind.IMPOSSIBLE.value, f"{where}: {why}")
        kinds = [recipe.kind for recipe in self._migration.recipes if recipe.kind is not RecipeKind.EMPTY]
        return Carried(max(kinds, key=lambda kind: kind.rank, default=RecipeKind.SAME).value)

    @cached_property
    def _migration(self) -> Migration:
        return migration_of(self._comparison).settled(_NOTHING_ACCEPTED)


def _carried(recipe: Recipe) -> Carried:
    if recipe.needs:
        return Carried(RecipeKind.IMPOSSIBLE.value, "; ".join(need.why for need in recipe.needs))
    return Carried(recipe.kind.value, "; ".join(recipe.words))
