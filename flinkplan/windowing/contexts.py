"""What functions, triggers, evictors and assigners are given to ask."""

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
    """``gap`` (ms) is the row's own."""

    def __init__(self, moment: Moment, gap: int) -> None:
        super().__init__(moment.clock)
        self.gap = gap


class TimerContext:
    """Of one key and window."""

    def __init__(self, own: KeyState, moment: Moment, window: Any) -> None:
        self._own = own
        self._moment = moment
        self._window = window

    def get_current_processing_time(self) -> int:
        return self._moment.clock

    def get_current_watermark(self) -> int:
        return self._moment.watermark

    def register_event_time_timer(self, time: int) -> None:
        self._own.event_timers.add((time, self._window))

    def register_processing_time_timer(self, time: int) -> None:
        self._own.clock_timers.add((time, self._window))

    def delete_event_time_timer(self, time: int) -> None:
        self._own.event_timers.discard((time, self._window))

    def delete_processing_time_timer(self, time: int) -> None:
        self._own.clock_timers.discard((time, self._window))

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        return state_of(_kept(self._own.triggers, self._window, self._moment.clock), state_descriptor)


class MergeContext(TimerContext):
    """The same where windows have merged into one."""

    def __init__(self, own: KeyState, moment: Moment, window: Any, merged: Sequence[Any]) -> None:
        super().__init__(own, moment, window)
        self._merged = merged

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        sources = [self._own.triggers[window].value for window in self._merged if window in self._own.triggers]
        target = _kept(self._own.triggers, self._window, self._moment.clock)
        merge_states(target, [source for source in sources if source is not target], state_descriptor)


class FunctionContext:
    """Of one key and window."""

    def __init__(self, own: KeyState, moment: Moment, window: Any, merges: bool) -> None:
        self._own = own
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
        return KeyedStateStore(_kept(self._own.windows, self._window, self._moment.clock))

    def global_state(self) -> KeyedStateStore:
        self._own.shared.written_at = self._moment.clock
        return KeyedStateStore(self._own.shared.value)


def _kept(of_windows: dict[Any, Kept], window: Any, now: int) -> dict[str, Any]:
    """What is kept for a window, which counts as written: whoever asks for state may write it."""
    found = of_windows.setdefault(window, Kept({}, now))
    found.written_at = now
    kept: dict[str, Any] = found.value
    return kept
