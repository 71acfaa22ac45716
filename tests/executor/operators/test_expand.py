"""Rows that are copied once per projection."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

from flinkplan.executor.build.stream import ORDER, column_name, place_of_part
from flinkplan.plan.nodes import Expand
from flinkplan.plan.record import replace
from flinkplan.plan.rex import InputRef, Literal
from flinkplan.plan.types import INT, row
from tests.executor.building import build
from tests.executor.conftest import Bench

pytestmark = pytest.mark.spark

ROW = row((("a", INT),))
COPIED = row((("a", INT), ("b", INT)))


def test_a_place_is_divided_as_in_java(bench: Bench) -> None:
    java: Any = bench.context.runtime.row.Place
    wholes = [0, java.part(0, 1, 2), java.part(java.part(0, 2, 3), 4, 9), java.nth(7), java.part(java.nth(3), 1, 2**26)]
    parts = [(index, count) for count in (1, 2, 3, 5) for index in range(count)]
    frame = bench.spark.createDataFrame([(whole,) for whole in wholes], "whole bigint")
    columns = [place_of_part(F.col("whole"), *part).alias(f"p{n}") for n, part in enumerate(parts)]
    actual = [tuple(r) for r in frame.coalesce(1).select(*columns).collect()]
    assert actual == [tuple(java.part(whole, *part) for part in parts) for whole in wholes]


def test_copies_stand_in_the_order_of_the_projections(bench: Bench) -> None:
    source = bench.source("events", ROW)
    projects = tuple((InputRef(0, INT), Literal(n, INT)) for n in (3, 1, 2))
    node = Expand(id=1, version=1, output_type=COPIED, projects=projects)
    bench.put("events", (7,), (8,))
    stream = build(node, (source,), bench.context)
    apart = replace(stream, frame=stream.frame.repartition(2, column_name(1)))
    assert ORDER in stream.hidden
    assert bench.step(apart) == [("+I", a, n) for a in (7, 8) for n in (3, 1, 2)]
