"""Columns as they stand in a frame, selected in one call of the JVM."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from flinkplan.executor.jvm.fields import field, select, select_where

pytestmark = pytest.mark.spark


def rows(frame: Any) -> list[dict[str, object]]:
    return [row.asDict() for row in frame.collect()]


def test_columns_are_named_anew_and_computed_in_their_order(spark: SparkSession) -> None:
    frame = spark.range(1).select(F.lit(1).alias("a"), F.lit(2).alias("b"))
    chosen = select(
        frame, [field(frame, "b", "x"), (field(frame, "a") + 1).alias("y"), "a", field(frame, "a").alias("z")]
    )
    assert chosen.columns == ["x", "y", "a", "z"]
    assert rows(chosen) == [{"x": 2, "y": 2, "a": 1, "z": 1}]


def test_a_column_of_another_frame_is_that_of_the_other_frame(spark: SparkSession) -> None:
    left = spark.range(1).select(F.lit(1).alias("a"))
    right = spark.range(1).select(F.lit(2).alias("a"))
    joined = left.join(right)
    assert rows(select(joined, [field(right, "a", "r"), field(left, "a", "l")])) == [{"r": 2, "l": 1}]


def test_a_column_knows_its_own_new_name_where_spark_selects_it(spark: SparkSession) -> None:
    frame = spark.range(1).select(F.lit(1).alias("a"))
    assert rows(frame.select(field(frame, "a").alias("b"), F.struct(field(frame, "a", "c")).alias("d"))) == [
        {"b": 1, "d": (1,)}
    ]


def test_columns_are_null_where_a_condition_does_not_hold(spark: SparkSession) -> None:
    frame = spark.range(2).select(F.col("id").alias("a"), F.lit("t").alias("b"))
    assert rows(select_where(frame, field(frame, "a") > 0, ["b", "a"])) == [{"b": None, "a": None}, {"b": "t", "a": 1}]
