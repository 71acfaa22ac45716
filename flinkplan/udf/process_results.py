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
    """What a process table function emits, column by column.

    ``emits`` are the kinds of rows as plans name them, ``name`` is that of the function.
    """

    def __init__(self, result: LogicalType, emits: Sequence[str], name: str) -> None:
        self._types = emitted_columns(result)
        self._name = name
        self._are_rows = _is_row(result)
        self._names = list(result.field_names) if self._are_rows else []
        self._allowed = {RowKind[kind.removeprefix("~")] for kind in emits}
        self.kinds: list[int] = []
        """The kind of each row, as a byte."""
        self.columns: list[list[Any]] = [[] for _ in self._types]

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
        if len(values) != len(self.columns):
            raise ValueError(f"a row has {len(values)} values, {len(self.columns)} columns are declared")
        if kind not in self._allowed:
            raise ValueError(f"it emits a row of the kind {kind.name}, but its changelog mode is {self._mode()}")
        self.kinds.append(kind.value)
        for column, each in zip(self.columns, values, strict=True):
            column.append(deepcopy(each) if isinstance(each, _MUTABLE) else each)

    def _mode(self) -> str:
        return ", ".join(kind.name for kind in RowKind if kind in self._allowed)

    def arrays(self, function: Any) -> list[pa.Array]:
        """The columns.  Raises :class:`FunctionError` for a value that does not fit its type."""
        arrays = []
        for t, values in zip(self._types, self.columns, strict=True):
            try:
                arrays.append(writer(t)(values))
            except ResultError as error:
                raise result_error(self._name, None, error.value, error.problem, function) from None
        return arrays


_MUTABLE = (list, dict, Row)
"""Classes of values that the function may change after it has emitted them."""


def emitted_columns(result: LogicalType) -> tuple[LogicalType, ...]:
    """The types of the columns of a result, which is a row or one value."""
    return tuple(result.field_types) if _is_row(result) else (result,)


def _is_row(result: LogicalType) -> bool:
    return result.root in ("ROW", "STRUCTURED")
