"""The rows of a result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from itertools import starmap
from types import TracebackType
from typing import Any

from ..windowing import rows as windowing


class RowKind(Enum):
    """The kind of change that a row is."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row(windowing.Row):
    """The values and the kind of a row: ``Row(1, "a")``, or with names ``Row(id=1, name="a")``.

    Access values by position, ``row[0]``, or by name, ``row.id`` and ``row["id"]``.  Call a row of names to create rows
    with these names: ``Row("id", "name")(1, "a")``.  Rows are equal if they have the same values and the same kind; a
    tuple is equal to a row with its values.  Unlike in PyFlink, the values of a row cannot be changed.
    """

    _kind = RowKind.INSERT

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row of the given kind."""
        row = Row(*args, **kwargs)
        row._kind = row_kind
        return row

    def get_row_kind(self) -> RowKind:
        """The kind of the row."""
        return self._kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Change the kind of the row."""
        self._kind = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the values.  Raises :class:`ValueError` for another number of names than values."""
        if len(field_names) != len(self):
            raise ValueError(f"the row has {len(self)} values, there are {len(field_names)} names")
        self._names = tuple(field_names)

    @property
    def _fields(self) -> list[str]:
        """The names, as in PyFlink.  Raises :class:`AttributeError` where there are none."""
        if not self._names:
            raise AttributeError("the row's values have no names")
        return list(self._names)

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name, with ``recursive`` also those of nested rows. Raises :class:`TypeError` without names."""

        if not self._names:
            raise TypeError("the row's values have no names")
        return {name: _plain(value) if recursive else value for name, value in super().as_dict().items()}

    def __call__(self, *args: Any) -> Row:
        if len(args) != len(self):
            raise ValueError(f"there are {len(self)} names and {len(args)} values")
        row = Row(*args)
        row.set_field_names(list(self))
        return row

    def __contains__(self, item: object) -> bool:
        return item in self._names if self._names else super().__contains__(item)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and (not isinstance(other, Row) or self._kind is other._kind)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = windowing.Row.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._kind, self._names, tuple(self)))

    def __repr__(self) -> str:
        if self._names:
            return super().__repr__()
        return f"<Row({', '.join(map(repr, self))})>"


def _restored(kind: RowKind, names: Sequence[str], values: Iterable[Any]) -> Row:
    row = Row.of_kind(kind, *values)
    row._names = tuple(names)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True) if value._names else value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


class RowIterator(AbstractContextManager["RowIterator"], Iterator[Row]):
    """An iterator over rows; the end of its ``with`` block closes it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Release the source of the rows."""


class KeptRows(RowIterator):
    """An iterator over rows in memory."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows = starmap(Row, rows)

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        self._rows = starmap(Row, ())
