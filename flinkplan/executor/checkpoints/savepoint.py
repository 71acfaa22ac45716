"""A whole copy of a checkpoint, also of one that a job is writing.

A running job is asked nothing: Spark keeps the progress and state of many batches, in files that are written once.  The
copy has those of each query up to its last finished batch, so that a job goes on from it as it would have from the
checkpoint then.

Sources: Spark's ``OffsetSeqLog``, ``CommitLog`` and ``RocksDBFileManager``.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

from ...plan.record import Record
from ...state.checkpoint import CheckpointInUseError, CheckpointRecord
from ...state.form import StateError
from ...state.form_folder import new_folder
from ...state.locking import held
from ..prepare.job_plan import queries_of
from .copies import copy_checkpoint, local_folder, relocate

_POLL_SECONDS = 0.1
_ATTEMPTS = 20
"""How often a copy is begun anew that a running job was too fast for."""

_VERSION = re.compile(r"(\d+)(?:_[\w-]+)?\.(?:zip|changelog|delta|snapshot)")
"""The files that state of a version consists of; a zip refers to others, which are written before it."""
_PUBLISHED = re.compile(r'"batch"\s*:\s*"[^"]*-(\d+)"')
"""The batch whose files a sink has written last."""


class Savepoint(Record):
    """What was written: the folder, and the last batch of each query; ``None`` for one that has not finished any."""

    folder: Path
    batches: dict[str, int | None]


def write_savepoint(
    checkpoint: str, output: str, waiting: Callable[[str, int], None] = lambda name, batch: None
) -> Savepoint:
    """Copy a checkpoint into the new folder ``output``, which appears whole or not at all.

    Of a running job, batches that have begun are waited for; ``waiting`` is called with the query and its batch.
    Raises :class:`StateError` where there is nothing to copy, or the folder exists.
    """
    source = local_folder(CheckpointRecord(checkpoint))
    record = CheckpointRecord(source)
    target = Path(output).absolute()
    if target.exists():
        raise StateError("there is something already", where=output, hint="name a folder that does not exist yet")
    if target.is_relative_to(source):
        raise StateError("the copy would be a part of the checkpoint", where=output, hint="name a folder elsewhere")
    if record.has_ended:
        raise StateError("the job of this checkpoint has ended its input: nothing goes on from it", where=checkpoint)
    with new_folder(target) as work:
        try:
            with held(record):
                record.check(queries_of(record.plan()))
                copy_checkpoint(source, work)
        except CheckpointInUseError:
            _copy_running(record, source, work, waiting)
        relocate(work, target)
        copy = CheckpointRecord(work)
        batches = {name: _last(copy.query(name).local, "commits") for name in queries_of(copy.plan())}
    return Savepoint(target, batches)


class _TooFastError(Exception):
    """The job has gone on so far that files are gone which the copy needs."""


def _copy_running(record: CheckpointRecord, source: Path, work: Path, waiting: Callable[[str, int], None]) -> None:
    names = list(queries_of(record.plan()))
    if not any(_last(record.query(name).local, "offsets") is not None for name in names):
        hint = "a bounded job keeps no state; for another one wait until its first batch is done"
        raise StateError("the job of this checkpoint has not finished a batch", where=str(source), hint=hint)
    for name in names:
        _await_batch(record, name, waiting)
    for _ in range(_ATTEMPTS):
        for child in work.iterdir():
            shutil.rmtree(child) if child.is_dir() else child.unlink()
        before = record.contents()
        try:
            for child in _record_files(source):
                _copy_file(child, source, work)
            for name in names:
                _copy_query(record.query(name).local, source, work)
            CheckpointRecord(work).check(names)
        except (_TooFastError, FileNotFoundError):
            continue
        if record.contents() == before:
            return
    raise StateError(
        "the job is faster than the copy", where=str(source), hint="stop the job, and let it go on afterwards"
    )


def _await_batch(record: CheckpointRecord, name: str, waiting: Callable[[str, int], None]) -> None:
    """Wait until the batch is done that a query is within, if any, or the job has ended."""
    query = record.query(name).local
    begun = _last(query, "offsets")
    if begun is None:
        return
    is_reported = False
    while (done := _last(query, "commits")) is None or done < begun:
        if not is_reported:
            waiting(name, begun)
            is_reported = True
        if not record.is_in_use:
            raise StateError(
                f"the job has ended within batch {begun} of the sink {name}",
                where=str(record.folder),
                hint="name the checkpoint again: a stopped job's is copied as it is",
            )
        sleep(_POLL_SECONDS)


def _record_files(source: Path) -> Iterator[Path]:
    """What is recorded of the job; the lock stays with it."""
    lock = CheckpointRecord(source).lock_file
    return (file for file in (source / "flinkplan").rglob("*") if file.is_file() and file != lock)


def _copy_query(query: Path | None, source: Path, work: Path) -> None:
    """Copy a query up to its last finished batch.  Raises :class:`_TooFastError`."""
    if query is None or not query.exists():
        return
    batch = _last(query, "commits")
    if batch is None:
        _copy_file(query / "metadata", source, work)
        return
    for file in _progress_files(query, batch):
        _copy_file(file, source, work)
    begun = _last(query, "offsets")
    if begun is None or begun > batch + 1:  # of what is kept for a batch only, such as watermarks
        raise _TooFastError
    for file in sorted(_state_files(query, batch + 1), key=lambda file: _VERSION.fullmatch(file.name) is None):
        _copy_file(file, source, work)
    if not (query / "offsets" / str(batch)).exists():
        raise _TooFastError


def _progress_files(query: Path, batch: int) -> Iterator[Path]:
    for child in query.iterdir():
        if child.name in ("offsets", "commits", "watermarks"):
            yield from (file for file in child.iterdir() if file.name.isdecimal() and int(file.name) <= batch)
        elif child.name == "published":
            found = _PUBLISHED.search(child.read_text("utf-8"))
            if found is not None and int(found[1]) <= batch:
                yield child
        elif child.name != "state":
            yield from (file for file in [child, *child.rglob("*")] if file.is_file() and not _is_temporary(file))


def _state_files(query: Path, version: int) -> Iterator[Path]:
    """The files of the state of a version and of those before it; versions that come later belong to other batches."""
    for file in (query / "state").rglob("*"):
        if not file.is_file() or _is_temporary(file):
            continue
        of_version = _VERSION.fullmatch(file.name)
        number = of_version[1] if of_version else file.name if file.parent.name == "v2" else "0"
        if not number.isdecimal() or int(number) + (0 if of_version else 1) <= version:
            yield file


def _is_temporary(file: Path) -> bool:
    return file.name.startswith(".")


def _copy_file(file: Path, source: Path, work: Path) -> None:
    target = work / file.relative_to(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, target)


def _last(query: Path | None, log: str) -> int | None:
    """The last batch of a log of a query."""
    folder = query / log if query is not None else None
    if folder is None or not folder.is_dir():
        return None
    return max((int(file.name) for file in folder.iterdir() if file.name.isdecimal()), default=None)
