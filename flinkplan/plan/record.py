"""What all values of the project are made of: records, immutable and compared by what they hold.

They are msgspec's structs, because creating a dataclass takes a millisecond: with the hundreds that a compilation
loads that was more than half of its whole time.

Those that are made by the thousand and keep nothing in a ``dict`` say ``gc=False``: no cycle leads through values that
cannot be changed, so there is nothing in them for the collector to look for.
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
        """Python's own as it is from 3.12 on: without a lock, which takes longer than most of what is found."""

        def __init__(self, find: Callable[[Any], Any]) -> None:
            self.find = find
            self.__doc__ = find.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, value: Any, owner: type | None = None) -> Any:
            if value is None:
                return self
            found = value.__dict__[self.name] = self.find(value)
            return found


__all__ = [
    "Json",
    "PartlyCompared",
    "Record",
    "Struct",
    "cached_property",
    "field",
    "found_once",
    "replace",
    "to_builtins",
]

F = TypeVar("F", bound=Callable[..., Any])


def found_once(find: F) -> F:
    """A function of a record, and perhaps of more, that keeps what it finds with the record (if that has a ``dict``).

    Records are immutable, and trees of them are rebuilt from the parts that did not change: asked again from above,
    what is below need not be derived again, which for each level of a tree would be once more for all below it.
    """

    @wraps(find)
    def remembered(value: Any) -> Any:
        known = getattr(value, "__dict__", None)
        if known is None:
            return find(value)
        found = known.get(find, _UNKNOWN)
        if found is _UNKNOWN:
            found = known[find] = find(value)
        return found

    @wraps(find)
    def remembered_of_more(value: Any, *args: Any) -> Any:
        known = getattr(value, "__dict__", None)
        if known is None:
            return find(value, *args)
        key = (find, args)
        found = known.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = known[key] = find(value, *args)
        return found

    return cast(F, remembered if find.__code__.co_argcount == 1 else remembered_of_more)


_UNKNOWN = object()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """A value of named and typed fields; ``replace`` makes another one with some of them changed."""


class PartlyCompared(Record):
    """A record of which some fields do not count where two are compared."""

    apart: ClassVar[frozenset[str]] = frozenset()
    """The names of these fields."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all([getattr(self, name) == getattr(other, name) for name in _counting(type(self))])

    def __hash__(self) -> int:
        return hash((type(self), *[getattr(self, name) for name in _counting(type(self))]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in _counting(type(self)))})"


@cache
def _counting(cls: type[PartlyCompared]) -> tuple[str, ...]:
    """The names of the fields that count."""
    return tuple(name for name in cls.__struct_fields__ if name not in cls.apart)


class Json(dict[str, Any]):
    """A JSON object within a record.  Its hash counts the names alone, since the values may be lists."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))
