"""The keys and values of states, which have the bytes of Spark's own encoder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VARIABLE = "kept"
VALUES = {
    "INT": ("7", "-1", "2147483647", "-2147483648", "NULL"),
    "BIGINT": ("0", "63", "-64", "64", "9223372036854775807", "-9223372036854775808L", "NULL"),
    "STRING": ("''", "'a'", "'zwölf ✓'", "'longer than eight bytes'", "NULL"),
    "BINARY": ("X''", "X'00FF80'", "NULL"),
    "BOOLEAN": ("true", "false", "NULL"),
    "FLOAT": ("0", "-1.5", "'NaN'", "NULL"),
    "DOUBLE": ("0", "-1.5e300", "'-Infinity'", "NULL"),
    "DATE": ("'1500-01-01'", "'1970-01-01'", "'9999-12-31'", "NULL"),
    "TIMESTAMP": ("'1500-01-01 00:00:00'", "'2024-02-29 12:00:00.123456'", "NULL"),
    "TIMESTAMP_NTZ": ("'1500-01-01 00:00:00'", "'2024-02-29 12:00:00.123456'", "NULL"),
    "DECIMAL(9,2)": ("0", "-1.25", "9999999.99", "NULL"),
    "DECIMAL(38,10)": ("0", "-1.25", "9999999999999999999999999999.9999999999", "NULL"),
    "STRUCT<a: BIGINT, b: STRING>": ("named_struct('a', 1L, 'b', 'x')", "named_struct('a', NULL, 'b', NULL)", "NULL"),
    "ARRAY<BIGINT>": ("array(1L, 2L, -3L)", "NULL"),
    "ARRAY<STRING>": ("array('a', '', 'longer than eight bytes')", "NULL"),
    "ARRAY<STRUCT<a: INT, b: DECIMAL(38,10)>>": ("array(named_struct('a', 1, 'b', NULL))", "array()", "NULL"),
    "ARRAY<BOOLEAN>": ("array(true, false)", "array()"),
}
TIMES = (0, 1, -1, 1_700_000_000_000, 2**63 - 1, -(2**63))


def binary_rows(spark: SparkSession, sql: str) -> tuple[Any, list[Any]]:
    """The schema of a query's rows, and the rows as Spark has them in memory."""
    execution = spark.sql(sql)._jdf.queryExecution()
    return execution.analyzed().schema(), list(execution.executedPlan().executeCollect())


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> tuple[Any, list[Any]]:
    """A column of each type, with each of its values."""
    count = max(map(len, VALUES.values()))
    selects = (
        ", ".join(
            f"CAST({values[i % len(values)]} AS {type_}) AS c{c}" for c, (type_, values) in enumerate(VALUES.items())
        )
        for i in range(count)
    )
    return binary_rows(spark, " UNION ALL ".join(f"SELECT {select}" for select in selects))


class Encoders:
    """Spark's encoder of a variable and ours."""

    def __init__(self, jvm: Any, spec: Any, value: Any) -> None:
        state = jvm.org.apache.spark.sql.execution.streaming.state
        schemas = state.TestStateSchemaProvider()
        schemas.captureSchema(VARIABLE, spec.keySchema(), value, 0, 3)
        self.spark = state.AvroStateEncoder(spec, value, jvm.scala.Option.apply(schemas), VARIABLE)
        self.ours = jvm.flinkplan.runtime.state.StateEncoder(self.spark, spec, value, schemas, VARIABLE)

    def check(self, part: str, row: Any) -> None:
        """Both write a part of a row to the same bytes, and read the same from them."""
        written = getattr(self.spark, f"encode{part}")(row)
        assert getattr(self.ours, f"encode{part}")(row) == written
        assert getattr(self.ours, f"decode{part}")(written).equals(getattr(self.spark, f"decode{part}")(written))


@pytest.fixture(scope="module")
def state(spark: SparkSession) -> Iterator[Any]:
    jvm: Any = spark._jvm
    yield jvm.org.apache.spark.sql.execution.streaming.state


def test_keys_and_values_have_the_bytes_of_sparks(spark: SparkSession, state: Any, rows: tuple[Any, list[Any]]) -> None:
    schema, binary = rows
    encoders = Encoders(spark._jvm, state.NoPrefixKeyStateEncoderSpec(schema), schema)
    for row in binary:
        encoders.check("Key", row)
        encoders.check("Value", row)


def test_keys_of_maps_have_the_bytes_of_sparks(spark: SparkSession, state: Any) -> None:
    sql = "SELECT named_struct('k', 5L, 't', 'a') AS key, named_struct('u', 'b') AS userKey"
    schema, _ = binary_rows(spark, sql)
    encoders = Encoders(spark._jvm, state.PrefixKeyScanStateEncoderSpec(schema, 1), schema)
    for part, column in (("Key", "key"), ("RemainingKey", "userKey")):
        _, (row,) = binary_rows(spark, f"SELECT {column} FROM ({sql})")
        encoders.check(part, row)


def test_keys_in_the_order_of_times_have_the_bytes_of_sparks(spark: SparkSession, state: Any) -> None:
    jvm: Any = spark._jvm
    schema, _ = binary_rows(spark, "SELECT 1L AS expirationMs, named_struct('k', 5L) AS key")
    ordinals = jvm.scala.jdk.javaapi.CollectionConverters.asScala(jvm.java.util.List.of(0)).toSeq()
    encoders = Encoders(jvm, state.RangeKeyScanStateEncoderSpec(schema, ordinals), schema)
    _, times = binary_rows(spark, " UNION ALL ".join(f"SELECT CAST('{time}' AS BIGINT)" for time in TIMES))
    for row in times:
        encoders.check("PrefixKeyForRangeScan", row)
    _, (key,) = binary_rows(spark, "SELECT named_struct('k', 5L) AS key")
    encoders.check("RemainingKey", key)


def test_values_of_another_schema_are_left_to_spark(spark: SparkSession, state: Any) -> None:
    jvm: Any = spark._jvm
    old, (row,) = binary_rows(spark, "SELECT 5 AS a")
    new, _ = binary_rows(spark, "SELECT CAST(5 AS BIGINT) AS a, CAST(NULL AS STRING) AS b")
    schemas = state.TestStateSchemaProvider()
    spec = state.NoPrefixKeyStateEncoderSpec(old)
    schemas.captureSchema(VARIABLE, old, old, 0, 0)
    written = state.AvroStateEncoder(spec, old, jvm.scala.Option.apply(schemas), VARIABLE).encodeValue(row)
    schemas.captureSchema(VARIABLE, old, new, 0, 1)
    spark_encoder = state.AvroStateEncoder(spec, new, jvm.scala.Option.apply(schemas), VARIABLE)
    ours = jvm.flinkplan.runtime.state.StateEncoder(spark_encoder, spec, new, schemas, VARIABLE)
    read = ours.decodeValue(written)
    assert (read.getLong(0), read.isNullAt(1)) == (5, True)
