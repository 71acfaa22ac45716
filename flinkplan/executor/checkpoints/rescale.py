"""Another number of partitions for the state of a checkpoint, while no job runs on it.

Spark writes one more batch to each query, without rows, in which the entries stand in other partitions.

Source: Spark's ``StreamingCheckpointManager`` and ``OfflineStateRepartitionRunner``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.record import Record
from ...state.checkpoint import CheckpointRecord
from ...state.form import StateError
from ...state.form_folder import new_folder
from ...state.locking import held
from ...state.replacing import free_backup, replacing
from ..jvm.session import PARTITIONS
from ..prepare.modes import Mode
from .copies import copy_checkpoint, local_folder, relocate, stateful_queries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Rescaled(Record):
    """What was done: the folder of the checkpoint, that of the old one if it was replaced, and partitions by query."""

    folder: Path
    backup: Path | None
    partitions: dict[str, tuple[int, int]]


def rescale(checkpoint: str, partitions: int, output: str | None, spark: SparkSession) -> Rescaled:
    """Bring the state of all queries of a checkpoint into ``partitions`` partitions.

    Without ``output`` the checkpoint is replaced, and the old one kept beside it.  Either appears whole or not at all.
    Raises :class:`StateError` where the checkpoint cannot be rescaled, before anything is written.
    """
    record = CheckpointRecord(checkpoint)
    source = local_folder(record)
    if output is not None and Path(output).exists():
        raise StateError("there is something already", where=output, hint="name a folder that does not exist yet")
    with held(record):
        before = _partitions(record)
        backup = free_backup(source) if output is None else None
        home = source if output is None else Path(output).absolute()
        with new_folder(home) if backup is None else replacing(source, backup) as work:
            copy_checkpoint(source, work)
            for name, count in before.items():
                if count != partitions:
                    _repartition(spark, str(CheckpointRecord(work).query(name)), partitions)
            relocate(work, home)
    return Rescaled(home, backup, {name: (count, partitions) for name, count in before.items()})


def _partitions(record: CheckpointRecord) -> dict[str, int]:
    """In how many partitions the queries with state keep it, by their names."""
    names = stateful_queries(record)
    if Mode.REAL_TIME.value in record.modes:
        raise StateError(
            "the job of this checkpoint runs in real-time mode, which cannot be rescaled", where=str(record.folder)
        )
    return {name: int(record.settings(name).get(PARTITIONS, 0)) for name in names}


def _repartition(spark: SparkSession, query: str, partitions: int) -> None:
    manager = spark._jsparkSession.streamingCheckpointManager()
    manager.repartition(query, partitions, True)
