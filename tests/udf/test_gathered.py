"""Aggregates over gathered rows: of windows as they are, of panes, of sessions, and by pandas functions."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from flinkplan.plan.functions.user import PythonKind
from flinkplan.plan.types import DOUBLE, INT, STRING, LogicalType, row
from flinkplan.udf.aggregates import AggregateCode
from flinkplan.udf.asynchronous import AsyncOptions
from flinkplan.udf.code import FunctionCode, Imports
from flinkplan.udf.failures import FunctionError
from flinkplan.udf.gathered import GatheredCalls
from flinkplan.udf.interfaces import AggregateFunction
from flinkplan.udf.opening import Surroundings


class Seen(AggregateFunction):
    """The values in their order, with a bar where others were merged."""

    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator.append(str(args[0]))

    def merge(self, accumulator: Any, accumulators: Any) -> None:
        for other in accumulators:
            accumulator += ["|", *other]

    def get_value(self, accumulator: Any) -> str:
        return "".join(accumulator)


def mean(values: Any) -> Any:
    return None if values.isna().all() else float(values.mean())


def ends(values: Any) -> Any:
    return min(values), max(values)


def calls(
    function: Any, kind: PythonKind, result: LogicalType, condition: int = -1, pane_ms: int = 0, gap_ms: int = 0
) -> GatheredCalls:
    code = FunctionCode("f", kind, False, pickle.dumps(function), Imports("job"))
    call = AggregateCode(code, (0,), condition, False)
    surroundings = Surroundings("UTC", (), True, "task", 100, AsyncOptions())
    return GatheredCalls((call,), ("x", "wanted"), (INT, INT), (result,), pane_ms, gap_ms, surroundings)


def results(work: GatheredCalls, *lists: list[tuple[Any, int, int]]) -> list[Any]:
    """The results over lists of rows: x, whether it is wanted, and its time."""
    fields = [("f0", pa.int32()), ("f1", pa.int32()), ("f2", pa.int64())]
    values = [[dict(zip(("f0", "f1", "f2"), r, strict=True)) for r in rows] for rows in lists]
    array = pa.array(values, pa.list_(pa.struct(fields)))
    return [each["f0"] for part in work([array.slice(0, 1), array.slice(1)]) for each in part.to_pylist()]


ROWS = [(1, 1, 0), (2, 0, 30), (3, 1, 12)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "123"),
        ({"condition": 1}, "13"),
        ({"pane_ms": 10}, "|1|3|2"),
        ({"gap_ms": 20}, "1|23"),
        ({"gap_ms": 40}, "123"),
    ],
)
def test_general_functions_see_what_is_merged(options: dict[str, int], expected: str) -> None:
    assert results(calls(Seen(), PythonKind.GENERAL, STRING, **options), ROWS, ROWS) == [expected] * 2


def test_pandas_functions_get_a_series_of_each_list() -> None:
    work = calls(mean, PythonKind.PANDAS, DOUBLE)
    assert results(work, ROWS, [(None, 1, 0)], [(4, 1, 0), (None, 1, 1)]) == [2.0, None, 4.0]
    pairs = calls(ends, PythonKind.PANDAS, row([("lo", INT), ("hi", INT)]))
    assert results(pairs, ROWS, [(7, 1, 0)]) == [{"f0": 1, "f1": 3}, {"f0": 7, "f1": 7}]


def test_results_that_do_not_fit_are_named() -> None:
    with pytest.raises(FunctionError, match=r"returned '123': the result type is INT"):
        results(calls(Seen(), PythonKind.GENERAL, INT), ROWS)
