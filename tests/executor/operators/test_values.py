"""Constant rows."""

from __future__ import annotations

import pytest

from flinkplan.executor.operators.table_functions import correlate, values
from flinkplan.plan.nodes import Correlate, Values
from flinkplan.plan.rex import Call, CorrelVariable, FieldAccess, Literal, RexNode
from flinkplan.plan.type_parser import parse_type
from flinkplan.plan.types import INT, STRING, row

from ..conftest import Bench

pytestmark = pytest.mark.spark


def constant(*rows: tuple[RexNode, ...]) -> Values:
    return Values(id=1, version=1, tuples=rows, output_type=row([("a", INT), ("b", STRING)]))


def test_rows_come_once_in_their_order(bench: Bench) -> None:
    listed = constant((Literal(2, INT), Literal("x", STRING)), (Literal(1, INT), Literal(None, STRING)))
    stream = values(listed, (), bench.context)
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
    assert bench.step(correlate(node, (stream,), bench.context)) == [("+I", 1, [10, 20], 10), ("+I", 1, [10, 20], 20)]


def test_no_rows(bench: Bench) -> None:
    assert bench.step(values(constant(), (), bench.context)) == []
