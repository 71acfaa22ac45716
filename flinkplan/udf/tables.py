"""Table functions over Arrow batches: the rows for each row, as an array of rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..plan.record import replace
from ..plan.types import LogicalType
from ..windowing.rows import Row
from .failures import function_error, result_error
from .opening import Opened
from .scalar import Called, ScalarCalls, ValuesOfBatch, Work
from .values import ResultError, writer

if TYPE_CHECKING:
    import pyarrow as pa


class TableCall(ScalarCalls):
    """The call of a table function; ``result_types`` are those of its columns.

    Scalar functions may be called for its arguments.
    """

    def __call__(self, batches: Iterable[Any]) -> Iterator[pa.Array]:
        """The array of rows for each row of a batch.  Raises :class:`FunctionError` where a function fails."""
        with Opened(self.functions, self.surroundings) as opened:
            work = Work(replace(self, result_types=()), opened.functions)
            writers = [writer(t) for t in self.result_types]
            for batch in batches:
                columns = ValuesOfBatch(work, batch if isinstance(batch, tuple) else (batch,))
                yield self._rows(columns, work, writers)

    def _rows(self, columns: ValuesOfBatch, work: Work, writers: Sequence[Callable[..., Any]]) -> pa.Array:
        import pyarrow as pa

        (call,) = self.results
        width = len(self.result_types)
        rows, offsets = self._called(columns, work, call, width)
        arrays = []
        listed = list(zip(*rows, strict=True)) or [()] * width
        for i, (write, column) in enumerate(zip(writers, listed, strict=True)):
            try:
                arrays.append(write(column))
            except ResultError as e:
                row = next(r for r, end in enumerate(offsets[1:]) if e.position < end)
                problem = f"in its column {i + 1}, {e.problem}"
                arguments, function = columns.arguments(call, row), work.callables[call.function]
                raise result_error(self._name(call), arguments, e.value, problem, function) from None
        struct = pa.StructArray.from_arrays(arrays, [f"c{i}" for i in range(width)])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct)

    def _name(self, call: Called) -> str:
        return self.functions[call.function].name

    def _called(
        self, columns: ValuesOfBatch, work: Work, call: Called, width: int
    ) -> tuple[list[Sequence[Any]], list[int]]:
        """The rows for all rows, and where those of each begin."""
        rows: list[Sequence[Any]] = []
        offsets = [0]
        function, operands = work.callables[call.function], columns.operands(call)
        arguments = zip(*operands, strict=True) if operands else iter([()] * columns.height)
        for each in arguments:
            try:
                rows.extend(_row(value, width) for value in _listed(function(*each)))
            except Exception as error:
                raise function_error(self._name(call), error, each, function) from None
            offsets.append(len(rows))
        return rows, offsets


def _listed(result: Any) -> Iterable[Any]:
    """The rows that a call returned.  Source: ``normalize_table_function_result``."""
    if result is None:
        return ()
    return result if isinstance(result, (list, range, Generator)) else (result,)


def _row(value: Any, width: int) -> Sequence[Any]:
    """The columns of a row: those that are too many are left out, as PyFlink does."""
    columns: Sequence[Any] = value if isinstance(value, tuple) else list(value) if isinstance(value, Row) else (value,)
    if len(columns) == width:
        return columns
    if len(columns) < width:
        raise ValueError(f"a row has {len(columns)} values, {width} columns are declared")
    return columns[:width]


def result_columns(t: LogicalType) -> tuple[LogicalType, ...]:
    """The types of the columns of a table function, by the type of its call."""
    return tuple(t.field_types)
