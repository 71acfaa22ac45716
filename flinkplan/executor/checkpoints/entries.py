"""The entries of the states of a query, as frames that hold them as kernels see them.

A frame of entries has the columns ``key``, ``map_key`` (of maps), ``value``, ``expires`` (epoch milliseconds, of
variables whose entries expire) and ``position`` (in a list, from 0).  One of timers has ``key`` and ``due``, the time
at which Spark calls: epoch milliseconds of the clock, or of event time as :mod:`..event_time` shifts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...plan.files import Place
from ...state.form import StateError
from ..jobs.states import STATE_SOURCE
from ..jvm.spark import F, T, sql
from .operators import Operator, StatefulQuery, Variable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

TIMERS = "$timers"
"""Stands in the place of a variable's name for the timers of an operator."""

NATIVE = "$native"
"""Stands in the place of a variable's name for what Spark's own aggregation keeps: ``key`` and ``value``, structs."""

_TIMER = -1
"""Stands in the place of a variable's number for a timer, as ``Bootstrap.java`` has it."""

Entries = Mapping[int, Mapping[str, "DataFrame"]]
"""Frames of entries by the numbers of operators and the names of variables."""


def read_entries(spark: SparkSession, folder: Place, query: StatefulQuery) -> Entries:
    """All entries of a query's states as its last batch has left them.

    Nothing is read before the frames are.
    """
    return {operator.number: dict(_operator_entries(spark, folder, operator)) for operator in query.operators}


def _operator_entries(spark: SparkSession, folder: Place, operator: Operator) -> Iterator[tuple[str, DataFrame]]:
    reader = spark.read.format(STATE_SOURCE).option("operatorId", operator.number)
    if operator.kernel is None:
        yield NATIVE, reader.load(str(folder)).select("key", "value")
        return
    assert operator.key is not None
    for variable in operator.variables:
        frame = reader.option("stateVarName", variable.name).option("flattenCollectionTypes", "false")
        yield variable.name, _variable_entries(frame.load(str(folder)), operator, variable)
    timers = spark.read.format(STATE_SOURCE).option("operatorId", operator.number)
    timers = timers.option("readRegisteredTimers", "true")
    entries = timers.load(str(folder))
    yield (
        TIMERS,
        entries.select(
            _unpacked(spark, entries["key"], entries.schema["key"].dataType, operator.key).alias("key"),
            F.col("expiration_timestamp_ms").cast("bigint").alias("due"),
        ),
    )


def _variable_entries(entries: DataFrame, operator: Operator, variable: Variable) -> DataFrame:
    match variable.kind:
        case "value":
            entries = entries.select("key", "value")
        case "list":
            entries = entries.select("key", F.posexplode("list_value").alias("position", "value"))
        case _:
            entries = entries.select("key", F.explode("map_value").alias("map_key", "value"))
    columns = []
    if variable.expires:
        columns = [entries["value.ttlExpirationMs"].cast("bigint").alias("expires")]
        entries = entries.select(*(c for c in entries.columns if c != "value"), "value.value", *columns)
    spark = entries.sparkSession
    schemas = {"key": operator.key, "map_key": variable.map_key, "value": variable.value}
    return entries.select(
        *(
            _unpacked(spark, entries[name], entries.schema[name].dataType, schema).alias(name)
            for name, schema in schemas.items()
            if schema is not None
        ),
        *(name for name in ("expires", "position") if name in entries.columns),
    )


def _unpacked(spark: SparkSession, column: Column, stored: DataType, schema: StructType) -> Column:
    """A struct as a kernel sees it: those of its fields that stand packed in state unpacked."""
    assert spark._jvm is not None
    unpacked = spark._jvm.flinkplan.runtime.row.Unpacked
    types = spark._jvm.org.apache.spark.sql.types.DataType
    fields = []
    for was, field in zip(stored.fields, schema.fields, strict=True):  # type: ignore[attr-defined]
        value = column.getField(was.name)
        if isinstance(was.dataType, T.BinaryType) and not isinstance(field.dataType, T.BinaryType):
            value = sql.Column(unpacked.column(value._jc, types.fromJson(field.dataType.json())))
        fields.append(value.alias(field.name))
    return F.when(column.isNotNull(), F.struct(*fields)).cast(schema)


def write_entries(query: StatefulQuery, state: Place, entries: Entries, now: int) -> None:
    """Write version 1 of the state of a query into the new folder ``state``; ``now``: what has expired by then is not.

    ``now`` is the time of the batch in epoch milliseconds.
    """
    from py4j.java_collections import JavaMap

    spark = query.frame.sparkSession
    assert spark._jvm is not None
    frames: JavaMap = spark._jvm.java.util.HashMap()
    for operator in query.operators:
        own = entries.get(operator.number, {})
        if own:
            frames[operator.number] = _bootstrap_rows(operator, own)._jdf
    context = spark.sparkContext
    told = {"sql.streaming.queryId": str(uuid4()), "streaming.sql.batchId": "0"}
    try:
        for key, value in told.items():  # what operators ask for, which Spark sets for each batch
            context.setLocalProperty(key, value)
        query.java.write(str(state), frames, now)
    finally:
        for key in told:
            context.setLocalProperty(key, None)  # type: ignore[arg-type]


def _bootstrap_rows(operator: Operator, entries: Mapping[str, DataFrame]) -> DataFrame:
    """The entries of an operator as ``Bootstrap.java`` takes them."""
    numbers = {variable.name: variable.number for variable in operator.variables}
    rows = (
        _rows(operator, numbers.get(name, _TIMER), frame, frame["due" if name == TIMERS else "expires"])
        if name == TIMERS or "expires" in frame.columns
        else _rows(operator, numbers[name], frame, None)
        for name, frame in entries.items()
    )
    return reduce(sql.DataFrame.unionAll, rows)


def _fits(actual: DataType, wanted: DataType) -> bool:
    """Whether values are of a type but for the names of fields, whether they may be NULL, and the size of integers."""
    match actual, wanted:
        case T.NullType(), _:
            return True
        case T.StructType(), T.StructType():
            pairs = zip(actual.fields, wanted.fields, strict=False)
            return len(actual) == len(wanted) and all(_fits(one.dataType, other.dataType) for one, other in pairs)
        case T.ArrayType(), T.ArrayType():
            return _fits(actual.elementType, wanted.elementType)
        case T.MapType(), T.MapType():
            return _fits(actual.keyType, wanted.keyType) and _fits(actual.valueType, wanted.valueType)
        case T.IntegralType(), T.IntegralType():
            return True
    return actual == wanted


def _rows(operator: Operator, number: int, frame: DataFrame, time: Column | None) -> DataFrame:
    assert operator.key is not None
    columns: list[Any] = [frame["key"].getField(f.name).alias(f"k{i}") for i, f in enumerate(operator.key.fields)]
    columns.append(F.lit(number).alias("variable"))
    columns.append((F.lit(None) if time is None else time).cast("bigint").alias("time"))
    position = frame["position"] if "position" in frame.columns else F.lit(0)
    columns.append(position.cast("double").alias("position"))  # whole numbers are sorted as RocksDB has their bytes
    for variable in operator.variables:
        for name, schema in (("map_key", variable.map_key), ("value", variable.value)):
            value = F.lit(None)
            if variable.number == number and schema is not None:
                value, type_ = frame[name], frame.schema[name].dataType
                if not _fits(type_, schema):
                    kept = f"{variable.name} keeps {schema.simpleString()}"
                    raise StateError(f"{kept}, which {type_.simpleString()} is not")
            columns.append(value.cast(schema or "int").alias(f"{name}{variable.number}"))
    return frame.select(*columns)
