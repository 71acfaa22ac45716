"""The context objects that functions, triggers, evictors and assigners are called with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .keys import Kept, KeyState
from .state import KeyedStateStore, merge_states, state_of
from .windows import MIN_TIME, WindowAssignerContext


class Moment:
    """The clock and the watermark (epoch ms)."""

    def __init__(self, clock: int) -> None:
        self.clock = clock
        self.watermark = MIN_TIME


class AssignerContext(WindowAssignerContext):
    """``gap`` is the session gap of the row, in milliseconds."""

    def __init__(self, moment: Moment, gap: int) -> None:
        super().__init__(moment.clock)
        self.gap = gap


class TimerContext:
    """The context of triggers and evictors, for one key and window."""

    def __init__(self, state: KeyState, moment: Moment, window: Any) -> None:
        self._state = state
        self._moment = moment
        self._window = window

    def get_current_processing_time(self) -> int:
        return self._moment.clock

    def get_current_watermark(self) -> int:
        return self._moment.watermark

    def register_event_time_timer(self, time: int) -> None:
        self._state.event_timers.add((time, self._window))

    def register_processing_time_timer(self, time: int) -> None:
        self._state.clock_timers.add((time, self._window))

    def delete_event_time_timer(self, time: int) -> None:
        self._state.event_timers.discard((time, self._window))

    def delete_processing_time_timer(self, time: int) -> None:
        self._state.clock_timers.discard((time, self._window))

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        return state_of(_states_of_window(self._state.triggers, self._window, self._moment.clock), state_descriptor)


class MergeContext(TimerContext):
    """The context of ``on_merge``; ``merged`` are the windows that were merged into ``window``."""

    def __init__(self, state: KeyState, moment: Moment, window: Any, merged: Sequence[Any]) -> None:
        super().__init__(state, moment, window)
        self._merged = merged

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        sources = [self._state.triggers[window].value for window in self._merged if window in self._state.triggers]
        target = _states_of_window(self._state.triggers, self._window, self._moment.clock)
        merge_states(target, [source for source in sources if source is not target], state_descriptor)


class FunctionContext:
    """The context of functions, for one key and window."""

    def __init__(self, state: KeyState, moment: Moment, window: Any, merges: bool) -> None:
        self._state = state
        self._moment = moment
        self._window = window
        self._merges = merges

    def window(self) -> Any:
        return self._window

    def current_processing_time(self) -> int:
        return self._moment.clock

    def current_watermark(self) -> int:
        return self._moment.watermark

    def window_state(self) -> KeyedStateStore:
        if self._merges:
            raise RuntimeError("Per-window state is not allowed when using merging windows.")
        return KeyedStateStore(_states_of_window(self._state.windows, self._window, self._moment.clock))

    def global_state(self) -> KeyedStateStore:
        self._state.shared.written_at = self._moment.clock
        return KeyedStateStore(self._state.shared.value)


def _states_of_window(by_window: dict[Any, Kept], window: Any, now: int) -> dict[str, Any]:
    """The states of a window by name; they count as written now, since the caller may write them."""
    kept = by_window.setdefault(window, Kept({}, now))
    kept.written_at = now
    states: dict[str, Any] = kept.value
    return states
