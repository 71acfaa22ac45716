"""Expressions against what Flink itself computed.

Each file of the folder ``flink`` holds rows and expressions over them with Flink's results.  Where Flink is
at fault, ``flink`` keeps its results, ``why`` says what is wrong with them, and ``expected`` is right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.expressions import to_column
from flinkplan.plan.rex import RexNode, rex_from_json
from flinkplan.plan.types import LogicalType
from flinkplan.plan.types.parser import parse_type

from .values import frame_of, same, values_of

FILES = sorted((Path(__file__).parent / "flink").glob("*.json"))


@dataclass(frozen=True)
class Expression:
    """An expression with Flink's results, one for each row of its file."""

    sql: str
    rex: RexNode
    type: LogicalType
    expected: list[Any]


@dataclass(frozen=True)
class File:
    """Rows, and expressions over them."""

    time_zone: str
    legacy_casts: bool
    types: list[LogicalType]
    rows: list[list[Any]]
    expressions: list[Expression]


@cache
def load(path: Path) -> File:
    content = json.loads(path.read_text("utf-8"), parse_float=Decimal)
    expressions = [
        Expression(e["sql"], rex_from_json(e["rex"]), parse_type(e["type"]), e["expected"])
        for e in content["expressions"]
    ]
    types = [parse_type(t) for t in content["columns"].values()]
    return File(content["time_zone"], content.get("legacy_casts", False), types, content["rows"], expressions)


@pytest.fixture(scope="module")
def computed(spark: SparkSession) -> Iterator[dict[Path, list[list[Any]]]]:
    """What we make of every expression, by file; a few queries a file keep the generated code small."""
    results = {}
    for path in FILES:
        file = load(path)
        frame = frame_of(spark, file.types, file.rows).cache()
        inputs = [frame[f"c{i}"] for i in range(len(file.types))]
        found: list[list[Any]] = []
        for start in range(0, len(file.expressions), 60):
            part = file.expressions[start : start + 60]
            columns = [to_column(e.rex, inputs, time_zone=file.time_zone, legacy_casts=file.legacy_casts) for e in part]
            found += values_of(frame, columns, [e.type for e in part])
        results[path] = found
        frame.unpersist()
    yield results


CASES = [
    pytest.param(path, i, id=f"{path.stem}: {e.sql}") for path in FILES for i, e in enumerate(load(path).expressions)
]


@pytest.mark.spark
@pytest.mark.parametrize(("path", "index"), CASES)
def test_is_what_flink_computes(computed: dict[Path, list[list[Any]]], path: Path, index: int) -> None:
    expected, ours = load(path).expressions[index].expected, computed[path][index]
    assert [(o, e) for o, e in zip(ours, expected, strict=True) if not same(o, e)] == []
