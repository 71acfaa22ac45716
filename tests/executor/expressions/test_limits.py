"""Patterns that would never come to an end if each way to match were tried."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TEXT = "a" * 5_000
SPLIT = "(a|a)" * 40 + "b"
IN_STEPS = pytest.mark.nightly("steps are counted as in the function `find`, and a hundred million take seconds")


def texts(spark: SparkSession, *values: str) -> list[Any]:
    assert spark._jvm is not None
    return [spark._jvm.org.apache.spark.unsafe.types.UTF8String.fromString(value) for value in values]


def patterns(spark: SparkSession) -> Any:
    assert spark._jvm is not None
    return spark._jvm.flinkplan.runtime.functions.Patterns


@pytest.mark.parametrize(("end", "found"), [("a", True), ("b", False)])
def test_like_reads_a_text_once(spark: SparkSession, end: str, found: bool) -> None:
    assert patterns(spark).like(*texts(spark, TEXT, "%a" * 200 + "%_%" + end)) is found


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("abcabd", "%ab_", True),
        ("abcabd", "ab_", False),
        ("a\nb", "a_b", False),
        ("a\nb", "a%b", True),
        ("x😀y", "x_y", True),
        ("", "%%", True),
        ("", "_", False),
        ("aXbXc", "a%X%c", True),
    ],
)
def test_like(spark: SparkSession, text: str, pattern: str, found: bool) -> None:
    assert patterns(spark).like(*texts(spark, text, pattern)) is found


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("find", ()),
        pytest.param("count", (), marks=IN_STEPS),
        pytest.param("instr", (), marks=IN_STEPS),
        pytest.param("similar", (), marks=IN_STEPS),
        ("toMap", ("=",)),
    ],
)
def test_a_regular_expression_is_given_up_with_words(spark: SparkSession, name: str, more: tuple[str, ...]) -> None:
    message = "takes more than 100000000 steps on the value 'a{60}…' of 5000 characters"
    with pytest.raises(IllegalArgumentException, match=message):
        getattr(patterns(spark), name)(*texts(spark, TEXT, SPLIT, *more))


def test_a_map_of_many_pairs(spark: SparkSession) -> None:
    text = ",".join(f"k{i % 70_000}={i}" for i in range(100_000))
    found = patterns(spark).toMap(*texts(spark, text, ",", "="))
    assert found.numElements() == 70_000
