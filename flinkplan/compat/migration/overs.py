"""Recipes for OVER aggregations: of a frame by rows the rows are kept, so that a shorter frame can be computed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ...plan.functions import aggregate
from ...plan.nodes import OverAggregate
from ...plan.record import replace
from ...plan.savepoint.layout import KeptState, Part, columns
from ..columns import Scope
from ..rules.over import preceding
from .context import Impossible, Pairing
from .recipe import Recipe, RecipeKind, StateRecipe
from .recipe_steps import Copy, Frame, Project, Taken

_ROWS, _ACCUMULATORS, _COUNT, _LAST = "inputState", "accState", "processedCountState", "lastTriggeringTsState"
_COMPUTED = {
    (aggregate.COUNT.internal_name, 0): "count",
    (aggregate.SUM.internal_name, 0): "sum",
    (aggregate.SUM.internal_name, 1): "count",
    (aggregate.SUM0.internal_name, 0): "sum or zero",
    (aggregate.AVG.internal_name, 0): "sum or zero",
    (aggregate.AVG.internal_name, 1): "count",
}
"""What the parts of the accumulators of functions are over the rows of a frame."""


def recipe(pairing: Pairing) -> Recipe:
    """The recipe of an OVER aggregation.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    assert isinstance(old, OverAggregate) and isinstance(new, OverAggregate)
    if len(old.over_spec.groups) != 1 or len(new.over_spec.groups) != 1:
        raise Impossible("the aggregation has several windows", "keep the windows")
    if old.unbounded_over_version != new.unbounded_over_version:
        raise Impossible("another function of Flink computes the window", "keep the version of the operator")
    before, after = _window(old, pairing, 0), _window(new, pairing, 1)
    if before != after:
        raise Impossible("the window has another order or another kind of frame", "keep the window")
    states = {state.name: state for state in pairing.old_layout.states}
    frames = preceding(old.over_spec), preceding(new.over_spec)
    group = new.over_spec.groups[0]
    is_by_time = not group.is_rows and frames[0] is not None and frames[1] is not None
    if (frames[0] == frames[1] or is_by_time) and (kept := _kept(pairing, states)) is not None:
        if is_by_time and frames[0] is not None and frames[1] is not None and frames[0] < frames[1]:
            need = pairing.mixed("rows before the old frame have been dropped", "keep the frame, or make it shorter")
            return replace(kept, needs=(*kept.needs, need))
        return kept
    if not (group.is_rows and _ROWS in states and _COUNT in states and _is_by_event_time(new, pairing)):
        reason = (
            "only the sums over the old frame are kept" if frames[0] != frames[1] else "an aggregate is kept nowhere"
        )
        raise Impossible(reason, "keep the frame and the aggregates")
    if frames[0] is None or frames[1] is None:
        raise Impossible("the plan does not hold the bound of the frame", "compile the plan again")
    return _framed(pairing, states, frames[0] + 1, frames[1] + 1)


def _window(node: OverAggregate, pairing: Pairing, which: int) -> Hashable:
    """The order and the kind of the frame, without its length."""
    group = node.over_spec.groups[0]
    holder = (pairing.before, pairing.after)[which]
    order = tuple((holder.column_meaning(0, f.index), f.is_ascending, f.null_is_last) for f in group.order_by.fields)
    upper: Any = Scope(node, (pairing.comparison.old, pairing.comparison.new)[which]).resolve(group.upper_bound, None)
    return order, group.is_rows, group.lower_bound.kind, repr(upper)


def _is_by_event_time(node: OverAggregate, pairing: Pairing) -> bool:
    fields = pairing.comparison.new.plan.inputs(node)[0].fields
    order = node.over_spec.groups[0].order_by.fields
    return all(0 <= f.index < len(fields) and fields[f.index].type.is_rowtime for f in order[:1])


def _kept(pairing: Pairing, states: dict[str, KeptState]) -> Recipe | None:
    """The recipe if each value of each state is kept."""
    key = pairing.key_order()
    steps = []
    for state in pairing.new_layout.states:
        old = states.get(state.name)
        if old is None or old.form != state.form:
            return None
        taken = [pairing.taken(old, value, place) for place, value in enumerate(state.values)]
        if any(each is None for each in taken):
            return None
        values = tuple(each for each in taken if each is not None)
        is_whole = values == tuple(Taken(state.name, i) for i in range(len(old.values)))
        steps.append(StateRecipe(state.name, Copy(old.name, key) if is_whole else Project(old.name, key, values)))
    return pairing.recipe(RecipeKind.PROJECTED, steps, (), pairing.row_needs())


def _framed(pairing: Pairing, states: dict[str, KeptState], had: int, most: int) -> Recipe:
    """The recipe of a frame of another length, or with other aggregates: they are computed from the kept rows."""
    key = pairing.key_order()
    pairing.check_no_coarser_key(key)
    inputs = [source.fields for source in pairing.comparison.new.plan.inputs(pairing.new)]
    values = []
    for place, value in enumerate(columns(inputs)):
        taken = pairing.taken(states[_ROWS], value, place)
        if taken is None:
            column = pairing.shown(value)
            raise Impossible(f"{_ROWS} lacks the column {column}", f"leave out the column {column}")
        values.append(taken.place)
    functions, arguments = _computed(pairing, len(values))
    steps = [
        StateRecipe(name, Frame(part, key, tuple(values), most, had, functions, arguments))
        for name, part in ((_ROWS, "rows"), (_ACCUMULATORS, "accumulators"), (_COUNT, "count"))
    ]
    words = ["the frame is computed from its rows"]
    if most > had + 1:
        words.append(f"if no key has had {had} rows, behind which others were dropped")
    return pairing.recipe(
        RecipeKind.DERIVED, [*steps, StateRecipe(_LAST, Copy(_LAST, key))], words, pairing.row_needs()
    )


def _computed(pairing: Pairing, width: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What the accumulators are over the rows: functions, and the places of the new row's columns."""
    functions, arguments = [], []
    state = next(s for s in pairing.new_layout.states if s.name == _ACCUMULATORS)
    for value in state.values:
        part = value.origin
        function = _COMPUTED.get((part.call.internal_name or "", part.number)) if isinstance(part, Part) else None
        if function is None or not isinstance(part, Part) or part.call.is_distinct or part.call.filter_arg >= 0:
            raise Impossible("an aggregate of the frame cannot be computed from its rows", "keep the frame")
        argument = next(iter(part.call.arg_list), -1)
        if argument >= width:
            raise Impossible("an aggregate of a constant cannot be computed from rows", "keep the frame")
        functions.append(function)
        arguments.append(argument)
    return tuple(functions), tuple(arguments)
