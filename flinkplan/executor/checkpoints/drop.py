"""Entries removed from the state of a checkpoint, while no job runs on it.

Each query that loses entries gets one more batch, without rows, whose state lacks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.record import Record
from ...state.checkpoint import CheckpointRecord
from ...state.form import StateError
from ...state.form_folder import new_folder
from ...state.keys import KeyValues
from ...state.replacing import free_backup, replacing
from ..jobs.states import State, count, has_key, key_schema
from ..jvm.spark import F
from ..prepare.modes import Mode
from .copies import copy_checkpoint, local_folder, relocate, stateful_queries
from .query_log import batch_without_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


class Dropped(Record):
    """What was done: the folder of the checkpoint, and that of the old one if it was replaced."""

    folder: Path
    backup: Path | None


def check_droppable(record: CheckpointRecord) -> None:
    """Raise :class:`StateError` where no entries can be removed from a checkpoint."""
    local_folder(record)
    stateful_queries(record)
    if Mode.REAL_TIME.value in record.modes:
        raise StateError(
            "the job of this checkpoint runs in real-time mode, whose state cannot be changed", where=str(record.folder)
        )


def count_entries(spark: SparkSession, states: Sequence[State], key: KeyValues | None) -> dict[State, int]:
    """How many entries of each state would be removed: all, or those whose key begins with the values of ``key``."""
    return {
        state: count(spark, state, key)
        for state in states
        if key is None or key.fits(len(key_schema(spark, state).fields))
    }


def drop_entries(
    record: CheckpointRecord, states: Sequence[State], key: KeyValues | None, output: str | None, spark: SparkSession
) -> Dropped:
    """Remove entries of the operators of ``states``, with their timers: all, or those of a key.

    Without ``output`` the checkpoint is replaced, and the old one kept beside it.  Either appears whole or not at all.
    The caller holds the lock of the checkpoint.
    """
    source = local_folder(record)
    backup = free_backup(source) if output is None else None
    home = source if output is None else Path(output).absolute()
    with new_folder(home) if backup is None else replacing(source, backup) as work:
        copy_checkpoint(source, work)
        for sink in dict.fromkeys(state.sink for state in states):
            _rewrite(spark, CheckpointRecord(work), sink, _kept(spark, states, sink, key))
        relocate(work, home)
    return Dropped(home, backup)


def _kept(spark: SparkSession, states: Sequence[State], sink: str, key: KeyValues | None) -> Mapping[int, Column]:
    """Which entries the operators of a query keep, by Spark's numbers of them."""
    # a plain false would have the optimizer leave out the partitions, whose empty state is to be written too
    nothing = F.spark_partition_id() < 0
    kept = {}
    for state in states:
        if state.sink == sink:
            schema = key_schema(spark, state)
            kept[state.operator] = nothing if key is None else ~has_key(schema, F.col("partition_key"), key)
    return kept


def _rewrite(spark: SparkSession, record: CheckpointRecord, sink: str, kept: Mapping[int, Column]) -> None:
    assert spark._jvm is not None
    query = record.query(sink)
    with batch_without_rows(query) as batch:
        conditions = spark._jvm.java.util.HashMap()
        for operator, condition in kept.items():
            conditions[operator] = condition._jc
        spark._jvm.flinkplan.runtime.checkpoint.EntryFilter.rewrite(spark._jsparkSession, str(query), batch, conditions)
