"""Tables of the neutral form as frames, with values as this executor holds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....plan.record import Record
from ....plan.types import INT, TIMESTAMPS, LogicalType
from ....plan.types.parser import parse_type
from ....state.form import ROW_KIND, Column, JobState, Kind, StateError, StateTable
from ....state.form_arrow import arrow, table_schema
from ...jvm.spark import F, T
from ...jvm.types import MICROSECOND_DIGITS, field_name, spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_THOUSAND = 1000

KIND = "kind"
"""The column of the row kinds of values that are rows."""


class FlinkTable(Record):
    """A state of Flink: ``frame`` has the columns of its table, structs with fields named by position."""

    table: StateTable
    frame: DataFrame

    @property
    def key_types(self) -> Sequence[LogicalType]:
        """The types of the key's fields."""
        return [parse_type(column.type) for column in self.table.key]

    @property
    def is_pair(self) -> bool:
        """Whether a value is a tuple of a row and something else."""
        value = _without_kind(self.table.value)
        return len(value) > 1 and parse_type(value[0].type).root == "ROW" and self.table.value[-1].name != ROW_KIND

    @property
    def row(self) -> Expression:
        """The row that is the value, or its first part."""
        return self.frame["value"].getField(field_name(0)) if self.is_pair else self.frame["value"]


def read_table(spark: SparkSession, state: JobState, table: StateTable, folder: Path) -> FlinkTable:
    """A table as a frame; its rows go through a Parquet file in ``folder``, which must outlive the frame.

    Raises :class:`StateError` where it holds values that could not be decoded.
    """
    if table.opaque:
        column = table.opaque[0]
        raise StateError(f"the state {table.name} has a value of {column.serializer}, which cannot be read")
    file = folder / f"{table.table}.parquet"
    if not file.exists():  # several queries may read a table
        _write(state, table, file)
    stored = spark.read.parquet(str(file))
    parts = {"key": table.key, "namespace": table.namespace, "map_key": table.map_key, "value": table.value}
    columns = [_struct(F.col(name), of).alias(name) for name, of in parts.items() if of or name == "key"]
    others = [F.col(name) for name in ("position", "accessed") if name in stored.columns]
    if any(column.name == ROW_KIND for column in table.value):
        others.append(F.col("value").getField(ROW_KIND).cast("tinyint").alias(KIND))
    return FlinkTable(table, stored.select(*columns, *others))


def _write(state: JobState, table: StateTable, file: Path) -> None:
    """Write the rows of a table, in types that Spark reads."""
    pa = arrow()
    import pyarrow.parquet as parquet

    schema = table_schema(table)
    if not table.key and table.kind.is_keyed:  # a struct without fields is none in Parquet
        schema = pa.schema([field for field in schema if field.name != "key"])
    readable = pa.schema([field.with_type(_readable(field.type)) for field in schema])
    with parquet.ParquetWriter(file, readable) as writer:
        for batch in state.batches(table):
            rows = pa.Table.from_batches([batch]).select(schema.names)
            writer.write_table(rows.cast(readable))


def _readable(t: Any) -> Any:
    """The type under which Spark reads values of a type of Arrow."""
    pa = arrow()
    if pa.types.is_time32(t) or pa.types.is_null(t):
        return pa.int32()
    if pa.types.is_list(t):
        return pa.list_(t.value_field.with_type(_readable(t.value_type)))
    if pa.types.is_struct(t):
        return pa.struct([t.field(i).with_type(_readable(t.field(i).type)) for i in range(t.num_fields)])
    return t


def _without_kind(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.name != ROW_KIND]


def _struct(column: Expression, of: Sequence[Column]) -> Expression:
    """A key, value or the like: fields by position, without the row's kind."""
    fields = [
        held(column.getField(c.name), parse_type(c.type)).alias(field_name(i)) for i, c in enumerate(_without_kind(of))
    ]
    return F.struct(*fields) if fields else F.struct(F.lit(0).alias(field_name(0)))


def held(column: Expression, t: LogicalType) -> Expression:
    """A value of the neutral form as this executor holds values of its type."""
    match t.root:
        case root if root in TIMESTAMPS:
            if (t.precision or 0) <= MICROSECOND_DIGITS:
                return column.cast("timestamp")
            millis, nanos = column.getField("millis"), column.getField("nanos")
            micros = millis * _THOUSAND + F.floor(nanos / _THOUSAND)
            fine = F.struct(F.timestamp_micros(micros), (nanos % _THOUSAND).cast("smallint"))
            return F.when(column.isNotNull(), fine).cast(spark_type(t))
        case "ARRAY":
            return F.transform(column, lambda item: held(item, t.element))
        case "MAP" | "MULTISET":
            key, value = t.children if t.root == "MAP" else (t.children[0], None)
            return F.map_from_entries(
                F.transform(
                    column,
                    lambda entry: F.struct(
                        held(entry["key"], key), entry["value"] if value is None else held(entry["value"], value)
                    ),
                )
            )
        case "ROW" | "STRUCTURED":
            fields = [f for f in t.fields if f.name != ROW_KIND]
            parts = [held(column.getField(f.name), f.type).alias(field_name(i)) for i, f in enumerate(fields)]
            return F.when(column.isNotNull(), F.struct(*parts))
    return column


def given(column: Expression, t: LogicalType) -> Expression:
    """A value that this executor holds as the neutral form has values of its type: the inverse of :func:`held`."""
    match t.root:
        case root if root in TIMESTAMPS:
            if (t.precision or 0) <= MICROSECOND_DIGITS:
                return column.cast("timestamp_ntz") if root == "TIMESTAMP" else column
            micros = F.unix_micros(column.getField("micros"))
            nanos = F.pmod(micros, F.lit(_THOUSAND)) * _THOUSAND + column.getField("nanos")
            fine = F.struct(F.floor(micros / _THOUSAND).alias("millis"), nanos.cast("int").alias("nanos"))
            return F.when(column.isNotNull(), fine)
        case "ARRAY":
            return F.transform(column, lambda item: given(item, t.element))
        case "MAP" | "MULTISET":
            key, value = t.children if t.root == "MAP" else (t.children[0], None)
            return F.transform(
                F.map_entries(column),
                lambda entry: F.struct(
                    given(entry["key"], key).alias("key"),
                    (entry["value"] if value is None else given(entry["value"], value)).alias("value"),
                ),
            )
        case "ROW" | "STRUCTURED":
            fields = [f for f in t.fields if f.name != ROW_KIND]
            parts = [given(column.getField(field_name(i)), f.type).alias(f.name) for i, f in enumerate(fields)]
            if len(parts) < len(t.fields):
                parts.append(F.lit(0).cast("tinyint").alias(ROW_KIND))
            return F.when(column.isNotNull(), F.struct(*parts))
    return column


def neutral_type(t: LogicalType) -> DataType:
    """The type of Spark in which Parquet files of the neutral form hold values of a type."""
    match t.root:
        case root if root in TIMESTAMPS:
            if (t.precision or 0) <= MICROSECOND_DIGITS:
                return T.TimestampNTZType() if root == "TIMESTAMP" else T.TimestampType()
            return T.StructType([T.StructField("millis", T.LongType()), T.StructField("nanos", T.IntegerType())])
        case "ARRAY":
            return T.ArrayType(neutral_type(t.element))
        case "MAP" | "MULTISET":
            key, value = t.children if t.root == "MAP" else (t.children[0], INT)
            entry = T.StructType([T.StructField("key", neutral_type(key)), T.StructField("value", neutral_type(value))])
            return T.ArrayType(entry)
        case "ROW" | "STRUCTURED":
            return T.StructType([T.StructField(f.name, neutral_type(f.type)) for f in t.fields])
        case "NULL":
            return T.IntegerType()
        case "VARIANT":
            return T.BinaryType()
    return spark_type(t)


def is_keyed_state(table: StateTable) -> bool:
    """Whether a table is a state of keys, and no timers."""
    return table.kind in (Kind.VALUE, Kind.LIST, Kind.MAP)
