"""The states of functions and triggers, with PyFlink's names; values are kept in a dictionary by state name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class ReduceFunction(ABC):
    """Combines two values into one."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Combine two values."""


class AggregateFunction(ABC):
    """Aggregates values in an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """A new, empty accumulator."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """The accumulator with a value added."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """The result of the aggregation."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Merge two accumulators."""


class _Descriptor:
    """``name`` is the name of the state; ``types`` are accepted as in PyFlink and not used."""

    def __init__(self, name: str, *types: Any) -> None:
        self.name = name


class ValueStateDescriptor(_Descriptor):
    """Describes one value."""


class ListStateDescriptor(_Descriptor):
    """Describes a list."""


class MapStateDescriptor(_Descriptor):
    """Describes a mapping."""


class ReducingStateDescriptor(_Descriptor):
    """Describes one value into which a :class:`ReduceFunction` or a function of two values combines all added ones."""

    def __init__(self, name: str, reduce_function: ReduceFunction | Callable[[Any, Any], Any], *types: Any) -> None:
        super().__init__(name)
        self.reduce = reduce_function.reduce if isinstance(reduce_function, ReduceFunction) else reduce_function


class AggregatingStateDescriptor(_Descriptor):
    """Describes an accumulator."""

    def __init__(self, name: str, agg_function: AggregateFunction, *types: Any) -> None:
        super().__init__(name)
        self.function = agg_function


class _State:
    def __init__(self, kept: dict[str, Any], descriptor: Any) -> None:
        self._kept = kept
        self._descriptor = descriptor
        self._name = descriptor.name

    def clear(self) -> None:
        """Remove the state."""
        self._kept.pop(self._name, None)


class ValueState(_State):
    """One value."""

    def value(self) -> Any:
        """The value; ``None`` if there is none."""
        return self._kept.get(self._name)

    def update(self, value: Any) -> None:
        """Replace the value; ``None`` removes it."""
        if value is None:
            self.clear()
        else:
            self._kept[self._name] = value


class ListState(_State):
    """A list."""

    def get(self) -> list[Any]:
        """The values."""
        return list(self._kept.get(self._name, ()))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def add(self, value: Any) -> None:
        """Append a value."""
        self._kept.setdefault(self._name, []).append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append values."""
        self._kept.setdefault(self._name, []).extend(values)

    def update(self, values: Iterable[Any]) -> None:
        """Replace the values."""
        self._kept[self._name] = list(values)


class MapState(_State):
    """A mapping."""

    def _entries(self) -> dict[Any, Any]:
        entries: dict[Any, Any] = self._kept.get(self._name, {})
        return entries

    def get(self, key: Any) -> Any:
        """The value of a key; ``None`` if there is none."""
        return self._entries().get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key."""
        self._kept.setdefault(self._name, {})[key] = value

    def put_all(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Set the values of several keys, given as pairs."""
        self._kept.setdefault(self._name, {}).update(entries)

    def remove(self, key: Any) -> None:
        """Remove a key."""
        entries = self._entries()
        entries.pop(key, None)
        if not entries:
            self.clear()

    def contains(self, key: Any) -> bool:
        """Whether the key has a value."""
        return key in self._entries()

    def keys(self) -> Iterable[Any]:
        """The keys."""
        return list(self._entries())

    def values(self) -> Iterable[Any]:
        """The values."""
        return list(self._entries().values())

    def items(self) -> Iterable[tuple[Any, Any]]:
        """The pairs."""
        return list(self._entries().items())

    def is_empty(self) -> bool:
        """Whether the map is empty."""
        return not self._entries()


class ReducingState(_State):
    """One value into which all added ones are combined."""

    def get(self) -> Any:
        """The value; ``None`` if none was added."""
        return self._kept.get(self._name)

    def add(self, value: Any) -> None:
        """Add a value."""
        if self._name in self._kept:
            value = self._descriptor.reduce(self._kept[self._name], value)
        self._kept[self._name] = value


class AggregatingState(_State):
    """An accumulator."""

    def get(self) -> Any:
        """The result of the aggregation; ``None`` if no value was added."""
        if self._name not in self._kept:
            return None
        return self._descriptor.function.get_result(self._kept[self._name])

    def add(self, value: Any) -> None:
        """Add a value."""
        function = self._descriptor.function
        before = self._kept[self._name] if self._name in self._kept else function.create_accumulator()
        self._kept[self._name] = function.add(value, before)


class KeyedStateStore:
    """State by descriptors."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self._kept = kept

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState:
        """One value."""
        return ValueState(self._kept, state_descriptor)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState:
        """A list."""
        return ListState(self._kept, state_descriptor)

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState:
        """A mapping."""
        return MapState(self._kept, state_descriptor)

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState:
        """One value into which all added ones are combined."""
        return ReducingState(self._kept, state_descriptor)

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState:
        """An accumulator."""
        return AggregatingState(self._kept, state_descriptor)


_STATES: dict[type[_Descriptor], type[_State]] = {
    ValueStateDescriptor: ValueState,
    ListStateDescriptor: ListState,
    MapStateDescriptor: MapState,
    ReducingStateDescriptor: ReducingState,
    AggregatingStateDescriptor: AggregatingState,
}


def state_of(kept: dict[str, Any], descriptor: Any) -> Any:
    """The state for a descriptor."""
    return _STATES[type(descriptor)](kept, descriptor)


def merge_states(target: dict[str, Any], sources: Iterable[dict[str, Any]], descriptor: Any) -> None:
    """Merge a state of ``sources`` into ``target``.  Raises :class:`TypeError` for a state that cannot be merged."""
    name = descriptor.name
    for source in sources:
        if name not in source:
            continue
        value = source.pop(name)
        if name not in target:
            target[name] = value
        elif isinstance(descriptor, ReducingStateDescriptor):
            target[name] = descriptor.reduce(target[name], value)
        elif isinstance(descriptor, ListStateDescriptor):
            target[name] = [*target[name], *value]
        elif isinstance(descriptor, AggregatingStateDescriptor):
            target[name] = descriptor.function.merge(target[name], value)
        else:
            raise TypeError(f"the state '{name}' cannot be merged: take a reducing, aggregating or list state")
