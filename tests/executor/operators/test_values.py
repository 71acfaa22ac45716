"""Constant rows."""

from __future__ import annotations

from typing import Any

import pytest

from flinkplan.plan.nodes import Correlate, Values
from flinkplan.plan.rex import Call, CorrelVariable, FieldAccess, Literal, RexNode
from flinkplan.plan.types import INT, STRING, row
from flinkplan.plan.types.parser import parse_type

from ..building import build
from ..conftest import Bench

pytestmark = pytest.mark.spark


def constant(*rows: tuple[RexNode, ...]) -> Values:
    return Values(id=1, version=1, tuples=rows, output_type=row([("a", INT), ("b", STRING)]))


def test_rows_come_once_in_their_order(bench: Bench) -> None:
    listed = constant((Literal(2, INT), Literal("x", STRING)), (Literal(1, INT), Literal(None, STRING)))
    stream = build(listed, (), bench.context)
    assert bench.step(stream) == [("+I", 2, "x"), ("+I", 1, None)]
    assert bench.step(stream) == []


def test_a_table_function_reads_what_another_one_yields(bench: Bench) -> None:
    lists = parse_type("ARRAY<INT>")
    seen = row([("id", INT), ("xs", lists), ("x", INT)])
    column = FieldAccess("xs", CorrelVariable("$cor1", seen))
    node = Correlate(
        id=1,
        version=1,
        join_type="INNER",
        function_call=Call("$UNNEST_ROWS$1", (column,), row([("f0", INT)])),
        condition=None,
        output_type=row([("id", INT), ("f0", lists), ("f00", INT)]),
    )
    stream = bench.source("lists", row([("id", INT), ("f0", lists)]))
    bench.put("lists", (1, [10, 20]), (2, []))
    assert bench.step(build(node, (stream,), bench.context)) == [("+I", 1, [10, 20], 10), ("+I", 1, [10, 20], 20)]


@pytest.mark.parametrize(
    ("function", "join", "expected"),
    [
        ("$UNNEST_ROWS$1", "INNER", [(1, 5), (1, None), (1, 7)]),
        ("$UNNEST_ROWS$1", "LEFT", [(1, 5), (1, None), (1, 7), (2, None), (3, None)]),
        ("$UNNEST_ROWS_WITH_ORDINALITY$1", "INNER", [(1, 5, 1), (1, None, 2), (1, None, 3), (1, 7, 4), (2, None, 1)]),
    ],
)
def test_rows_that_are_null_are_left_out_where_they_are_not_numbered(
    function: str, join: str, expected: list[Any], bench: Bench
) -> None:
    lists = parse_type("ARRAY<ROW<a INT>>")
    seen = row([("id", INT), ("xs", lists)])
    numbered = (("o", INT),) if "ORDINALITY" in function else ()
    node = Correlate(
        id=1,
        version=1,
        join_type=join,
        function_call=Call(function, (FieldAccess("xs", CorrelVariable("$cor0", seen)),), row([("a", INT), *numbered])),
        condition=None,
        output_type=row([("id", INT), ("xs", lists), ("a", INT), *numbered]),
    )
    stream = bench.source("lists", seen)
    bench.put("lists", (1, [{"f0": 5}, None, {"f0": None}, {"f0": 7}]), (2, [None]), (3, None))
    found = [(change[1], *change[3:]) for change in bench.step(build(node, (stream,), bench.context))]
    assert found == expected


def test_no_rows(bench: Bench) -> None:
    assert bench.step(build(constant(), (), bench.context)) == []
