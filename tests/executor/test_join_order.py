"""Joins behind a product of two inputs, which Spark puts into an order without it."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from flinkplan.executor.build.stream import SEQUENCE

pytestmark = pytest.mark.spark

FEW, MANY = 4, 40


def table(spark: SparkSession, rows: int, *columns: int) -> DataFrame:
    """Rows of as many columns, each the number of the row modulo one number, behind which that number stands."""
    numbers = spark.range(rows)
    values = [(F.col("id") % modulus).alias(f"c{i}") for i, modulus in enumerate(columns)]
    return numbers.select(*values, F.col("id").alias(SEQUENCE))


def joined(spark: SparkSession, left: DataFrame, right: DataFrame, *pairs: tuple[int, int]) -> DataFrame:
    """An inner join on pairs of columns; without any the product."""
    jvm: Any = spark._jvm
    condition = F.expr(" AND ".join(f"l{i} = r{j}" for i, j in pairs))._jc if pairs else None
    frame = jvm.flinkplan.runtime.join.NativeJoin.join(left._jdf, right._jdf, condition, "inner", False, None)
    return DataFrame(frame, spark)


def products(frame: DataFrame) -> int:
    """How many joins of the optimized plan have no condition."""
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    return sum(line.strip(" :+-") == "Join Inner" for line in plan.toString().splitlines())


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.drop(SEQUENCE).collect())


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (((0, 0), (1, 1)), 0),
        (((1, 1),), 1),
    ],
)
def test_a_product_is_joined_where_a_condition_connects(
    spark: SparkSession, pairs: tuple[tuple[int, int], ...], expected: int
) -> None:
    a, b, c = table(spark, FEW, FEW), table(spark, FEW, FEW), table(spark, MANY, FEW, 2 * FEW)
    product = joined(spark, a, b)
    renamed = product.select((F.col("c0") + 0).alias("c0"), "c1", SEQUENCE)
    frame = joined(spark, renamed, c, *pairs)
    assert products(frame) == expected

    def wanted(x: int, y: int, z: int) -> bool:
        return y == z % (2 * FEW) and (expected == 1 or x == z % FEW)

    assert rows(frame) == sorted(
        (x, y, z % FEW, z % (2 * FEW)) for x in range(FEW) for y in range(FEW) for z in range(MANY) if wanted(x, y, z)
    )


def test_a_product_is_joined_later_where_a_later_condition_connects(spark: SparkSession) -> None:
    a, b, c = table(spark, FEW, FEW), table(spark, FEW, FEW), table(spark, MANY, FEW)
    first = joined(spark, joined(spark, a, b), c, (0, 0))
    frame = joined(spark, first, table(spark, MANY, FEW), (1, 0), (2, 0))
    assert products(first) == 1
    assert products(frame) == 0
    same = MANY // FEW
    assert rows(frame) == sorted((x, x, x, x) for x in range(FEW) for _ in range(same * same))
