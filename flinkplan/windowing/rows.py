"""Rows as Python classes see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class Row(tuple[Any, ...]):
    """Values by position, ``row[0]``, or by name, ``row.amount`` and ``row["a column"]``.

    A function may return ``Row(person="ann", n=2)``.
    """

    _names: tuple[str, ...] = ()

    def __new__(cls, *values: Any, **named: Any) -> Row:
        if values and named:
            raise ValueError("a Row has either values or named values")
        row = tuple.__new__(cls, values or named.values())
        if named:
            row._names = tuple(named)
        return row

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return tuple.__getitem__(self, self._names.index(name))
        raise AttributeError(f"the row has no column '{name}', only {', '.join(self._names)}")

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (named_row, (self._names, tuple(self)))

    def as_dict(self) -> dict[str, Any]:
        """The values by name."""
        return dict(zip(self._names, self, strict=True))

    def __repr__(self) -> str:
        if not self._names:
            return f"Row{tuple(self)}"
        return f"Row({', '.join(f'{n}={v!r}' for n, v in self.as_dict().items())})"


def named_row(names: Sequence[str], values: Sequence[Any]) -> Row:
    """A row with named values."""
    row = tuple.__new__(Row, values)
    row._names = tuple(names)
    return row


def result_rows(result: Any, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The result of a function as rows with these columns.  Raises :class:`TypeError` for a row that does not fit.

    A function returns an iterable of rows, or ``None``.  A row is a tuple, list, mapping or :class:`Row`, or a plain
    value if there is one column.
    """
    for row in () if result is None else result:
        yield _as_row(row, names)


def _as_row(value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(value, Row) and value._names:
        value = value.as_dict()
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
