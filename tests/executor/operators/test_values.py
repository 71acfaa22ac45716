"""Constant rows."""

from __future__ import annotations

import pytest

from flinkplan.executor.operators.table_functions import values
from flinkplan.plan.nodes import Values
from flinkplan.plan.rex import Literal, RexNode
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


def test_no_rows(bench: Bench) -> None:
    assert bench.step(values(constant(), (), bench.context)) == []
