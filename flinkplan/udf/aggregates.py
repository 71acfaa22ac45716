"""Aggregate functions in a worker: calls of a node over accumulators.

Functions of a user and built-in ones are called alike.  Calls with DISTINCT of the same arguments share what they have
seen, with the number of times.  Source: ``pyflink/fn_execution/table/aggregate_fast.pyx``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from ..plan.record import Record
from ..plan.types import LogicalType
from ..windowing.rows import Row, row_maker
from .builtin_aggregates import builtin
from .code import FunctionCode
from .data_view import held_in_state
from .failures import FunctionError, function_error


class Builtin(Record):
    """A built-in function: its ``name`` without Flink's signs, whether rows may be taken back, the ``result`` type."""

    name: str
    retracts: bool
    result: LogicalType


class AggregateCode(Record):
    """An aggregate call for the workers; ``arguments`` and ``condition`` (-1: none) are columns of the rows."""

    function: FunctionCode | Builtin
    arguments: tuple[int, ...]
    condition: int
    distinct: bool

    @property
    def name(self) -> str:
        """What the function is called in SQL."""
        return self.function.name


def functions_of(codes: Sequence[AggregateCode]) -> list[FunctionCode]:
    """The functions of a user among those that are called, in the order of the calls."""
    return [code.function for code in codes if isinstance(code.function, FunctionCode)]


class Accumulators:
    """The accumulators of a node's calls, and how often each DISTINCT has seen its arguments, by its first call."""

    __slots__ = ("distinct", "values")

    def __init__(self, values: list[Any], distinct: dict[int, dict[Any, int]]) -> None:
        self.values = values
        self.distinct = distinct


class Aggregator:
    """The calls of a node over rows of columns with these ``names``.

    ``functions`` are the opened ones of :func:`functions_of`.  ``emits``: the type of the rows of the one
    function, if it is a table aggregate function.  All methods raise :class:`FunctionError` where a function fails.
    """

    def __init__(
        self,
        codes: Sequence[AggregateCode],
        functions: Sequence[Any],
        names: Sequence[str],
        emits: LogicalType | None = None,
    ) -> None:
        opened = iter(functions)
        made = (
            builtin(code.function.name, code.function.retracts, code.function.result)
            if isinstance(code.function, Builtin)
            else next(opened)
            for code in codes
        )
        self._calls = [_Call(code, function, names, emits) for code, function in zip(codes, made, strict=True)]
        self._views = _distinct_views(codes)
        self._is_plain = not self._views and all(code.condition < 0 for code in codes)

    def arguments(self, columns: Sequence[Sequence[Any]], count: int) -> list[list[tuple[Any, ...]]]:
        """The arguments of each call for each of ``count`` rows, whose values come column by column."""
        return [call.arguments(columns, count) for call in self._calls]

    def create(self) -> Accumulators:
        """The accumulators of no rows."""
        return Accumulators([call.create() for call in self._calls], {})

    def change(
        self, accumulators: Accumulators, arguments: Sequence[tuple[Any, ...]], row: Sequence[Any], retracts: bool
    ) -> None:
        """Add a row, or take it back; ``arguments`` are those of each call."""
        if self._is_plain:
            for i, call in enumerate(self._calls):
                call.change(accumulators.values[i], arguments[i], retracts)
            return
        for i, call in enumerate(self._calls):
            view, given = self._views.get(i), arguments[i]
            if view is not None and view.owner == i and (not view.conditions or any(row[c] for c in view.conditions)):
                counts = accumulators.distinct.setdefault(i, {})
                count = counts.get(given, 0) + (-1 if retracts else 1)
                if count:
                    counts[given] = count
                else:
                    counts.pop(given, None)
            if call.condition >= 0 and not row[call.condition]:
                continue
            if view is not None:
                count = accumulators.distinct.setdefault(view.owner, {}).get(given, 0)
                if count > (0 if retracts else 1):
                    continue
            call.change(accumulators.values[i], given, retracts)

    def merge(self, accumulators: Accumulators, others: Accumulators) -> None:
        """Add the accumulators of other rows."""
        for call, own, other in zip(self._calls, accumulators.values, others.values, strict=True):
            call.merge(own, other)

    def results(self, accumulators: Accumulators) -> list[Any]:
        """The results of the calls; of a table aggregate function its rows."""
        results = [call.value(acc) for call, acc in zip(self._calls, accumulators.values, strict=True)]
        return results[0] if self._calls and self._calls[0].emits is not None else results


class _View(Record):
    """What DISTINCT calls of the same arguments share: the first of them, and the conditions, none if one has none."""

    owner: int
    conditions: tuple[int, ...]


def _distinct_views(codes: Sequence[AggregateCode]) -> dict[int, _View]:
    """The view of each DISTINCT call by its place."""
    by_arguments: dict[tuple[int, ...], list[int]] = {}
    for i, code in enumerate(codes):
        if code.distinct:
            by_arguments.setdefault(code.arguments, []).append(i)
    views = {}
    for sharing in by_arguments.values():
        conditions = [codes[i].condition for i in sharing]
        view = _View(sharing[0], () if -1 in conditions else tuple(conditions))
        views.update(dict.fromkeys(sharing, view))
    return views


_MUTABLE = (list, dict, Row)
"""Classes of results that may be a part of the accumulator, which changes while they are still wanted."""


class _Call:
    """A call with its function."""

    def __init__(self, code: AggregateCode, function: Any, names: Sequence[str], emits: LogicalType | None) -> None:
        self._code = code
        self.condition = code.condition
        self.emits = emits
        self._takes_row = isinstance(code.function, FunctionCode) and code.function.takes_row
        self._function = function
        self._row = row_maker(tuple(names[i] for i in code.arguments))
        self._accumulate = self._function.accumulate

    def arguments(self, columns: Sequence[Sequence[Any]], count: int) -> list[tuple[Any, ...]]:
        if not self._code.arguments:
            return [()] * count
        given = list(zip(*(columns[i] for i in self._code.arguments), strict=True))
        return [(self._row(values),) for values in given] if self._takes_row else given

    def create(self) -> Any:
        return held_in_state(self._guarded(self._function.create_accumulator))

    def change(self, accumulator: Any, arguments: tuple[Any, ...], retracts: bool) -> None:
        try:
            if retracts:
                self._function.retract(accumulator, *arguments)
            else:
                self._accumulate(accumulator, *arguments)
        except Exception as error:
            raise function_error(self._code.name, error, arguments) from None

    def merge(self, accumulator: Any, other: Any) -> None:
        self._guarded(self._function.merge, accumulator, [other])

    def value(self, accumulator: Any) -> Any:
        if self.emits is not None:
            make = _row_of if self.emits.fields else _value_of
            return self._guarded(lambda: [[make(row)] for row in self._function.emit_value(accumulator)])
        value = self._guarded(self._function.get_value, accumulator)
        return deepcopy(value) if type(value) in _MUTABLE else value

    def _guarded(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except FunctionError:
            raise
        except Exception as error:
            raise function_error(self._code.name, error, arguments or None) from None


def _row_of(emitted: Any) -> Row:
    """What a table aggregate function emits, as a row."""
    return emitted if isinstance(emitted, Row) else Row(*emitted) if isinstance(emitted, tuple) else Row(emitted)


def _value_of(emitted: Any) -> Any:
    """The same of a function whose result is one value."""
    return emitted[0] if isinstance(emitted, (Row, tuple)) and len(emitted) == 1 else emitted
