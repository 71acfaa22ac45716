"""The state windows that represent merging windows in the state: Flink's ``MergingWindowSet``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .windows import MergingWindowAssigner

Merged = Callable[[Any, Sequence[Any], Any, Sequence[Any]], None]
"""Called with the merged window, the windows that it replaces, its state window, and the state windows of the others.
"""


def add_window(added: Any, windows: dict[Any, Any], assigner: MergingWindowAssigner, merged: Merged) -> Any:
    """Add a window to ``windows`` (window → state window); returns the window that it was merged into, or itself."""
    merges: list[tuple[Any, list[Any]]] = []

    def callback(to_be_merged: Iterable[Any], merge_result: Any) -> None:
        merges.append((merge_result, list(to_be_merged)))

    assigner.merge_windows({*windows, added}, callback)
    result, has_merged_added = added, False
    for merge_result, group in merges:
        if added in group:
            group.remove(added)
            result, has_merged_added = merge_result, True
        target = windows[group[0]]
        sources = [windows.pop(window) for window in group]
        windows[merge_result] = target
        sources.remove(target)
        if group != [merge_result]:
            merged(merge_result, group, target, sources)
    if not merges or (result == added and not has_merged_added):
        windows[result] = result
    return result
