"""Where the sources of a job of Flink go on: from their splits in a savepoint to the offsets of Spark's sources.

Sources: Flink's ``FileSource``, ``DelimitedInputFormat`` and ``StreamFormatAdapter``, ``KafkaSource`` and
``KafkaPartitionSplit``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ...plan.document import Plan
from ...plan.errors import combined_error
from ...plan.nodes import ExecNode, TableSourceScan, Values
from ...plan.record import Record
from ...plan.tables import called
from ...plan.uids import Uids
from ...state.form import Manifest, OperatorState, SourcePosition, Split
from ...state.moving import Moved, NotMovedError
from ..connectors import find_connector
from ..connectors.tables import Table, table_of
from ..formats import find_format
from ..kafka.positions import Offsets, Partition

_KAFKA = ("kafka", "upsert-kafka")
_FILES = "filesystem"
_READ_AT_ONCE = ("jdbc", "datagen")
"""The connectors whose bounded tables are read in one batch, which alone their offsets count."""

_CSV = "csv"
"""The one format of lines whose files Flink never cuts into splits."""


class Restarted(Record):
    """The source starts where the options of its table say."""

    def __str__(self) -> str:
        return "starts where the options of its table say"


class Ended(Record):
    """The source has been read to its end, in one batch here."""

    def __str__(self) -> str:
        return "has been read to its end"


class Kept(Record):
    """The source goes on as a query of the same engine has left it: its offset as Spark logs it, and its folder."""

    offset: str | None
    folder: Path

    def __str__(self) -> str:
        return "goes on where it was"


class FilePart(Record, rename="camel", omit_defaults=True):
    """A file by its path: one that has been read, or the lines of it that begin at bytes ``[from_, to)``.

    Of the rows of such a part the first ``skipped`` have been read, too.
    """

    name: str
    is_done: bool = False
    from_: int = 0
    to: int | None = None
    skipped: int = 0


class Files(Record):
    """The files that have been read, and what is left of others; ``is_closed``: others that are there are not read."""

    files: tuple[FilePart, ...]
    is_closed: bool
    is_columnar: bool

    def __str__(self) -> str:
        done = sum(file.is_done for file in self.files)
        left = [file for file in self.files if not file.is_done]
        begun = sum(bool(file.skipped) for file in left)
        parts = [f"{done} files have been read"] if not self.is_closed or done else []
        if left:
            parts.append(f"{len(left)} are still to be read{f', of which {begun} have been begun' if begun else ''}")
        if self.is_closed:
            parts.append("others that are there now are not read" if self.is_columnar else "no others are read")
        return "; ".join(parts)


class KafkaOffsets(Record):
    """The next offset of each partition, and the one before which reading ends; ``None``: nowhere.

    Negative offsets are those of :class:`~.state.form.Split`.
    """

    next: Mapping[Partition, int]
    ends: Mapping[Partition, int] | None

    def __str__(self) -> str:
        offsets = (f"{topic}-{number} from {_offset(offset)}" for (topic, number), offset in sorted(self.next.items()))
        return ", ".join(offsets) or "all partitions have been read to their ends"


_LATEST = -1
_NAMED_OFFSETS = {-2: "the earliest offset", _LATEST: "the latest offset", -3: "the offset of the consumer group"}


def _offset(offset: int) -> str:
    return _NAMED_OFFSETS.get(offset, f"offset {offset}")


Start = Restarted | Ended | Kept | Files | KafkaOffsets


class Sources:
    """The sources of a plan, as a savepoint of its job has them."""

    def __init__(
        self, plan: Plan, manifest: Manifest, restarted: Collection[str], variables: Mapping[str, str], uids: Uids
    ) -> None:
        self._plan = plan
        self._restarted = restarted
        self._variables = variables
        self._uids = uids
        self._operators = {operator.uid: operator for operator in manifest.operators}
        self._positions = {position.uid: position for position in manifest.positions}

    def starts(self) -> Mapping[int, Start]:
        """Where each source goes on, by the id of its node.

        Raises :class:`NotMovedError` for those of which that is not known, and for a table to restart that is not read.
        """
        errors = list(unknown_tables(self._plan, self._restarted))
        starts: dict[int, Start] = {}
        for node in self._plan.nodes:
            if isinstance(node, TableSourceScan | Values):
                try:
                    starts[node.id] = self._start(node)
                except NotMovedError as e:
                    errors.append(e)
        if errors:
            raise combined_error(errors)
        return starts

    def start(self, node: int) -> Start:
        """Where the source with this id goes on.  Raises :class:`NotMovedError` where that is not known."""
        source = self._plan.by_id[node]
        assert isinstance(source, TableSourceScan | Values)
        return self._start(source)

    def moved(self, starts: Mapping[int, Start]) -> Iterator[Moved]:
        """Where the sources go on, for people."""
        return (Moved(_place(self._plan.by_id[number]), str(start)) for number, start in starts.items())

    def _start(self, node: TableSourceScan | Values) -> Start:
        if isinstance(node, Values):
            return self._of_values(node)
        if not names_of(node).isdisjoint(self._restarted):
            return Restarted()
        table = table_of(node.scan_table_source.table, self._variables)
        connector = table.options.get("connector", "")
        kept = self._kept(node)
        if kept is None:
            raise _not_moved(node, "the savepoint has no such source")
        operator, position = kept
        if operator.is_finished:
            return _ended(node, table, connector)
        if position is None or not position.is_known:
            raise _not_moved(node, f"the positions of a source of the connector '{connector}' cannot be read")
        if position.connector == _FILES == connector:
            return _files(node, table, position.splits)
        if position.connector == "kafka" and connector in _KAFKA:
            return _offsets(position.splits, is_bounded=find_connector(table).is_bounded(table))
        raise _not_moved(
            node, f"in the savepoint it is a source of the connector '{position.connector}', not of '{connector}'"
        )

    def _of_values(self, node: Values) -> Start:
        kept = self._kept(node)
        if kept is None or not kept[0].is_finished:
            raise NotMovedError("it is not known which of the rows have been emitted", where=_place(node))
        return Ended()

    def _kept(self, node: ExecNode) -> tuple[OperatorState, SourcePosition | None] | None:
        for uid in self._uids.kept(node).values():
            if (operator := self._operators.get(uid)) is not None:
                return operator, self._positions.get(uid)
        return None


def unknown_tables(plan: Plan, restarted: Collection[str]) -> Iterator[NotMovedError]:
    """The names of tables to restart that the plan does not read."""
    scans = [node for node in plan.nodes if isinstance(node, TableSourceScan)]
    names = {name for scan in scans for name in names_of(scan)}
    for name in restarted:
        if name not in names:
            read = ", ".join(dict.fromkeys(scan.scan_table_source.table.name for scan in scans))
            yield NotMovedError(f"the plan reads no table '{name}'", hint=f"it reads {read}")


def names_of(scan: TableSourceScan) -> set[str]:
    """What a table may be called on the command line."""
    return called(scan.scan_table_source.table)


def _place(node: ExecNode) -> str:
    name = f"table {node.scan_table_source.table.name}" if isinstance(node, TableSourceScan) else "VALUES"
    return f"{name} (node {node.id})"


def _not_moved(node: TableSourceScan, reason: str) -> NotMovedError:
    name = node.scan_table_source.table.name
    hint = (
        f"--restart-source {name} has it start where the options of its table say; rows may then come twice or be lost"
    )
    return NotMovedError(reason, where=_place(node), hint=hint)


def _ended(node: TableSourceScan, table: Table, connector: str) -> Start:
    if connector == _FILES:
        return Files((), is_closed=True, is_columnar=_is_columnar(table))
    if connector in _KAFKA:
        return KafkaOffsets({}, {})
    if connector in _READ_AT_ONCE:
        return Ended()
    raise _not_moved(node, f"it has been read to its end, which a source of '{connector}' does not keep here")


def _is_columnar(table: Table) -> bool:
    return find_format(table.options, f"table {table.identifier}").columnar


def _files(node: TableSourceScan, table: Table, splits: Sequence[Split]) -> Files:
    is_closed = find_connector(table).is_bounded(table)
    format_ = find_format(table.options, f"table {table.identifier}")
    if format_.columnar and (begun := next((s for s in splits if _is_begun(s)), None)) is not None:
        raise _not_moved(node, f"the file {begun.name} has been read in part, of the format '{format_.name}'")
    parts = (_part(split, is_cut=format_.name != _CSV) for split in splits)
    return Files(tuple(parts), is_closed, format_.columnar)


def _is_begun(split: Split) -> bool:
    return bool(split.offset or split.records_after_offset)


def _part(split: Split, *, is_cut: bool) -> FilePart:
    """What is left of a file.

    A split of lines has those that begin behind its first byte, up to the one that begins behind its last: the line
    that begins with its first byte is of the split before.
    """
    if split.is_done:
        return FilePart(split.name, is_done=True)
    skipped = split.records_after_offset
    if not is_cut:
        return FilePart(split.name, skipped=skipped)
    start = split.offset + 1 if split.offset else 0
    return FilePart(split.name, from_=start, to=None if split.end is None else split.end + 1, skipped=skipped)


def _offsets(splits: Sequence[Split], *, is_bounded: bool) -> KafkaOffsets:
    partitions = [(split, (split.name, split.partition or 0)) for split in splits]
    ends: Offsets | None = None
    if is_bounded or any(split.end is not None for split in splits):
        ends = {partition: _LATEST if split.end is None else split.end for split, partition in partitions}
    return KafkaOffsets({partition: split.offset or 0 for split, partition in partitions}, ends)
