"""Upserts for a sink whose primary key is not what the changelog's rows are known by."""

from __future__ import annotations

from ...plan.nodes import Sink
from ...plan.record import replace
from ..context import TranslationContext
from ..kernels import int_array, run_kernel, schema_of
from ..stream import Stream
from ..tables import Table
from .ranks import keyed_rows


def materialize_upserts(node: Sink, table: Table, stream: Stream, context: TranslationContext) -> Stream:
    """The row that each primary key shows: of several the last, or as the plan says of conflicts.

    Source: Flink's ``SinkUpsertMaterializer`` and ``WatermarkCompactingSinkMaterializer``.
    """
    names = [name for name, _ in table.physical]
    primary_key = [names.index(key) for key in table.primary_key]
    frame = keyed_rows(stream, primary_key)
    keys, row, ttl = max(1, len(primary_key)), schema_of(stream.type.field_types), node.ttl_ms()
    upsert_key = int_array(context, node.input_upsert_key) if node.input_upsert_key else None
    if compacts(node):
        name, fails = "changelog.CompactUpserts", conflict_behavior(node) == "ERROR"
        shown = run_kernel(context, frame, keys, name, row=row, upsertKey=upsert_key, fails=fails, ttl=ttl)
    else:
        name = "changelog.UpsertMaterialize"
        shown = run_kernel(context, frame, keys, name, row=row, upsertKey=upsert_key, ttl=ttl)
    return replace(stream, frame=shown)


def conflict_behavior(node: Sink) -> str:
    """What becomes of a second row of a primary key."""
    return node.conflict_strategy.behavior if node.conflict_strategy else "DEDUPLICATE"


def compacts(node: Sink) -> bool:
    """Whether a primary key has one row only."""
    return conflict_behavior(node) in ("ERROR", "NOTHING")
