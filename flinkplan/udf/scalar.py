"""Scalar functions over Arrow batches: what a task does for a node that calls them.

The expressions of a node are computed column by column, each equal call once, as PyFlink's workers compute equal calls
once for each row.  What a function returns goes to the function around it as it is; only what leaves the node becomes a
value of its declared type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..plan.functions.user import PythonKind
from ..plan.record import Record
from ..plan.types import LogicalType
from .asynchronous import awaited
from .code import FunctionCode
from .failures import function_error, result_error
from .interfaces import UserDefinedFunction
from .opening import Opened, Surroundings
from .pandas_columns import series_of, to_array
from .values import ResultError, Writer, arrow_type, reader, writer

if TYPE_CHECKING:
    import pyarrow as pa


class Argument(Record):
    """The column at ``index`` of the batch."""

    index: int


class Constant(Record):
    """A literal, as a Python value, and its type in SQL: 1 and TRUE are equal in Python."""

    value: Any
    type: LogicalType


class Called(Record):
    """A call of the function at ``function`` in the list of the node's functions."""

    function: int
    operands: tuple[Argument | Constant | Called, ...]


class ScalarCalls(Record):
    """The calls of a node, which is called with the batches of a task.

    ``types`` are those of the columns of a batch, whose names are ``names``; ``results`` are the outermost calls, with
    the types of ``result_types``.  A batch is a tuple of arrays, or one array; the result is the array of the one
    result, or a struct of several.
    """

    functions: tuple[FunctionCode, ...]
    types: tuple[LogicalType, ...]
    names: tuple[str, ...]
    results: tuple[Called, ...]
    result_types: tuple[LogicalType, ...]
    surroundings: Surroundings

    def __call__(self, batches: Iterable[Any]) -> Iterator[pa.Array]:
        """The results of each batch.  Raises :class:`~.failures.FunctionError` where a function fails."""
        import pyarrow as pa

        with Opened(self.functions, self.surroundings) as opened:
            work = Work(self, opened.functions)
            for batch in batches:
                arrays = work.arrays(batch if isinstance(batch, tuple) else (batch,))
                one = len(arrays) == 1
                yield arrays[0] if one else pa.StructArray.from_arrays(arrays, [f"f{i}" for i in range(len(arrays))])


Key = Argument | Constant | Called


class Work:
    """Computes the calls of a node for one batch after the other."""

    def __init__(self, calls: ScalarCalls, functions: Sequence[Any]) -> None:
        self.calls = calls
        self._functions = functions
        zone = calls.surroundings.zone
        self.readers = [reader(t, zone) for t in calls.types]
        self._writers: list[Writer] = [writer(t) for t in calls.result_types]
        self.callables = [getattr(f, "eval") if isinstance(f, UserDefinedFunction) else f for f in functions]  # noqa: B009

    def arrays(self, batch: Sequence[pa.Array]) -> list[pa.Array]:
        """The array of each result."""
        if any(self._kind(call) is PythonKind.PANDAS for call in self.calls.results):
            return self._pandas(batch)
        columns = ValuesOfBatch(self, batch)
        return [self._written(i, call, columns, columns.values(call)) for i, call in enumerate(self.calls.results)]

    def _kind(self, call: Called) -> PythonKind:
        return self.calls.functions[call.function].kind

    def _written(self, index: int, call: Called, columns: ValuesOfBatch, values: Sequence[Any]) -> pa.Array:
        try:
            return self._writers[index](values)
        except ResultError as e:
            code = self.calls.functions[call.function]
            arguments = columns.arguments(call, e.position)
            raise result_error(code.name, arguments, e.value, e.problem, self.callables[call.function]) from None

    def _pandas(self, batch: Sequence[pa.Array]) -> list[pa.Array]:
        import pyarrow as pa

        limit, parts = self.calls.surroundings.rows_per_call, []
        for start in range(0, len(batch[0]), limit):
            columns = _Series(self, [array.slice(start, limit) for array in batch])
            parts.append([columns.array(call, t) for call, t in zip(self.calls.results, self._types, strict=True)])
        if not parts:
            return [pa.array([], arrow_type(t)) for t in self._types]
        return [pa.concat_arrays(part) if len(part) > 1 else part[0] for part in zip(*parts, strict=True)]

    @property
    def _types(self) -> tuple[LogicalType, ...]:
        return self.calls.result_types


class ValuesOfBatch:
    """The values of expressions over one batch, as lists."""

    def __init__(self, work: Work, batch: Sequence[pa.Array]) -> None:
        self._work = work
        self._batch = batch
        self.height = len(batch[0])
        self._known: dict[Key, Sequence[Any]] = {}

    def values(self, key: Key) -> Sequence[Any]:
        """The value of an expression for each row."""
        if isinstance(key, Constant):
            return [key.value] * self.height
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (
                self._work.readers[key.index](self._batch[key.index])
                if isinstance(key, Argument)
                else self._called(key)
            )
        return known

    def _called(self, call: Called) -> list[Any]:
        code, function = self._work.calls.functions[call.function], self._work.callables[call.function]
        operands = self.operands(call)
        if code.kind is PythonKind.ASYNC:
            rows = zip(*operands, strict=True) if operands else iter([()] * self.height)
            return awaited(code.name, function, rows, self._work.calls.surroundings.asynchronous)
        results: list[Any] = []
        try:
            if operands:
                results.extend(map(function, *operands))
            else:
                results.extend(function() for _ in range(self.height))
        except Exception as error:
            raise function_error(code.name, error, [o[len(results)] for o in operands], function) from None
        return results

    def operands(self, call: Called) -> list[Sequence[Any]]:
        """The arguments of a call for all rows, by argument; those of a function that takes rows are one."""
        operands = [self.values(operand) for operand in call.operands]
        if not self._work.calls.functions[call.function].takes_row:
            return operands
        from ..windowing.rows import row_maker

        make = row_maker(tuple(self._name(i, operand) for i, operand in enumerate(call.operands)))
        return [list(map(make, zip(*operands, strict=True)))]

    def _name(self, position: int, operand: Key) -> str:
        return self._work.calls.names[operand.index] if isinstance(operand, Argument) else f"f{position}"

    def arguments(self, call: Called, row: int) -> list[Any]:
        """The arguments of a call in one row."""
        return [self.values(operand)[row] for operand in call.operands]


class _Series:
    """The same as pandas Series."""

    def __init__(self, work: Work, batch: Sequence[pa.Array]) -> None:
        self._work = work
        self._batch = batch
        self._known: dict[Key, Any] = {}

    def array(self, call: Called, t: LogicalType) -> pa.Array:
        """The array of an outermost call."""
        code, result = self._work.calls.functions[call.function], self._value(call)
        try:
            return to_array(result, t, self._work.calls.surroundings.zone)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            function = self._work.callables[call.function]
            raise result_error(code.name, None, type(result).__name__, problem, function) from None

    def _value(self, key: Key) -> Any:
        if isinstance(key, Constant):
            return key.value
        if key not in self._known:
            self._known[key] = self._argument(key) if isinstance(key, Argument) else self._called(key)
        return self._known[key]

    def _argument(self, key: Argument) -> Any:
        calls = self._work.calls
        return series_of(self._batch[key.index], calls.types[key.index], calls.surroundings.zone)

    def _called(self, call: Called) -> Any:
        import pandas as pd

        code, function = self._work.calls.functions[call.function], self._work.callables[call.function]
        operands = [self._value(operand) for operand in call.operands]
        if code.takes_row:
            columns = {self._work.calls.names[o.index]: s for o, s in zip(call.operands, operands, strict=True)}  # type: ignore[union-attr]
            operands = [pd.concat(columns.values(), axis=1, keys=list(columns))]
        try:
            result = function(*operands)
            if not isinstance(result, (pd.Series, pd.DataFrame)):
                raise TypeError(f"a pandas function returns a Series or a DataFrame, not {type(result).__name__}")
            if len(result) != len(self._batch[0]):
                raise ValueError(f"the result has {len(result)} rows, the arguments have {len(self._batch[0])}")
        except Exception as error:
            raise function_error(code.name, error, None, function) from None
        return result
