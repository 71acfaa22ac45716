"""Rows as Python classes see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any


class RowKind(Enum):
    """The kind of change that a row is."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row:
    """The values and the kind of a row: ``Row(1, "a")``, or with names ``Row(id=1, name="a")``.

    Access values by position, ``row[0]``, or by name, ``row.id`` and ``row["id"]``.  Call a row of names to create rows
    with these names: ``Row("id", "name")(1, "a")``.  Rows are equal if they have the same names with the same values,
    and the same kind.  Unlike in PyFlink, a tuple is equal to a row with its values.
    """

    __slots__ = ("_fields", "_row_kind", "_values")

    _fields: list[str]
    """The names; rows of values alone do not have this attribute."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("a Row has either values or named values")
        if kwargs:
            self._fields = list(kwargs)
            self._values = list(kwargs.values())
        else:
            self._values = list(args)
        self._row_kind = RowKind.INSERT

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
        self._fields = list(field_names)

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """The values of these names; all values of a row without names.

        Raises :class:`ValueError` for a name that the row does not have.
        """
        if not hasattr(self, "_fields") or names == self._fields:
            return self._values
        unknown = [name for name in names if name not in self._fields]
        if unknown:
            raise ValueError(f"the row has no {' and '.join(unknown)}, only {', '.join(self._fields)}")
        return [self._values[self._fields.index(name)] for name in names]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name, with ``recursive`` also those of nested rows. Raises :class:`TypeError` without names."""
        if not hasattr(self, "_fields"):
            raise TypeError("the row's values have no names")
        return {n: _plain(v) if recursive else v for n, v in zip(self._fields, self._values, strict=True)}

    def __call__(self, *args: Any) -> Row:
        if len(args) > len(self):
            raise ValueError(f"there are {len(self)} names and {len(args)} values")
        row = Row(*args)
        row.set_field_names(self._values[: len(args)])
        return row

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self, "_fields"):
            if name in self._fields:
                return self._values[self._fields.index(name)]
            raise AttributeError(f"the row has no column '{name}', only {', '.join(self._fields)}")
        raise AttributeError(name)

    def __getitem__(self, key: Any) -> Any:
        return self._values[self._position(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._values[self._position(key)] = value

    def _position(self, key: Any) -> Any:
        if not isinstance(key, str):
            return key
        if not hasattr(self, "_fields"):
            raise AttributeError(f"the row has no column '{key}', for its values have no names")
        if key not in self._fields:
            raise ValueError(f"the row has no column '{key}', only {', '.join(self._fields)}")
        return self._fields.index(key)

    def __contains__(self, item: object) -> bool:
        return item in (self._fields if hasattr(self, "_fields") else self._values)

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
        return dict(zip(self._fields, self._values, strict=True)) if hasattr(self, "_fields") else self._values

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (getattr(self, "_fields", None), tuple(self._values), self._row_kind.value))

    def __repr__(self) -> str:
        if hasattr(self, "_fields"):
            return f"Row({', '.join(f'{n}={v!r}' for n, v in zip(self._fields, self._values, strict=True))})"
        return f"<Row({', '.join(map(repr, self._values))})>"


def named_row(names: Sequence[str], values: Iterable[Any]) -> Row:
    """A row with named values."""
    row = Row(*values)
    row._fields = list(names)
    return row


def _restored(names: Sequence[str] | None, values: Iterable[Any], kind: int) -> Row:
    row = Row(*values)
    if names is not None:
        row._fields = list(names)
    row._row_kind = RowKind(kind)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True) if hasattr(value, "_fields") else value
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
        value = value.as_dict() if hasattr(value, "_fields") else tuple(value)
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
