"""Data frames of pandas as tables, and rows as data frames.

The source of such a table is the one that PyFlink makes of it, with the rows as Arrow messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from ..plan.arrow_data import DATA, NAME, encoded
from ..plan.errors import PlanError, UnsupportedError
from ..plan.types import LogicalType
from .data_types import DataType, DataTypes, RowType, logical_type
from .descriptors import Schema, TableDescriptor
from .rows import Row

if TYPE_CHECKING:
    import pyarrow as pa


def frame_descriptor(frame: Any, schema: RowType | Sequence[Any] | None, parts: int) -> TableDescriptor:
    """The table of a data frame, in so many parts.

    ``schema`` has the names and types of the columns, or only names, or only types.  Raises :class:`PlanError` for a
    column whose type no table has.
    """
    import pyarrow as pa

    found = pa.Schema.from_pandas(frame, preserve_index=False)
    names, types = list(found.names), [None] * len(found.names)
    declared: list[DataType | None] = list(types)
    if isinstance(schema, RowType):
        names, declared = [f.name for f in schema.fields], [f.data_type for f in schema.fields]
    elif schema and isinstance(schema[0], DataType):
        declared = list(schema)
    elif schema:
        names = [str(name) for name in schema]
    columns = [t or _data_type(f.type, f.nullable, f.name) for t, f in zip(declared, found, strict=True)]
    arrow = pa.schema([(n, _arrow_type(t)) for n, t in zip(names, columns, strict=True)])
    messages = [_message(part, arrow) for part in _split(frame, parts)]
    builder = Schema.new_builder()
    for name, column in zip(names, columns, strict=True):
        builder = builder.column(name, column)
    return TableDescriptor.for_connector(NAME).schema(builder.build()).option(DATA, encoded(messages)).build()


def rows_frame(columns: Sequence[tuple[str, LogicalType]], rows: Iterable[Row], zone: str) -> Any:
    """The data frame of some rows, with the types that Arrow gives to columns of these types.

    A TIMESTAMP_LTZ is shown in the time zone.  Source: ``Table.to_pandas`` of PyFlink.
    """
    import pandas as pd

    kept = list(rows)
    names = [name for name, _ in columns]
    if not kept:
        return pd.DataFrame.from_records([], columns=names)
    clock = _clock(zone)
    series = {i: _series(t, [row[i] for row in kept], clock) for i, (_, t) in enumerate(columns)}
    frame = pd.DataFrame(series)
    frame.columns = pd.Index(names)
    return frame


def _clock(zone: str) -> tzinfo:
    """The time zone of a name such as ``Europe/Berlin`` or ``GMT+01:00``."""
    offset = zone.removeprefix("GMT").removeprefix("UTC")
    if offset[:1] in ("+", "-"):
        return datetime.strptime(offset, "%z").tzinfo or UTC
    return ZoneInfo(zone)


def _series(t: LogicalType, values: list[Any], zone: tzinfo) -> Any:
    import pandas as pd
    import pyarrow as pa

    from ..plan.arrow_data import arrow_type

    try:
        column = pa.array([_arrow_value(t, v, zone) for v in values], type=arrow_type(t)).to_pandas()
    except UnsupportedError:
        return pd.Series(values, dtype="object")
    return column.dt.tz_localize(zone) if t.root == "TIMESTAMP_LTZ" else column


def _arrow_value(t: LogicalType, value: Any, zone: tzinfo) -> Any:
    """A value as Arrow takes it: rows by the names of their fields, maps as pairs, instants by the zone's clock."""
    if value is None:
        return None
    if t.root == "TIMESTAMP_LTZ" and isinstance(value, datetime):
        return value.astimezone(zone).replace(tzinfo=None)
    if t.root == "ARRAY":
        return [_arrow_value(t.element, v, zone) for v in value]
    if t.root == "MAP":
        key, item = t.children
        return [(_arrow_value(key, k, zone), _arrow_value(item, v, zone)) for k, v in value.items()]
    if t.root == "ROW":
        return {f.name: _arrow_value(f.type, v, zone) for f, v in zip(t.fields, value, strict=True)}
    return value


def _split(frame: Any, parts: int) -> list[Any]:
    step = max(1, -(-len(frame) // max(1, parts)))
    return [frame.iloc[start : start + step] for start in range(0, len(frame), step)]


def _message(frame: Any, schema: pa.Schema) -> bytes:
    import pyarrow as pa

    columns = [frame.iloc[:, i] for i in range(len(schema.names))]
    arrays = [pa.Array.from_pandas(c, mask=c.isnull(), type=t) for c, t in zip(columns, schema.types, strict=True)]
    return bytes(pa.RecordBatch.from_arrays(arrays, schema=schema).serialize())


_TYPES = {
    "bool": DataTypes.BOOLEAN(),
    "int8": DataTypes.TINYINT(),
    "int16": DataTypes.SMALLINT(),
    "int32": DataTypes.INT(),
    "int64": DataTypes.BIGINT(),
    "float": DataTypes.FLOAT(),
    "double": DataTypes.DOUBLE(),
    "string": DataTypes.STRING(),
    "large_string": DataTypes.STRING(),
    "binary": DataTypes.BYTES(),
    "date32[day]": DataTypes.DATE(),
    "time32[s]": DataTypes.TIME(0),
    "time32[ms]": DataTypes.TIME(3),
    "time64[us]": DataTypes.TIME(6),
    "time64[ns]": DataTypes.TIME(9),
    "timestamp[s]": DataTypes.TIMESTAMP(0),
    "timestamp[ms]": DataTypes.TIMESTAMP(3),
    "timestamp[us]": DataTypes.TIMESTAMP(6),
    "timestamp[ns]": DataTypes.TIMESTAMP(9),
    "null": DataTypes.NULL(),
}


def _data_type(t: pa.DataType, nullable: bool, column: str) -> DataType:
    """The type of a column of Arrow.  Source: ``pyflink.table.types.from_arrow_type``."""
    import pyarrow as pa

    known = _TYPES.get(str(t))
    if known is None and pa.types.is_decimal(t):
        known = DataTypes.DECIMAL(t.precision, t.scale)
    elif known is None and pa.types.is_list(t):
        known = DataTypes.ARRAY(_data_type(t.value_type, True, column))
    elif known is None and pa.types.is_map(t):
        known = DataTypes.MAP(_data_type(t.key_type, True, column), _data_type(t.item_type, True, column))
    elif known is None and pa.types.is_struct(t):
        fields = [DataTypes.FIELD(f.name, _data_type(f.type, f.nullable, column)) for f in t]
        known = DataTypes.ROW(fields)
    if known is None:
        raise PlanError(
            f"the column '{column}' is of Arrow's type {t}, which no table has",
            hint="give a schema: DataTypes.ROW([…])",
        )
    return known if nullable else known.not_null()


def _arrow_type(t: DataType) -> pa.DataType:
    from ..plan.arrow_data import arrow_type

    return arrow_type(logical_type(t))
