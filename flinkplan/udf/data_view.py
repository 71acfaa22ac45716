"""Lists and maps inside accumulators, which PyFlink keeps in state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from ..windowing.rows import Row

__all__ = ["DataView", "ListView", "MapView"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView:
    """A part of an accumulator that is kept in state of its own."""

    def clear(self) -> None:
        """Remove all that is in it."""
        raise NotImplementedError


class ListView(DataView, Generic[T]):
    """A list in an accumulator."""

    def __init__(self) -> None:
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        """The values."""
        return self._list

    def add(self, value: T) -> None:
        """Add a value."""
        self._list.append(value)

    def add_all(self, values: Iterable[T]) -> None:
        """Add several values."""
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all values."""
        self._list = []

    def __iter__(self) -> Iterator[T]:
        return iter(self._list)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and list(self.get()) == list(other.get())

    def __hash__(self) -> int:
        return hash(tuple(self._list))

    def __repr__(self) -> str:
        return f"ListView({self._list!r})"


class MapView(DataView, Generic[K, V]):
    """A map in an accumulator."""

    def __init__(self) -> None:
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V:
        """The value of a key.  Raises :class:`KeyError` if there is none."""
        return self._dict[key]

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key.  Raises :class:`KeyError` if it is not there."""
        del self._dict[key]

    def contains(self, key: K) -> bool:
        """Whether there is a value of a key."""
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        """The keys with their values."""
        return self._dict.items()

    def keys(self) -> Iterable[K]:
        """The keys."""
        return self._dict.keys()

    def values(self) -> Iterable[V]:
        """The values."""
        return self._dict.values()

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return not self._dict

    def clear(self) -> None:
        """Remove all keys."""
        self._dict.clear()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapView) and dict(self.items()) == dict(other.items())

    def __hash__(self) -> int:
        return hash(frozenset(self._dict))

    def __repr__(self) -> str:
        return f"MapView({self._dict!r})"

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class StateMapView(MapView[Any, Any]):
    """A map that is kept in state: there keys that are not there may be asked for and removed, and None is no value.

    Source: ``InternalSynchronousMapRuntimeState`` of PyFlink.
    """

    def get(self, key: Any) -> Any:
        """The value of a key; ``None`` if there is none."""
        return self._dict.get(key)

    def remove(self, key: Any) -> None:
        """Remove a key if it is there."""
        self._dict.pop(key, None)

    def contains(self, key: Any) -> bool:
        """Whether there is a value of a key."""
        return self._dict.get(key) is not None


def held_in_state(accumulator: Any) -> Any:
    """A new accumulator, in which the maps are as those that are kept in state."""
    if isinstance(accumulator, (list, Row)):
        for i, value in enumerate(accumulator):
            if type(value) is MapView:
                kept = StateMapView()
                kept.put_all(value._dict)
                accumulator[i] = kept
    return accumulator
