"""Recipes for joins whose rows are kept by time or windows: other types, conditions and bounds."""

from __future__ import annotations

from ...plan.nodes import IntervalJoin, Match, MultiJoin, TemporalJoin, TemporalSort, WindowJoin
from ...plan.record import replace
from ...plan.specs import JoinType
from .context import Impossible, Pairing
from .recipe import Recipe
from .stored_rows import fields, unchanged
from .stored_rows import recipe as stored_rows

_TYPE, _CONDITION = "joinType", "nonEquiCondition"


def interval_join(pairing: Pairing) -> Recipe:
    """The recipe of an interval join.  Raises :class:`Impossible`."""
    old, new = pairing.old, pairing.new
    assert isinstance(old, IntervalJoin) and isinstance(new, IntervalJoin)
    spec, bounds = "intervalJoinSpec.joinSpec", "intervalJoinSpec.windowBounds"
    ignored = []
    if new.interval_join_spec.join_spec.join_type is JoinType.INNER:
        # only outer joins keep with each row whether it has met another
        ignored = [f"{bounds}.leftLowerBound", f"{bounds}.leftUpperBound", f"{spec}.{_TYPE}", f"{spec}.{_CONDITION}"]
    kept = stored_rows(pairing, ignored)
    old_bounds, new_bounds = (node.interval_join_spec.window_bounds for node in (old, new))
    is_wider = (
        new_bounds.left_lower_bound < old_bounds.left_lower_bound
        or new_bounds.left_upper_bound > old_bounds.left_upper_bound
    )
    if not is_wider:
        return kept
    need = pairing.mixed("rows outside of the old bounds have been dropped", "keep the bounds, or make them narrower")
    return replace(kept, needs=(*kept.needs, need))


def window_join(pairing: Pairing) -> Recipe:
    """The recipe of a window join, which joins rows when their window ends.  Raises :class:`Impossible`."""
    assert isinstance(pairing.new, WindowJoin)
    return stored_rows(pairing, (f"joinSpec.{_TYPE}", f"joinSpec.{_CONDITION}"))


def temporal_join(pairing: Pairing) -> Recipe:
    """The recipe of a temporal join, which joins rows when the watermark comes.  Raises :class:`Impossible`."""
    assert isinstance(pairing.new, TemporalJoin)
    return stored_rows(pairing, (f"joinSpec.{_TYPE}", f"joinSpec.{_CONDITION}"))


def multi_join(pairing: Pairing) -> Recipe:
    """The recipe of a join of several inputs, which keeps their rows alone.  Raises :class:`Impossible`."""
    assert isinstance(pairing.new, MultiJoin)
    return unchanged(pairing, ("joinTypes", "joinConditions", "multiJoinCondition"))


def match(pairing: Pairing) -> Recipe:
    """The recipe of a MATCH_RECOGNIZE, which computes measures at the end of a match.  Raises :class:`Impossible`."""
    assert isinstance(pairing.new, Match)
    return unchanged(pairing, ("matchSpec.measures",))


def temporal_sort(pairing: Pairing) -> Recipe:
    """The recipe of a sort by time, which orders rows of one time when they are emitted.

    Raises :class:`Impossible`.
    """
    assert isinstance(pairing.new, TemporalSort)
    first = [fields(pairing, node)["orderBy"]["fields"][:1] for node in (pairing.old, pairing.new)]
    if first[0] != first[1]:
        raise Impossible("rows are kept by another time", "keep the first column of ORDER BY")
    return stored_rows(pairing, ("orderBy",))
