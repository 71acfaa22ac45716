"""What changes come to in the end."""

from __future__ import annotations

from ...plan.record import replace
from ..jvm.spark import F, fields
from .stream import INSERT, KIND, SEQUENCE, UPDATE_AFTER, Stream, column_name


def final_rows(stream: Stream) -> Stream:
    """The rows of a bounded changelog that are not taken back, each numbered as it came last."""
    sign = F.when(F.col(KIND).isin(INSERT, UPDATE_AFTER), 1).otherwise(-1)
    names = [column_name(i) for i in range(len(stream.type.fields))]
    columns = [column.alias(name) for column, name in zip(stream.columns, names, strict=True)]
    changes = fields.select(stream.frame, [*columns, sign.alias(_COUNT), SEQUENCE])
    counted = changes.groupBy(*names).agg(F.sum(_COUNT).alias(_COUNT), F.max(SEQUENCE).alias(SEQUENCE))
    copies = F.explode(F.array_repeat(F.lit(True), F.col(_COUNT).cast("int")))
    kept = counted.where(F.col(_COUNT) > 0).select(*names, copies.alias(_COUNT), SEQUENCE)
    return Stream(kept.drop(_COUNT), stream.type)


def rows_that_stay(stream: Stream, *, nets: bool) -> Stream:
    """The rows of a stream as insertions; ``nets``: of a changelog, :func:`final_rows`."""
    if not stream.changelog:
        return stream
    return final_rows(stream) if nets else stream.inserts


def as_changelog(stream: Stream) -> Stream:
    """Inserted rows, for operators that look at the kinds of rows."""
    frame = stream.frame.withColumn(KIND, F.lit(INSERT).cast("tinyint"))
    return replace(stream, frame=frame, changelog=True)


_COUNT = "flinkplan-count"
