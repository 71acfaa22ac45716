"""Operators that keep rows by key, as :mod:`..from_flink.rows` reads them."""

from __future__ import annotations

from ....plan.nodes import ChangelogNormalize, Deduplicate, Sink
from ....plan.savepoint import flink_states
from ....state.form import StateError
from ...jvm.spark import F
from ...jvm.types import field_name
from .givers import FlinkEntries, Given, Giver, as_row, event_timers, gives, parts


@gives(Deduplicate)
def deduplicate(giver: Giver) -> Given:
    """The row of each key, or that there was one."""
    node = giver.node
    assert isinstance(node, Deduplicate)
    if node.is_rowtime and node.output_insert_only:
        return _first_rows(giver)
    frame = giver.state("deduplicateState", node.ttl_ms())
    if frame is None:
        return {}
    (field,) = frame.schema["value"].dataType.names  # type: ignore[attr-defined]
    value = parts(frame, "value", field) if node.keeps_rows else [F.lit(True)]
    return {flink_states.LAST_ROWS: FlinkEntries(frame, value)}


def _first_rows(giver: Giver) -> Given:
    """The first row of each key that waits for the watermark, or that it has come out.

    Source: Flink's ``RowTimeDeduplicateKeepFirstRowFunction``.
    """
    frame = giver.entries["deduplicateState"].withColumn("accessed", F.lit(giver.now))
    waiting, _, emitted = parts(frame, "value")
    rows = frame.where(waiting.isNotNull())
    node = giver.node
    assert isinstance(node, Deduplicate)
    row = as_row(waiting, giver.types())
    times = [i for i, t in enumerate(giver.types()) if t.is_rowtime]
    if len(times) != 1:
        raise StateError("rows have several event times")
    due = rows.select("key", F.unix_millis(row.getField(field_name(times[0]))).alias("due"))
    return {
        flink_states.WAITING_ROW: FlinkEntries(rows, [row.getField(field_name(i)) for i in range(len(giver.types()))]),
        flink_states.HAS_EMITTED: FlinkEntries(frame.where(emitted), [F.lit(True)]),
        event_timers(giver): FlinkEntries(due, [F.col("due")]),
    }


@gives(ChangelogNormalize)
def normalize(giver: Giver) -> Given:
    """The last row of each key."""
    node = giver.node
    assert isinstance(node, ChangelogNormalize)
    frame = giver.state("changelogNormalizeState", node.ttl_ms())
    if frame is None:
        return {}
    (field,) = frame.schema["value"].dataType.names  # type: ignore[attr-defined]
    return {flink_states.LAST_ROWS: FlinkEntries(frame, parts(frame, "value", field))}


@gives(Sink)
def materialize_upserts(giver: Giver) -> Given:
    """The rows of each primary key, in the order in which they have come."""
    node = giver.node
    assert isinstance(node, Sink)
    if giver.operator.kernel != "UpsertMaterialize":
        raise StateError("what a sink keeps of conflicts is not given to Flink yet")
    frame = giver.state("sinkMaterializeState", node.ttl_ms())
    if frame is None:
        return {}
    return {flink_states.MATERIALIZED: FlinkEntries(frame, parts(frame, "value"))}
