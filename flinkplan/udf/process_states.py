"""The states of a process table function for one key in a worker: what a call is handed, and what has become of it.

Each entry stands beside the time when it was written: of a row there is one, of a list one for each element, of a map
one for each key.  An entry that is too old counts as none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import compress
from typing import TYPE_CHECKING, Any

from ..plan.record import Record
from ..plan.types import BIGINT, LogicalType, array, row
from ..windowing.rows import Row
from .data_view import ListView, MapView
from .process_entries import Entries, StoredEntries, entries_array
from .process_interfaces import StateParameter, new_state
from .values import reader, writer

if TYPE_CHECKING:
    import pyarrow as pa

_WRITTEN = ("written", BIGINT.not_null())


class StateCode(Record):
    """A state: its ``kind`` and types as in a ``ProcessState``, and how long (ms) an entry stays; 0: for ever."""

    name: str
    kind: str
    value: LogicalType
    key: LogicalType | None
    ttl: int

    @property
    def stored(self) -> LogicalType:
        """The type of what is kept for a key."""
        if self.kind == "value":
            return row([("content", self.value), _WRITTEN])
        return row([("content", array(row(self._entry, nullable=False), nullable=False))])

    @property
    def _entry(self) -> list[tuple[str, LogicalType]]:
        """The columns of an entry of a list or a map."""
        if self.key is None:
            return [("element", self.value), _WRITTEN]
        return [("entry", self.key), ("held", self.value), _WRITTEN]

    def reader(self, zone: str) -> Callable[[pa.Array], Any]:
        """What reads a column of what is kept: it gives at each place what :meth:`State.load` takes."""
        if self.kind == "value":
            return reader(self.stored, zone)
        types = [t for _, t in self._entry]
        return lambda column: StoredEntries(column, types, zone)

    def array(self, kept: Sequence[Any]) -> pa.Array:
        """The column of what states are to store.  Raises :class:`ResultError` for a value that does not fit."""
        if self.kind == "value":
            return writer(self.stored)(kept)
        return entries_array(kept, [t for _, t in self._entry])


class State:
    """A state of one key at a time ``now``.  ``changed``: what is stored is to be written."""

    changed = False

    def __init__(self, code: StateCode, now: int) -> None:
        self._code = code
        self._now = now

    def load(self, stored: Any) -> None:
        """Take what is stored, as :meth:`StateCode.reader` has read it."""
        raise NotImplementedError

    def handed(self) -> Any:
        """What calls are handed, until it is cleared."""
        return self

    def keep(self) -> bool:
        """Take what a call has left; whether it is cleared by that."""
        return False

    def clear(self) -> None:
        """Remove all that is in it."""
        raise NotImplementedError

    def store(self) -> Any:
        """What is to be stored, for :meth:`StateCode.array`; ``None`` for nothing."""
        raise NotImplementedError

    def _is_over(self, written: int) -> bool:
        return 0 < self._code.ttl <= self._now - written


class ValueState(State):
    """A row.  Where it may expire, one that is left as it was keeps the time when it was written."""

    def __init__(self, code: StateCode, parameter: StateParameter, now: int) -> None:
        super().__init__(code, now)
        self._parameter = parameter
        self._names = code.value.field_names
        self._object: Any = None
        self._before: list[Any] | None = None
        self._written = 0

    def load(self, stored: Row | None) -> None:
        if stored is None or stored[0] is None or self._is_over(stored[1]):
            return
        self._object = new_state(self._parameter, self._names)
        values = list(stored[0])
        if isinstance(self._object, Row):
            self._object._values = values
        else:
            for name, value in zip(self._names, values, strict=True):
                setattr(self._object, name, value)
        self._written = stored[1]
        self._before = deepcopy(values) if self._code.ttl else values

    def handed(self) -> Any:
        if self._object is None:
            self._object = new_state(self._parameter, self._names)
        return self._object

    def keep(self) -> bool:
        values = self._values()
        for value in values:
            if value is not None:
                break
        else:
            self.clear()
            return True
        if not self._code.ttl:
            self.changed, self._before = True, values
        elif values != self._before:
            self.changed, self._before, self._written = True, deepcopy(values), self._now
        return False

    def _values(self) -> list[Any]:
        if isinstance(self._object, Row):
            return self._object._values
        return [getattr(self._object, name) for name in self._names]

    def clear(self) -> None:
        self.changed |= self._before is not None
        self._object = self._before = None

    def store(self) -> Row | None:
        return None if self._before is None else Row(Row(*self._before), self._written)


class ListState(State, ListView[Any]):
    """A list, each element of which expires by itself.  It holds no None, as in Flink."""

    def __init__(self, code: StateCode, parameter: StateParameter, now: int) -> None:
        State.__init__(self, code, now)
        self._stored: Callable[[], Entries] | None = None
        self._known: tuple[list[Any], list[int]] | None = None

    def load(self, stored: Callable[[], Entries] | None) -> None:
        self._stored = stored

    @property
    def _kept(self) -> tuple[list[Any], list[int]]:
        """The elements, and when each was written."""
        if self._known is None:
            elements, times = self._stored() if self._stored is not None else ((), ())
            if self._code.ttl:
                fresh = [not self._is_over(written) for written in times]
                elements, times = list(compress(elements, fresh)), list(compress(times, fresh))
            self._known = list(elements), list(times)
        return self._known

    def get(self) -> Iterable[Any]:
        return list(self._kept[0])

    def add(self, value: Any) -> None:
        if value is None:
            raise ValueError("a ListView holds no None")
        elements, times = self._kept
        elements.append(value)
        times.append(self._now)
        self.changed = True

    def add_all(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.add(value)

    def clear(self) -> None:
        self.changed |= bool(self._kept[0])
        self._known = [], []

    def store(self) -> Entries | None:
        return self._kept if self._kept[0] else None

    def __iter__(self) -> Any:
        return iter(self.get())

    def __repr__(self) -> str:
        return f"ListView({self._kept[0]!r})"

    __hash__ = object.__hash__


class MapState(State, MapView[Any, Any]):
    """A map, each entry of which expires by itself; a key that is not there has the value None."""

    def __init__(self, code: StateCode, parameter: StateParameter, now: int) -> None:
        State.__init__(self, code, now)
        self._stored: Callable[[], Entries] | None = None
        self._known: dict[Any, tuple[Any, int]] | None = None

    def load(self, stored: Callable[[], Entries] | None) -> None:
        self._stored = stored

    @property
    def _entries(self) -> dict[Any, tuple[Any, int]]:
        """The values, and when each was written."""
        if self._known is None:
            keys, values, times = self._stored() if self._stored is not None else ((), (), ())
            self._known = dict(zip(keys, zip(values, times, strict=True), strict=True))
            if self._code.ttl:
                self._known = {key: entry for key, entry in self._known.items() if not self._is_over(entry[1])}
        return self._known

    def get(self, key: Any) -> Any:
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def put(self, key: Any, value: Any) -> None:
        self._entries[key] = (value, self._now)
        self.changed = True

    def put_all(self, dict_value: Any) -> None:
        for key, value in list(dict_value.items()):
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self.changed |= self._entries.pop(key, None) is not None

    def contains(self, key: Any) -> bool:
        return key in self._entries

    def items(self) -> Iterable[tuple[Any, Any]]:
        return [(key, value) for key, (value, _) in self._entries.items()]

    def keys(self) -> Iterable[Any]:
        return list(self._entries)

    def values(self) -> Iterable[Any]:
        return [value for value, _ in self._entries.values()]

    def is_empty(self) -> bool:
        return not self._entries

    def clear(self) -> None:
        self.changed |= bool(self._entries)
        self._known = {}

    def store(self) -> Entries | None:
        entries = self._entries
        return (list(entries), *zip(*entries.values(), strict=True)) if entries else None

    def __repr__(self) -> str:
        return f"MapView({dict(self.items())!r})"

    __hash__ = object.__hash__


_STATES: dict[str, Any] = {"value": ValueState, "list": ListState, "map": MapState}


def new_states(codes: Sequence[StateCode], parameters: Sequence[StateParameter], now: int) -> list[Any]:
    """The states of a key that has none, at a time."""
    return [_STATES[code.kind](code, parameter, now) for code, parameter in zip(codes, parameters, strict=True)]
