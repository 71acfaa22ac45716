"""The changes in the binary log of MySQL or MariaDB, by the library ``mysql-replication``."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, Any

from .log import Buffer, Part, Place, Relation, Transaction
from .mysql import Mysql, Table, message_of
from .settings import CaptureError, MysqlCapture

if TYPE_CHECKING:
    from pymysqlreplication import BinLogStreamReader

_HEARTBEAT_SECONDS = 0.2
_RANDOM_IDS = (5400, 6400)
"""The ids of which one is taken by chance, as in Flink."""

_QUEUED = 10_000
_REMOVED = 1236
"""What the server says where it does not have the log any more."""

_CODES: Mapping[str, tuple[int, ...]] = {
    "tinyint": (1,),
    "smallint": (2,),
    "mediumint": (9,),
    "int": (3,),
    "bigint": (8,),
    "float": (4,),
    "double": (5,),
    "decimal": (246,),
    "date": (10, 14),
    "time": (11, 19),
    "datetime": (12, 18),
    "timestamp": (7, 17),
    "year": (13,),
    "bit": (16,),
    "char": (254, 253),
    "binary": (254, 253),
    "varchar": (15, 253),
    "varbinary": (15, 253),
    "enum": (247, 254),
    "set": (248, 254),
    "json": (245,),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), (252,)),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), (252,)),
}
"""How the log calls types."""

_USED: set[tuple[str, int]] = set()
"""The ids under which this process reads a server."""

_Item = tuple[str, int, int, Sequence[tuple[Relation, bytes]]]
"""What a thread has read: ``rows``, ``end`` of a transaction or ``reached``, with LSN and time, and the rows."""


class BinlogReader:
    """Reads the log, for each stream by a connection of its own; the server keeps it as its settings say."""

    def __init__(self, capture: MysqlCapture, labels: Sequence[str]) -> None:
        self._capture = capture
        self._server = Mysql(capture)
        self._labels = labels
        self._feeds: dict[object, _Feed] = {}
        self._last: object = None

    def expect(self, owner: object) -> None:
        """Nothing: the server keeps its log for nobody."""

    def begin(self, owner: object, stream: object, place: Place) -> None:
        """Say where a stream goes on."""
        if stream not in self._feeds:
            self._server.check_place(place.lsn)
            self._feeds[stream] = _Feed(self._capture, self._labels, place.lsn)

    def take(self, stream: object, place: Place, most: int) -> tuple[list[Part], Place, int]:
        """What is there behind a place; a connection that was lost is opened again there."""
        self._last = stream
        feed = self._feeds[stream]
        if feed.is_lost:
            feed.close()
            self._server.check_place(place.lsn)
            feed = self._feeds[stream] = _Feed(self._capture, self._labels, place.lsn)
        feed.receive()
        parts, reached = feed.buffer.take(place, most)
        feed.read = reached
        return parts, reached, feed.reached

    def trim(self) -> None:
        """Forget what has been taken."""
        if (feed := self._feeds.get(self._last)) is not None:
            feed.buffer.trim(feed.read)

    def done(self, stream: object, lsn: int) -> None:
        """Nothing: the server keeps its log for nobody."""

    def is_at(self, lsn: int, known: int) -> bool:
        """As :meth:`LogReader.is_at`."""
        return known >= lsn

    def wait(self, seconds: float) -> None:
        """Wait for something to come."""
        sleep(seconds)

    def leave(self, stream: object) -> None:
        """End the connection of a stream."""
        if (feed := self._feeds.pop(stream, None)) is not None:
            feed.close()
        self._server.close()


class _Feed:
    """A connection that reads the log from an LSN on, in a thread."""

    def __init__(self, capture: MysqlCapture, labels: Sequence[str], lsn: int) -> None:
        self._server = Mysql(capture)
        self._capture = capture
        self._tables: Mapping[tuple[str, str], Table] = {
            (table.database, table.name): table for table in self._server.tables() if table.label in labels
        }
        self._relations = {key: self._server.relation(table) for key, table in self._tables.items()}
        self._checked: dict[tuple[str, str], Any] = {}
        self._lsn = lsn
        self._queue: Queue[_Item | Exception] = Queue(_QUEUED)
        self._stops = Event()
        self._is_within = False
        self._id = _server_id(capture)
        self.buffer = Buffer()
        self.read = Place(lsn)
        self.reached = 0
        self.is_lost = False
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    # ------------------------------------------------------------ for the stream

    def receive(self) -> None:
        """Take what the thread has read.  Raises :class:`CaptureError` where it could not go on."""
        while not self.buffer.is_full:
            try:
                item = self._queue.get_nowait()
            except Empty:
                return
            if isinstance(item, CaptureError):
                raise item
            if isinstance(item, Exception):
                self.is_lost = True
                return
            what, lsn, time_ms, rows = item
            if what == "rows":
                if not self._is_within:
                    self.buffer.append(Transaction(0, time_ms))
                    self._is_within = True
                for relation, message in rows:
                    self.buffer.add(relation, message)
            elif what == "end":
                if self._is_within:
                    self.buffer.end(lsn)
                self._is_within = False
                self.reached = lsn
            elif not self._is_within:
                self.reached = max(self.reached, lsn)

    def close(self) -> None:
        """End the connection."""
        self._stops.set()
        self._thread.join(10)
        _USED.discard((self._capture.address, self._id))

    # ------------------------------------------------------------ in the thread

    def _run(self) -> None:
        import pymysql

        stream: BinLogStreamReader | None = None
        try:
            stream = self._open()
            for event in stream:
                if self._stops.is_set():
                    break
                self._event(event, self._server.lsn(str(stream.log_file), int(stream.log_pos or 0)))
        except CaptureError as e:
            self._put(e)
        except pymysql.OperationalError as e:
            self._put(e)
        except pymysql.MySQLError as e:
            removed = e.args[0] == _REMOVED
            way_out = "start with a new checkpoint, which reads the tables anew" if removed else None
            self._put(CaptureError(f"the log of MySQL at {self._capture.address}: {message_of(e)}", way_out))
        except Exception as e:
            self._put(CaptureError(f"the log of MySQL at {self._capture.address} cannot be decoded: {e!r}"))
        finally:
            if stream is not None:
                stream.close()
            self._server.close()

    def _open(self) -> BinLogStreamReader:
        from pymysqlreplication import BinLogStreamReader
        from pymysqlreplication.event import HeartbeatLogEvent, QueryEvent, XidEvent
        from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

        file, position = self._server.place(self._lsn)
        return BinLogStreamReader(
            connection_settings=self._server.login(),
            server_id=self._id,
            blocking=True,
            resume_stream=True,
            log_file=file,
            log_pos=position,
            only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent, XidEvent, QueryEvent, HeartbeatLogEvent],
            only_schemas=sorted({database for database, _ in self._tables}),
            only_tables=sorted({name for _, name in self._tables}),
            slave_heartbeat=_HEARTBEAT_SECONDS,
            enable_logging=False,
        )

    def _event(self, event: Any, lsn: int) -> None:
        time_ms = event.timestamp * 1000
        match type(event).__name__:
            case "WriteRowsEvent" | "UpdateRowsEvent" | "DeleteRowsEvent" as kind:
                if (key := (event.schema, event.table)) in self._tables and time_ms >= self._capture.since_ms:
                    self._put(("rows", lsn, time_ms, self._changes(kind, key, event)))
            case "XidEvent":
                self._put(("end", lsn, time_ms, ()))
            case "QueryEvent":
                query = event.query if isinstance(event.query, str) else bytes(event.query).decode(errors="replace")
                if query.strip().upper() != "BEGIN":
                    self._put(("end", lsn, time_ms, ()))
            case _:
                self._put(("reached", lsn, time_ms, ()))

    def _changes(self, kind: str, key: tuple[str, str], event: Any) -> list[tuple[Relation, bytes]]:
        self._check(key, event)
        table, relation = self._tables[key], self._relations[key]
        number = relation.oid.to_bytes(4, "big")
        encoded = self._server.encoded
        match kind:
            case "WriteRowsEvent":
                messages = [b"I" + number + b"N" + encoded(table, row["values"]) for row in event.rows]
            case "DeleteRowsEvent":
                messages = [b"D" + number + b"O" + encoded(table, row["values"]) for row in event.rows]
            case _:
                messages = [
                    b"U"
                    + number
                    + b"O"
                    + encoded(table, row["before_values"])
                    + b"N"
                    + encoded(table, row["after_values"])
                    for row in event.rows
                ]
        return [(relation, message) for message in messages]

    def _check(self, key: tuple[str, str], event: Any) -> None:
        """Raise :class:`CaptureError` where the log has other columns than the table."""
        if self._checked.get(key) == event.table_id:
            return
        table, label = self._tables[key], ".".join(key)
        codes = {column.name: column for column in event.columns}
        if any(name.startswith("UNKNOWN_COL") for name in codes):
            raise CaptureError(
                f"the log does not have the names of the columns of {label}",
                "SET GLOBAL binlog_row_metadata = 'FULL', and start with a new checkpoint",
            )
        self._server.check(label, [(name, type_) for name, type_ in table.columns if name in codes])
        wanted = {*(name for name, _ in self._capture.columns), *(column.name for column in table.key)}
        for name, type_ in table.columns:
            if name in wanted and codes[name].type not in _CODES.get(type_.name, (codes[name].type,)):
                raise CaptureError(
                    f"the column '{name}' of {label} was of another type in the log than {type_}, which it is now",
                    "start with a new checkpoint, which reads the table anew",
                )
            if name in wanted and type_.name == "decimal" and type_.digits is not None:
                column = codes[name]
                if (column.precision, column.decimals) != type_.digits:
                    raise CaptureError(
                        f"the column '{name}' of {label} was decimal({column.precision},{column.decimals}) in the log, "
                        f"and is {type_} now",
                        "start with a new checkpoint, which reads the table anew",
                    )
        self._checked[key] = event.table_id

    def _put(self, item: _Item | Exception) -> None:
        while not self._stops.is_set():
            try:
                self._queue.put(item, timeout=_HEARTBEAT_SECONDS)
                return
            except Full:
                continue


def _server_id(capture: MysqlCapture) -> int:
    """An id under which this process does not read the server yet."""
    first, last = capture.server_ids or _RANDOM_IDS
    free = [id_ for id_ in range(first, last + 1) if (capture.address, id_) not in _USED]
    if not free:
        raise CaptureError(
            f"the ids {first}-{last} of 'server-id' are in use",
            "give a range with an id for each of the job's sinks, such as 5400-5404",
        )
    chosen = free[0] if capture.server_ids else random.choice(free)
    _USED.add((capture.address, chosen))
    return chosen
