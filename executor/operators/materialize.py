"""Upserts for a sink whose primary key is not what the changelog's rows are known by."""

from __future__ import annotations

from dataclasses import replace

from ...plan.nodes import Sink
from ..context import TranslationContext
from ..kernels import int_array, run_kernel, schema_of
from ..stream import Stream
from ..tables import Table
from .ranks import keyed_rows


def materialize_upserts(node: Sink, table: Table, stream: Stream, context: TranslationContext) -> Stream:
    """The last row of each primary key, of all that are there.  Source: Flink's ``SinkUpsertMaterializer``."""
    names = [name for name, _ in table.physical]
    primary_key = [names.index(key) for key in table.primary_key]
    frame = keyed_rows(stream, primary_key)
    kernel = context.runtime.changelog.UpsertMaterialize(
        context.java_schema(frame.schema),
        context.java_schema(schema_of(stream.type.field_types)),
        int_array(context, node.input_upsert_key) if node.input_upsert_key else None,
        node.ttl_ms(),
    )
    return replace(stream, frame=run_kernel(context, frame, max(1, len(primary_key)), kernel))
