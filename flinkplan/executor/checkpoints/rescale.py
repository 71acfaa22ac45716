"""Another number of partitions for the state of a checkpoint, while no job runs on it.

Spark writes one more batch to each query, without rows, in which the entries stand in other partitions.

Source: Spark's ``StreamingCheckpointManager`` and ``OfflineStateRepartitionRunner``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...plan.record import Record
from ...state.checkpoint import CheckpointInUseError, CheckpointRecord
from ...state.form import StateError
from ...state.form_folder import new_folder
from ..jvm.session import PARTITIONS
from ..prepare.job_plan import queries_of
from ..prepare.modes import Mode
from .copies import copy_checkpoint, exchange, free_name, local_folder, relocate

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
    assert spark._jvm is not None
    lock = spark._jvm.flinkplan.runtime.storage.CheckpointLock.tryAcquire(str(record.lock_file))
    if lock is None:
        raise CheckpointInUseError(record)
    try:
        before = _partitions(record)
        target = Path(output).absolute() if output is not None else free_name(source, "backup")
        home = source if output is None else target
        with new_folder(target) as work:
            copy_checkpoint(source, work)
            for name, count in before.items():
                if count != partitions:
                    _repartition(spark, str(CheckpointRecord(work).query(name)), partitions)
            relocate(work, home)
        if output is None:
            exchange(target, source)
    finally:
        lock.close()
    done = {name: (count, partitions) for name, count in before.items()}
    return Rescaled(home, target if output is None else None, done)


def _partitions(record: CheckpointRecord) -> dict[str, int]:
    """In how many partitions the queries with state keep it, by their names."""
    names = list(queries_of(record.plan()))
    record.check(names)
    where = str(record.folder)
    if record.has_ended:
        raise StateError("the job of this checkpoint has ended its input", where=where)
    if Mode.REAL_TIME.value in record.modes:
        raise StateError("the job of this checkpoint runs in real-time mode, which cannot be rescaled", where=where)
    stateful = [name for name in names if (record.query(name) / "state").is_folder()]
    if not stateful:
        raise StateError("no query of this checkpoint has state", where=where)
    for name in stateful:
        if record.is_batch_open(name):
            raise StateError(
                f"the last batch of the sink {name} has not ended",
                where=where,
                hint="let the job go on once, with --mode available-now, before it is rescaled",
            )
    return {name: int(record.settings(name).get(PARTITIONS, 0)) for name in stateful}


def _repartition(spark: SparkSession, query: str, partitions: int) -> None:
    manager = spark._jsparkSession.streamingCheckpointManager()
    manager.repartition(query, partitions, True)
