"""The connector ``python-arrow-source``: the rows of a data frame, within the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....plan.arrow_data import DATA, NAME, arrow_type, decoded
from ....plan.errors import PlanError
from ....plan.nodes import TableSourceScan
from ....udf.values import arrow_type as spark_arrow_type
from ....udf.values import has_nanos
from ...connectors.tables import Table
from ...jvm.spark import T
from ...jvm.types import spark_type
from ..context import TranslationContext
from ..stream import SEQUENCE, Stream, column_name
from ..time.event_time import one_row
from .base import TableBuilder, table_builder
from .requests import Request

if TYPE_CHECKING:
    import pyarrow as pa

    from ....plan.types import LogicalType


@table_builder
class ArrowSource(TableBuilder):
    """The rows of a data frame, once."""

    name = NAME

    def read(self, table: Table, node: TableSourceScan, context: TranslationContext) -> Stream:
        types = [t for _, t in table.physical]
        rows = _rows(decoded(table.options[DATA]), [name for name, _ in table.physical], types)
        fields = [T.StructField(column_name(i), spark_type(t)) for i, t in enumerate(types)]
        schema = T.StructType([*fields, T.StructField(SEQUENCE, T.LongType())])

        def made(once: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for row in once:
                if row.num_rows:
                    yield from rows

        frame = one_row(context).mapInArrow(made, schema)
        request = Request.of(table, node.scan_table_source.abilities, {})
        return Stream(frame.select(*request.outputs(frame), SEQUENCE), node.output_type)


def _rows(messages: list[bytes], names: list[str], types: list[LogicalType]) -> list[pa.RecordBatch]:
    """The rows as Spark takes them, each with its number.  Raises :class:`PlanError` for messages of other columns."""
    import pyarrow as pa

    schema = pa.schema([(name, arrow_type(t)) for name, t in zip(names, types, strict=True)])
    batches, number = [], 0
    for message in messages:
        try:
            batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema)
            batch.validate(full=True)
            columns = [_column(c, t) for c, t in zip(batch.columns, types, strict=True)]
        except (pa.ArrowException, OSError) as e:
            raise PlanError(f"the rows of a data frame cannot be read: {e}") from None
        numbers = pa.array(range(number, number + batch.num_rows), pa.int64())
        number += batch.num_rows
        labels = [*(column_name(i) for i in range(len(columns))), SEQUENCE]
        batches.append(pa.RecordBatch.from_arrays([*columns, numbers], labels))
    return batches


def _column(array: pa.Array, t: LogicalType) -> pa.Array:
    import pyarrow as pa

    match t.root:
        case "TIME":
            return array.cast(pa.time32("ms"), safe=False).cast(pa.int32())
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            if not has_nanos(t):
                return array.cast(pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC"))
            nanos = array.cast(pa.int64())
            micros = array.cast(pa.timestamp("us"), safe=False)
            rest = pa.compute.subtract(nanos, pa.compute.multiply(micros.cast(pa.int64()), 1000)).cast(pa.int16())
            whole = micros.cast(pa.timestamp("us", tz="UTC"))
            return pa.StructArray.from_arrays([whole, rest], ["micros", "nanos"], mask=array.is_null())
        case "ROW":
            fields = zip(array.flatten(), t.field_types, strict=True)
            columns = [_column(c, f) for c, f in fields]
            return pa.StructArray.from_arrays(columns, [f"f{i}" for i in range(len(columns))], mask=array.is_null())
    return array.cast(spark_arrow_type(t))
