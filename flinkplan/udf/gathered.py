"""Aggregate functions over rows that stand together: those of a window when it closes, or of a row's frame of OVER.

A kernel has gathered the rows as an array of structs.  General functions see them as PyFlink's operator would have
called them: the panes of a HOP window are aggregated by themselves and merged, and so are sessions that a row joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..plan.functions.user import PythonKind
from ..plan.record import Record
from ..plan.types import LogicalType
from .aggregates import Accumulators, AggregateCode, Aggregator, functions_of
from .code import FunctionCode
from .failures import function_error, result_error
from .opening import Opened, Surroundings
from .values import ResultError, reader, writer

if TYPE_CHECKING:
    import pyarrow as pa


class GatheredCalls(Record):
    """The calls of a node, which is called with the batches of a task: arrays of lists of structs.

    ``names`` and ``types`` are of the fields that functions read; where ``pane_ms`` or ``gap_ms`` are not 0 the row's
    time in milliseconds stands behind them.  ``pane_ms``: windows are merged of panes of that length, ``gap_ms``: of
    sessions of that gap.
    """

    calls: tuple[AggregateCode, ...]
    names: tuple[str, ...]
    types: tuple[LogicalType, ...]
    result_types: tuple[LogicalType, ...]
    pane_ms: int
    gap_ms: int
    surroundings: Surroundings

    def __call__(self, batches: Iterable[Any]) -> Iterator[pa.Array]:
        """A struct of the results for each list.  Raises :class:`~.failures.FunctionError` where a function fails."""
        import pyarrow as pa

        first = self.calls[0].function
        is_pandas = isinstance(first, FunctionCode) and first.kind is PythonKind.PANDAS
        results = self._by_pandas if is_pandas else self._by_rows
        for arrays in results(batch[0] if isinstance(batch, tuple) else batch for batch in batches):
            yield pa.StructArray.from_arrays(arrays, [f"f{i}" for i in range(len(arrays))])

    def _by_rows(self, batches: Iterator[Any]) -> Iterator[list[pa.Array]]:
        with Opened(functions_of(self.calls), self.surroundings) as opened:
            aggregator = Aggregator(self.calls, opened.functions, self.names)
            readers = [reader(t, self.surroundings.zone) for t in self.types]
            for batch in batches:
                fields, bounds = _fields_and_bounds(batch)
                columns = [read(field) for read, field in zip(readers, fields, strict=False)]
                work = _Rows(self, aggregator, columns, fields[-1].to_pylist() if self._is_merged else ())
                results = [work.results(start, end) for start, end in bounds]
                yield [self._array(i, t, [r[i] for r in results]) for i, t in enumerate(self.result_types)]

    def _array(self, index: int, t: LogicalType, values: Sequence[Any]) -> pa.Array:
        try:
            return writer(t)(values)
        except ResultError as error:
            raise result_error(self.calls[index].name, None, error.value, error.problem) from None

    @property
    def _is_merged(self) -> bool:
        return bool(self.pane_ms or self.gap_ms)

    def _by_pandas(self, batches: Iterator[Any]) -> Iterator[list[pa.Array]]:
        from .pandas_columns import series_of

        zone = self.surroundings.zone
        with Opened(functions_of(self.calls), self.surroundings) as opened:
            for batch in batches:
                fields, bounds = _fields_and_bounds(batch)
                results: list[list[Any]] = [[] for _ in self.calls]
                for start, end in bounds:
                    series = [
                        series_of(field.slice(start, end - start), t, zone)
                        for field, t in zip(fields, self.types, strict=False)
                    ]
                    for call, function, values in zip(self.calls, opened.functions, results, strict=True):
                        values.append(self._called(call, function, [series[i] for i in call.arguments]))
                yield [
                    self._array_of_results(call, values, t)
                    for call, values, t in zip(self.calls, results, self.result_types, strict=True)
                ]

    def _called(self, call: AggregateCode, function: Any, arguments: list[Any]) -> Any:
        if isinstance(call.function, FunctionCode) and call.function.takes_row:
            import pandas as pd

            names = [self.names[i] for i in call.arguments]
            arguments = [pd.concat(arguments, axis=1, keys=names)]
        try:
            return _callable(function)(*arguments)
        except Exception as error:
            raise function_error(call.name, error, None) from None

    def _array_of_results(self, call: AggregateCode, values: Sequence[Any], t: LogicalType) -> pa.Array:
        import pandas as pd

        from .pandas_columns import to_array

        try:
            if t.root in ("ROW", "STRUCTURED"):
                columns = zip(*(tuple(value) for value in values), strict=True)
                result: Any = pd.concat([pd.Series(list(column)) for column in columns], axis=1)
            else:
                result = pd.Series(list(values), dtype=object if t.root in ("ARRAY", "MAP") else None)
            return to_array(result, t, self.surroundings.zone)
        except Exception as error:
            raise result_error(call.name, None, values[0], f"{type(error).__name__}: {error}") from None


class _Rows:
    """The rows of a batch's lists, by columns, and their times."""

    def __init__(
        self, calls: GatheredCalls, aggregator: Aggregator, columns: Sequence[Sequence[Any]], times: Sequence[int]
    ) -> None:
        self._calls = calls
        self._aggregator = aggregator
        count = len(times) or (len(columns[0]) if columns else 0)
        self._rows = list(zip(*columns, strict=True)) if columns else [()] * count
        self._arguments = aggregator.arguments(columns, count)
        self._times = times

    def results(self, start: int, end: int) -> list[Any]:
        """The results over the rows of a list."""
        if self._calls.pane_ms:
            accumulators = self._of_panes(start, end)
        elif self._calls.gap_ms:
            accumulators = self._of_sessions(start, end)
        else:
            accumulators = self._aggregator.create()
            self._add(accumulators, range(start, end))
        return self._aggregator.results(accumulators)

    def _add(self, accumulators: Accumulators, places: Iterable[int]) -> None:
        for i in places:
            given = [of_call[i] for of_call in self._arguments]
            self._aggregator.change(accumulators, given, self._rows[i], retracts=False)

    def _of_panes(self, start: int, end: int) -> Accumulators:
        panes: dict[int, Accumulators] = {}
        for i in range(start, end):
            number = self._times[i] // self._calls.pane_ms
            if number not in panes:
                panes[number] = self._aggregator.create()
            self._add(panes[number], (i,))
        merged = self._aggregator.create()
        for number in sorted(panes):
            self._aggregator.merge(merged, panes[number])
        return merged

    def _of_sessions(self, start: int, end: int) -> Accumulators:
        sessions: list[tuple[int, int, Accumulators]] = []
        for i in range(start, end):
            first = self._times[i]
            last = first + self._calls.gap_ms
            joined = [s for s in sessions if s[0] <= last and first <= s[1]]
            kept = joined[0][2] if joined else self._aggregator.create()
            for _, _, other in joined[1:]:
                self._aggregator.merge(kept, other)
            sessions = [s for s in sessions if s not in joined]
            first, last = min([first, *(s[0] for s in joined)]), max([last, *(s[1] for s in joined)])
            sessions.append((first, last, kept))
            sessions.sort(key=lambda session: session[0])
            self._add(kept, (i,))
        return sessions[0][2] if sessions else self._aggregator.create()


def _fields_and_bounds(batch: Any) -> tuple[list[Any], list[tuple[int, int]]]:
    """The fields of the structs of all lists, and where each list begins and ends in them."""
    offsets = batch.offsets.to_pylist()
    first = offsets[0] if offsets else 0
    structs = batch.values.slice(first, (offsets[-1] if offsets else 0) - first)
    shifted = [offset - first for offset in offsets]
    return structs.flatten(), list(pairwise(shifted))


def _callable(function: Any) -> Any:
    """What is called with series: a function, or a method of an instance, which PyFlink takes for accumulators."""
    if not hasattr(function, "accumulate"):
        return function

    def call(*series: Any) -> Any:
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *series)
        return function.get_value(accumulator)

    return call
