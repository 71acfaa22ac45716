"""How logical types are held."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from flinkplan.executor.jvm.types import spark_type
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.types.parser import parse_type


@pytest.mark.parametrize(
    ("flink", "held"),
    [
        ("BOOLEAN", "boolean"),
        ("TINYINT", "tinyint"),
        ("BIGINT", "bigint"),
        ("DECIMAL(38, 18)", "decimal(38,18)"),
        ("CHAR(3)", "string"),
        ("BINARY(2)", "binary"),
        ("DATE", "date"),
        ("TIME(3)", "int"),
        ("TIMESTAMP(3)", "timestamp"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamp"),
        ("TIMESTAMP(9)", "struct<micros:timestamp,nanos:smallint>"),
        ("INTERVAL YEAR(2) TO MONTH", "int"),
        ("INTERVAL DAY(2) TO SECOND(3)", "bigint"),
        ("ARRAY<MULTISET<STRING>>", "array<map<string,int>>"),
        ("MAP<INT, DOUBLE>", "map<int,double>"),
        ("ROW<`a b` INT, c ROW<d STRING>>", "struct<f0:int,f1:struct<f0:string>>"),
    ],
)
def test_is_held_as(flink: str, held: str) -> None:
    assert spark_type(parse_type(flink)).simpleString() == held


@pytest.mark.parametrize("flink", ["RAW('java.lang.Object', 'x')", "TIMESTAMP(3) WITH TIME ZONE"])
def test_is_not_held(flink: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot be held"):
        spark_type(parse_type(flink))


def test_null_is_held() -> None:
    assert spark_type(parse_type("NULL")) == spark.NullType()
