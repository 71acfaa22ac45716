"""Recipes for operators that keep input rows: the new rows' columns are taken from the old rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...plan.nodes import ExecNode
from ...plan.savepoint.layout import Column, KeptState
from ..columns import Scope
from .context import Impossible, Pairing
from .recipe import Recipe, RecipeKind, StateRecipe
from .recipe_steps import Copy, Project

_NOT_COMPARED = frozenset(
    (
        *("id", "type", "version", "configuration", "inputProperties", "outputType", "description", "state"),
        *("generateUpdateBefore", "outputRowNumber", "inputChangelogMode", "dynamicTableSink"),
        *("leftUpsertKeys", "rightUpsertKeys", "conflictStrategy", "uniqueKeys", "partition", "partitionSpec"),
        *("partitionKeys", "grouping", "inputUpsertKey"),
    )
)
"""Fields that do not affect what rows mean in state, or follow from the layout, which is compared by itself."""


def recipe(pairing: Pairing, ignored: Collection[str] = ()) -> Recipe:
    """The recipe of an operator with states of whole rows.

    ``ignored`` are paths of fields (``joinSpec.joinType``) that do not matter to its state, or have been judged.
    Raises :class:`Impossible`.
    """
    if pairing.old_layout.namespace != pairing.new_layout.namespace:
        raise Impossible("rows are kept by windows in one of the plans only", "keep the window columns in PARTITION BY")
    for name in _changed_fields(pairing, ignored):
        raise Impossible(f"{name} of the operator changed, which says what its state means", f"keep its {name}")
    key = pairing.key_order()
    pairing.check_no_coarser_key(key)
    old_states = {state.name: state for state in pairing.old_layout.states}
    states = []
    kind = RecipeKind.PROJECTED
    for state in pairing.new_layout.states:
        old = old_states.get(state.name)
        if old is None or old.form != state.form:
            raise Impossible(f"{state.name} is kept nowhere, or in another form", "keep the operator as it is")
        states.append(StateRecipe(state.name, _step(pairing, old, state, key)))
    words = []
    if key != tuple(range(len(key))):
        kind = RecipeKind.REKEYED
        words.append("the columns of the key get the new order")
    return pairing.recipe(kind, states, words, pairing.row_needs())


def unchanged(pairing: Pairing, ignored: Collection[str] = ()) -> Recipe:
    """The recipe of an operator with a key that its layout does not say, so that rows must stay as they are.

    Raises :class:`Impossible`.
    """
    kept = recipe(pairing, ignored)
    if any(not isinstance(state.step, Copy) for state in kept.states):
        raise Impossible("the rows have other columns, of which it is not known which are the key", "keep the columns")
    return kept


def _step(pairing: Pairing, old: KeptState, new: KeptState, key: tuple[int, ...]) -> Copy | Project:
    values = []
    for place, value in enumerate(new.values):
        taken = pairing.taken(old, value, place)
        if taken is None:
            if not isinstance(value.origin, Column):
                raise Impossible(f"{new.name} has other values", "keep the operator as it is")
            column = pairing.shown(value)
            raise Impossible(f"{new.name} lacks the column {column}", f"leave out the column {column}")
        values.append(taken)
    if [v.type for v in old.values] == [v.type for v in new.values] and [t.place for t in values] == list(
        range(len(old.values))
    ):
        return Copy(old.name, key)
    return Project(old.name, key, tuple(values))


def _changed_fields(pairing: Pairing, ignored: Collection[str]) -> Iterator[str]:
    """The fields of the nodes that differ in their meaning, and not only in where columns are."""
    before = fields(pairing, pairing.old, ignored)
    after = fields(pairing, pairing.new, ignored)
    for name in {**before, **after}:
        if name not in _NOT_COMPARED and before.get(name) != after.get(name):
            yield name


def fields(pairing: Pairing, node: ExecNode, ignored: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a node by their meanings, without those at the paths ``ignored``."""
    lineage = pairing.comparison.old if node is pairing.old else pairing.comparison.new
    return _without(Scope(node, lineage).resolve_object(node), ignored)


def _without(value: Mapping[str, Any], paths: Collection[str]) -> dict[str, Any]:
    left: dict[str, Any] = {}
    for name, item in value.items():
        if name in paths:
            continue
        inner = [path.removeprefix(f"{name}.") for path in paths if path.startswith(f"{name}.")]
        left[name] = _without(item, inner) if inner and isinstance(item, Mapping) else item
    return left
