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
    """What a row says of the result so far."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return ("+I", "-U", "+U", "-D")[self.value]


class Row(windowing.Row):
    """The values of a row, and its kind: ``Row(1, "a")``, or with names ``Row(id=1, name="a")``.

    Values are found by place, ``row[0]``, or by name, ``row.id`` and ``row["id"]``.  A row of names is called to make
    rows with these: ``Row("id", "name")(1, "a")``.  Equal rows have the same values and the same kind; a tuple is equal
    to a row of its values.  Unlike PyFlink's a row cannot be given other values.
    """

    _kind = RowKind.INSERT

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row of another kind than an insert."""
        row = Row(*args, **kwargs)
        row._kind = row_kind
        return row

    def get_row_kind(self) -> RowKind:
        """The kind: an insert, an update's old or new row, or a deletion."""
        return self._kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Make it a row of another kind."""
        self._kind = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Give the values names.  Raises :class:`ValueError` where there are not as many."""
        if len(field_names) != len(self):
            raise ValueError(f"the row has {len(self)} values, there are {len(field_names)} names")
        self._names = tuple(field_names)

    @property
    def _fields(self) -> list[str]:
        """The names, as PyFlink has them.  Raises :class:`AttributeError` where there are none."""
        if not self._names:
            raise AttributeError("the row's values have no names")
        return list(self._names)

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name; ``recursive``: rows within them, too.  Raises :class:`TypeError` where there are none."""
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
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


class RowIterator(AbstractContextManager["RowIterator"], Iterator[Row]):
    """Rows one by one; leaving its ``with`` closes it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give up what the rows come from."""


class KeptRows(RowIterator):
    """Rows that are there."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self._rows = starmap(Row, rows)

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        self._rows = starmap(Row, ())
