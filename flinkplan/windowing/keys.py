"""The state of one key, and its serialization."""

from __future__ import annotations

import io
import pickle
from typing import Any

from .windows import MIN_TIME, GlobalWindow, TimeWindow

NEVER = 2**63 - 1

_SAFE_CLASSES = {
    "builtins": {"set", "frozenset", "bytearray", "complex"},
    "collections": {"OrderedDict", "deque", "defaultdict", "Counter"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
    "flinkplan.udf.data_view": {"ListView", "MapView", "StateMapView"},
    "flinkplan.windowing.rows": {"RowKind", "_restored", "named_row"},
    "flinkplan.windowing.windows": {"TimeWindow", "GlobalWindow"},
}
"""The classes, by module, that may be unpickled from state in addition to those of the allowed modules."""


class Kept:
    """A value in state with the time of its last write (epoch ms)."""

    __slots__ = ("value", "written_at")

    def __init__(self, value: Any, written_at: int) -> None:
        self.value = value
        self.written_at = written_at


class KeyState:
    """The contents of windows with the states of triggers and functions, and the timers.

    ``contents`` are by window; for merging windows by the state window that represents them (``merged``).  A row in
    ``contents`` is a pair of time and values; a timer is a pair of time and window.
    """

    def __init__(self, key: Any, lateness: int) -> None:
        self.key = key
        self.lateness = lateness
        self.watermark = MIN_TIME
        self.scheduled = NEVER
        self.merged_at = 0
        self.contents: dict[Any, Kept] = {}
        self.merged: dict[Any, Any] = {}
        self.triggers: dict[Any, Kept] = {}
        self.windows: dict[Any, Kept] = {}
        self.firings: dict[Any, Kept] = {}
        self.key_firings = Kept(0, 0)
        self.shared = Kept({}, 0)
        self.event_timers: set[tuple[int, Any]] = set()
        self.clock_timers: set[tuple[int, Any]] = set()

    def is_empty(self) -> bool:
        """Whether the key needs no state."""
        return not (
            self.contents
            or self.merged
            or self.triggers
            or self.windows
            or self.firings
            or self.key_firings.value
            or self.shared.value
            or self.event_timers
            or self.clock_timers
        )

    def dump(self) -> bytes:
        """The serialized state."""
        return pickle.dumps(
            (
                self.key,
                self.lateness,
                self.watermark,
                self.scheduled,
                self.merged_at,
                [_dumped(kept) for kept in (self.contents, self.triggers, self.windows, self.firings)],
                [(_bounds(a), _bounds(b)) for a, b in self.merged.items()],
                [(kept.value, kept.written_at) for kept in (self.key_firings, self.shared)],
                [[(time, _bounds(w)) for time, w in timers] for timers in (self.event_timers, self.clock_timers)],
            ),
            protocol=5,
        )


def load(written: bytes, modules: tuple[str, ...]) -> KeyState:
    """Deserialize the result of :meth:`KeyState.dump`.

    Raises :class:`pickle.UnpicklingError` for a class that is neither safe nor in one of ``modules`` or their
    submodules.
    """
    key, lateness, watermark, scheduled, merged_at, kept, merged, single, timers = _Reader(written, modules).load()
    state = KeyState(key, lateness)
    state.watermark, state.scheduled, state.merged_at = watermark, scheduled, merged_at
    state.contents, state.triggers, state.windows, state.firings = map(_loaded, kept)
    state.merged = {_window(a): _window(b) for a, b in merged}
    state.key_firings, state.shared = (Kept(value, written_at) for value, written_at in single)
    state.event_timers, state.clock_timers = ({(time, _window(w)) for time, w in pairs} for pairs in timers)
    return state


def restricted_loads(written: bytes, modules: tuple[str, ...]) -> Any:
    """Unpickle values in state; raises as :func:`load`."""
    return _Reader(written, modules).load()


def is_within(module: str, modules: tuple[str, ...]) -> bool:
    """Whether a module is one of ``modules`` or a submodule of one."""
    return any(module == allowed or module.startswith(f"{allowed}.") for allowed in modules)


class _Reader(pickle.Unpickler):
    def __init__(self, written: bytes, modules: tuple[str, ...]) -> None:
        super().__init__(io.BytesIO(written))
        self._modules = modules

    def find_class(self, module: str, name: str) -> Any:
        if name in _SAFE_CLASSES.get(module, ()):
            return super().find_class(module, name)
        if is_within(module, self._modules):
            named = super().find_class(module, name)
            if is_within(getattr(named, "__module__", None) or "", self._modules):  # not what the module imports
                return named
        raise pickle.UnpicklingError(f"the state has a {module}.{name}, whose module was not allowed")


def _bounds(window: Any) -> tuple[int, int] | None:
    return None if isinstance(window, GlobalWindow) else (window.start, window.end)


def _window(bounds: tuple[int, int] | None) -> Any:
    return GlobalWindow.get() if bounds is None else TimeWindow(*bounds)


def _dumped(kept: dict[Any, Kept]) -> list[Any]:
    return [(_bounds(window), entry.value, entry.written_at) for window, entry in kept.items()]


def _loaded(written: list[Any]) -> dict[Any, Kept]:
    return {_window(bounds): Kept(value, at) for bounds, value, at in written}
