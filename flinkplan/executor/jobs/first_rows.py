"""Rows that a sink gets before any other: what a change of the query has added to it or taken back.

A checkpoint that 'flinkplan migrate' has written keeps them beside the progress of the query, as batch 0, which is done
in all but its sink.  So a sink that takes each batch once takes them once, however often the job is killed meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.record import replace
from ...state.checkpoint import CheckpointRecord
from ..build.stream import INSERT, KIND, ORDER, SEQUENCE, Stream
from ..errors import ExecutionError
from ..jvm.spark import F
from .targets import Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FOLDER, _WRITTEN = "first-rows", "first-rows-written"
_QUERY_ID = "sql.streaming.queryId"
"""By what writers name what they write."""


def keep_first_rows(rows: DataFrame, query: Path) -> None:
    """Keep rows for the sink of a query, in the folder of its progress."""
    rows.write.option("compression", "lz4").parquet(str(query / _FOLDER))


def check_first_rows(record: CheckpointRecord, sink: str) -> None:
    """Raise :class:`ExecutionError` where such rows are still to be written."""
    if (record.query(sink) / _FOLDER).is_folder():
        hint = "start the job once with --mode available-now"
        raise ExecutionError("rows of a migration are still to be written", where=f"sink {sink}", hint=hint)


def first_rows(record: CheckpointRecord, sink: str, stream: Stream, *, takes_deletes: bool) -> Stream | None:
    """The rows that are kept for a sink, as ``stream`` has those of its query; ``None``: there are none.

    What is taken back comes along where the query emits changes, or the sink ``takes_deletes``.
    """
    folder = record.query(sink) / _FOLDER
    if folder.local is None or not folder.local.is_dir():
        return None
    frame = stream.frame
    kept = frame.sparkSession.read.parquet(str(folder.local))
    changes = stream.changelog or takes_deletes
    if not changes:
        kept = kept.where(kept[KIND] == INSERT)
    hidden = {} if stream.changelog or not changes else {KIND: "tinyint", ORDER: "bigint", SEQUENCE: "bigint"}
    types = {f.name: f.dataType for f in frame.schema.fields if f.name not in hidden} | hidden
    columns = [(kept[n] if n in kept.columns else F.lit(0)).cast(t).alias(n) for n, t in types.items()]
    return replace(stream, frame=kept.select(*columns), changelog=changes)


def write_first_rows(record: CheckpointRecord, sink: str, rows: Stream, target: Target) -> None:
    """Have the target of a query take the rows that were kept for it."""
    context = rows.frame.sparkSession.sparkContext
    context.setLocalProperty(_QUERY_ID, record.queries[sink])
    try:
        target.take(rows.frame, 0)
    finally:
        context.setLocalProperty(_QUERY_ID, None)  # type: ignore[arg-type]
    folder = (record.query(sink) / _FOLDER).local
    assert folder is not None
    folder.rename(folder.with_name(_WRITTEN))
