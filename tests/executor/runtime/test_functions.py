"""The static methods behind functions, called one by one.

``functions.json`` has a table of values for each class: a method with its arguments, and what Flink 2.3 yielded of the
expression in SQL that stands for the call.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

TABLES = json.loads((Path(__file__).parent / "functions.json").read_text("utf-8"))
CASES = [
    pytest.param(owner, case["call"], case["expected"], id=f"{owner}: {case['sql']}")
    for owner, cases in TABLES.items()
    for case in cases
]


def to_java(jvm: Any, value: Any) -> Any:
    """An argument: texts are Spark's, and so are decimals, which are objects in JSON."""
    sql = jvm.org.apache.spark
    if isinstance(value, str):
        return sql.unsafe.types.UTF8String.fromString(value)
    return sql.sql.types.Decimal.apply(Decimal(value["decimal"])) if isinstance(value, dict) else value


def from_java(value: Any) -> Any:
    """A result as JSON; that of a path, an outcome and a text, is NULL where nothing is found."""
    if not isinstance(value, JavaObject):
        return value
    match value.getClass().getSimpleName():
        case "GenericArrayData":
            return [from_java(value.getUTF8String(i)) for i in range(value.numElements())]
        case "ArrayBasedMapData":
            return dict(zip(from_java(value.keyArray()), from_java(value.valueArray()), strict=True))
        case "GenericInternalRow":
            return from_java(value.getUTF8String(1)) if value.getInt(0) == 0 else None
    return value.toString()


@pytest.mark.spark
@pytest.mark.parametrize(("owner", "call", "expected"), CASES)
def test_is_what_flink_yields(spark: SparkSession, owner: str, call: list[Any], expected: Any) -> None:
    jvm: Any = spark._jvm
    name, *arguments = call
    method = getattr(getattr(jvm.flinkplan.runtime.functions, owner), name)
    assert from_java(method(*(to_java(jvm, argument) for argument in arguments))) == expected
