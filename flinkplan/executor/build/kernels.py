"""The Java kernels as translators see them: columns, schemas and arrays carried over, kernels run.

A kernel is a class of ``flinkplan.runtime`` that works on the rows of one key at a time and keeps state with a TTL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...plan.rex import RexNode
from ...plan.specs import SortField
from ...plan.types import TIMESTAMPS, LogicalType
from ..expressions.timestamps import truncate
from ..jvm.java import java_class
from ..jvm.session import CACHED_BYTES
from ..jvm.spark import F, T, fields
from ..jvm.types import cast_type, spark_type
from ..prepare.known.key_types import key_type
from ..prepare.steps import Kernel
from .context import TranslationContext
from .stream import KIND, ORDER, ROW, SEQUENCE, TIE, Stream, column_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_CACHED_BYTES = str(64 << 20)
_MILLISECOND_DIGITS = 3

CONSTANT_KEY = "key"
"""The key column of an operator that has none: all rows belong together."""


def run_kernel(
    context: TranslationContext, step: Kernel, frame: DataFrame, keys: int, /, record: str | None = None, **spec: Any
) -> DataFrame:
    """The output of the kernel of ``step`` over ``frame``, whose first ``keys`` columns are the key.

    ``spec`` are the components of its record ``Spec``, or of another ``record``, as :func:`java_record` takes them.
    """
    return run(context, frame, keys, made_kernel(context, step, frame, record, **spec))


def made_kernel(
    context: TranslationContext, step: Kernel, frame: DataFrame, /, record: str | None = None, **spec: Any
) -> Any:
    """The kernel of ``step`` for rows like those of ``frame``; the rest as in :func:`run_kernel`."""
    context.record_kernel(step.kernel)
    described = java_record(context, record or f"{step.kernel}$Spec", **spec)
    return kernel_class(context, step.kernel)(context.java_schema(frame.schema), described)


def run(context: TranslationContext, frame: DataFrame, keys: int, kernel: Any) -> DataFrame:
    """The output of ``kernel``."""
    if context.is_real_time:
        kernel.inRealTime(int(context.spark.conf.get(CACHED_BYTES, _CACHED_BYTES) or _CACHED_BYTES))
    return context.frame(context.runtime.operator.KernelOperator.over(frame._jdf, keys, kernel))


def key_columns(stream: Stream, keys: Sequence[int]) -> list[Column]:
    """The columns ``k0``, ``k1``, … by which a kernel's rows belong together; a constant without ``keys``."""

    if not keys:
        return [F.lit(0).alias(CONSTANT_KEY)]
    parts = (key_part(stream.column(k), stream.type.field_types[k]) for k in keys)
    return [part.alias(f"k{i}") for i, part in enumerate(parts)]


def key_part(column: Column, t: LogicalType) -> Column:
    """What rows are brought together by, where it is a ``column`` of the type ``t``.

    Flink sends a timestamp of up to three digits to another task as milliseconds, whatever it holds.
    """
    if t.root in TIMESTAMPS and (t.precision or 0) <= _MILLISECOND_DIGITS:
        return truncate(column, _MILLISECOND_DIGITS)
    return column if key_type(t) == t else column.cast(cast_type(key_type(t)))


def key_values(columns: Sequence[Column], types: Sequence[LogicalType]) -> list[Column]:
    """What the key columns of values of ``types`` stand for."""
    return [c if key_type(t) == t else c.cast(cast_type(t)) for c, t in zip(columns, types, strict=True)]


def keyed(stream: Stream, keys: Sequence[int], columns: Sequence[Column]) -> DataFrame:
    """The key columns, then ``columns``, then the hidden ones that kernels read, of which the last one numbers rows."""
    return fields.select(stream.frame, [*key_columns(stream, keys), *columns, *changelog_columns(stream)])


def keyed_rows(stream: Stream, keys: Sequence[int]) -> DataFrame:
    """The key columns and the whole row as one struct."""

    return keyed(stream, keys, [F.struct(*stream.columns).alias(ROW)])


def changelog_columns(stream: Stream) -> tuple[str, ...]:
    """The names of the hidden columns that kernels read, or that rows are brought to them by."""
    wanted = (KIND,) if stream.changelog else ()
    return tuple(name for name in stream.hidden if name in (*wanted, TIE, ORDER, SEQUENCE))


def schema_of(types: Sequence[LogicalType], start: int = 0) -> T.StructType:
    """The schema of columns of ``types``, named by position from ``start`` on."""

    return T.StructType([T.StructField(column_name(start + i), spark_type(t)) for i, t in enumerate(types)])


def java_type(context: TranslationContext, data_type: DataType) -> Any:
    """The Java face of a data type."""
    return java_class(context.spark._jvm, "org.apache.spark.sql.types.DataType").fromJson(data_type.json())


def java_record(context: TranslationContext, name: str, /, **components: Any) -> Any:
    """A Java record below ``flinkplan.runtime``, made of its ``components``; schemas are Spark's.

    Every call gives all components by their names and in the order of the record: ``tests/executor/test_records.py``
    compares the calls with the Java sources, so that no job asks the JVM for the components.
    """
    values = (context.java_schema(v) if isinstance(v, T.StructType) else v for v in components.values())
    return kernel_class(context, name)(*values)


_PACKAGE = "flinkplan.runtime"


def kernel_class(context: TranslationContext, name: str) -> Any:
    """The class of this name below :data:`_PACKAGE`, nested ones behind a ``$``."""
    return java_class(context.spark._jvm, f"{_PACKAGE}.{name}")


def int_array(context: TranslationContext, values: Sequence[int]) -> Any:
    """A Java ``int[]``."""
    assert context.spark._jvm is not None
    return _array(context, context.spark._jvm.int, values)


def boolean_array(context: TranslationContext, values: Sequence[bool]) -> Any:
    """A Java ``boolean[]``."""
    assert context.spark._jvm is not None
    return _array(context, context.spark._jvm.boolean, values)


def sort_fields(context: TranslationContext, fields: Sequence[SortField]) -> Any:
    """The fields of an ORDER BY for kernels."""
    return context.runtime.row.SortFields(
        int_array(context, [f.index for f in fields]),
        boolean_array(context, [f.is_ascending for f in fields]),
        boolean_array(context, [f.null_is_last for f in fields]),
    )


def object_array(context: TranslationContext, element: Any, values: Sequence[Any]) -> Any:
    """A Java array of the class ``element``."""
    return _array(context, element, values)


def _array(context: TranslationContext, element: Any, values: Sequence[Any]) -> Any:
    gateway = context.spark.sparkContext._gateway
    assert gateway is not None
    array = gateway.new_array(element, len(values))
    for i, value in enumerate(values):
        array[i] = value
    return array


def condition(context: TranslationContext, rex: RexNode | None, types: Sequence[LogicalType]) -> Any:
    """A boolean expression over columns of ``types``, compiled where the kernel runs; ``None`` stays ``None``."""
    if rex is None:
        return None
    schema = schema_of(types)
    frame = context.spark.createDataFrame(context.spark.sparkContext.emptyRDD(), schema)
    projected = frame.select(context.expression_over(rex, [frame[name] for name in schema.names]))
    return context.runtime.catalyst.Condition.of(projected._jdf)


def projection(context: TranslationContext, expressions: Sequence[RexNode], types: Sequence[LogicalType]) -> Any:
    """Expressions over columns of ``types``, compiled where the kernel runs."""

    schema = schema_of(types)
    frame = context.spark.createDataFrame(context.spark.sparkContext.emptyRDD(), schema)
    inputs = [frame[name] for name in schema.names]
    columns = [context.expression_over(rex, inputs) for rex in expressions] or [F.lit(0)]
    projected = frame.select(*(column.alias(column_name(i)) for i, column in enumerate(columns)))
    return context.runtime.catalyst.Projection.of(projected._jdf)
