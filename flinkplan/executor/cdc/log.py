"""What a snapshot and a log are like, whatever the database."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ...plan.record import Record
from .files import Layout

BUFFER_BYTES = 64 << 20
"""How much of a log is held for those who have not taken it yet."""

Key = list[str]
"""The texts of the columns of a row's key."""


class SourceTable(Protocol):
    """A table that is read."""

    @property
    def label(self) -> str:
        """Its name, for people and in positions."""

    @property
    def key_names(self) -> Sequence[str]:
        """The columns by which its snapshot is cut; none where it is read as a whole."""


class Relation(Record):
    """A table as the log describes it: columns with the ids and modifiers of their types."""

    oid: int
    schema: str
    name: str
    columns: tuple[tuple[str, int, int], ...]

    @property
    def label(self) -> str:
        """The table's label."""
        return f"{self.schema}.{self.name}"


class Transaction:
    """A transaction of the log: its changes of the tables that are read, as messages of pgoutput.

    ``end`` is the LSN behind it, 0 while it is not known.  ``dropped``: how many of the first changes everybody has
    taken.
    """

    def __init__(self, xid: int, time_ms: int) -> None:
        self.end = 0
        self.xid = xid
        self.time_ms = time_ms
        self.changes: list[tuple[Relation, bytes]] = []
        self.dropped = 0


class Place(Record):
    """A place in the log: the end of a transaction, and how many changes of the one behind it have been read."""

    lsn: int
    taken: int = 0


Part = tuple[Transaction, int, int]
"""Of a transaction the changes from an index to another."""


class Buffer:
    """The transactions that have been read of a log, and not yet taken by all.  ``size`` is in bytes."""

    def __init__(self) -> None:
        self._transactions: deque[Transaction] = deque()
        self.size = 0
        self.dropped = 0
        """The LSN before which transactions have been forgotten."""

    @property
    def last(self) -> Transaction:
        """The transaction that was added last."""
        return self._transactions[-1]

    @property
    def is_full(self) -> bool:
        """Whether nothing more should be read before some is taken."""
        return self.size >= BUFFER_BYTES

    def append(self, transaction: Transaction) -> None:
        """Add a transaction."""
        self._transactions.append(transaction)

    def add(self, relation: Relation, message: bytes) -> None:
        """Add a change to the last transaction."""
        self.last.changes.append((relation, message))
        self.size += len(message)

    def end(self, lsn: int) -> None:
        """Say where the last transaction ends; one without changes is none."""
        self.last.end = lsn
        if not self.last.changes and not self.last.dropped:
            self._transactions.pop()

    def clear(self) -> None:
        """Forget everything."""
        self._transactions.clear()
        self.size = self.dropped = 0

    def take(self, place: Place, most: int) -> tuple[list[Part], Place]:
        """As :meth:`LogReader.take`."""
        parts: list[Part] = []
        for transaction in self._transactions:
            if transaction.end and transaction.end <= place.lsn:
                continue
            first, end = place.taken, len(transaction.changes) + transaction.dropped
            is_whole = transaction.end > 0 and end - first <= most
            if not is_whole and (parts or (end - first < most and not self.is_full)):
                break  # the next batch has it
            end = min(end, first + most)
            if end > first:
                parts.append((transaction, first - transaction.dropped, end - transaction.dropped))
                most -= end - first
            place = Place(transaction.end) if is_whole else Place(place.lsn, end)
            if not is_whole:
                break
        return parts, place

    def trim(self, lowest: Place) -> None:
        """Forget what is before a place."""
        while self._transactions and 0 < self._transactions[0].end <= lowest.lsn:
            transaction = self._transactions.popleft()
            self.size -= sum(len(message) for _, message in transaction.changes)
            self.dropped = transaction.end
        if self._transactions and (more := lowest.taken - self._transactions[0].dropped) > 0:
            transaction = self._transactions[0]
            self.size -= sum(len(message) for _, message in transaction.changes[:more])
            del transaction.changes[:more]
            transaction.dropped += more


class LogReader(Protocol):
    """Reads the log for streams."""

    def expect(self, owner: object) -> None:
        """Keep the log for the first stream of an owner."""

    def begin(self, owner: object, stream: object, place: Place) -> None:
        """Say where a stream goes on.  Raises :class:`CaptureError` where the log is gone from there on."""

    def take(self, stream: object, place: Place, most: int) -> tuple[list[Part], Place, int]:
        """What is there behind a place, up to so many changes; the place behind them; up to where the log is known.

        Only a transaction that has more is cut.
        """

    def trim(self) -> None:
        """Forget what all streams have taken."""

    def done(self, stream: object, lsn: int) -> None:
        """Say that a stream needs nothing before an LSN any more."""

    def is_at(self, lsn: int, known: int) -> bool:
        """Whether ``known``, up to which the log was known, is at an LSN."""

    def wait(self, seconds: float) -> None:
        """Wait for something to come from the server."""

    def leave(self, stream: object) -> None:
        """Forget a stream."""


class Snapshot(Protocol):
    """A snapshot of the database, which lasts as long as its connection.

    ``view`` is what the database calls it; of all transactions that it shows the log has the end up to ``end``.
    """

    view: str
    end: int

    def read(
        self, table: SourceTable, names: Sequence[str], after: Key | None, rows: int | None, path: Path
    ) -> tuple[int, Key | None]:
        """Write up to so many rows of a table whose keys are behind one; how many they were, and the last one's key.

        No key: there are no more rows.
        """

    def close(self) -> None:
        """Let go of it."""


class Server(Protocol):
    """A database with the tables of a source.  All methods raise :class:`CaptureError`."""

    def tables(self) -> Sequence[SourceTable]:
        """The tables that the options name, in the order of their names, checked against the declared columns."""

    def prepare(self, tables: Sequence[SourceTable]) -> None:
        """Have everything there that reading the log needs."""

    def begin(self) -> int:
        """The LSN at which the log begins for the source, which the server keeps from there on."""

    def written(self) -> int:
        """The LSN up to which the log is there."""

    def snapshot(self) -> Snapshot:
        """A new snapshot."""

    def shows(self, view: str, transaction: Transaction) -> bool:
        """Whether a snapshot shows a transaction."""

    def relation_layout(self, relation: Relation) -> Layout:
        """Which columns of a table, as the log has it, are declared."""

    def ranks(self, table: SourceTable, keys: Sequence[Key], bounds: Sequence[Key]) -> Sequence[int]:
        """How many of the ``bounds`` are below each of the keys, as the server compares them."""

    def close(self) -> None:
        """End the connection, until it is needed again."""


def images(message: bytes) -> Iterator[tuple[str, list[bytes | None]]]:
    """The rows of a change by their tags, ``O`` the old one, ``K`` its key, ``N`` the new one; ``None`` is NULL."""
    at = 5
    while at < len(message):
        tag = chr(message[at])
        (count,) = struct.unpack_from(">h", message, at + 1)
        at += 3
        values: list[bytes | None] = []
        for _ in range(count):
            kind = message[at]
            at += 1
            if kind == ord("t"):
                (length,) = struct.unpack_from(">i", message, at)
                values.append(message[at + 4 : at + 4 + length])
                at += 4 + length
            else:
                values.append(None)
        yield tag, values
