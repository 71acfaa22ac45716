"""Whether a changed plan needs a migration, or only the ids and orders of the old plan."""

from __future__ import annotations

from ..plan.document import Plan
from .migration.planning import plan_migration
from .migration.recipe import RecipeKind
from .successor import succeed


def order_is_enough(old: Plan, new: Plan) -> bool:
    """Whether ``compile --like`` keeps the state, so that nothing need be migrated: only ids and orders changed."""
    successor = succeed(old, new).plan
    recipes = plan_migration(old, successor).recipes
    return all(
        (recipe.kind is RecipeKind.SAME and recipe.old == recipe.node and not recipe.needs)
        or (recipe.kind is RecipeKind.EMPTY and not recipe.needs)
        for recipe in recipes
    )
