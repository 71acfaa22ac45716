"""What the sources of a job have read before, as tables that can be read again: the files of tables of files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

from ...plan.document import Plan
from ...plan.nodes import TableSourceScan
from ...plan.record import Record
from ...state.form import StateError
from ..connectors.tables import table_of
from .job_state import SavedQuery
from .placed_sources import placed_sources
from .positions import FilePart, Files, Start
from .read_positions import files_read

_INSTEAD = "--no-history shows what the state lacks, and how to accept it"
_SELECTING = ("source.path.regex-pattern", "source.monitor-interval")
"""Options of tables that say which files are read, and when."""


class NoHistoryError(StateError):
    """What the sources have read cannot be read again (exit code 1)."""

    exit_code = 1

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"what has been read cannot be read again: {message}", where=where or None, hint=_INSTEAD)


class ReadFiles(Record):
    """Files that sources have read, by the ids of their scans.

    ``as_of`` is when the state was written (epoch milliseconds): files must not have changed since.  ``ordered`` are
    scans of whose rows the order matters, which must all be in one file.
    """

    files: Mapping[int, Sequence[str]]
    as_of: int | None = None
    ordered: tuple[frozenset[int], ...] = ()

    def tables(self, plan: Plan, variables: Mapping[str, str], folder: Path) -> Iterator[tuple[int, dict[str, str]]]:
        """The options of tables that have just these files, by the ids of the scans of ``plan``.

        Links to the files are made in ``folder``.  Raises :class:`NoHistoryError` where they are not what was read.
        """
        for scans in self.ordered:
            count = sum(len(self.files.get(scan, ())) for scan in scans)
            if count > 1:
                raise NoHistoryError(f"the order of rows matters, and they are in {count} files")
        for scan, files in self.files.items():
            node = plan.by_id[scan]
            assert isinstance(node, TableSourceScan)
            options = dict(table_of(node.scan_table_source.table, variables).options)
            root, own = _local(options["path"]), folder / str(scan)
            own.mkdir(parents=True)
            for file in map(_local, files):
                self._check(file)
                within = file.relative_to(root) if file != root else Path(file.name)
                (own / within).parent.mkdir(parents=True, exist_ok=True)
                (own / within).symlink_to(file)
            yield scan, {k: v for k, v in options.items() if k not in _SELECTING} | {"path": str(own)}

    def _check(self, file: Path) -> None:
        if not file.is_file():
            raise NoHistoryError("it is not there any more", str(file))
        if self.as_of is not None and file.stat().st_mtime_ns // 1_000_000 > self.as_of:
            raise NoHistoryError("it has changed since the state was written", str(file))


def _is_cut(file: FilePart) -> bool:
    """Whether a part ends before its file does, so that what is behind it may have been read."""
    path = _local(file.name)
    return file.to is not None and path.is_file() and file.to <= path.stat().st_size


def _local(name: str) -> Path:
    """The path of a file on this machine.  Raises :class:`NoHistoryError` for others."""
    url = urlparse(name)
    if url.scheme not in ("", "file"):
        raise NoHistoryError("it is not on this machine", name)
    return Path(unquote(url.path) if url.scheme else name).absolute()


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
        raise NoHistoryError("Flink keeps what it has read only of tables with source.monitor-interval", where)
    for file in start.files:
        if not file.is_done and (file.skipped or file.from_ or _is_cut(file)):
            raise NoHistoryError(f"the file {file.name} has been read in part", where)
    return [file.name for file in start.files if file.is_done]
