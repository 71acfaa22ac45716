"""How a value of each logical type is held in a Spark column.

| Flink | Spark | held as |
|---|---|---|
| BOOLEAN, TINYINT … BIGINT, FLOAT, DOUBLE, DECIMAL, DATE | the same | |
| CHAR, VARCHAR | string | a CHAR is padded by the cast that makes it |
| BINARY, VARBINARY | binary | |
| BITMAP | binary | its portable serialization |
| VARIANT | struct<value, metadata> | both binary, as in Parquet |
| TIME | int | milliseconds of the day |
| TIMESTAMP up to 6 digits | timestamp | its wall clock read in UTC, the session's zone |
| TIMESTAMP_LTZ up to 6 digits | timestamp | |
| both with 7 to 9 digits | struct<timestamp, smallint> | and the nanoseconds (0 to 999) below the microsecond |
| INTERVAL YEAR … MONTH | int | months |
| INTERVAL DAY … SECOND | bigint | milliseconds |
| ARRAY, MAP | the same | |
| MULTISET | map<element, int> | how often each element occurs |
| ROW, STRUCTURED | struct | fields named by position (``f0``, ``f1`` …): no user's name reaches Spark |
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...plan.errors import UnsupportedError
from ...plan.types import TIMESTAMPS, LogicalType
from .spark import T

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

MICROSECOND_DIGITS = 6

_ATOMIC = {
    "BOOLEAN": "BooleanType",
    "TINYINT": "ByteType",
    "SMALLINT": "ShortType",
    "INT": "IntegerType",
    "BIGINT": "LongType",
    "FLOAT": "FloatType",
    "DOUBLE": "DoubleType",
    "CHAR": "StringType",
    "VARCHAR": "StringType",
    "BINARY": "BinaryType",
    "VARBINARY": "BinaryType",
    "BITMAP": "BinaryType",
    "DATE": "DateType",
    "TIME": "IntegerType",
    "NULL": "NullType",
}
"""The names of Spark's types, which are imported by those alone that run something."""


def field_name(index: int) -> str:
    """The name of the field at ``index`` of a ROW."""
    return f"f{index}"


def has_nanos(t: LogicalType) -> bool:
    """Whether ``t`` is a timestamp finer than Spark's, held as a struct of ``micros`` and ``nanos``."""
    return t.root in TIMESTAMPS and (t.precision or 0) > MICROSECOND_DIGITS


def is_held(t: LogicalType, atomic: Collection[str], nesting: Collection[str] = ("ARRAY", "MAP")) -> bool:
    """Whether values of a type are held: of one of these atomic types, or arrays and maps of them."""
    if t.root in nesting:
        return all(is_held(child, atomic, nesting) for child in t.children)
    return t.root in atomic and not has_nanos(t)


def is_year_month(t: LogicalType) -> bool:
    """Whether ``t`` is an interval counted in months."""
    return t.root.startswith("INTERVAL_") and ("YEAR" in t.root or "MONTH" in t.root)


def is_day_time(t: LogicalType) -> bool:
    """Whether ``t`` is an interval counted in milliseconds."""
    return t.root.startswith("INTERVAL_") and not is_year_month(t)


def spark_type(t: LogicalType) -> DataType:
    """The Spark type that holds values of ``t``.  Raises :class:`UnsupportedError` where there is none."""

    if t.root in _ATOMIC:
        atomic: DataType = getattr(T, _ATOMIC[t.root])()
        return atomic
    if has_nanos(t):
        micros = T.StructField("micros", T.TimestampType())
        return T.StructType([micros, T.StructField("nanos", T.ShortType())])
    if t.root in TIMESTAMPS:
        return T.TimestampType()
    if t.root == "VARIANT":
        parts = [T.StructField(name, T.BinaryType(), nullable=False) for name in ("value", "metadata")]
        return T.StructType(parts)
    if t.root == "DECIMAL":
        return T.DecimalType(t.precision or 10, t.scale or 0)
    if is_year_month(t):
        return T.IntegerType()
    if is_day_time(t):
        return T.LongType()
    if t.root == "ARRAY":
        return T.ArrayType(spark_type(t.element))
    if t.root == "MAP":
        key, value = t.children
        return T.MapType(spark_type(key), spark_type(value))
    if t.root == "MULTISET":
        return T.MapType(spark_type(t.element), T.IntegerType())
    if t.root in ("ROW", "STRUCTURED"):
        return T.StructType([T.StructField(field_name(i), spark_type(f)) for i, f in enumerate(t.field_types)])
    raise UnsupportedError(f"values of the type {t} cannot be held in a Spark column")


def cast_type(t: LogicalType) -> DataType | str:
    """What a cast to :func:`spark_type` of ``t`` is given: its name, where that says all.

    A name goes over to the JVM with the cast, a type in five calls of its own.
    """

    type_ = spark_type(t)
    return type_.simpleString() if isinstance(type_, T.AtomicType) else type_
