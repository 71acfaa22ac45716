"""Savepoints and retained checkpoints of Flink in the neutral form."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from ..plan.files import Place
from ..plan.nodes import node_classes
from ..plan.record import cached_property
from ..state.form import JobState, Manifest, StateError, StateTable
from ..state.form_arrow import table_schema
from .batches import read_batches
from .home import flink_jars
from .java import ERROR, MANIFEST, Counted, new_tables, run_java, uncounted

if TYPE_CHECKING:
    from pyarrow import RecordBatch

METADATA = "_metadata"
_OF_TABLES = frozenset(("source", "sink"))
"""The transformations of sources and sinks, which connectors may give other names as well."""


def is_savepoint(place: str | Path) -> bool:
    """Whether a folder, or the file ``_metadata`` in it, is a savepoint or a retained checkpoint.

    A path, or a ``file:`` URI as Flink prints it; other places are none.
    """
    path = Place.of(place).local
    if path is None:
        return False
    return path.is_file() if path.name == METADATA else (path / METADATA).is_file()


class Savepoint(JobState):
    """A savepoint that has been read into files of a temporary folder, which :meth:`close` removes."""

    def __init__(self, place: str | Path, folder: Path) -> None:
        self.place = place
        self._folder = folder

    @cached_property
    def manifest(self) -> Manifest:
        """What the state consists of.  Raises :class:`StateError` where the savepoint could not be read."""
        error = self._folder / ERROR
        if error.exists():
            raise StateError(f"the savepoint cannot be read: {error.read_text('utf-8')}", where=str(self.place))
        return msgspec.json.decode((self._folder / MANIFEST).read_bytes(), type=Manifest)

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        return read_batches(self._folder / f"{table.table}.batches", table_schema(table))

    def close(self) -> None:
        """Remove the temporary files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Savepoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_savepoint(
    place: str | Path, flink: str | None = None, uids: Sequence[str] = (), counted: Counted = uncounted
) -> Savepoint:
    """Read a savepoint, with the jars of Flink that :func:`.home.flink_jars` finds.

    ``uids`` are those of the plan's operators, for savepoints that name operators by their hashes alone (of Flink
    before 2.0); UIDs that nodes with small ids have by default are recognized without.  ``counted`` is told how many
    entries have been read.

    Raises :class:`StateError` where there is no Flink, or the savepoint cannot be read.
    """
    (savepoint,) = read_savepoints([place], flink, uids, counted)
    try:
        savepoint.manifest  # noqa: B018  (raises what went wrong)
    except BaseException:
        savepoint.close()
        raise
    return savepoint


def read_savepoints(
    places: Sequence[str | Path], flink: str | None = None, uids: Sequence[str] = (), counted: Counted = uncounted
) -> Iterator[Savepoint]:
    """Read savepoints in one go of the JVM; each is to be closed.

    Raises :class:`StateError` where there is no Flink; a savepoint that could not be read says so by its manifest.
    """
    jars = flink_jars(flink)
    folders = [new_tables() for _ in places]
    try:
        requests = [_request(place, folder, uids) for place, folder in zip(places, folders, strict=True)]
        run_java(jars, requests, counted=counted)
        while folders:
            yield Savepoint(places[-len(folders)], folders[0])
            folders.pop(0)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _local(place: str | Path) -> Path:
    path = Place.of(place).local
    if path is None:
        raise StateError("savepoints are read from local folders", where=str(place), hint="copy it to this machine")
    return path


def _request(place: str | Path, folder: Path, uids: Sequence[str]) -> Path:
    request = {
        "savepoint": str(_local(place).absolute()),
        "folder": str(folder),
        "transformations": node_transformations(),
        "uids": list(uids),
    }
    file = folder / "request.json"
    file.write_text(json.dumps(request), "utf-8")
    return file


def node_transformations() -> list[str]:
    """The last parts of the UIDs that operators of plans have."""
    names = {name for cls in node_classes() for name in cls.metadata.transformations}
    return sorted(names | _OF_TABLES)
