"""Built-in aggregate functions beside Python ones: one Python function in a node has all functions run in Python.

They are those that PyFlink has, with its results: AVG divides as Python does, and of a changelog LISTAGG, MIN and MAX
keep all values.  FIRST_VALUE and LAST_VALUE go by the order of rows, of which PyFlink sees milliseconds.
Source: ``pyflink/table/functions.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from ..plan.types import LogicalType
from .interfaces import AggregateFunction


class Average(AggregateFunction):
    """AVG: the accumulator is count and sum."""

    def create_accumulator(self) -> Any:
        return [0, 0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            accumulator[0] += 1
            accumulator[1] += args[0]

    def retract(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            accumulator[0] -= 1
            accumulator[1] -= args[0]

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for count, total in accumulators:
            accumulator[0] += count
            accumulator[1] += total

    def get_value(self, accumulator: Any) -> Any:
        count, total = accumulator
        return total / count if count else None


class Count(AggregateFunction):
    """COUNT: of a column its values, else rows."""

    def create_accumulator(self) -> Any:
        return [0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if not args or args[0] is not None:
            accumulator[0] += 1

    def retract(self, accumulator: Any, *args: Any) -> None:
        if not args or args[0] is not None:
            accumulator[0] -= 1

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        accumulator[0] += sum(count for (count,) in accumulators)

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class Sum(AggregateFunction):
    """SUM: the accumulator is the count of values and their sum; NULL without values, or ``empty``."""

    def __init__(self, empty: Any = None) -> None:
        self._empty = empty

    def create_accumulator(self) -> Any:
        return [0, self._empty]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        value = args[0]
        if value is not None:
            accumulator[0] += 1
            accumulator[1] = value if accumulator[1] is None else accumulator[1] + value

    def retract(self, accumulator: Any, *args: Any) -> None:
        value = args[0]
        if value is not None:
            accumulator[0] -= 1
            accumulator[1] = -value if accumulator[1] is None else accumulator[1] - value

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for count, total in accumulators:
            if total is not None:
                accumulator[0] += count
                accumulator[1] = total if accumulator[1] is None else accumulator[1] + total

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[1] if accumulator[0] or self._empty is not None else None


class Extreme(AggregateFunction):
    """MIN or MAX of rows that stay."""

    def __init__(self, choose: Callable[[Any, Any], Any]) -> None:
        self._choose = choose

    def create_accumulator(self) -> Any:
        return [None]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        value = args[0]
        if value is not None:
            accumulator[0] = value if accumulator[0] is None else self._choose(accumulator[0], value)

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for (value,) in accumulators:
            self.accumulate(accumulator, value)

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class ExtremeOfChangelog(AggregateFunction):
    """MIN or MAX of rows that may be taken back: the accumulator counts each value."""

    def __init__(self, choose: Callable[[Iterable[Any]], Any]) -> None:
        self._choose = choose

    def create_accumulator(self) -> Any:
        return {}

    def _change(self, counts: dict[Any, int], value: Any, by: int) -> None:
        count = counts.get(value, 0) + by
        if count:
            counts[value] = count
        else:
            counts.pop(value, None)

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            self._change(accumulator, args[0], 1)

    def retract(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            self._change(accumulator, args[0], -1)

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for counts in accumulators:
            for value, count in counts.items():
                self._change(accumulator, value, count)

    def get_value(self, accumulator: Any) -> Any:
        present = [value for value, count in accumulator.items() if count > 0]
        return self._choose(present) if present else None


class First(AggregateFunction):
    """FIRST_VALUE, or LAST_VALUE of rows that stay."""

    def __init__(self, last: bool) -> None:
        self._last = last

    def create_accumulator(self) -> Any:
        return [None]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None and (self._last or accumulator[0] is None):
            accumulator[0] = args[0]

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class Values(AggregateFunction):
    """A function of all values, in their order; taking a value back removes the first equal one."""

    def __init__(self, value: Callable[[list[Any], Any], Any]) -> None:
        self._value = value

    def create_accumulator(self) -> Any:
        return [[], ","]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            accumulator[0].append(args[0])
            if len(args) > 1:
                accumulator[1] = args[1]

    def retract(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None and args[0] in accumulator[0]:
            accumulator[0].remove(args[0])

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for values, delimiter in accumulators:
            if values:
                accumulator[0].extend(values)
                accumulator[1] = delimiter

    def get_value(self, accumulator: Any) -> Any:
        values, delimiter = accumulator
        return self._value(values, delimiter) if values else None


class SquaredDifferences(AggregateFunction):
    """The sum of squared differences from the mean, of which Flink makes STDDEV and VAR.

    The accumulator is count, mean and that sum.  PyFlink gives NULL for a sum of 0; this is 0.
    """

    def create_accumulator(self) -> Any:
        return [0, 0.0, 0.0]

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        if args[0] is not None:
            before = float(args[0]) - accumulator[1]
            accumulator[0] += 1
            accumulator[1] += before / accumulator[0]
            accumulator[2] += before * (float(args[0]) - accumulator[1])

    def retract(self, accumulator: Any, *args: Any) -> None:
        if args[0] is None:
            return
        if accumulator[0] <= 1:
            accumulator[:] = [0, 0.0, 0.0]
            return
        before = float(args[0]) - accumulator[1]
        accumulator[0] -= 1
        accumulator[1] -= before / accumulator[0]
        accumulator[2] -= before * (float(args[0]) - accumulator[1])

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        for count, mean, squares in accumulators:
            if count > 0:
                total = accumulator[0] + count
                between = mean - accumulator[1]
                accumulator[2] += squares + accumulator[0] * count / total * between * between
                accumulator[1] += count / total * between
                accumulator[0] = total

    def get_value(self, accumulator: Any) -> Any:
        return max(accumulator[2], 0.0) if accumulator[0] > 0 else None


def _zero(t: LogicalType) -> Any:
    return Decimal(0) if t.root == "DECIMAL" else 0.0 if t.root in ("FLOAT", "DOUBLE") else 0


_FUNCTIONS: dict[str, Callable[[bool, LogicalType], AggregateFunction]] = {
    "AVG": lambda retracts, t: Average(),
    "COUNT": lambda retracts, t: Count(),
    "SUM": lambda retracts, t: Sum(),
    "$SUM0": lambda retracts, t: Sum(_zero(t)),
    "MIN": lambda retracts, t: ExtremeOfChangelog(min) if retracts else Extreme(min),
    "MAX": lambda retracts, t: ExtremeOfChangelog(max) if retracts else Extreme(max),
    "FIRST_VALUE": lambda retracts, t: Values(lambda values, _: values[0]) if retracts else First(last=False),
    "LAST_VALUE": lambda retracts, t: Values(lambda values, _: values[-1]) if retracts else First(last=True),
    "LISTAGG": lambda retracts, t: Values(lambda values, delimiter: delimiter.join(values)),
    "$WELFORD_M2": lambda retracts, t: SquaredDifferences(),
}


NAMES = frozenset(_FUNCTIONS)
"""The functions that can stand beside a Python function."""


def builtin(name: str, retracts: bool, t: LogicalType) -> AggregateFunction:
    """The function of this name; ``retracts``: rows may be taken back, ``t``: the type of the result."""
    return _FUNCTIONS[name](retracts, t)
