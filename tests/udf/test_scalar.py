"""Scalar and table functions as workers call them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.record import replace
from flinkplan.table.udf import AsyncScalarFunction, ScalarFunction, udf, udtf
from flinkplan.udf.asynchronous import AsyncOptions
from flinkplan.udf.context import FunctionContext
from flinkplan.udf.failures import FunctionError, FunctionFailure, failure_in
from flinkplan.windowing.rows import Row

from .calling import SURROUNDINGS, Argument, Called, Constant, ScalarCalls, called, code_of, pa, types_of


def failure_of(error: pytest.ExceptionInfo[FunctionError]) -> FunctionFailure:
    text = f"Traceback (most recent call last):\n{type(error.value).__module__}.FunctionError: {error.value}\n"
    failure = failure_in(text)
    assert failure is not None
    return failure


def test_a_function_is_called_for_each_row() -> None:
    assert called(udf(lambda a, b: f"{a}{b}", result_type="STRING"), ["INT", "STRING"], [1, None], ["x", "y"]) == [
        "1x",
        "Noney",
    ]


def test_callable_objects_and_partial_functions() -> None:
    class Twice:
        def __call__(self, value: int) -> int:
            return 2 * value

    assert called(udf(Twice(), result_type="INT"), ["INT"], [4]) == [8]
    assert called(udf(partial(max, 3), result_type="INT"), ["INT"], [1]) == [3]


class Unit(ScalarFunction):
    """Asks for a parameter, and writes when it is closed."""

    def __init__(self, file: str) -> None:
        self.file = file

    def open(self, function_context: FunctionContext) -> None:
        self.unit = function_context.get_job_parameter("unit", "?")

    def eval(self, value: int) -> str:
        return f"{value} {self.unit}"

    def close(self) -> None:
        Path(self.file).write_text("closed", "utf-8")


def test_an_instance_is_opened_and_closed(tmp_path: Path) -> None:
    assert called(udf(Unit(str(tmp_path / "file")), result_type="STRING"), ["INT"], [1]) == ["1 m"]
    assert (tmp_path / "file").read_text("utf-8") == "closed"


def test_in_a_stream_an_instance_stays_open_between_micro_batches(tmp_path: Path) -> None:
    class Counting(Unit):
        def open(self, function_context: FunctionContext) -> None:
            self.count = 0

        def eval(self, value: int) -> Any:
            self.count += 1
            return 6 // value * 0 + self.count

    count, stream = udf(Counting(str(tmp_path / "file")), result_type="INT"), replace(SURROUNDINGS, stream="a node")
    assert called(count, ["INT"], [1, 1], surroundings=stream) == [1, 2]
    assert called(count, ["INT"], [1], surroundings=stream) == [3]
    assert not (tmp_path / "file").exists()
    with pytest.raises(FunctionError, match="ZeroDivisionError"):
        called(count, ["INT"], [0], surroundings=stream)
    assert (tmp_path / "file").read_text("utf-8") == "closed"
    assert called(count, ["INT"], [1], surroundings=stream) == [1]


def test_equal_calls_are_computed_once_for_each_row() -> None:
    calls: list[int] = []
    work = ScalarCalls(
        (code_of(udf(lambda x: x, result_type="INT")),),
        types_of("INT"),
        ("x",),
        (Called(0, (Argument(0),)), Called(0, (Called(0, (Argument(0),)),))),
        types_of("INT", "INT"),
        SURROUNDINGS,
    )

    class Counting:
        def __call__(self, value: int) -> int:
            calls.append(value)
            return value + 1

    from flinkplan.udf.scalar import Work

    arrays = Work(work, [Counting()]).arrays([pa.array([1, 2], pa.int32())])
    assert [array.to_pylist() for array in arrays] == [[2, 3], [3, 4]]
    assert calls == [1, 2, 2, 3]


def test_literals_that_are_equal_in_python_are_told_apart() -> None:
    (number, truth), kind = types_of("INT", "BOOLEAN"), udf(lambda x: type(x).__name__, result_type="STRING")
    work = ScalarCalls(
        (code_of(kind),),
        types_of("INT"),
        ("x",),
        (Called(0, (Constant(1, number),)), Called(0, (Constant(True, truth),))),
        types_of("STRING", "STRING"),
        SURROUNDINGS,
    )
    (array,) = work([pa.array([5], pa.int32())])
    assert array.to_pylist() == [{"f0": "int", "f1": "bool"}]


def test_a_function_that_takes_rows() -> None:
    total = udf(lambda row: row.c0 + row[1] + row["c0"], result_type="INT")
    assert called(total, ["INT", "INT"], [1, 2], [10, 20], takes_row=True) == [12, 24]


def test_a_function_that_raises_is_named_with_its_line_and_arguments() -> None:
    def half(number: int, text: str) -> float:
        return 1 / number

    with pytest.raises(FunctionError) as caught:
        called(udf(half, result_type="DOUBLE"), ["INT", "STRING"], [1, 0], ["a", "b" * 100])
    failure = failure_of(caught)
    assert failure.message == f"f(0, '{'b' * 58}…) raised ZeroDivisionError: division by zero"
    assert failure.where == f"{__file__}:{half.__code__.co_firstlineno + 1}"


def test_a_result_of_another_type_is_named_with_its_arguments() -> None:
    with pytest.raises(FunctionError) as caught:
        called(udf(lambda x: x if x < 2 else str(x), result_type="INT"), ["INT"], [1, 2])
    failure = failure_of(caught)
    assert failure.message.startswith("f(2) returned '2': the result type is INT, which does not take it")
    assert failure.where is not None and failure.where.startswith(f"{__file__}:")


def test_a_call_with_other_arguments_is_named_with_the_line_of_the_function() -> None:
    def none() -> int:
        return 1

    with pytest.raises(FunctionError) as caught:
        called(udf(none, result_type="INT"), ["INT"], [1])
    assert failure_of(caught).where == f"{__file__}:{none.__code__.co_firstlineno}"


class Slow(AsyncScalarFunction):
    """Waits the longer the smaller its argument is; fails for 3 as often as it is told."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures

    async def eval(self, value: int) -> int:
        await asyncio.sleep(0.001 * (10 - value))
        if value == 3 and self.failures:
            self.failures -= 1
            raise ValueError("again")
        return value * 2


def test_asynchronous_calls_keep_the_order_of_rows() -> None:
    assert called(udf(Slow(), result_type="INT"), ["INT"], [1, 5, 9]) == [2, 10, 18]


def test_asynchronous_calls_are_tried_again() -> None:
    options = replace(SURROUNDINGS, asynchronous=AsyncOptions(attempts=3, delay=0.001))
    assert called(udf(Slow(2), result_type="INT"), ["INT"], [3], surroundings=options) == [6]
    with pytest.raises(FunctionError, match="again"):
        called(udf(Slow(3), result_type="INT"), ["INT"], [3], surroundings=options)


# ---------------------------------------------------------------- pandas


def test_pandas_functions_see_series_and_missing_numbers_as_nan() -> None:
    kinds = udf(lambda a, b: a.map(lambda x: f"{a.dtype} {x} ") + b, result_type="STRING", func_type="pandas")
    assert called(kinds, ["INT", "STRING"], [1, None], ["x", "y"]) == ["float64 1.0 x", "float64 nan y"]


@pytest.mark.parametrize(
    ("t", "values"),
    [
        ("INT", [1, None]),
        ("DECIMAL(10, 2)", [Decimal("1.50"), None]),
        ("STRING", ["a", None]),
        ("ARRAY<INT>", [[1, 2], None]),
    ],
)
def test_pandas_functions_give_values_back(t: str, values: list[Any]) -> None:
    assert called(udf(lambda s: s, result_type=t, func_type="pandas"), [t], values) == values


def test_pandas_timestamps_and_rows() -> None:
    later = udf(lambda t: t + (t - t.min()), result_type="TIMESTAMP(3)", func_type="pandas")
    times = [datetime(2024, 1, 1), datetime(2024, 1, 2)]
    assert [t.replace(tzinfo=None) for t in called(later, ["TIMESTAMP(3)"], times)] == [times[0], datetime(2024, 1, 3)]
    pair = udf(lambda r: r[["b", "a"]], result_type="ROW<x STRING, y INT>", func_type="pandas")
    assert called(pair, ["ROW<a INT, b STRING>"], [Row(1, "p"), Row(2, "q")]) == [
        {"f0": "p", "f1": 1},
        {"f0": "q", "f1": 2},
    ]


def test_pandas_functions_see_arrays_and_maps_in_parts_of_a_batch() -> None:
    options = replace(SURROUNDINGS, rows_per_call=2)
    kinds = udf(lambda a: a.map(lambda x: f"{type(x).__name__} {x}"), result_type="STRING", func_type="pandas")
    arrays = [[1, 2], None, [3], [4]]
    assert called(kinds, ["ARRAY<INT>"], arrays, surroundings=options)[2:] == ["ndarray [3]", "ndarray [4]"]
    maps = [{"a": 1}, {}, None, {"b": 2}]
    back = udf(lambda m: m, result_type="MAP<STRING, INT>", func_type="pandas")
    assert called(back, ["MAP<STRING, INT>"], maps, surroundings=options) == [[("a", 1)], [], None, [("b", 2)]]


def test_pandas_functions_are_called_for_so_many_rows_at_most() -> None:
    count = udf(lambda s: s * 0 + len(s), result_type="INT", func_type="pandas")
    assert called(count, ["INT"], [1, 2, 3], surroundings=replace(SURROUNDINGS, rows_per_call=2)) == [2, 2, 1]


def test_a_pandas_result_of_another_length() -> None:
    with pytest.raises(FunctionError, match="the result has 1 rows, the arguments have 2"):
        called(udf(lambda s: s[:1], result_type="INT", func_type="pandas"), ["INT"], [1, 2])


# ---------------------------------------------------------------- table functions


def test_rows_of_a_table_function() -> None:
    def count(number: int) -> Iterator[Any]:
        for i in range(number):
            yield i, str(i)

    assert called(udtf(count, result_types=["INT", "STRING"]), ["INT"], [2, 0, 1]) == [
        [(0, "0"), (1, "1")],
        [],
        [(0, "0")],
    ]


@pytest.mark.parametrize(
    ("result", "rows"),
    [
        (None, []),
        ((1, "a"), [(1, "a")]),
        (Row(1, "a"), [(1, "a")]),
        ([(1, "a"), Row(2, "b")], [(1, "a"), (2, "b")]),
        ((1, "a", "left out"), [(1, "a")]),
    ],
)
def test_what_a_table_function_may_return(result: Any, rows: list[Any]) -> None:
    assert called(udtf(lambda x: result, result_types=["INT", "STRING"]), ["INT"], [0]) == [rows]


def test_a_table_function_that_fails_while_it_yields() -> None:
    def words(text: str | None) -> Iterator[str]:
        yield from text.split()  # type: ignore[union-attr]

    with pytest.raises(FunctionError, match=r"f\(None\) raised AttributeError"):
        called(udtf(words, result_types=["STRING"]), ["STRING"], ["a b", None])


def test_a_column_of_a_table_function_of_another_type() -> None:
    with pytest.raises(FunctionError, match=r"f\(7\) returned 'x': in its column 2, the result type is INT"):
        called(udtf(lambda x: (x, "x" if x == 7 else 1), result_types=["INT", "INT"]), ["INT"], [1, 7])
