"""What process table functions emit."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ..plan.types import LogicalType
from ..windowing.rows import Row, RowKind
from .failures import result_error
from .values import ResultError, writer

if TYPE_CHECKING:
    import pyarrow as pa


class EmittedRows:
    """What a process table function emits.

    ``emits`` are the kinds of rows as plans name them, ``name`` is that of the function.
    """

    def __init__(self, result: LogicalType, emits: Sequence[str], name: str) -> None:
        self._types = emitted_columns(result)
        self._width = len(self._types)
        self._name = name
        self._are_rows = _is_row(result)
        self._names = list(result.field_names) if self._are_rows else []
        kinds = [RowKind[kind.removeprefix("~")] for kind in emits]
        self._allowed = {kind: kind.value for kind in kinds}
        self._only_inserts = kinds == [RowKind.INSERT]
        self._may_change = any(t.root in _NESTED for t in self._types)
        self.kinds: list[int] = []
        """The kind of each row, as a byte."""
        self._rows: list[Sequence[Any]] = []

    def take(self, value: Any) -> None:
        """Take a value that the function gives; None is no row.  Raises :class:`ValueError` where it does not fit."""
        kind = RowKind.INSERT
        values: Sequence[Any]
        if not self._are_rows:
            is_wrapped = isinstance(value, (Row, tuple)) and len(value) == 1
            values = (value[0] if is_wrapped else value,)
        elif value is None:
            return
        elif isinstance(value, Row):
            kind = value.get_row_kind()
            values = value.get_fields_by_names(self._names)
        elif isinstance(value, dict):
            values = Row(**value).get_fields_by_names(self._names)
        else:
            values = value if isinstance(value, (tuple, list)) else (value,)
        if len(values) != self._width:
            raise ValueError(f"a row has {len(values)} values, {self._width} columns are declared")
        if kind is RowKind.INSERT and self._only_inserts:
            self.kinds.append(0)
        elif kind in self._allowed:
            self.kinds.append(self._allowed[kind])
        else:
            raise ValueError(f"it emits a row of the kind {kind.name}, but its changelog mode is {self._mode()}")
        self._rows.append(deepcopy(tuple(values)) if self._may_change else tuple(values))

    def _mode(self) -> str:
        return ", ".join(kind.name for kind in RowKind if kind in self._allowed)

    def arrays(self, function: Any) -> list[pa.Array]:
        """The columns.  Raises :class:`FunctionError` for a value that does not fit its type."""
        arrays = []
        columns = zip(*self._rows, strict=True) if self._rows else [()] * self._width
        for t, values in zip(self._types, columns, strict=True):
            try:
                arrays.append(writer(t)(values))
            except ResultError as error:
                raise result_error(self._name, None, error.value, error.problem, function) from None
        return arrays


_NESTED = frozenset(("ARRAY", "MAP", "MULTISET", "ROW", "STRUCTURED"))
"""Types whose values the function may change after it has emitted them."""


def emitted_columns(result: LogicalType) -> tuple[LogicalType, ...]:
    """The types of the columns of a result, which is a row or one value."""
    return tuple(result.field_types) if _is_row(result) else (result,)


def _is_row(result: LogicalType) -> bool:
    return result.root in ("ROW", "STRUCTURED")
