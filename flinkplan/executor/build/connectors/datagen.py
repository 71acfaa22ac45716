"""The connector ``datagen``: a source of made-up rows.

Source: the options of Flink's ``DataGenConnectorOptions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.nodes import TableSourceScan
from ....plan.specs import ProjectPushDown
from ....plan.types import APPROXIMATE, BINARY_STRING, CHARACTER, INT, INTEGERS, TIMESTAMPS, LogicalType
from ...connectors.datagen import field_options
from ...connectors.tables import Table
from ...jvm.spark import F
from ...jvm.types import cast_type, field_name
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream, column_name
from ..time.event_time import one_row
from .base import TableBuilder, table_builder

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_BOUNDS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_DEFAULT_LENGTH = 100
_DEFAULT_SIZE = 3
"""How many elements a collection has."""
_MILLIS_PER_DAY = 86_400_000
_CHUNK = 1 << 16
_NO_END = 2**63 - 1


@table_builder
class DataGen(TableBuilder):
    """Rows of random values or sequences; bounded where a number of rows or the end of a sequence is given."""

    name = "datagen"

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:

        numbers = _numbers(table, context)
        indexes = list(range(len(table.physical)))
        for ability in node.scan_table_source.abilities or ():
            if isinstance(ability, ProjectPushDown):
                indexes = [path[0] for path in ability.projected_fields]
        columns = []
        for i in indexes:
            name, column_type = table.physical[i]
            columns.append(
                _value(column_type, field_options(table, name), numbers[SEQUENCE]).cast(cast_type(column_type))
            )
        named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
        return Stream(numbers.select(*named, F.col(SEQUENCE)), node.output_type)


def _row_count(table: Table) -> int | None:
    """The number of rows; ``None``: without end."""
    counts = [int(table.options["number-of-rows"])] if "number-of-rows" in table.options else []
    for name, _ in table.physical:
        field = field_options(table, name)
        if field.get("kind") == "sequence":
            counts.append(int(field["end"]) - int(field["start"]) + 1)
    return min(counts, default=None)


def _numbers(table: Table, context: TranslationContext) -> DataFrame:
    """The rows' numbers from 0."""

    count = _row_count(table)
    per_second = table.option("rows-per-second", "10000")
    if context.is_real_time:
        source = context.reader.format("flinkplan.runtime.source.NumberSource")
        source = source.option("rate", per_second).option("count", str(_NO_END if count is None else count))
        due = source.option("ticks", str(context.tells_time).lower()).load()
        return due.select(due["value"].alias(SEQUENCE))
    if count is None:
        rate = context.reader.format("rate").option("rowsPerSecond", per_second).load()
        return rate.select(rate["value"].alias(SEQUENCE))
    if context.is_batch:
        return context.spark.range(0, count, 1, 1).toDF(SEQUENCE)
    once = one_row(context)
    if count == 0:
        return once.where(F.lit(False)).select(F.lit(0).cast("bigint").alias(SEQUENCE))
    first, last, step = (F.lit(n).cast("bigint") for n in (0, count - 1, _CHUNK))
    starts = once.select(F.explode(F.sequence(first, last, step)).alias("start"))
    ends = F.least(starts["start"] + _CHUNK, F.lit(count)) - 1
    return starts.select(F.explode(F.sequence(starts["start"], ends)).alias(SEQUENCE))


def _value(t: LogicalType, field: Mapping[str, str], number: Column) -> Column:

    if field.get("kind") == "sequence":
        return number + int(field["start"])
    value = _random(t, field)
    rate = float(field.get("null-rate", 0))
    return F.when(F.rand() >= rate, value) if rate else value


def _random(t: LogicalType, field: Mapping[str, str]) -> Column:

    if t.root in INTEGERS:
        limit = 1 << _BOUNDS[t.root]
        low, high = int(field.get("min", -limit)), int(field.get("max", limit - 1))
        return F.floor(F.rand() * float(high - low + 1) + float(low))
    if t.root in APPROXIMATE or t.root == "DECIMAL":
        largest = 10.0 ** ((t.precision or 38) - (t.scale or 0)) - 1
        low_value, high_value = float(field.get("min", -largest)), float(field.get("max", largest))
        return F.rand() * (high_value - low_value) + low_value
    if t.root in CHARACTER:
        return _hex(int(field.get("length", min(t.length or _DEFAULT_LENGTH, _DEFAULT_LENGTH))))
    if t.root == "BOOLEAN":
        return F.rand() < F.lit(0.5)
    if t.root in TIMESTAMPS:
        past = parse_duration(field.get("max-past", "0 ms"))
        return F.timestamp_millis(F.unix_millis(F.current_timestamp()) - F.floor(F.rand() * past))
    if t.root == "DATE":
        return F.current_date()
    if t.root == "TIME":
        return F.pmod(F.unix_millis(F.current_timestamp()), F.lit(_MILLIS_PER_DAY))
    if t.root in BINARY_STRING:
        return F.unhex(_hex(2 * int(field.get("length", min(t.length or _DEFAULT_LENGTH, _DEFAULT_LENGTH)))))
    if t.root in ("ARRAY", "MAP", "MULTISET"):
        return _collection(t, field)
    if t.root == "ROW":
        parts = [_value(f.type, _part(field, f.name), F.lit(0)).cast(cast_type(f.type)) for f in t.fields]
        return F.struct(*(p.alias(field_name(i)) for i, p in enumerate(parts)))
    raise UnsupportedError(f"random values of the type {t}")


def _part(field: Mapping[str, str], name: str) -> dict[str, str]:
    """The options of a part of a column: ``fields.<column>.<name>.*``."""
    return {k.removeprefix(f"{name}."): v for k, v in field.items() if k.startswith(f"{name}.")}


def _collection(t: LogicalType, field: Mapping[str, str]) -> Column:

    from ...expressions.maps import map_of

    def several(of: LogicalType, name: str) -> Column:
        size = int(field.get("length", _DEFAULT_SIZE))
        return F.array(*(_value(of, _part(field, name), F.lit(0)).cast(cast_type(of)) for _ in range(size)))

    if t.root == "ARRAY":
        return several(t.element, "element")
    key, value = ("element", INT) if t.root == "MULTISET" else ("key", t.children[1])
    keys = F.array_distinct(several(t.children[0], key))
    return map_of(keys, F.slice(several(value, "value"), 1, F.size(keys)), t)


def _hex(length: int) -> Column:
    """Random hexadecimal digits."""

    parts = [F.md5(F.rand().cast("string")) for _ in range(length // 32 + 1)]
    return F.substring(F.concat(*parts), 1, length)
