"""The neutral form on disk: a folder with ``manifest.json``, ``plan.json`` and a Parquet file for each table."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..plan.files import remove_stale
from ..plan.output import write_text
from ..plan.record import replace
from .form import VERSION, JobState, Manifest, OperatorState, StateError, StateTable
from .form_arrow import arrow, table_schema

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

MANIFEST, PLAN, TABLES = "manifest.json", "plan.json", "tables"
_UNFINISHED = ".unfinished-state-"
_STALE_SECONDS = 24 * 3600
_ROWS_IN_BATCH = 16_384

Progress = Callable[[OperatorState, StateTable, int], None]
"""Is told of a state and how many of its rows have been written so far."""


class FolderState(JobState):
    """State in a folder of this form.  Raises :class:`StateError` where there is none that can be read."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._manifest = _read_manifest(self.folder / MANIFEST)

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    @property
    def plan_text(self) -> str | None:
        file = self.folder / PLAN
        return file.read_text("utf-8") if self._manifest.has_plan else None

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        pa = arrow()
        import pyarrow.parquet as parquet

        file = self.folder / TABLES / _file_name(table)
        schema = table_schema(table)
        try:
            with parquet.ParquetFile(file) as stored:
                for batch in stored.iter_batches(_ROWS_IN_BATCH):
                    yield _with_schema(batch, schema, table, file)
        except (OSError, pa.ArrowException) as e:
            raise StateError(f"the table of {table.name} cannot be read: {e}", where=str(file)) from None


def _with_schema(batch: RecordBatch, schema: Schema, table: StateTable, file: Path) -> RecordBatch:
    """A batch with the types of the schema: other programs write texts or numbers of other widths."""
    pa = arrow()
    if batch.schema.equals(schema):
        return batch
    try:
        return batch.cast(schema)
    except (pa.ArrowException, ValueError) as e:
        raise StateError(
            f"the columns of {table.name} are not those that the manifest names: {e}",
            where=str(file),
            hint=f"there must be: {', '.join(f'{f.name} {f.type}' for f in schema)}",
        ) from None


def is_state_folder(folder: str | Path) -> bool:
    """Whether a folder holds state in this form."""
    return (Path(folder) / MANIFEST).is_file() and (Path(folder) / TABLES).is_dir()


def write_folder(state: JobState, folder: str | Path, progress: Progress | None = None) -> Manifest:
    """Write state into a new folder, which appears whole or not at all; the manifest with all entries counted.

    Raises :class:`StateError` where the folder exists or cannot be written.
    """
    target = Path(folder)
    if target.exists():
        raise StateError("there is something already", where=str(target), hint="name a folder that does not exist yet")
    with new_folder(target) as work:
        (work / TABLES).mkdir()
        operators = []
        for operator in state.manifest.operators:
            states = tuple(_write_table(state, operator, table, work / TABLES, progress) for table in operator.states)
            operators.append(replace(operator, states=states))
        text = state.plan_text
        if text is not None:
            write_text(work / PLAN, text)
        manifest = replace(state.manifest, operators=tuple(operators), has_plan=text is not None)
        write_text(work / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1).decode() + "\n")
    return manifest


class new_folder:
    """A folder under another name until all is written, then ``target``: it appears whole or not at all.

    What is left of processes that were killed is removed a day later.
    """

    def __init__(self, target: Path) -> None:
        self._target = target.absolute()

    def __enter__(self) -> Path:
        parent = self._target.parent
        try:
            parent.mkdir(parents=True, exist_ok=True)
            remove_stale(parent, _UNFINISHED, _STALE_SECONDS)
            self._work = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
        except OSError as e:
            raise StateError(f"nothing can be written here: {e.strerror or e}", where=str(parent)) from None
        return self._work

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._work.chmod(0o777 & ~_umask())
                for path in [p for p in self._work.rglob("*")] + [self._work]:
                    _to_disk(path)
                self._work.rename(self._target)
                _to_disk(self._target.parent)
        except OSError as e:
            raise StateError(f"the folder cannot be written: {e.strerror or e}", where=str(self._target)) from None
        finally:
            shutil.rmtree(self._work, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, ConnectionError):
            raise StateError(f"it cannot be written: {error.strerror or error}", where=str(self._target)) from None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _to_disk(path: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_table(
    state: JobState, operator: OperatorState, table: StateTable, folder: Path, progress: Progress | None
) -> StateTable:
    arrow()
    import pyarrow.parquet as parquet

    entries = 0
    with parquet.ParquetWriter(folder / _file_name(table), table_schema(table), compression="zstd") as writer:
        for batch in state.batches(table):
            writer.write_batch(batch)
            entries += batch.num_rows
            if progress is not None:
                progress(operator, table, entries)
    return replace(table, entries=entries)


def _file_name(table: StateTable) -> str:
    return f"{table.table:04d}.parquet"


def _read_manifest(file: Path) -> Manifest:
    try:
        content = file.read_bytes()
    except OSError as e:
        raise StateError(f"there is no state here: {e.strerror or e}", where=str(file)) from None
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.ValidationError, msgspec.DecodeError) as e:
        raise StateError(f"the manifest cannot be read: {e}", where=str(file)) from None
    if manifest.version != VERSION:
        hint = f"this flinkplan reads version {VERSION}"
        raise StateError(f"the manifest has the version {manifest.version}", where=str(file), hint=hint)
    numbers = [table.table for _, table in manifest.tables()]
    if len(set(numbers)) < len(numbers) or any(number < 0 for number in numbers):
        raise StateError("tables need numbers of their own", where=str(file))
    return manifest
