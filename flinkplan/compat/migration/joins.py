"""Recipes for regular joins: the rows of both sides are kept, so that other keys and types of joins can be derived."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.nodes import ExecNode, Join
from ...plan.record import replace
from ...plan.rex import InputRef, RexNode, transform, walk
from ...plan.savepoint.layout import KeptState, columns
from ...plan.specs import JoinType
from ...plan.types.parser import parse_type
from ..edits import Move
from ..savepoint import Holder
from .conditions import is_computed
from .context import Impossible, Pairing
from .recipe import Need, Recipe, RecipeKind, StateRecipe
from .recipe_steps import JoinRows

COUNTS_MATCHES = ", and how many each has met"
"""The end of the form of a state that has with each row the number of rows that match it."""


def recipe(pairing: Pairing) -> Recipe:
    """The recipe of a join.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    assert isinstance(old, Join) and isinstance(new, Join)
    edits = pairing.comparison.pairs()
    is_swapped = any(isinstance(e, Move) and e.old.id == old.id and e.new.id == new.id for e in edits)
    sides = [kept_side(pairing, side, 1 - side if is_swapped else side) for side in (0, 1)]
    kinds, words = {RecipeKind.PROJECTED}, []
    needs: list[Need] = []
    untold: list[str] = []
    for side in (0, 1):
        filters = _filters(pairing, side, 1 - side if is_swapped else side)
        if filters:
            sides[side] = replace(sides[side], filters=filters)
            kinds.add(RecipeKind.DERIVED)
            words.append(f"{_name(side)} rows that the new filter drops are left out")
            untold.append(f"the end of rows of dropped {_name(side)} rows")
        elif filters is None:
            needs += pairing.row_needs(swapped=is_swapped, only=side)
    if is_swapped:
        words.append("the sides have changed places")
    if _keys_differ(pairing, is_swapped):
        kinds.add(RecipeKind.REKEYED)
        words.append("rows get the new join key")
    keeps = _same_matches(pairing, is_swapped) and not any(rows.filters for rows in sides)
    recipes = []
    for side, rows in enumerate(sides):
        other = sides[1 - side]
        counts = COUNTS_MATCHES in rows.form
        kept = counts and COUNTS_MATCHES in rows.old_form and keeps
        if counts and not kept:
            condition = new.join_spec.non_equi_condition
            if condition is not None and not is_computed(condition):
                raise Impossible(
                    "which rows match is not kept, and the condition of the join is not only of comparisons",
                    f"keep the type of the join ({old.join_spec.join_type.value}), its keys and its condition",
                )
            kinds.add(RecipeKind.DERIVED)
            words.append(f"{_name(side)} rows get their numbers of matches from the {_name(1 - side)} rows")
        recipes.append(_with_matches(rows, other, counts=counts and not kept, keeps=kept))
    if not recipes[0].keeps_matches and any(
        COUNTS_MATCHES in s.old_form and COUNTS_MATCHES not in s.form for s in sides
    ):
        words.append("numbers of matches are dropped")
    states = [StateRecipe(pairing.new_layout.states[side].name, rows) for side, rows in enumerate(recipes)]
    untold += _untold(old.join_spec.join_type, new.join_spec.join_type)
    if RecipeKind.REKEYED in kinds:
        untold.append("the rows that the old keys have joined, and those that the new keys join")
    return pairing.recipe(max(kinds, key=lambda kind: kind.rank), states, list(dict.fromkeys(words)), needs, untold)


def _name(side: int) -> str:
    return ("left", "right")[side]


def _with_matches(rows: JoinRows, other: JoinRows, *, counts: bool, keeps: bool) -> JoinRows:
    return replace(rows, counts_matches=counts, keeps_matches=keeps, other=other if counts else None)


def kept_side(pairing: Pairing, side: int, old_side: int) -> JoinRows:
    """The rows of a side, taken from those of an old side."""
    join = pairing.new
    assert isinstance(join, Join)
    inputs = [source.fields for source in pairing.comparison.new.plan.inputs(join)]
    old_state = pairing.old_layout.states[old_side]
    new_state = pairing.new_layout.states[side]
    width = len(pairing.comparison.old.plan.inputs(pairing.old)[old_side].fields)
    key_columns = len(old_state.values) - width  # those of the key in a map, before the row
    old_row = KeptState("", old_state.values[key_columns:])
    values = []
    for place, value in enumerate(columns(inputs, side)):
        taken = pairing.taken(old_row, value, place)
        if taken is None:
            column = pairing.shown(value)
            raise Impossible(f"{new_state.name} lacks the column {column}", f"leave out the column {column}")
        values.append(key_columns + taken.place)
    spec = join.join_spec
    keys = (spec.left_keys, spec.right_keys)[side]
    unique = (join.left_upsert_keys, join.right_upsert_keys)[side]
    unique = unique if unique and "by their key" in new_state.form else ()
    return JoinRows(
        old_state.name,
        tuple(values),
        tuple(keys),
        min(unique, key=lambda columns: len(columns)) if unique else (),
        new_state.form,
        old_state.form,
        tuple(i for i, filters in enumerate(spec.filter_nulls) if filters),
        condition=spec.non_equi_condition,
        is_right=side == 1,
    )


def _filters(pairing: Pairing, side: int, old_side: int) -> tuple[RexNode, ...] | None:
    """New conditions over the values of a side's old state, if they are all that changed of its rows."""
    before = pairing.rows.old.read_by(pairing.old)[old_side]
    after = pairing.rows.new.read_by(pairing.new)[side]
    if pairing.rows.difference(before, after) is None:
        return ()
    conditions = pairing.rows.added_conditions(before, after)
    if conditions is None or not all(is_computed(condition.rex) for condition in conditions):
        return None
    state = pairing.old_layout.states[old_side]
    places = {meaning: i for i, meaning in reversed(list(enumerate(pairing.before.exact_meanings(state.values))))}
    unwidened = pairing.comparison.new.meanings.unwidened

    def stored(rex: RexNode, row: Sequence[int]) -> RexNode:
        def place(each: RexNode) -> RexNode:
            return replace(each, index=places[unwidened(row[each.index])]) if isinstance(each, InputRef) else each

        return transform(rex, place)

    try:
        filters = tuple(stored(condition.rex, condition.row) for condition in conditions)
    except KeyError:  # a column that the join does not keep
        return None
    types = [value.type for value in state.values]
    return filters if all(_reads_same_types(rex, types) for rex in filters) else None


def _reads_same_types(rex: RexNode, types: Sequence[str]) -> bool:
    """Whether columns have the types that a condition reads, but for NULL."""
    return all(
        parse_type(types[each.index]).nullable_() == each.type.regular().nullable_()
        for each in walk(rex)
        if isinstance(each, InputRef)
    )


def _keys_differ(pairing: Pairing, is_swapped: bool) -> bool:
    before, after = _keys(pairing.old, pairing.before), _keys(pairing.new, pairing.after)
    return (before[::-1] if is_swapped else before) != after


def _keys(join: ExecNode, holder: Holder) -> list[list[int]]:
    """The meanings of the join keys of both sides."""
    assert isinstance(join, Join)
    spec = join.join_spec
    return [[holder.column_meaning(i, key) for key in keys] for i, keys in enumerate((spec.left_keys, spec.right_keys))]


def _same_matches(pairing: Pairing, is_swapped: bool) -> bool:
    """Whether the same rows of both sides match."""
    if is_swapped or _keys_differ(pairing, is_swapped):
        return False
    old, new = pairing.old, pairing.new
    assert isinstance(old, Join) and isinstance(new, Join)
    conditions = []
    for join, lineage in ((old, pairing.comparison.old), (new, pairing.comparison.new)):
        condition = join.join_spec.non_equi_condition
        row = lineage.input_row(join)
        conditions.append(None if condition is None else lineage.meanings.expression(condition, row))
    return conditions[0] == conditions[1] and old.join_spec.filter_nulls == new.join_spec.filter_nulls


PADDED = {
    JoinType.INNER: frozenset(),
    JoinType.LEFT: frozenset(("left",)),
    JoinType.RIGHT: frozenset(("right",)),
    JoinType.FULL: frozenset(("left", "right")),
}
"""The sides whose rows without a match are emitted with NULLs."""


def _untold(old: JoinType, new: JoinType) -> list[str]:
    """What the change of a join's type means for rows that have been emitted."""
    if old is new:
        return []
    if old not in PADDED or new not in PADDED:
        return ["the rows that only one of the two joins emits"]
    added, dropped = PADDED[new] - PADDED[old], PADDED[old] - PADDED[new]
    return [
        *(f"new rows with NULL for {side} rows without a match" for side in sorted(added)),
        *(f"the end of rows with NULL for {side} rows without a match" for side in sorted(dropped)),
    ]
