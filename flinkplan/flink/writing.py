"""A job's state in the neutral form, written as a canonical savepoint of Flink."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import msgspec

from ..plan.record import replace
from ..state.form import JobState, Manifest, StateError
from ..state.form_folder import Progress, new_folder
from .batches import write_batches
from .home import flink_jars
from .java import ERROR, MANIFEST, new_tables, run_java


def _nothing() -> None:
    """What is done where nobody waits for the tables."""


def write_savepoint(
    state: JobState,
    folder: str | Path,
    flink: str | None = None,
    progress: Progress | None = None,
    when_read: Callable[[], None] = _nothing,
) -> Manifest:
    """Write a savepoint into a new folder, which appears whole or not at all; the manifest with all entries counted.

    Each state says by ``written_by`` how Flink writes it, as those do that were read from a savepoint: ``key``,
    ``namespace``, ``map_key`` and ``value`` are serializers as ``Snapshots.java`` reads them, ``type`` is Flink's name
    of the kind of state.  ``when_read`` is called when all tables of the state have been read, before Flink writes.

    Raises :class:`StateError` where there is no Flink, the folder exists, or a state cannot be written.
    """
    target = Path(folder)
    if target.exists():
        raise StateError("there is something already", where=str(target), hint="name a folder that does not exist yet")
    with new_folder(target) as work:
        return fill_savepoint(state, work, flink, progress, when_read)


def fill_savepoint(
    state: JobState,
    folder: Path,
    flink: str | None = None,
    progress: Progress | None = None,
    when_read: Callable[[], None] = _nothing,
) -> Manifest:
    """Write a savepoint into an empty folder, as :func:`write_savepoint` does; the manifest with all entries counted.

    Raises :class:`StateError` where there is no Flink, or a state cannot be written.
    """
    with SavepointWriter(flink) as writer:
        manifest = writer.add(state, folder, progress)
        when_read()
        for _, error in writer.write():
            if error:
                raise StateError(f"the savepoint cannot be written: {error}")
    return manifest


class SavepointWriter:
    """Writes any number of savepoints in one run of the JVM.

    ``flink`` is as :func:`.home.flink_jars` has it.  Raises :class:`StateError` where there is no Flink.
    """

    def __init__(self, flink: str | None = None) -> None:
        self._jars = flink_jars(flink)
        self._tables: list[Path] = []
        self._requests: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for tables in self._tables:
            shutil.rmtree(tables, ignore_errors=True)

    def add(self, state: JobState, folder: Path, progress: Progress | None = None) -> Manifest:
        """Take a state that is to be written into the empty ``folder``; the manifest with all entries counted."""
        tables = new_tables()
        self._tables.append(tables)
        manifest = _write_tables(state, tables, progress)
        request = tables / "request.json"
        request.write_text(json.dumps({"folder": str(tables), "target": str(folder)}), "utf-8")
        self._requests[folder] = request
        return manifest

    def write(self) -> Iterator[tuple[Path, str]]:
        """Write all that were added: each folder, and why the savepoint in it could not be written, empty if it was.

        Raises :class:`StateError` where the JVM does not run to its end.
        """
        run_java(self._jars, list(self._requests.values()))
        for folder, request in self._requests.items():
            error = request.parent / ERROR
            yield folder, error.read_text("utf-8") if error.exists() else ""


def _write_tables(state: JobState, folder: Path, progress: Progress | None) -> Manifest:
    operators = []
    for operator in state.manifest.operators:
        states = []
        for table in operator.states:
            rows = write_batches(folder / f"{table.table}.batches", state.batches(table))
            states.append(replace(table, entries=rows))
            if progress is not None:
                progress(operator, table, rows)
        operators.append(replace(operator, states=tuple(states)))
    manifest = replace(state.manifest, operators=tuple(operators))
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    return manifest
