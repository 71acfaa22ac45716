"""The state of a plan over rows that its sources have read before, computed by a job of its own that writes nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import FlinkplanError
from ...plan.nodes import TableSourceScan
from ...plan.record import Record, replace
from ...state.form import JobState, Manifest, OperatorState, StateError, StateTable
from ...state.moving import NotMovedError
from ..connectors.tables import table_of
from ..formats import find_format
from ..jobs.job import execute
from ..jobs.options import JobOptions, Past
from ..jvm.session import PARTITIONS, copy_of
from ..prepare.known.input_size import SMALL_INPUT
from ..prepare.modes import Mode
from ..scratch import temporary_folder
from .job_state import CheckpointState, SavedQuery
from .move import write_checkpoint
from .placed_sources import placed_sources
from .positions import FilePart, Files, Start
from .read_positions import files_read

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import SparkSession

_INSTEAD = "keep the query as it is, or accept with --allow-empty or --allow-mixed what is shown with --no-history"


class NoHistoryError(StateError):
    """What the sources have read cannot be read again (exit code 1)."""

    exit_code = 1

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"what has been read cannot be read again: {message}", where=where or None, hint=_INSTEAD)


class History(Record):
    """What is to be read again: the files of each source of a plan that the ``sinks`` read, by the ids of their nodes.

    ``as_of`` is when the state was written (epoch milliseconds): files must not have changed since.  ``ordered`` are
    sources of whose rows the order matters, which must be in one file.
    """

    plan: Plan
    sinks: tuple[int, ...]
    files: Mapping[int, Sequence[str]]
    as_of: int | None = None
    ordered: tuple[frozenset[int], ...] = ()


@contextmanager
def state_over(
    history: History, operators: tuple[OperatorState, ...], spark: SparkSession, options: JobOptions
) -> Iterator[CheckpointState]:
    """The state of the plan over its history, as ``operators`` keep it; see :class:`CheckpointState`.

    Raises :class:`NoHistoryError` where the files are not what has been read, or the plan does not run over them.
    """
    size = _checked(history, spark)
    plan = part_of(history.plan, history.sinks)
    folder = temporary_folder("history-")
    try:
        own = copy_of(spark)
        if size <= SMALL_INPUT:
            own.conf.set(PARTITIONS, "1")
        checkpoint = str(folder / "checkpoint")
        job = replace(options, spark=own, lean=True)
        try:
            write_checkpoint(plan, NoState(), checkpoint, own, job, dict(_starts(plan, history, options.variables)))
            over = replace(job, checkpoint=checkpoint, mode=Mode.AVAILABLE_NOW, durable=False, past=Past())
            execute(plan, over).wait()
        except FlinkplanError as e:
            raise NoHistoryError(e.message, str(e.where or "")) from None
        with CheckpointState(plan, checkpoint, operators, own, job, is_partial=True) as state:
            yield state
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def part_of(plan: Plan, sinks: Collection[int]) -> Plan:
    """The part of a plan that these sinks read."""
    kept = {node.id for node in plan.upstream([plan.by_id[sink] for sink in sinks])}
    nodes = tuple(node for node in plan.nodes if node.id in kept)
    return Plan(plan.flink_version, nodes, tuple(edge for edge in plan.edges if edge.target in kept))


def read_here(queries: Iterable[SavedQuery], node: int) -> list[str]:
    """The files that a source of a checkpoint has read.  Raises :class:`NoHistoryError` where they are not known."""
    for query in queries:
        for place, offset in zip(placed_sources(query.stateful), query.progress.sources, strict=True):
            if place.node == node:
                known = json.loads(offset) if offset else None
                if known is None:
                    return []
                log = query.folder / "sources" / str(place.number)
                read = files_read(log, known) if isinstance(known, dict) else None
                if read is None:
                    raise NoHistoryError("a file has been read in part", f"node {node}")
                return [f"file:{name}" for name in dict.fromkeys(read)]
    raise NoHistoryError("no query has read it", f"node {node}")


def read_in_flink(start: Start, node: int) -> list[str]:
    """The files that a source of Flink has read, by where it goes on.

    Raises :class:`NoHistoryError` where they are not known.
    """
    where = f"node {node}"
    if not isinstance(start, Files) or start.is_closed:
        raise NoHistoryError(
            "Flink does not keep which files of a table without source.monitor-interval it read", where
        )
    for file in start.files:
        if not file.is_done and (file.skipped or file.from_):
            raise NoHistoryError(f"the file {file.name} has been read in part", where)
    return [file.name for file in start.files if file.is_done]


def _checked(history: History, spark: SparkSession) -> int:
    """How many bytes there are to read.  Raises :class:`NoHistoryError` where files are not what has been read."""
    for sources in history.ordered:
        files = [name for source in sources for name in history.files.get(source, ())]
        if len(files) > 1:
            raise NoHistoryError(f"the order of rows matters, and they are in {len(files)} files")
    return sum(_size(name, history.as_of, spark) for files in history.files.values() for name in files)


def _size(name: str, as_of: int | None, spark: SparkSession) -> int:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(name)
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(path):
        raise NoHistoryError("it is not there any more", name)
    status = files.getFileStatus(path)
    if as_of is not None and status.getModificationTime() > as_of:
        raise NoHistoryError("it has changed since the state was written", name)
    return int(status.getLen())


def _starts(plan: Plan, history: History, variables: Mapping[str, str]) -> Iterator[tuple[int, Files]]:
    """Where sources begin, to read these files alone."""
    for node in plan.nodes:
        if isinstance(node, TableSourceScan):
            table = table_of(node.scan_table_source.table, variables)
            format_ = find_format(table.options, f"table {table.identifier}")
            parts = tuple(FilePart(name) for name in history.files.get(node.id, ()))
            yield node.id, Files(parts, is_closed=True, is_columnar=format_.columnar)


class NoState(JobState):
    """The state of a job that has not begun."""

    @property
    def manifest(self) -> Manifest:
        return Manifest("spark", ())

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        raise NotMovedError("there is no state")
