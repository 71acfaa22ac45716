"""Rows as Python classes see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar


class RowKind(Enum):
    """The kind of change that a row is."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


_INSERT = RowKind.INSERT


class Row:
    """The values and the kind of a row: ``Row(1, "a")``, or with names ``Row(id=1, name="a")``.

    Access values by position, ``row[0]``, or by name, ``row.id`` and ``row["id"]``.  Call a row of names to create rows
    with these names: ``Row("id", "name")(1, "a")``.  Rows are equal if they have the same names with the same values,
    and the same kind.  Unlike in PyFlink, a tuple is equal to a row with its values.
    """

    __slots__ = ("_names", "_row_kind", "_values")

    _names: list[str] | None
    _unnamed: ClassVar[type[Row]]
    """The class of such rows without properties of their names."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            if args:
                raise ValueError("a Row has either values or named values")
            self._names = list(kwargs)
            self._values = list(kwargs.values())
        else:
            self._names = None
            self._values = list(args)
        self._row_kind = _INSERT

    @property
    def _fields(self) -> list[str]:
        """The names; rows of values alone do not have this attribute, as in PyFlink."""
        if self._names is None:
            raise AttributeError("_fields")
        return self._names

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row of the given kind."""
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def get_row_kind(self) -> RowKind:
        """The kind of the row."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Change the kind of the row."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the values.  Raises :class:`ValueError` for another number of names than values."""
        if len(field_names) != len(self._values):
            raise ValueError(f"the row has {len(self._values)} values, there are {len(field_names)} names")
        self.__class__ = self._unnamed
        self._names = list(field_names)

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """The values of these names; all values of a row without names.

        Raises :class:`ValueError` for a name that the row does not have.
        """
        known = self._names
        if known is None or names == known:
            return self._values
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"the row has no {' and '.join(unknown)}, only {', '.join(known)}")
        return [self._values[known.index(name)] for name in names]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name, with ``recursive`` also those of nested rows. Raises :class:`TypeError` without names."""
        if self._names is None:
            raise TypeError("the row's values have no names")
        return {n: _plain(v) if recursive else v for n, v in zip(self._names, self._values, strict=True)}

    def __call__(self, *args: Any) -> Row:
        if len(args) > len(self):
            raise ValueError(f"there are {len(self)} names and {len(args)} values")
        row = Row(*args)
        row.set_field_names(self._values[: len(args)])
        return row

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._names is None:
            raise AttributeError(name)
        if name in self._names:
            return self._values[self._names.index(name)]
        raise AttributeError(f"the row has no column '{name}', only {', '.join(self._names)}")

    def __getitem__(self, key: Any) -> Any:
        return self._values[self._position(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[self._position(key)] = value

    def _position(self, key: Any) -> Any:
        if not isinstance(key, str):
            return key
        if self._names is None:
            raise AttributeError(f"the row has no column '{key}', for its values have no names")
        if key not in self._names:
            raise ValueError(f"the row has no column '{key}', only {', '.join(self._names)}")
        return self._names.index(key)

    def __contains__(self, item: object) -> bool:
        return item in (self._values if self._names is None else self._names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return self._row_kind is other._row_kind and self._named() == other._named()
        return isinstance(other, tuple) and tuple(self._values) == other

    def _named(self) -> Any:
        """What equal rows have in common: the values by name, whatever their order, or the values without names."""
        return self._values if self._names is None else dict(zip(self._names, self._values, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._names, tuple(self._values), self._row_kind.value))

    def __repr__(self) -> str:
        if self._names is not None:
            return f"Row({', '.join(f'{n}={v!r}' for n, v in zip(self._names, self._values, strict=True))})"
        return f"<Row({', '.join(map(repr, self._values))})>"


Row._unnamed = Row


def named_row(names: Sequence[str], values: Iterable[Any]) -> Row:
    """A row with named values."""
    row = Row(*values)
    row._names = list(names)
    return row


def _restored(names: Sequence[str] | None, values: Iterable[Any], kind: int) -> Row:
    row = Row(*values) if names is None else named_row(names, values)
    row._row_kind = RowKind(kind)
    return row


@lru_cache(maxsize=1024)
def row_maker(names: tuple[str, ...], base: type[Row] = Row) -> Callable[[Iterable[Any]], Row]:
    """What makes rows of named values, many of the same names: they are of a class that has the names as properties.

    Reading one takes a fifth of the time that ``__getattr__`` takes.
    """
    positions = {name: i for i, name in reversed(list(enumerate(names)))}
    own = {name: _value_at(i) for name, i in positions.items() if not name.startswith("_") and not hasattr(base, name)}
    cls: type[Row] = type(base.__name__, (base,), {"__slots__": (), "_unnamed": base, **own})
    new, known = object.__new__, list(names)

    def make(values: Iterable[Any]) -> Row:
        row = new(cls)
        row._names, row._values, row._row_kind = known, list(values), _INSERT
        return row

    return make


def _value_at(position: int) -> property:
    return property(lambda row: row._values[position])


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value if value._names is None else value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def result_rows(result: Any, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The result of a function as rows with these columns.  Raises :class:`TypeError` for a row that does not fit.

    A function returns an iterable of rows, or ``None``.  A row is a tuple, list, mapping or :class:`Row`, or a plain
    value if there is one column.
    """
    for row in () if result is None else result:
        yield _as_row(row, names)


def _as_row(value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(value, Row):
        value = tuple(value) if value._names is None else value.as_dict()
    if isinstance(value, dict):
        if set(value) != set(names):
            raise TypeError(
                f"a result has the columns {', '.join(map(str, value))}, but {', '.join(names)} are declared"
            )
        return tuple(value[name] for name in names)
    if isinstance(value, (tuple, list)):
        if len(value) != len(names):
            raise TypeError(f"a result has {len(value)} values, but {len(names)} columns are declared")
        return tuple(value)
    if len(names) == 1:
        return (value,)
    raise TypeError(f"a result is {value!r}, but {len(names)} columns are declared")
