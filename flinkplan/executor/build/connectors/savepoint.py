"""Reads tables of the connector ``savepoint``: the states of an operator, joined by key.

Source: the mapping of states to columns in Flink's documentation of the State Processor API ("Table API").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ....plan.connectors.savepoint import PATH, STATE_NAME, STATE_TYPE, UID, UID_HASH
from ....plan.nodes import TableSourceScan
from ....plan.types import CHARACTER, LogicalType
from ....plan.types.readable import readable
from ....state.form import Kind
from ...connectors.tables import Table
from ...errors import TableError
from ...jvm.spark import F, T
from ...jvm.types import field_name, spark_type
from ..context import TranslationContext
from ..saved_states import SavedOperator, SavedState
from ..stream import SEQUENCE, Stream, column_name
from ..time.event_time import read_once
from .base import TableBuilder, table_builder

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_BY_TYPE = {"ARRAY": Kind.LIST, "MAP": Kind.MAP}


@table_builder
class SavepointTables(TableBuilder):
    """A row for each key of an operator."""

    name = "savepoint"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        if context.saved_states is None:
            raise TableError("state cannot be read from here", where=f"table {table.identifier}")
        operator = SavedOperator(table.options[PATH], table.options.get(UID), table.options.get(UID_HASH))
        columns = [(name, t) for name, t in table.physical if name not in table.primary_key]
        names = [table.option(STATE_NAME.replace("#", name), name) for name, _ in columns]
        states = context.saved_states(context.spark, operator, list(dict.fromkeys(names)))
        frames = [
            _by_key(table, name, t, states[state]).withColumnRenamed("found", _value(i))
            for i, ((name, t), state) in enumerate(zip(columns, names, strict=True))
        ]
        joined = _joined(len(table.primary_key), frames)
        places = {
            **{name: _key(i) for i, name in enumerate(table.primary_key)},
            **{name: _value(i) for i, (name, _) in enumerate(columns)},
        }
        rows = joined.select(
            *(joined[places[name]].alias(column_name(i)) for i, (name, _) in enumerate(table.physical)),
            F.monotonically_increasing_id().alias(SEQUENCE),
        )
        return Stream(read_once(rows, context), node.output_type)


def _key(index: int) -> str:
    return f"k{index}"


def _value(index: int) -> str:
    return f"v{index}"


def _joined(keys: int, frames: Sequence[DataFrame]) -> DataFrame:
    """A row for each key that any of the frames has, of whose columns each frame has one."""
    every = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
    first = [F.first(F.col(_value(i)), ignorenulls=True).alias(_value(i)) for i in range(len(frames))]
    return every.groupBy(*map(_key, range(keys))).agg(*first)


def _by_key(table: Table, name: str, t: LogicalType, state: SavedState) -> DataFrame:
    """The columns of the key, and ``found``, what a column over a state has, with a row for each key."""
    kind = _kind(table, name, t)
    keys = _keys(table, state)
    frame = state.frame.withColumns({_key(i): key for i, key in enumerate(keys)})
    value, stored = F.col("value"), frame.schema["value"].dataType
    column = f"the column '{name}' over the state {state.name}"
    if kind is not state.kind:
        hint = f"declare it as '{STATE_TYPE.replace('#', name)}' = '{state.kind.value}', with a type that fits"
        raise TableError(f"{column} is of the kind {kind.value}, the state of the kind {state.kind.value}", hint=hint)
    if kind is Kind.LIST:
        if t.root != "ARRAY":
            raise TableError(f"{column} must be of the type ARRAY")
        item = converted(value, stored, t.element, column)
        position = F.col("position") if "position" in frame.columns else F.lit(0)
        items = F.array_sort(F.collect_list(F.struct(position.alias("position"), item.alias("item"))), _by_position)
        found = items.getField("item")
    elif kind is Kind.MAP:
        if t.root != "MAP":
            raise TableError(f"{column} must be of the type MAP")
        key_type, value_type = t.children
        map_key = converted(F.col("map_key"), frame.schema["map_key"].dataType, key_type, column)
        entry = F.struct(map_key.alias("key"), converted(value, stored, value_type, column).alias("value"))
        found = F.map_from_entries(F.collect_list(entry))
    else:
        found = F.first(converted(value, stored, t, column))
    return frame.groupBy(*map(_key, range(len(keys)))).agg(found.alias("found"))


def _by_position(one: Column, other: Column) -> Column:
    return F.signum(one["position"] - other["position"]).cast("int")


def _kind(table: Table, name: str, t: LogicalType) -> Kind:
    named = table.options.get(STATE_TYPE.replace("#", name))
    return Kind(named.lower()) if named else _BY_TYPE.get(t.root, Kind.VALUE)


def _keys(table: Table, state: SavedState) -> list[Column]:
    """The columns of the table's key in the entries of a state."""
    types = dict(table.physical)
    names = table.primary_key
    stored = state.frame.schema["key"].dataType
    what = f"the key of the state {state.name}"
    if len(names) == 1:
        return [converted(F.col("key"), stored, types[names[0]], what)]
    fields = stored.fields  # type: ignore[attr-defined]
    if len(fields) != len(names):
        raise TableError(f"{what} has {len(fields)} columns, the primary key {len(names)}")
    return [
        converted(F.col("key").getField(field.name), field.dataType, types[name], what)
        for field, name in zip(fields, names, strict=True)
    ]


def converted(column: Column, stored: DataType, t: LogicalType, what: str) -> Column:
    """A value of a state as this executor holds values of the declared type ``t``.

    Rows are taken apart by the names of their fields, if all are there, else by position.  A row with one field fits
    the type of the field, and a text shows any value.  Raises :class:`TableError`, which names ``what``, for others.
    """
    wanted = spark_type(t)
    if stored == wanted:
        return column
    if isinstance(stored, T.StructType) and len(stored.fields) == 1 and t.root not in ("ROW", "STRUCTURED"):
        (field,) = stored.fields
        return converted(column.getField(field.name), field.dataType, t, what)
    if t.root in CHARACTER:
        is_simple = not isinstance(stored, T.StructType | T.ArrayType | T.MapType | T.BinaryType)
        return column.cast("string") if is_simple else F.hex(column) if stored == T.BinaryType() else F.to_json(column)
    match stored, wanted:
        case T.StructType(), T.StructType() if t.root in ("ROW", "STRUCTURED"):
            fields = _matching(stored, t, what)
            parts = [
                converted(column.getField(field.name), field.dataType, own.type, what).alias(field_name(i))
                for i, (field, own) in enumerate(zip(fields, t.fields, strict=True))
            ]
            return F.when(column.isNotNull(), F.struct(*parts))
        case T.ArrayType(), T.ArrayType():
            return F.transform(column, lambda item: converted(item, stored.elementType, t.element, what))
        case T.MapType(), T.MapType():
            key, value = t.children
            return F.map_from_entries(
                F.transform(
                    F.map_entries(column),
                    lambda entry: F.struct(
                        converted(entry["key"], stored.keyType, key, what),
                        converted(entry["value"], stored.valueType, value, what),
                    ),
                )
            )
        case (
            (T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType()),
            (T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType()),
        ) if _BITS.index(type(stored).__name__) < _BITS.index(type(wanted).__name__):
            return column.cast(wanted)
    raise TableError(
        readable(f"{what} is declared as {t}, and the state has {stored.simpleString()}"),
        hint="declare the type that the state has, or STRING to see its values as JSON",
    )


_BITS = ("ByteType", "ShortType", "IntegerType", "LongType")
"""The whole numbers, the wider ones later."""


def _matching(stored: T.StructType, t: LogicalType, what: str) -> list[T.StructField]:
    """The fields of a row that those of the declared type stand for."""
    names = [field.name for field in t.fields]
    if set(names) <= set(stored.names):
        return [stored[name] for name in names]
    if len(names) == len(stored.fields):
        return list(stored.fields)
    raise TableError(
        readable(f"{what} is declared as {t}, and the row in the state has the fields {', '.join(stored.names)}"),
        hint="declare all fields in their order, or some by their names",
    )
