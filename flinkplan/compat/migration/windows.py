"""What the state of aggregations in windows depends on: which windows, and the time by which rows come into them."""

from __future__ import annotations

from ...plan.nodes import ExecNode, GlobalWindowAggregate, GroupWindowAggregate, WindowAggregate
from ...plan.specs import TimeAttributeWindowing, WindowingStrategy
from ..lineage import Lineage
from .context import Impossible, Pairing
from .slices import Slices
from .stored_rows import fields


def other_windows(pairing: Pairing) -> tuple[Slices, Slices] | None:
    """The slices of the old and of the new windows; ``None`` where the windows are the same.

    Raises :class:`Impossible` where those of the new windows cannot be made of the old ones.
    """
    old, new = pairing.old, pairing.new
    if isinstance(old, GroupWindowAggregate) or isinstance(new, GroupWindowAggregate):
        if type(old) is not type(new) or fields(pairing, old)["window"] != fields(pairing, new)["window"]:
            raise Impossible("the windows changed", "keep the windows")
        return None
    assert isinstance(old, WindowAggregate | GlobalWindowAggregate)
    assert isinstance(new, WindowAggregate | GlobalWindowAggregate)
    if _time(old, pairing.comparison.old) != _time(new, pairing.comparison.new):
        raise Impossible("the windows go by another time", "keep the time column of the windows")
    if old.windowing.window == new.windowing.window:
        return None
    before, after = (Slices.of(node.windowing.window) for node in (old, new))
    if before is None or after is None or not _is_by_event_time(new) or not before.can_become(after):
        raise Impossible(
            "windows that began before the change have already emitted, or never had, a part of their rows",
            "keep the size, the slide and the offset of the windows",
        )
    return before, after


def kept_slices(pairing: Pairing) -> tuple[Slices, Slices] | None:
    """The slices of windows that stay the same, by which their accumulators are kept; ``None`` where there are none."""
    node = pairing.new
    if not isinstance(node, WindowAggregate | GlobalWindowAggregate) or not _is_by_event_time(node):
        return None
    slices = Slices.of(node.windowing.window)
    return None if slices is None else (slices, slices)


def _is_by_event_time(node: WindowAggregate | GlobalWindowAggregate) -> bool:
    """Whether windows go by event time without a time zone."""
    return node.windowing.time_attribute_type.root == "TIMESTAMP" and not node.windowing.is_proctime


def _time(node: WindowAggregate | GlobalWindowAggregate, lineage: Lineage) -> object:
    """The meaning of the time by which rows come into windows, and the clock."""
    first = lineage.aggregated_node(node)
    windowing: WindowingStrategy = first.windowing if _has_windows(first) else node.windowing  # type: ignore[attr-defined]
    row = lineage.input_row(first)
    index = windowing.time_attribute_index if isinstance(windowing, TimeAttributeWindowing) else None
    meaning = lineage.meanings.unwidened(row[index]) if index is not None and index < len(row) else None
    return meaning, windowing.is_proctime


def _has_windows(node: ExecNode) -> bool:
    return hasattr(node, "windowing")
