"""The changes of a replication slot, by PostgreSQL's streaming replication protocol.

Sources: PostgreSQL's documentation, "Streaming Replication Protocol" and "Logical Replication Message Formats".
"""

from __future__ import annotations

import select
import struct
from collections.abc import Iterator, Sequence
from threading import RLock
from time import monotonic, sleep
from typing import TYPE_CHECKING
from weakref import WeakSet

from .log import Buffer, Part, Place, Relation, Transaction
from .postgres import Postgres, lsn_text, wait_for
from .settings import CaptureError, PostgresCapture

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn

_MICROS_2000 = 946_684_800_000_000
"""PostgreSQL's microseconds begin with the year 2000."""

_TAKEN_OVER_SECONDS = 60.0
"""How long a slot may be in use by a process that has just been killed, as ``wal_sender_timeout`` is by default."""

_PAGE, _PAGE_HEADER = 8192, 40
_ASK_SECONDS = 0.1
_STATUS_SECONDS = 10.0

_QUAD = struct.Struct(">q")
_BEGIN = struct.Struct(">qqi")
_COMMIT = struct.Struct(">Bqqq")
_STATUS = struct.Struct(">cqqqqB")
_COLUMN = struct.Struct(">Ii")


class SlotReader:
    """Reads a slot for all streams of this process that have its changes.

    The slot is moved on to what all of them have done.
    """

    def __init__(self, server: Postgres, tables: Sequence[str]) -> None:
        self._server = server
        self._tables = frozenset(tables)
        self._connection: PGconn | None = None
        self._relations: dict[int, Relation | None] = {}
        self._buffer = Buffer()
        self._expected: WeakSet[object] = WeakSet()
        self._read: dict[object, Place] = {}
        self._done: dict[object, int] = {}
        self._is_within = False
        self._asked = self._told = 0.0
        self.reached = 0
        """The LSN up to which all of the log is known."""
        self.lock = RLock()

    # ------------------------------------------------------------ the streams

    def expect(self, owner: object) -> None:
        """Have the slot wait for the first stream of an owner."""
        with self.lock:
            self._expected.add(owner)

    def begin(self, owner: object, stream: object, place: Place) -> None:
        """Say where a stream goes on.  Raises :class:`CaptureError` where the slot has no changes from there on."""
        with self.lock:
            if stream in self._read:
                return
            slot, name = self._server.slot(), self._server.capture.slot
            way_out = "start with a new checkpoint, which reads the tables anew"
            if slot is None:
                raise CaptureError(f"the replication slot '{name}' is gone, and with it changes of the tables", way_out)
            if slot.is_lost:
                raise CaptureError(f"the server has removed changes that the replication slot '{name}' needs", way_out)
            if slot.confirmed > place.lsn:
                raise CaptureError(
                    f"the replication slot '{name}' has moved on to {lsn_text(slot.confirmed)}, and the checkpoint is "
                    f"at {lsn_text(place.lsn)}: it is older than the last one, or somebody else reads the slot",
                    way_out,
                )
            self._read[stream] = place
            self._done[stream] = place.lsn
            self._expected.discard(owner)
            if self._connection is not None and place.lsn < self._buffer.dropped:
                self.disconnect()

    def leave(self, stream: object) -> None:
        """Have the slot wait for a stream no more."""
        with self.lock:
            self._read.pop(stream, None)
            self._done.pop(stream, None)
            if not self._read:
                self.disconnect()

    def done(self, stream: object, lsn: int) -> None:
        """Say that a stream needs nothing before an LSN any more."""
        with self.lock:
            if stream in self._done:
                self._done[stream] = max(lsn, self._done[stream])
                self._send_status()

    # ------------------------------------------------------------ changes

    def take(self, stream: object, place: Place, most: int) -> tuple[list[Part], Place, int]:
        """As :meth:`LogReader.take`; other streams may have more read right before and after it."""
        with self.lock:
            self._receive()
            parts, self._read[stream] = self._buffer.take(place, most)
            return parts, self._read[stream], self.reached

    def trim(self) -> None:
        """Forget what all streams have taken."""
        with self.lock:
            if self._expected:
                return
            if places := self._read.values():
                self._buffer.trim(min(places, key=lambda place: (place.lsn, place.taken)))

    def is_at(self, lsn: int, known: int) -> bool:
        """As :meth:`LogReader.is_at`; the server is asked, if not."""
        with self.lock:
            # an LSN may be behind the header of a page that has nothing else yet
            slack = _PAGE_HEADER if known % _PAGE == 0 else 0
            if known + slack >= lsn:
                return True
            if monotonic() - self._asked >= _ASK_SECONDS:
                self._asked = monotonic()
                self._send_status(asks=True)
            return False

    def wait(self, seconds: float) -> None:
        """Wait for something to come from the server."""
        if self._connection is None:
            sleep(seconds)
        else:
            select.select([self._connection.socket], [], [], seconds)

    # ------------------------------------------------------------ the protocol

    def _receive(self) -> None:
        """Take what the server has sent, up to what is held at most."""
        from psycopg import OperationalError

        try:
            connection = self._connection or self._connect()
            while not self._buffer.is_full:
                length, data = connection.get_copy_data(1)
                if length == 0:
                    connection.consume_input()
                    length, data = connection.get_copy_data(1)
                if length == 0:
                    break
                if length < 0:
                    result = connection.get_result()
                    problem = result.error_message.decode(errors="replace") if result is not None else ""
                    raise OperationalError(problem or "the server has ended the stream")
                self._message(bytes(data))
        except OperationalError as e:
            self.disconnect()
            problem = " ".join(str(e).split())
            if any(part in problem for part in ("does not exist", "permission", "must be superuser", "requested WAL")):
                raise CaptureError(f"the replication slot '{self._server.capture.slot}': {problem}") from None
        if monotonic() - self._told >= _STATUS_SECONDS:
            self._send_status()

    def _connect(self) -> PGconn:
        """Begin on the stream again; a process that has just been killed may still be in the slot."""
        from psycopg import pq, sql

        capture = self._server.capture
        options = sql.SQL("(proto_version '1', publication_names {})").format(
            sql.Literal(sql.Identifier(capture.publication).as_string(None))
        )
        command = sql.SQL("START_REPLICATION SLOT {} LOGICAL 0/0 {}").format(sql.Identifier(capture.slot), options)
        problem = ""
        for _ in wait_for(_TAKEN_OVER_SECONDS):
            connection = pq.PGconn.connect(self._server.conninfo(replication="database").encode())
            if connection.status != pq.ConnStatus.OK:
                problem = " ".join(connection.error_message.decode(errors="replace").split())
                raise CaptureError(f"no replication connection to PostgreSQL at {capture.address}: {problem}")
            result = connection.exec_(command.as_string(None).encode())
            if result.status == pq.ExecStatus.COPY_BOTH:
                connection.nonblocking = 1
                self._connection = connection
                self._relations.clear()
                return connection
            problem = " ".join(result.error_message.decode(errors="replace").split())
            connection.finish()
            if "is active" not in problem:
                break
        raise CaptureError(f"the replication slot '{capture.slot}' cannot be read: {problem}")

    def disconnect(self) -> None:
        """Let go of the server, and forget what has not been taken: it comes again."""
        if self._connection is not None:
            self._connection.finish()
            self._connection = None
        self._buffer.clear()
        self.reached = 0
        self._is_within = False

    def _send_status(self, *, asks: bool = False) -> None:
        if self._connection is None:
            return
        from psycopg import OperationalError

        done = 0 if self._expected else min(self._done.values(), default=0)
        now = 0
        try:
            self._connection.put_copy_data(_STATUS.pack(b"r", done, done, done, now, asks))
            self._connection.flush()
            self._told = monotonic()
        except OperationalError:
            self.disconnect()

    def _message(self, data: bytes) -> None:
        if data[:1] == b"k":
            (end,) = _QUAD.unpack_from(data, 1)
            if not self._is_within:
                self.reached = max(self.reached, end)
            if data[17]:
                self._send_status()
            return
        message = data[25:]
        match chr(message[0]):
            case "I" | "U" | "D":
                (oid,) = struct.unpack_from(">I", message, 1)
                if (relation := self._relations.get(oid)) is not None:
                    self._buffer.add(relation, message)
            case "B":
                _, micros, xid = _BEGIN.unpack_from(message, 1)
                time_ms = (micros + _MICROS_2000) // 1000
                self._buffer.append(Transaction(xid & 0xFFFFFFFF, time_ms))
                self._is_within = True
            case "C":
                _, _, end, _ = _COMMIT.unpack_from(message, 1)
                self._buffer.end(end)
                self.reached = end
                self._is_within = False
            case "R":
                relation = _relation(message)
                wanted = relation.label in self._tables
                self._relations[relation.oid] = relation if wanted else None


def _relation(message: bytes) -> Relation:
    (oid,) = struct.unpack_from(">I", message, 1)
    schema, name, rest = message[5:].split(b"\0", 2)
    (count,) = struct.unpack_from(">h", rest, 1)
    return Relation(oid, schema.decode() or "pg_catalog", name.decode(), tuple(_columns(rest, 3, count)))


def _columns(text: bytes, at: int, count: int) -> Iterator[tuple[str, int, int]]:
    for _ in range(count):
        end = text.index(b"\0", at + 1)
        type_, modifier = _COLUMN.unpack_from(text, end + 1)
        yield text[at + 1 : end].decode(), type_, modifier
        at = end + 1 + _COLUMN.size


_READERS: dict[tuple[object, ...], SlotReader] = {}
_GUARD = RLock()


def slot_reader(capture: PostgresCapture, tables: Sequence[str]) -> SlotReader:
    """The reader of a slot, one a process."""
    c = capture
    key = (c.host, c.port, c.user, c.database, c.slot, c.publication, *tables)
    with _GUARD:
        if key not in _READERS:
            _READERS[key] = SlotReader(Postgres(c), tables)
        return _READERS[key]
