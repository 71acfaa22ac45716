"""Values as Flink's JSON format writes them, into and out of Spark."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from flinkplan.executor.jvm.types import field_name, has_nanos, spark_type
from flinkplan.plan.types import TIMESTAMPS, LogicalType

_EPOCH = date(1970, 1, 1).toordinal()
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)


def frame_of(session: SparkSession, types: Sequence[LogicalType], rows: Sequence[Sequence[Any]]) -> DataFrame:
    """A frame with the columns ``c0``, ``c1`` … of the types, from rows of JSON values."""
    held = [spark_type(t) for t in types]
    schema = spark.StructType([spark.StructField(f"c{i}", _portable(t)) for i, t in enumerate(held)])
    data = [tuple(_read(v, t) for v, t in zip(row, types, strict=True)) for row in rows]
    frame = session.createDataFrame(data, schema, verifySchema=False).coalesce(1)
    return frame.select([_from_portable(F.col(f"c{i}"), t).alias(f"c{i}") for i, t in enumerate(held)])


def values_of(frame: DataFrame, columns: Sequence[Column], types: Sequence[LogicalType]) -> list[list[Any]]:
    """The values of each column, as JSON."""
    selected = [
        _to_portable(c, spark_type(t)).alias(f"x{i}") for i, (c, t) in enumerate(zip(columns, types, strict=True))
    ]
    rows = frame.select(selected).collect()
    return [[_write(row[i], t) for row in rows] for i, t in enumerate(types)]


def _is_nanos(t: spark.DataType) -> bool:
    return isinstance(t, spark.StructType) and t.fieldNames() == ["micros", "nanos"]


def _portable(t: spark.DataType) -> spark.DataType:
    """Python holds dates from year 1 on and zones of its own: dates and timestamps travel as numbers."""
    match t:
        case spark.TimestampType():
            return spark.LongType()
        case spark.DateType():
            return spark.IntegerType()
        case spark.ArrayType():
            return spark.ArrayType(_portable(t.elementType))
        case spark.MapType():
            return spark.MapType(_portable(t.keyType), _portable(t.valueType))
        case spark.StructType():
            return spark.StructType([spark.StructField(f.name, _portable(f.dataType)) for f in t.fields])
    return t


def _from_portable(c: Column, t: spark.DataType) -> Column:
    if isinstance(t, spark.TimestampType):
        return F.timestamp_micros(c)
    if isinstance(t, spark.DateType):
        return F.date_from_unix_date(c)
    if _is_nanos(t):
        pair = F.struct(F.timestamp_micros(c.getField("micros")).alias("micros"), c.getField("nanos").alias("nanos"))
        return F.when(c.isNotNull(), pair)
    return c


def _to_portable(c: Column, t: spark.DataType) -> Column:
    """The way back; a FLOAT travels as text, for Python would show its digits as a double."""
    match t:
        case spark.TimestampType():
            return F.unix_micros(c)
        case spark.DateType():
            return F.unix_date(c)
        case spark.FloatType():
            return c.cast("string")
        case spark.ArrayType():
            return F.transform(c, lambda x: _to_portable(x, t.elementType))
        case spark.StructType():
            fields = [_to_portable(c.getField(f.name), f.dataType).alias(f.name) for f in t.fields]
            return F.when(c.isNotNull(), F.struct(*fields))
    return c


def _read(v: Any, t: LogicalType) -> Any:
    """A JSON value as Python holds it on the way into Spark."""
    if v is None:
        return None
    match t.root:
        case "FLOAT" | "DOUBLE":
            return float(v)
        case "DECIMAL":
            return Decimal(v).quantize(Decimal(1).scaleb(-(t.scale or 0)), context=_EXACT)
        case "BINARY" | "VARBINARY":
            return bytearray(base64.b64decode(v))
        case "DATE":
            return date.fromisoformat(v).toordinal() - _EPOCH
        case "TIME":
            return _nanos(f"1970-01-01 {v}") // 1_000_000
        case root if root in TIMESTAMPS:
            nanos = _nanos(v)
            return (nanos // 1000, nanos % 1000) if has_nanos(t) else nanos // 1000
        case "ARRAY":
            return [_read(x, t.element) for x in v]
        case "MAP":
            key, value = t.children
            return {int(k) if key.root == "INT" else k: _read(x, value) for k, x in v.items()}
        case "ROW":
            return tuple(_read(v.get(f.name), f.type) for f in t.fields)
    return v


def _nanos(text: str) -> int:
    match = re.fullmatch(r"([-\d]+)[ T](\d+):(\d+):(\d+)(?:\.(\d+))?Z?", text)
    assert match, text
    day, hour, minute, second, fraction = match.groups()
    seconds = (date.fromisoformat(day).toordinal() - _EPOCH) * 86400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    return seconds * 10**9 + int((fraction or "").ljust(9, "0"))


def _write(v: Any, t: LogicalType) -> Any:
    """What came out of Spark as JSON."""
    if v is None:
        return None
    match t.root:
        case "FLOAT" | "DOUBLE":
            number = float(v)
            return number if math.isfinite(number) else _SPECIAL[str(number)]
        case "BINARY" | "VARBINARY":
            return base64.b64encode(v).decode()
        case "DATE":
            return date.fromordinal(v + _EPOCH).isoformat()
        case "TIME":
            return _clock(v * 1_000_000)
        case root if root in TIMESTAMPS:
            days, nanos = divmod(v[0] * 1000 + v[1] if has_nanos(t) else v * 1000, 86_400 * 10**9)
            zone = "Z" if t.root == "TIMESTAMP_LTZ" else ""
            return f"{date.fromordinal(days + _EPOCH).isoformat()} {_clock(nanos)}{zone}"
        case "ARRAY":
            return [_write(x, t.element) for x in v]
        case "MAP":
            return {str(k): _write(x, t.children[1]) for k, x in v.items()}
        case "ROW":
            return {f.name: _write(v[field_name(i)], f.type) for i, f in enumerate(t.fields)}
    return v


def _clock(nanos: int) -> str:
    seconds, fraction = divmod(nanos, 10**9)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:09}".rstrip("0") if fraction else text


def same(ours: Any, expected: Any) -> bool:
    """Equal; approximate numbers to 14 digits."""
    if isinstance(ours, float) and isinstance(expected, (int, Decimal)) and not isinstance(expected, bool):
        return math.isclose(ours, float(expected), rel_tol=1e-14, abs_tol=1e-44)
    if isinstance(ours, list) and isinstance(expected, list):
        return len(ours) == len(expected) and all(map(same, ours, expected))
    if isinstance(ours, dict) and isinstance(expected, dict):
        return ours.keys() == expected.keys() and all(same(ours[k], expected[k]) for k in ours)
    return isinstance(ours, bool) == isinstance(expected, bool) and bool(ours == expected)
