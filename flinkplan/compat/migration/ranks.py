"""Recipes for Top-N: the rows of each partition are kept in their order, but only as many as the query asks for."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan.nodes import Deduplicate, ExecNode, Rank, SortLimit, WindowRank
from ...plan.savepoint.layout import KeptState, columns
from ...plan.specs import AppendFastStrategy, ConstantRankRange, RetractStrategy, SortField, UpdateFastStrategy
from .context import Impossible, Pairing
from .recipe import Recipe, RecipeKind, StateRecipe
from .recipe_steps import FirstRows, Order, Project, SortedKeys, Taken
from .stored_rows import recipe as stored_rows

_ROWS, _FIRST = "data-state-with-append", "Top1-Rank-State"
_UPDATED = "data-state-with-update"
_DEDUPLICATED = "deduplicate-state"


def recipe(pairing: Pairing) -> Recipe:
    """The recipe of a Top-N.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    if isinstance(new, Deduplicate):
        assert isinstance(old, Rank)
        return _deduplicated(pairing, old, new)
    assert isinstance(old, Rank | SortLimit) and isinstance(new, Rank | SortLimit)
    if (old.rank_type or "ROW_NUMBER") != (new.rank_type or "ROW_NUMBER"):
        raise Impossible("the ranking has another function", f"keep {old.rank_type}")
    same_order = _order(pairing, old, 0) == _order(pairing, new, 1)
    old_most, new_most = _most(old), _most(new)
    if same_order and old_most == new_most and type(old.rank_strategy) is type(new.rank_strategy):
        return stored_rows(pairing, ("rankRange",))
    match old.rank_strategy, new.rank_strategy:
        case RetractStrategy(), RetractStrategy() if same_order:
            return stored_rows(pairing, ("rankRange",))
        case RetractStrategy(), RetractStrategy() if (order := _same_columns(pairing, old, new)) is not None:
            return _reordered(pairing, order)
        case AppendFastStrategy(), AppendFastStrategy():
            return _first_rows(pairing, old_most, new_most, same_order)
        case UpdateFastStrategy(before), UpdateFastStrategy(after) if same_order and min(old_most, new_most) > 1:
            return _first_rows(pairing, old_most, new_most, True, (len(before), tuple(after)))
    raise Impossible("the ranking keeps its rows in another way", "keep the order and the last rank")


def window_rank(pairing: Pairing) -> Recipe:
    """The recipe of a Top-N of windows, which ranks the kept rows when a window ends.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    assert isinstance(old, WindowRank) and isinstance(new, WindowRank)
    if _most(new) > _most(old):
        raise Impossible("rows behind the last rank are not kept", f"keep the last rank at {_most(old)}")
    return stored_rows(pairing, ("rankRange",))


def _most(rank: Rank | SortLimit | WindowRank) -> int:
    range_ = rank.rank_range
    if not isinstance(range_, ConstantRankRange):
        raise Impossible("the last rank is the value of a column", "keep the ranks")
    return int(range_.end)


def _order(pairing: Pairing, rank: Rank | SortLimit, which: int) -> list[tuple[int, bool, bool]]:
    holder = (pairing.before, pairing.after)[which]
    return [(holder.column_meaning(0, f.index), f.is_ascending, f.null_is_last) for f in rank.order_by.fields]


def _same_columns(pairing: Pairing, old: Rank | SortLimit, new: Rank | SortLimit) -> tuple[Order, ...] | None:
    """The new order by the places of its columns in the old sort key; ``None`` where it has other columns."""
    before, after = _order(pairing, old, 0), _order(pairing, new, 1)
    places = {meaning: place for place, (meaning, _, _) in enumerate(before)}
    if {meaning for meaning, _, _ in after} != places.keys() or len(after) != len(before):
        return None
    return tuple(Order(places[meaning], ascending, null_is_last) for meaning, ascending, null_is_last in after)


def _reordered(pairing: Pairing, order: tuple[Order, ...]) -> Recipe:
    """The recipe of a ranking that keeps all rows, in another direction or by its columns in another order."""
    data, sorted_map = pairing.old_layout.states
    key = pairing.key_order()
    pairing.check_no_coarser_key(key)
    rows = _rows(pairing, data, len(order))
    values = tuple(Taken(data.name, place) for place in (*(o.column for o in order), *rows))
    states = [
        StateRecipe(data.name, Project(data.name, key, values)),
        StateRecipe(sorted_map.name, SortedKeys(sorted_map.name, key, order)),
    ]
    words = ["all rows are kept, and are ranked anew"]
    untold = ["rows that enter or leave the ranking by the change"]
    return pairing.recipe(RecipeKind.DERIVED, states, words, pairing.row_needs(), untold)


def _state(pairing: Pairing, names: Sequence[str]) -> KeptState:
    state = next((s for s in pairing.old_layout.states if s.name in names), None)
    if state is None:
        raise Impossible("the ranking keeps no rows", "keep the order and the last rank")
    return state


def _rows(pairing: Pairing, state: KeptState, sort_columns: int) -> tuple[int, ...]:
    """The places of the new row's columns in an old state."""
    old_row = KeptState("", state.values[sort_columns:])
    inputs = [source.fields for source in pairing.comparison.new.plan.inputs(pairing.new)]
    values = []
    for place, value in enumerate(columns(inputs)):
        taken = pairing.taken(old_row, value, place)
        if taken is None:
            column = pairing.shown(value)
            raise Impossible(f"{state.name} lacks the column {column}", f"leave out the column {column}")
        values.append(sort_columns + taken.place)
    return tuple(values)


def _ordering(fields: Sequence[SortField]) -> tuple[Order, ...]:
    return tuple(Order(f.index, f.is_ascending, f.null_is_last) for f in fields)


def _first_rows(
    pairing: Pairing, had: int, most: int, same_order: bool, unique: tuple[int, tuple[int, ...]] | None = None
) -> Recipe:
    """The recipe of the first rows of each partition.

    ``unique`` is the number of columns of the unique key by which the old rows are kept, and the new unique key.
    """
    old, new = pairing.old, pairing.new
    assert isinstance(old, Rank | SortLimit) and isinstance(new, Rank | SortLimit)
    state = _state(pairing, (_ROWS, _FIRST) if unique is None else (_UPDATED,))
    target = pairing.new_layout.states[0]
    sort_columns = len(old.order_by.fields) if state.name == _ROWS else 0
    if unique is not None:
        sort_columns = unique[0]
    key = pairing.key_order()
    pairing.check_no_coarser_key(key)
    values = _rows(pairing, state, sort_columns)
    needs = pairing.row_needs()
    order = _ordering(new.order_by.fields)
    needs_all = not same_order or most > had
    step = FirstRows(
        state.name,
        key,
        values,
        order,
        sort_columns,
        most,
        had,
        needs_all,
        is_single=target.name == _FIRST,
        is_from_single=state.name == _FIRST,
        unique_key=() if unique is None else unique[1],
        may_tie=not same_order,
    )
    words = [f"the first {most} rows of each partition are kept"]
    if needs_all:
        words = [f"the kept rows are ranked anew, if no partition has had {had} rows, behind which others were dropped"]
    untold = [] if same_order and most == had else ["rows that enter or leave the ranking by the change"]
    return pairing.recipe(RecipeKind.DERIVED, [StateRecipe(target.name, step)], words, needs, untold)


def _deduplicated(pairing: Pairing, old: Rank, new: Deduplicate) -> Recipe:
    """The row of a deduplication by event time, of the first rows of a Top-N in this order."""
    fields = old.order_by.fields
    is_by_time = len(fields) == 1 and _is_rowtime(pairing, old, fields[0].index)
    if not (new.is_rowtime and is_by_time and fields[0].is_ascending is not new.keep_last_row):
        raise Impossible("the ranking has another order than the deduplication", "keep the order")
    if any(s.name != _DEDUPLICATED for s in pairing.new_layout.states):
        raise Impossible("a first row that waits for the watermark is kept in another way", "keep the Top-N")
    state = _state(pairing, (_ROWS, _FIRST))
    sort_columns = 1 if state.name == _ROWS else 0
    key = pairing.key_order()
    pairing.check_no_coarser_key(key)
    step = FirstRows(
        state.name,
        key,
        _rows(pairing, state, sort_columns),
        (_in_new_row(pairing, fields[0]),),
        sort_columns,
        1,
        _most(old),
        needs_all=False,
        is_single=True,
        is_from_single=state.name == _FIRST,
        is_unique=new.keep_last_row,
    )
    words = ["the first row of each partition is kept"]
    needs = pairing.row_needs()
    states = [StateRecipe(_DEDUPLICATED, step)]
    return pairing.recipe(RecipeKind.DERIVED, states, words, needs, ["rows that leave the ranking by the change"])


def _in_new_row(pairing: Pairing, field: SortField) -> Order:
    """The order by a column of the old row, by its place in the new row."""
    meaning = pairing.before.column_meaning(0, field.index)
    width = len(pairing.comparison.new.plan.inputs(pairing.new)[0].fields)
    place = next((i for i in range(width) if pairing.after.column_meaning(0, i) == meaning), None)
    if place is None:
        raise Impossible("the rows have no column of the old order", "keep the Top-N")
    return Order(place, field.is_ascending, field.null_is_last)


def _is_rowtime(pairing: Pairing, node: ExecNode, index: int) -> bool:
    fields = pairing.comparison.old.plan.inputs(node)[0].fields
    return 0 <= index < len(fields) and fields[index].type.is_rowtime


def deduplication(pairing: Pairing) -> Recipe:
    """The recipe of what was a deduplication.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    assert isinstance(old, Deduplicate)
    if isinstance(new, Rank):
        raise Impossible(
            "a deduplication keeps one row of each key, and a ranking needs those behind it as well", "keep WHERE … = 1"
        )
    assert isinstance(new, Deduplicate)
    if (old.is_rowtime, old.keep_last_row) != (new.is_rowtime, new.keep_last_row):
        kept = "last" if old.keep_last_row else "first"
        clock = "event" if old.is_rowtime else "processing"
        raise Impossible(
            f"of each key the {kept} row by {clock} time is known, and no other", "keep the order of the deduplication"
        )
    return stored_rows(pairing)
