"""Tables of Flink's test connector ``values``, for cases that go on from a savepoint."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flinkplan.executor.build.connectors.base import TableBuilder, table_builder
from flinkplan.executor.build.connectors.requests import Request
from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.build.stream import KIND, SEQUENCE, Stream, column_name
from flinkplan.executor.connectors.base import Connector, connector
from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.jvm.types import has_nanos, spark_type
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.connectors import CHANGELOG
from flinkplan.plan.nodes import TableSourceScan
from flinkplan.plan.specs import FilterPushDown
from flinkplan.plan.types import TIMESTAMPS, LogicalType

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import SparkSession

KINDS = ("+I", "-U", "+U", "-D")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATH = "path"


Column = tuple[str, LogicalType, str | None]
"""The name of a column, its type, and the key of metadata."""


def columns_of(table: Table) -> list[Column]:
    """The columns that a table's rows have a value for."""
    found = []
    for column in table.resolved.schema.columns:
        if column.is_physical or column.kind == "METADATA":
            assert column.data_type is not None
            key = None if column.is_physical else column.metadata_key or column.name
            found.append((column.name, column.data_type.regular(), key))
    return found


def write_rows(spark: SparkSession, table: Table, rows: Sequence[tuple[str, Sequence[Any]]], folder: Path) -> None:
    """Write the rows of a case where :class:`Values` finds them: a file for each, the earliest first."""
    from pyspark.sql import types as spark_types

    columns = columns_of(table)
    held = [spark_types.StructField(column_name(i), spark_type(t)) for i, (_, t, _) in enumerate(columns)]
    hidden = [
        spark_types.StructField(KIND, spark_types.ByteType()),
        spark_types.StructField(SEQUENCE, spark_types.LongType()),
    ]
    values = [
        (*(value_of(v, t) for v, (_, t, _) in zip(row, columns, strict=True)), KINDS.index(kind), number)
        for number, (kind, row) in enumerate(rows)
    ]
    frame = spark.createDataFrame(values, spark_types.StructType([*held, *hidden]))
    frame.repartitionByRange(max(1, len(rows)), SEQUENCE).write.parquet(str(folder))
    for second, file in enumerate(sorted(folder.glob("part-*"))):
        os.utime(file, (second, second))


@connector
class Values(Connector):
    """Rows that a case has, of any kinds."""

    name = "values"
    repeats = True
    knows_watermarks = True  # as in Flink's tests: it tells none before its rows end


@table_builder
class ValuesBuilder(TableBuilder):
    """Reads them."""

    name = "values"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        from pyspark.sql import types as spark_types

        columns = columns_of(table)
        schema = spark_types.StructType()
        for i, (_, t, _) in enumerate(columns):
            schema = schema.add(column_name(i), spark_type(t))
        schema = schema.add(KIND, spark_types.ByteType()).add(SEQUENCE, spark_types.LongType())
        reader = context.reader.schema(schema)
        if context.mode is not Mode.BOUNDED:  # row by row, as Flink reads them
            reader = reader.option("maxFilesPerTrigger", 1)
        frame = reader.parquet(table.options[_PATH])
        abilities = node.scan_table_source.abilities or ()
        named = {name: frame[column_name(i)] for i, (name, _, _) in enumerate(columns)}
        request = Request.of(table, abilities, {key: t for _, t, key in columns if key is not None})
        names = {name: column_name(i) for i, (name, _, key) in enumerate(columns) if key is None}
        keys = {key: column_name(i) for i, (_, _, key) in enumerate(columns) if key is not None}
        wanted = [*(names[name] for name, _ in request.columns), *(keys[key] for key in request.metadata)]
        if request.only is not None:
            frame = frame.where(_any_of(request.only, named))
        for ability in abilities:
            if isinstance(ability, FilterPushDown):
                physical = [frame[names[name]] for name, _ in table.physical]
                for predicate in ability.predicates:
                    frame = frame.where(context.expression_over(predicate, physical))
        chosen = frame.select(*(frame[name].alias(column_name(i)) for i, name in enumerate(wanted)), KIND, SEQUENCE)
        changelog = table.options.get(CHANGELOG, "I") != "I"
        hidden = [KIND, SEQUENCE] if changelog else [SEQUENCE]
        return Stream(chosen.select(*request.outputs(chosen), *hidden), node.output_type, changelog)


def _any_of(partitions: Sequence[Mapping[str, str | None]], columns: Mapping[str, Expression]) -> Expression:
    """Whether a row is of one of the partitions."""
    from pyspark.sql import functions as F

    each = (
        reduce(and_, (columns[name].cast("string").eqNullSafe(F.lit(text)) for name, text in partition.items()))
        for partition in partitions
    )
    return reduce(or_, each, F.lit(False))


def value_of(value: Any, t: LogicalType) -> Any:
    """A value of a case as PySpark takes it."""
    if value is None:
        return None
    if isinstance(value, dict) and "t" in value:
        return _of_text(value["v"], t)
    match t.root:
        case "DECIMAL":
            return Decimal(str(value))
        case "FLOAT" | "DOUBLE":
            return float(value)
        case "ARRAY":
            return [value_of(item, t.element) for item in value["array"]]
        case "MAP":
            key, of = t.children
            return {value_of(k, key): value_of(v, of) for k, v in value["map"]}
        case "ROW":
            return tuple(value_of(v, f.type) for v, f in zip(value["row"], t.fields, strict=True))
        case root if root in TIMESTAMPS or root in ("DATE", "TIME", "BINARY", "VARBINARY"):
            return _of_text(value, t)
    return value


def _of_text(text: str, t: LogicalType) -> Any:
    match t.root:
        case "DECIMAL":
            return Decimal(text)
        case "DATE":
            return date.fromisoformat(text)
        case "TIME":
            of_day = datetime.combine(date(1970, 1, 1), time.fromisoformat(text), UTC) - _EPOCH
            return of_day // timedelta(milliseconds=1)
        case "BINARY" | "VARBINARY":
            return bytes.fromhex(text)
    moment = datetime.fromisoformat(text.replace(" ", "T"))
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment, 0) if has_nanos(t) else moment


def row_text(kind: int, values: Sequence[Any], types: Sequence[LogicalType]) -> str:
    """A row as Flink's ``Row`` writes it."""
    return f"{KINDS[kind]}[{', '.join(text_of(v, t) for v, t in zip(values, types, strict=True))}]"


def text_of(value: Any, t: LogicalType) -> str:
    """A value as Java writes it."""
    if value is None:
        return "null"
    match t.root:
        case "BOOLEAN":
            return str(value).lower()
        case "FLOAT" | "DOUBLE":
            return _double(float(value))
        case "DECIMAL":
            return format(value, "f")
        case "ARRAY":
            return f"[{', '.join(text_of(item, t.element) for item in value)}]"
        case "MAP":
            key, of = t.children
            return f"{{{', '.join(f'{text_of(k, key)}={text_of(v, of)}' for k, v in value.items())}}}"
        case "MULTISET":
            return f"{{{', '.join(f'{text_of(k, t.element)}={v}' for k, v in value.items())}}}"
        case "ROW":
            return row_text(0, list(_items(value)), t.field_types)
        case "BINARY" | "VARBINARY":
            return f"[{', '.join(str(b - 256 if b > 127 else b) for b in value)}]"
        case "TIME":
            return _time(value if isinstance(value, time) else (_EPOCH + timedelta(milliseconds=value)).time())
        case root if root in TIMESTAMPS:
            return f"{value.date().isoformat()}T{_time(value.time())}{'Z' if root == 'TIMESTAMP_LTZ' else ''}"
    return str(value)


def _items(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, Mapping) else value)


def _time(value: time) -> str:
    text = f"{value.hour:02}:{value.minute:02}"
    if not value.second and not value.microsecond:
        return text
    text += f":{value.second:02}"
    if not value.microsecond:
        return text
    digits = 3 if value.microsecond % 1000 == 0 else 6
    return f"{text}.{value.microsecond:06}"[: len(text) + 1 + digits]


def _double(value: float) -> str:
    """A double as Java writes it."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value and not 1e-3 <= abs(value) < 1e7:
        sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
        assert isinstance(exponent, int)
        first, rest = str(digits[0]), "".join(map(str, digits[1:])) or "0"
        return f"{'-' if sign else ''}{first}.{rest}E{exponent + len(digits) - 1}"
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"
