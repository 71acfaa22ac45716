"""Which aggregate calls Spark's own functions compute as Flink does."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.known.native_calls import is_native_call
from flinkplan.plan.specs import AggregateCall
from flinkplan.plan.types import DOUBLE, FLOAT, INT, STRING, LogicalType, decimal, row


def call(function: str, of: LogicalType, distinct: bool = False) -> AggregateCall:
    return AggregateCall(
        name=None,
        internal_name=f"${function}$1",
        arg_list=(0,),
        filter_arg=-1,
        distinct=distinct,
        approximate=False,
        ignore_nulls=False,
        type=of,
    )


@pytest.mark.parametrize(
    ("function", "argument", "result", "native"),
    [
        ("COUNT", STRING, INT, True),
        ("SUM", INT, INT, True),
        ("SUM", DOUBLE, DOUBLE, False),
        ("SUM", FLOAT, FLOAT, False),
        ("SUM", decimal(28, 2), decimal(38, 2), True),
        ("$SUM0", decimal(29, 2), decimal(38, 2), False),
        ("AVG", FLOAT, FLOAT, False),
        ("AVG", INT, INT, True),
        ("AVG", decimal(10, 2), decimal(38, 6), False),
        ("MAX", STRING, STRING, True),
        ("MIN", DOUBLE, DOUBLE, False),
        ("LISTAGG", STRING, STRING, False),
    ],
)
def test_native_is_what_computes_the_same(
    function: str, argument: LogicalType, result: LogicalType, native: bool
) -> None:
    assert is_native_call(call(function, result), row([("a", argument)])) == native


def test_distinct_values_are_told_apart_by_kernels() -> None:
    assert not is_native_call(call("COUNT", INT, distinct=True), row([("a", INT)]))
