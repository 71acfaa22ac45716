"""What a checkpoint lacks of what Flink keeps: rows of a join with NULL in the key, which match nothing.

A join here drops them, unless it emits them without a match.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...plan.nodes import ExecNode, Join, MultiJoin
from ...plan.record import replace
from ...plan.rex import InputRef
from ...plan.savepoint import flink_states
from ...plan.specs import JoinType
from ..comparing import Comparison
from .joins import PADDED
from .recipe import Migration, Recipe, RecipeKind
from .recipe_steps import Accumulate, Computed, Joined, JoinRows, Relation, Stored, Taken

_SIDES = ("left", "right")


def not_in_checkpoints(comparison: Comparison, migration: Migration) -> Iterator[str]:
    """What the new plan needs of rows that a checkpoint lacks, though Flink has them: a sentence for each operator."""
    for recipe in migration.recipes:
        for name in lacking_sides(comparison, recipe):
            yield f"{recipe.name}: the checkpoint lacks {name} rows with NULL in the key, which matched nothing"


def for_checkpoint(comparison: Comparison, migration: Migration) -> Migration:
    """The migration of a checkpoint: from history where it lacks rows, if there is history."""
    recipes = (
        recipe.history if recipe.history is not None and lacking_sides(comparison, recipe) else recipe
        for recipe in migration.recipes
    )
    return replace(migration, recipes=tuple(recipes))


def lacking_sides(comparison: Comparison, recipe: Recipe) -> tuple[str, ...]:
    """The sides of old joins whose rows with NULL in the key a recipe needs, but a checkpoint lacks."""
    return tuple(dict.fromkeys((*_of_same_join(comparison, recipe), *_of_relations(comparison, recipe))))


def _of_same_join(comparison: Comparison, recipe: Recipe) -> Iterator[str]:
    """The sides of a join whose rows come from those of an old join."""
    old, new = comparison.old.plan.by_id.get(recipe.old or 0), comparison.new.plan.by_id[recipe.node]
    is_computed = any(isinstance(state.step, JoinRows) and state.step.rows is not None for state in recipe.states)
    if is_computed or not isinstance(old, Join) or not isinstance(new, Join):
        return
    after = PADDED.get(new.join_spec.join_type)
    if after is None or old.join_spec.join_type not in PADDED:
        return
    for side, name in enumerate(_SIDES):
        if (name in after or recipe.kind is RecipeKind.REKEYED) and _lacking(comparison, old, side):
            yield name


def _of_relations(comparison: Comparison, recipe: Recipe) -> Iterator[str]:
    """The sides of old joins whose rows are needed also with NULL in the key."""
    new = comparison.new.plan.by_id[recipe.node]
    for number, state in enumerate(recipe.states):
        step = state.step
        if not isinstance(step, JoinRows | Accumulate) or step.rows is None:
            continue
        is_matched = isinstance(step, JoinRows) and not _emits_unmatched(new, number)
        for stored, matched in _stored(step.rows, step.key if is_matched and isinstance(step, JoinRows) else ()):
            old = comparison.old.plan.by_id[stored.node]
            if not isinstance(old, Join):
                continue
            side = flink_states.JOINED.index(stored.state)
            columns = [stored.values[i] for i in matched]
            if _lacking(comparison, old, side) - {value.place for value in columns if isinstance(value, Taken)}:
                yield _SIDES[side]


def _lacking(comparison: Comparison, join: Join, side: int) -> frozenset[int]:
    """The columns of a side of an old join whose rows with NULL there a checkpoint lacks, by their places in state."""
    spec = join.join_spec
    if _SIDES[side] in PADDED.get(spec.join_type, ()):
        return frozenset()
    inputs = [source.fields for source in comparison.old.plan.inputs(join)]
    first = len(join.layout(inputs).states[side].values) - len(inputs[side])
    keys = zip((spec.left_keys, spec.right_keys)[side], spec.filter_nulls, strict=False)
    known = ((key, inputs[side][key]) for key, filters in keys if filters and 0 <= key < len(inputs[side]))
    return frozenset(first + key for key, field in known if field.type.nullable)


def _emits_unmatched(node: ExecNode, number: int) -> bool:
    """Whether a join emits rows of an input that have no match."""
    match node:
        case Join():
            return _SIDES[number] in PADDED.get(node.join_spec.join_type, _SIDES)
        case MultiJoin():
            return number == 0 and JoinType.INNER not in node.join_types[1:]
    return True


def _stored(rows: Relation, matched: Collection[int]) -> Iterator[tuple[Stored, frozenset[int]]]:
    """The states that rows follow from, with the columns of which rows with NULL are not needed.

    ``matched`` are such columns of the rows themselves.
    """
    match rows:
        case Stored():
            yield rows, frozenset(matched)
        case Computed(below, projection):
            passed = (projection[i] for i in matched)
            yield from _stored(below, {rex.index for rex in passed if isinstance(rex, InputRef)})
        case Joined():
            width = rows.widths[0]
            passed_on: Sequence[set[int]] = (
                {i for i in matched if i < width},
                {i - width for i in matched if i >= width},
            )
            for side, below in enumerate((rows.left, rows.right)):
                is_padded = _SIDES[side] in PADDED.get(rows.join_type, ("left",))
                keys = () if is_padded else (rows.keys[side][i] for i in rows.never_null)
                yield from _stored(below, {*passed_on[side], *keys})
