"""Rows that a sink is to be told before any other: what a change of the query has added to it or taken back.

A checkpoint that 'flinkplan migrate' has written keeps them beside the progress of the query, as batch 0, which is done
in all but its sink.  So a sink that takes each batch once takes them once, however often the job is killed meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...state.checkpoint import CheckpointRecord
from ..build.stream import KIND
from ..errors import ExecutionError
from ..jvm.spark import F
from .targets import Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FOLDER, _TOLD = "first-rows", "first-rows-told"
_QUERY_ID = "sql.streaming.queryId"
"""By what writers name what they write."""


def keep_first_rows(rows: DataFrame, query: Path) -> None:
    """Keep rows for the sink of a query, in the folder of its progress."""
    rows.write.option("compression", "lz4").parquet(str(query / _FOLDER))


def check_first_rows(record: CheckpointRecord, sink: str) -> None:
    """Raise :class:`ExecutionError` where rows are still to be told."""
    if (record.query(sink) / _FOLDER).is_folder():
        hint = "start the job once with --mode available-now"
        raise ExecutionError("rows of a migration are still to be written", where=f"sink {sink}", hint=hint)


def tell_first_rows(record: CheckpointRecord, sink: str, frame: DataFrame, target: Target) -> None:
    """Have the target of a query take the rows that were kept for it; ``frame`` is what the query makes."""
    folder = (record.query(sink) / _FOLDER).local
    if folder is None or not folder.is_dir():
        return
    spark = frame.sparkSession
    kept = spark.read.parquet(str(folder))
    columns = [
        (kept[f.name] if f.name in kept.columns else F.lit(0)).cast(f.dataType).alias(f.name)
        for f in frame.schema.fields
    ]
    if KIND not in frame.columns:
        kept = kept.where(kept[KIND] == 0)
    context = spark.sparkContext
    context.setLocalProperty(_QUERY_ID, record.queries[sink])
    try:
        target.take(kept.select(*columns), 0)
    finally:
        context.setLocalProperty(_QUERY_ID, None)  # type: ignore[arg-type]
    folder.rename(folder.with_name(_TOLD))
