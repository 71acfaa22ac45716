"""Records: immutable values that are compared by their fields.

They are msgspec's structs, because defining a dataclass takes a millisecond: the hundreds of definitions that a
compilation loads took more than half of its time.

Records that are created in large numbers and have no ``dict`` use ``gc=False``: immutable values form no cycles, so the
garbage collector need not look at them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """Python's ``cached_property`` as of 3.12: without a lock, which took longer than computing most values."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, value: Any, owner: type | None = None) -> Any:
            if value is None:
                return self
            computed = value.__dict__[self.name] = self.compute(value)
            return computed


__all__ = [
    "Json",
    "PartlyCompared",
    "Record",
    "Struct",
    "cached_on_record",
    "cached_property",
    "field",
    "replace",
    "to_builtins",
]

F = TypeVar("F", bound=Callable[..., Any])


def cached_on_record(compute: F) -> F:
    """Cache the results of a function of a record, and perhaps of further arguments, in the record's ``dict``, if any.

    Trees of immutable records are rebuilt from unchanged parts, so a result for a part stays valid in the new tree.
    Without the cache each level of a tree would compute the results of all levels below again.
    """

    @wraps(compute)
    def cached(value: Any) -> Any:
        cache_ = getattr(value, "__dict__", None)
        if cache_ is None:
            return compute(value)
        result = cache_.get(compute, _MISSING)
        if result is _MISSING:
            result = cache_[compute] = compute(value)
        return result

    @wraps(compute)
    def cached_by_arguments(value: Any, *args: Any) -> Any:
        cache_ = getattr(value, "__dict__", None)
        if cache_ is None:
            return compute(value, *args)
        key = (compute, args)
        result = cache_.get(key, _MISSING)
        if result is _MISSING:
            result = cache_[key] = compute(value, *args)
        return result

    return cast(F, cached if compute.__code__.co_argcount == 1 else cached_by_arguments)


_MISSING = object()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """An immutable value with named and typed fields; ``replace`` returns a copy with some fields changed."""


class PartlyCompared(Record):
    """A record some of whose fields are ignored in comparisons."""

    apart: ClassVar[frozenset[str]] = frozenset()
    """The names of the ignored fields."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all([getattr(self, name) == getattr(other, name) for name in _compared_fields(type(self))])

    def __hash__(self) -> int:
        return hash((type(self), *[getattr(self, name) for name in _compared_fields(type(self))]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in _compared_fields(type(self)))})"


@cache
def _compared_fields(cls: type[PartlyCompared]) -> tuple[str, ...]:
    """The names of the fields that are compared."""
    return tuple(name for name in cls.__struct_fields__ if name not in cls.apart)


class Json(dict[str, Any]):
    """A JSON object within a record.  Its hash uses only the keys, since the values may be unhashable lists."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))
