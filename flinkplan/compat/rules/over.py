"""Rules on OVER aggregations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...plan.nodes import OverAggregate
from ...plan.rex import InputRef, Literal
from ...plan.specs import AggregateCall, OverSpec
from ..comparing import Comparison
from ..edits import FieldChange, Update
from ..verdicts import Effect, Verdict
from .aggregates import WINDOWED, calls_of, compared_calls
from .model import Judgement, arrows, field_judge, rule

OVER = rule(
    "over-window-changed",
    "the frame of an OVER aggregation changed",
    "Rows are stored by partition in their order, as long as the frame needs them, with the sums over the frame. If "
    "a frame by ROWS becomes one row longer, Flink fills it up; after any other change of the number, results stay "
    "wrong. If a frame by RANGE becomes shorter, results are right; if it becomes longer, the rows that were "
    "dropped are missing.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`ROWS BETWEEN 2 PRECEDING` became `5 PRECEDING`.",
    fix="Start without state.",
    one_by_one=Verdict.INCOMPATIBLE,
)


@field_judge("over_spec", OverAggregate)
def over_windows(c: Comparison, edit: Update, changes: tuple[FieldChange, ...]) -> Iterator[Judgement]:
    """Changes of the frame or the aggregates of OVER windows."""
    window = tuple(ch for ch in changes if "/aggCalls" not in ch.pointer and "/constants" not in ch.pointer)
    window = tuple(ch for ch in window if not ch.pointer.endswith("/originalInputFields"))
    if window:
        flink = _frame_on_flink(edit)
        yield Judgement(OVER, arrows(window), edit.old, edit.new, window[0].pointer, changes=window, flink=flink)
        return
    old, new = (calls_of(n, _calls(n), side) for n, side in ((edit.old, c.old), (edit.new, c.new)))
    if old != new:
        yield from compared_calls(edit, old, new, changes, WINDOWED)


def _calls(node: Any) -> list[AggregateCall]:
    return [call for group in node.over_spec.groups for call in group.agg_calls]


def _frame_on_flink(edit: Update) -> Verdict | None:
    """The verdict on Flink if only the frame changed; ``None`` is the verdict of the rule.

    For a frame by rows, Flink stores its sum and the number of its rows, and removes a row when there is one too many.
    So a frame that is one row longer is filled with the next row; any other frame never gets the right number of rows.
    For a frame by time, rows outside of the frame were dropped, and are missing in a longer one.  For an unbounded
    frame only the sum is stored.  Source: ``RowTimeRowsBoundedPrecedingFunction``,
    ``RowTimeRangeBoundedPrecedingFunction``, ``AbstractRowTimeUnboundedPrecedingOver``.
    """
    old, new = edit.old, edit.new
    assert isinstance(old, OverAggregate) and isinstance(new, OverAggregate)
    if not (old.over_spec.groups and _without_frame(old.over_spec) == _without_frame(new.over_spec)):
        return None
    frames = [node.over_spec.groups[0] for node in (old, new)]
    if all(frame.lower_bound.kind == "UNBOUNDED_PRECEDING" for frame in frames):
        return Verdict.COMPATIBLE if _is_by_time(new) else None
    old_length, new_length = preceding(old.over_spec), preceding(new.over_spec)
    if old_length is None or new_length is None or frames[0].is_rows != frames[1].is_rows:
        return None
    if frames[1].is_rows:
        return Verdict.COMPATIBLE if new_length - old_length == 1 else Verdict.CORRUPTING
    return Verdict.COMPATIBLE if new_length <= old_length else Verdict.PARTIAL


def _is_by_time(node: OverAggregate) -> bool:
    """Whether the rows are ordered by a time attribute."""
    first = node.over_spec.groups[0].order_by.fields[:1]
    types = node.output_type.field_types
    return all(0 <= f.index < len(types) and types[f.index].is_time_attribute for f in first)


def preceding(spec: OverSpec) -> int | None:
    """The number of rows or milliseconds before the current row; ``None`` for a frame without such a bound."""
    offset = spec.groups[0].lower_bound.offset
    constant = offset.index - spec.original_input_fields if isinstance(offset, InputRef) else -1
    if not 0 <= constant < len(spec.constants):
        return None
    literal = spec.constants[constant]
    try:
        return int(str(literal.value)) if isinstance(literal, Literal) else None
    except ValueError:
        return None


def _without_frame(spec: OverSpec) -> tuple[object, ...]:
    """The parts of an OVER window except for its frame."""
    group = spec.groups[0]
    return spec.partition, group.order_by, group.upper_bound, group.agg_calls
