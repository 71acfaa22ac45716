"""Where a stream of changes is, which Spark keeps in its checkpoint, and what is read from there on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from ...plan.connectors.cdc import COMMITTED, EARLIEST, LATEST, SNAPSHOT, SPECIFIC, TIMESTAMP
from ...plan.record import Record
from ..connectors.turns import InTurn, Turn
from .files import KEEPS_ALL, SKIPS_NEW, SKIPS_OLD, ChangesFile, Layout
from .log import Key, LogReader, Part, Place, Relation, Server, Snapshot, SourceTable, Transaction, images
from .settings import Capture, CaptureError, MysqlCapture, PostgresCapture

BATCH_CHUNKS, BATCH_SECONDS = 16, 1.0
"""A batch takes up so many chunks of a snapshot at most, and no more of them once it has read for so long."""

BATCH_CHANGES = 50_000
_WAIT = 0.05
_LAG_SECONDS = 1.0
_LOG_ALONE = (LATEST, COMMITTED, EARLIEST, SPECIFIC, TIMESTAMP)
"""The modes that begin without a snapshot."""


class View(Record):
    """A snapshot in which the tables were read from a key of one of them on: ``table`` counts them, ``None``: from its
    beginning.  ``end``: before this LSN all ends that it shows.
    """

    table: int
    after: Key | None
    view: str
    end: int


class _Stream:
    """What there is in this process of a stream that Spark reads."""

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.done: deque[int] = deque()
        self.moved = monotonic()

    def close(self) -> None:
        if self.snapshot is not None:
            self.snapshot.close()
            self.snapshot = None


class Positions:
    """Answers where a source begins, how far it can be read, and writes the files of what is read.

    A position has in ``files`` how many files there were up to it; the labels of the ``tables``; in ``snapshot`` where
    reading the snapshot is, and in which views of the database it was read, until the log has got to the last of them;
    the place in the log, ``lsn`` and ``taken``; and whether the batch without rows has come that follows one with some.
    ``settles``: each batch with rows is followed by one without, in which the watermark takes effect.  ``folder`` is
    for files.  ``tells_lag``: somebody looks at how much of the log is still to be read.

    The snapshot is read first, and the log from before it on.  A change of a row is left out where the view in which
    the row was read shows its transaction.
    """

    def __init__(
        self, capture: Capture, folder: Path, settles: bool, place: InTurn, *, tells_lag: bool = False
    ) -> None:
        self._capture = capture
        self._server = server_of(capture)
        self._folder = folder
        self._numbers = count()
        self._settles = settles
        self._place = place
        self._tells_lag = tells_lag
        self._is_bounded = capture.startup == SNAPSHOT
        self._log: LogReader | None = None
        self._tables: Mapping[str, SourceTable] = {}
        self._layouts: dict[Relation, Layout] = {}
        self._streams: dict[str, _Stream] = {}
        self._target: int | None = None
        self._written = 0
        self._asked = 0.0

    def open(self) -> None:
        """Check the tables.  Raises :class:`CaptureError`."""
        self._tables = {table.label: table for table in self._server.tables()}
        if not self._is_bounded:
            self._reader(list(self._tables)).expect(self)

    # ------------------------------------------------------------ what Spark asks

    def initial(self, stream: str) -> dict[str, Any]:
        """Where reading begins: of the tables that there are now; later ones are not read."""
        if not self._is_bounded:
            self._server.prepare(list(self._tables.values()))
        place = Place(0 if self._is_bounded else self._server.begin())
        labels = list(self._tables)
        if not self._is_bounded:
            self._reader(labels).begin(self, self._id(stream), place)
        skips = self._capture.startup in _LOG_ALONE
        snapshot: dict[str, Any] | None = None if skips else {"table": 0, "after": None, "views": []}
        return _position(0, labels, snapshot, place, is_settled=True)

    def stop_at_what_is_there(self, stream: str) -> None:
        """Have nothing read that comes later."""
        self._target = None if self._is_bounded else self._server.written()

    def latest(self, start: dict[str, Any], stream: str) -> dict[str, Any]:
        """How far can be read from a position on, and the files of what there is up to there."""
        labels = start["tables"]
        for label in labels:
            if label not in self._tables:
                raise CaptureError(
                    f"the checkpoint has read the table {label}, which is not among those of the source now",
                    "let it have its name back, or start with a new checkpoint",
                )
        if not self._is_bounded:
            self._reader(labels).begin(self, self._id(stream), Place(start["lsn"], start["taken"]))
        snapshot = start["snapshot"]
        if snapshot is not None and snapshot["table"] < len(labels):
            reached, written = self._read_snapshot(start, stream)
        elif self._is_bounded:
            reached, written = {**start, "settled": True}, []
        else:
            reached, written = self._read_log(start, stream)
        self._report_snapshot_end(reached)
        return {"position": reached, "written": [str(path) for path in written]}

    def waiting(self, position: dict[str, Any], stream: str) -> dict[str, str]:
        """What the source waits for: nothing."""
        return {}

    def lag(self, position: dict[str, Any], stream: str) -> dict[str, int]:
        """How many bytes of the log are behind a position; the server is asked once a second at most."""
        if not self._tells_lag or not position or self._is_bounded:
            return {}
        if monotonic() - self._asked >= _LAG_SECONDS:
            try:
                self._written = self._server.written()
            except CaptureError:
                return {}
            self._asked = monotonic()
        return {self._capture.log_name: max(self._written - position["lsn"], 0)}

    def commit(self, end: dict[str, Any], stream: str) -> None:
        """Let the slot move on, some batches behind."""
        done = self._stream(stream).done
        done.append(end["lsn"])
        if len(done) > self._capture.commit_delay and not self._is_bounded:
            self._reader(end["tables"]).done(self._id(stream), done.popleft())

    def close(self, stream: str) -> None:
        """Let go of the server until somebody asks again."""
        self._stream(stream).close()
        if not self._is_bounded:
            self._reader(list(self._tables)).leave(self._id(stream))
        self._server.close()

    # ------------------------------------------------------------ reading

    def _read_snapshot(self, start: dict[str, Any], stream: str) -> tuple[dict[str, Any], list[Path]]:
        """Read the next chunks of the snapshot."""
        own, labels = self._stream(stream), start["tables"]
        table, after, views = start["snapshot"]["table"], start["snapshot"]["after"], list(start["snapshot"]["views"])
        if own.snapshot is None:
            own.snapshot = self._server.snapshot()
        if not views or views[-1]["view"] != own.snapshot.view:
            views.append({"table": table, "after": after, "view": own.snapshot.view, "end": own.snapshot.end})
        files: list[Path] = []
        rows, began = 0, monotonic()
        while table < len(labels) and len(files) < BATCH_CHUNKS and monotonic() - began < BATCH_SECONDS:
            path = self._path()
            read, after = own.snapshot.read(
                self._tables[labels[table]],
                [name for name, _ in self._capture.columns],
                after,
                self._capture.chunk_rows,
                path,
            )
            files += [path] if read else []
            rows += read
            table += after is None
        if table == len(labels):
            own.close()
        snapshot = {"table": table, "after": after, "views": views}
        place = Place(start["lsn"], start["taken"])
        settled = not rows or not self._settles
        return _position(start["files"] + len(files), labels, snapshot, place, is_settled=settled), files

    def _read_log(self, start: dict[str, Any], stream: str) -> tuple[dict[str, Any], list[Path]]:
        """Read the next changes."""
        own, reader, labels = self._stream(stream), self._reader(start["tables"]), start["tables"]
        views = [View(**view) for view in (start["snapshot"] or {"views": []})["views"]]
        place = Place(start["lsn"], start["taken"])
        end = max((view.end for view in views), default=0)
        parts, reached, known = reader.take(self._id(stream), place, BATCH_CHANGES)
        while not parts and self._target is not None and not reader.is_at(self._target, known):
            reader.wait(_WAIT)
            parts, reached, known = reader.take(self._id(stream), place, BATCH_CHANGES)
        if not parts and reached == place:
            is_due = monotonic() - own.moved >= self._capture.heartbeat > 0
            if known > place.lsn and (is_due or (views and reader.is_at(end, known))) and not place.taken:
                reached = Place(known)
        is_caught_up = not views or reached.lsn >= end or (reached.lsn > 0 and not parts and reader.is_at(end, known))
        files = self._write(parts, views, labels)
        reader.trim()
        if reached != place:
            own.moved = monotonic()
        snapshot = None if is_caught_up else start["snapshot"]
        settled = not files or not self._settles
        return _position(start["files"] + len(files), labels, snapshot, reached, is_settled=settled), files

    def _write(self, parts: Sequence[Part], views: Sequence[View], labels: Sequence[str]) -> list[Path]:
        """Write changes into a file, but for those that are in the snapshot."""
        if not parts:
            return []
        file = ChangesFile(self._path())
        for transaction, first, last in parts:
            changes = transaction.changes[first:last]
            flags = self._skips(transaction, changes, views, labels)
            for (relation, message), skips in zip(changes, flags, strict=True):
                if skips != SKIPS_OLD | SKIPS_NEW and relation.label in labels:
                    file.add(relation.oid, self._layout(relation), transaction.time_ms, skips, message)
        return list(file.close())

    def _skips(
        self,
        transaction: Transaction,
        changes: Sequence[tuple[Relation, bytes]],
        views: Sequence[View],
        labels: Sequence[str],
    ) -> Iterator[int]:
        """Which images of each change are in the snapshot."""
        shown = [self._server.shows(view.view, transaction) for view in views]
        if not any(shown) or all(shown):
            yield from [SKIPS_OLD | SKIPS_NEW if any(shown) else KEEPS_ALL] * len(changes)
            return
        for relation, message in changes:
            if relation.label not in labels:
                yield SKIPS_OLD | SKIPS_NEW
                continue
            table = self._tables[relation.label]
            rows = dict(images(message))
            old, new = rows.get("O", rows.get("K", rows.get("N"))), rows.get("N", rows.get("O", rows.get("K")))
            number = labels.index(table.label)
            seen = [shown[self._view_of(table, number, relation, row, views)] for row in (old, new) if row is not None]
            yield (SKIPS_OLD if seen[0] else 0) | (SKIPS_NEW if seen[-1] else 0)

    def _view_of(
        self, table: SourceTable, number: int, relation: Relation, row: Sequence[bytes | None], views: Sequence[View]
    ) -> int:
        """The index of the view in which a row was read."""
        first = max(i for i, view in enumerate(views) if (view.table, view.after is not None) <= (number, False))
        bounds = [view.after for view in views[first + 1 :] if view.table == number and view.after is not None]
        if not bounds:
            return first
        names = [name for name, _, _ in relation.columns]
        key = [(row[names.index(name)] or b"").decode() for name in table.key_names]
        return first + self._server.ranks(table, [key], bounds)[0]

    def _layout(self, relation: Relation) -> Layout:
        """Which columns of a table, as the log has it now, are declared.  Raises :class:`CaptureError`."""
        if relation not in self._layouts:
            self._layouts[relation] = self._server.relation_layout(relation)
        return self._layouts[relation]

    # ------------------------------------------------------------ parts

    def _report_snapshot_end(self, position: dict[str, Any]) -> None:
        """Tell who waits for the snapshot that it has been read."""
        snapshot, switch = position["snapshot"], self._place.switch
        has_read = snapshot is None or (self._is_bounded and snapshot["table"] >= len(position["tables"]))
        if has_read and switch is not None and (self._place.turn is not Turn.FIRST or self._is_bounded):
            switch.end(self._place.source)

    def _reader(self, labels: Sequence[str]) -> LogReader:
        if self._log is None:
            self._log = reader_of(self._capture, labels)
        return self._log

    def _stream(self, stream: str) -> _Stream:
        return self._streams.setdefault(stream, _Stream())

    def _id(self, stream: str) -> tuple[int, str]:
        return id(self), stream

    def _path(self) -> Path:
        return self._folder / str(next(self._numbers))


def server_of(capture: Capture) -> Server:
    """The database of a source.  Raises :class:`ImportError` where there is no client of it."""
    if isinstance(capture, PostgresCapture):
        from .postgres import Postgres

        return Postgres(capture)  # type: ignore[return-value]
    from .mysql import Mysql

    assert isinstance(capture, MysqlCapture)
    return Mysql(capture)  # type: ignore[return-value]


def reader_of(capture: Capture, labels: Sequence[str]) -> LogReader:
    """What reads the changes of tables in the log."""
    if isinstance(capture, PostgresCapture):
        from .replication import slot_reader

        return slot_reader(capture, labels)
    from .binlog import BinlogReader

    assert isinstance(capture, MysqlCapture)
    return BinlogReader(capture, labels)


def _position(
    files: int, tables: Sequence[str], snapshot: dict[str, Any] | None, place: Place, *, is_settled: bool
) -> dict[str, Any]:
    """A position as a checkpoint has it, see :class:`Positions`."""
    return {
        "files": files,
        "tables": list(tables),
        "snapshot": snapshot,
        "lsn": place.lsn,
        "taken": place.taken,
        "settled": is_settled,
    }


def read_once(capture: Capture, folder: Path) -> list[Path]:
    """Files with all rows of the tables as they are now; none where the options read changes alone."""
    if capture.startup in _LOG_ALONE and capture.startup != LATEST:
        raise CaptureError(
            f"'scan.startup.mode' = '{capture.startup}' reads changes alone, which a batch does not have",
            "run the job with --mode available-now",
        )
    server = server_of(capture)
    try:
        tables, files = server.tables(), []
        if capture.startup == LATEST:
            return []
        snapshot, numbers = server.snapshot(), count()
        for table in tables:
            after: Key | None = None
            while True:
                path = folder / str(next(numbers))
                names = [name for name, _ in capture.columns]
                rows, after = snapshot.read(table, names, after, capture.chunk_rows, path)
                files += [path] if rows else []
                if after is None:
                    break
        snapshot.close()
        return files
    finally:
        server.close()
