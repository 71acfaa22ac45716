"""How far the sources of a query have been read, as Flink's sources keep it.

Sources: Flink's ``FileSource`` and ``KafkaSource``; Spark's ``FileStreamSourceLog``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from urllib.parse import unquote, urlparse

from ...plan.connectors import default_partition
from ...plan.document import Plan
from ...plan.files import Place
from ...plan.nodes import ExecNode, TableSourceScan, Values
from ...plan.specs import PartitionPushDown
from ...plan.uids import Uids
from ...state.form import SourcePosition, Split, StateError
from ...state.moving import NotMovedError
from ..connectors.tables import Table, table_of
from ..kafka.positions import from_json
from .operators import StatefulQuery
from .placed_sources import placed_sources
from .positions import KafkaOffsets, names_of
from .query_log import QueryProgress

_FILES, _KAFKA = "filesystem", ("kafka", "upsert-kafka")
_COMPACT = ".compact"
"""What the names of Spark's logs end with that hold all entries so far."""


class ReadPositions:
    """The positions of the sources of a query, whose checkpoint is in ``folder``.

    ``restarted`` are the names of tables whose sources are to start where the tables' options say, ``ended`` the UIDs
    of operators that Flink keeps as ended.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Place,
        query: StatefulQuery,
        progress: QueryProgress,
        variables: Mapping[str, str],
        uids: Uids,
        restarted: Collection[str],
        ended: Set[str],
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._query = query
        self._progress = progress
        self._variables = variables
        self._uids = uids
        self._restarted = restarted
        self._ended = ended

    def all(self, errors: list[StateError]) -> Iterator[SourcePosition]:
        """The position of each source; ``errors`` gets those that cannot be moved."""
        for node in self._plan.nodes:
            try:
                if isinstance(node, Values) and self._ended.isdisjoint(self._uids.kept(node).values()):
                    raise NotMovedError("its rows would come again", where=f"VALUES (node {node.id})")
                if isinstance(node, TableSourceScan):
                    table = table_of(node.scan_table_source.table, self._variables)
                    if names_of(node).isdisjoint(self._restarted):
                        yield self._position(node, table)
            except NotMovedError as e:
                errors.append(e)

    def _position(self, node: TableSourceScan, table: Table) -> SourcePosition:
        connector = table.options.get("connector", "")
        if connector != _FILES and connector not in _KAFKA:
            raise _not_moved(
                node, table, f"a source of the connector '{connector}' keeps no position that can be moved"
            )
        offset = self._offset(node)
        if connector in _KAFKA:
            partitions = tuple(_partitions(offset)) if offset else ()
            return SourcePosition(self._uid(node), node.id, _KAFKA[0], partitions)
        number = next(place.number for place in placed_sources(self._query) if place.node == node.id)
        read = files_read(self._folder / "sources" / str(number), offset) if offset else []
        if read is None:
            raise _not_moved(node, table, "positions within files are not moved")
        done = sorted(read)
        splits = [Split(f"file:{name}", is_done=True) for name in done]
        if "source.monitor-interval" not in table.options:  # Flink looks for files once, at the start
            splits += _files_left(node, table, done)
        return SourcePosition(self._uid(node), node.id, _FILES, tuple(splits))

    def _uid(self, node: ExecNode) -> str:
        return next(iter(self._uids.kept(node).values()))

    def _offset(self, node: TableSourceScan) -> Mapping[str, object] | None:
        """How far a source has been read, as Spark's source writes it; ``None``: not at all."""
        offsets = []
        for place, offset in zip(placed_sources(self._query), self._progress.sources, strict=True):
            if place.node == node.id:
                offsets.append(None if offset is None else json.loads(offset))
        if not offsets or any(offset != offsets[0] for offset in offsets):
            raise NotMovedError("its parts have not read the same", where=f"node {node.id}")
        known = offsets[0]
        return known if isinstance(known, dict) else None


def files_read(log: Place, offset: Mapping[str, object]) -> list[str] | None:
    """The paths of the files that a source has read, up to an offset; ``None`` where it is one within files.

    ``log`` is the folder in which the source keeps what it has read.
    """
    count = offset.get("files")
    if isinstance(count, int):
        logs = (log / "files" / name for name in sorted((log / "files").children()) if not name.startswith("."))
        entries = [json.loads(line) for file in logs for line in file.read().splitlines()][:count]
    elif isinstance(batch := offset.get("logOffset"), int):
        entries = _spark_log(log, batch)
    else:
        return None
    # URIs in which nothing is escaped, as Hadoop writes paths
    return [str(entry["path"]).removeprefix("file:").removeprefix("//") for entry in entries]


def described(position: SourcePosition) -> str:
    """How far a source has been read, for people."""
    if position.connector in _KAFKA:
        return str(KafkaOffsets({(s.name, s.partition or 0): s.offset or 0 for s in position.splits}, None))
    done = sum(split.is_done for split in position.splits)
    left = len(position.splits) - done
    return f"{done} files have been read" + (f"; {left} are still to be read" if left else "")


def _not_moved(node: TableSourceScan, table: Table, reason: str) -> NotMovedError:
    return NotMovedError(
        reason,
        where=f"table {table.name} (node {node.id})",
        hint=f"--restart-source {table.name} has it start where the options of its table say",
    )


def _partitions(offset: Mapping[str, object]) -> Iterator[Split]:
    """The partitions of Kafka, of a position as :mod:`...kafka.stream` writes it."""
    positions, ends = (offset.get(name) for name in ("positions", "ends"))
    assert isinstance(positions, dict)
    last = from_json(ends) if isinstance(ends, dict) else {}
    for (topic, number), next_offset in sorted(from_json(positions).items()):
        yield Split(topic, partition=number, offset=next_offset, end=last.get((topic, number)))


def _spark_log(log: Place, last: int) -> list[dict[str, object]]:
    """The entries of a log of Spark up to a batch: those of the last file that has all, and of the files behind it."""
    numbers = {int(name.removesuffix(_COMPACT)): name for name in log.children() if name[0].isdigit()}
    compact = max((n for n, name in numbers.items() if name.endswith(_COMPACT) and n <= last), default=0)
    files = [log / numbers[number] for number in sorted(numbers) if compact <= number <= last]
    return [json.loads(line) for file in files for line in file.read().splitlines()[1:]]


def _files_left(node: TableSourceScan, table: Table, done: Sequence[str]) -> Iterator[Split]:
    known, partition = set(done), default_partition(table.options)
    for name in files_below(Path(_path(table.options["path"])), table.options.get("source.path.regex-pattern")):
        if name not in known and is_wanted(name, node, partition):
            yield Split(f"file:{name}", offset=0, end=Path(name).stat().st_size)


def _path(text: str) -> str:
    return unquote(urlparse(text).path) if text.startswith("file:") else str(Path(text).absolute())


def files_below(root: Path, pattern: str | None) -> Iterator[str]:
    """The files that Flink's source finds, without hidden ones, in their order."""
    if root.is_file():
        yield str(root)
        return
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        is_hidden = any(p.startswith((".", "_")) for p in parts)
        if path.is_file() and not is_hidden and (pattern is None or re.fullmatch(pattern, str(path))):
            yield str(path)


def is_wanted(name: str, node: TableSourceScan, default: str) -> bool:
    """Whether a file is in one of the partitions that are read; ``default`` is the name of that of NULL."""
    abilities = node.scan_table_source.abilities or ()
    only = next((a.partitions for a in abilities if isinstance(a, PartitionPushDown)), None)
    if only is None:
        return True
    folders = (segment.partition("=") for segment in name.split("/")[:-1])
    values = {key: unquote(value) for key, equals, value in folders if equals}
    wanted = ({key: default if text is None else text for key, text in partition.items()} for partition in only)
    return any(partition.items() <= values.items() for partition in wanted)
