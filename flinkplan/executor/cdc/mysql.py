"""What is asked of a MySQL or MariaDB server by SQL: its tables, the rows of a snapshot, places in its log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from ...plan.connectors.cdc import EARLIEST, SPECIFIC, TIMESTAMP
from ...plan.record import Record
from ...plan.types import LogicalType
from .files import KEEPS_ALL, ChangesFile, Layout
from .log import Key, Relation, Transaction
from .matching import matches
from .mysql_types import MysqlType, holds, text_of, time_text
from .settings import CaptureError, MysqlCapture

if TYPE_CHECKING:
    from pymysql.connections import Connection

_PAUSE = 1.0
_POSITION_BITS = 40
_BEGIN_OF_FILE = 4
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_NEEDED = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "binlog_row_metadata": "FULL"}
"""Settings of the server, without which its log does not have whole rows with the names of their columns."""

_DENIED = (1044, 1045, 1227)
_SYSTEM = "'mysql', 'information_schema', 'performance_schema', 'sys'"
SNAPSHOT_STATUS = "binlog_snapshot_%"
"""The variables by which MariaDB tells the place of a snapshot in its log."""

KEY_PREFIX = "key:"
"""Begins the names under which changes have the columns of the key as positions have them."""


class KeyColumn(Record):
    """A column of a primary key; ``collation`` is that of texts, with their character set."""

    name: str
    type: MysqlType
    collation: tuple[str, str] | None


class Table(Record):
    """A table that is read; ``key`` is what its snapshot is cut by, empty where it is read as a whole."""

    number: int
    database: str
    name: str
    columns: tuple[tuple[str, MysqlType], ...]
    key: tuple[KeyColumn, ...]

    @property
    def label(self) -> str:
        """Its name, for people and in positions."""
        return f"{self.database}.{self.name}"

    @property
    def key_names(self) -> Sequence[str]:
        """The names of the key's columns in changes."""
        return [f"{KEY_PREFIX}{column.name}" for column in self.key]


class Mysql:
    """A server with the tables of a source; a connection is opened by the first question, and again when it is lost."""

    def __init__(self, capture: MysqlCapture) -> None:
        self.capture = capture
        self._connection: Connection[Any] | None = None
        self._base = ""
        self._columns: dict[int, list[tuple[str, MysqlType, LogicalType]]] = {}

    def connect(self) -> Connection[Any]:
        """A new connection, in which TIMESTAMPs are in UTC.  Raises :class:`CaptureError`."""
        import pymysql

        c = self.capture
        for attempt in range(c.retries + 1):
            try:
                return pymysql.connect(**self.login(), autocommit=True, init_command="SET time_zone = '+00:00'")
            except pymysql.MySQLError as e:
                problem = message_of(e)
                if attempt == c.retries or e.args[0] in _DENIED:
                    break
                sleep(_PAUSE)
        raise CaptureError(f"no connection to MySQL at {c.address}: {problem}")

    def login(self) -> dict[str, Any]:
        """The parameters of a connection."""
        c = self.capture
        given = {"host": c.host, "port": c.port, "user": c.user, "password": c.password}
        return {**given, "charset": "utf8mb4", "connect_timeout": max(1, round(c.timeout))}

    def ask(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        import pymysql

        for is_last in (False, True):
            if self._connection is None or not self._connection.open:
                self._connection = self.connect()
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute(statement, parameters or None)
                    return list(cursor.fetchall())
            except (pymysql.InterfaceError, pymysql.OperationalError) as e:
                self.close()
                if is_last or e.args[0] in _DENIED:
                    raise CaptureError(f"MySQL at {self.capture.address}: {message_of(e)}") from None
            except pymysql.MySQLError as e:
                raise CaptureError(f"MySQL at {self.capture.address}: {message_of(e)}") from None
        raise AssertionError

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None and self._connection.open:
            self._connection.close()
        self._connection = None

    # ------------------------------------------------------------ tables

    def tables(self) -> list[Table]:
        """The tables that the options name, in the order of their names."""
        c = self.capture
        rows = self.ask(
            f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
            f"AND table_schema NOT IN ({_SYSTEM}) ORDER BY 1, 2"
        )
        found = [row for row in rows if matches(c.database, row[0]) and matches(c.table, row[1])]
        if not found:
            raise CaptureError(f"there is no table {c.database}.{c.table}")
        return [self._table(number, *row) for number, row in enumerate(found)]

    def columns(self, database: str, name: str) -> tuple[tuple[str, MysqlType], ...]:
        """The names and types of a table's columns, as they are now."""
        rows = self.ask(
            "SELECT column_name, data_type, column_type, numeric_precision, numeric_scale "
            "FROM information_schema.columns WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            database,
            name,
        )
        return tuple(
            (column, MysqlType(type_, full, (int(precision), int(scale or 0)) if precision is not None else None))
            for column, type_, full, precision, scale in rows
        )

    def _table(self, number: int, database: str, name: str) -> Table:
        columns = self.columns(database, name)
        self.check(f"{database}.{name}", columns)
        types = dict(columns)
        rows = self.ask(
            "SELECT k.column_name, c.character_set_name, c.collation_name FROM information_schema.key_column_usage k "
            "JOIN information_schema.columns c USING (table_schema, table_name, column_name) "
            "WHERE k.constraint_name = 'PRIMARY' AND k.table_schema = %s AND k.table_name = %s "
            "ORDER BY k.ordinal_position",
            database,
            name,
        )
        key = [KeyColumn(n, types[n], (charset, collation) if collation else None) for n, charset, collation in rows]
        if (chosen := self.capture.chunk_key) is not None:
            if chosen not in (column.name for column in key):
                raise CaptureError(
                    f"the column '{chosen}' is not in the primary key of {database}.{name}, and cuts no snapshot",
                    "leave 'scan.incremental.snapshot.chunk.key-column' out",
                )
            key.sort(key=lambda column: column.name != chosen)
        return Table(number, database, name, columns, tuple(key))

    def check(self, label: str, columns: Sequence[tuple[str, MysqlType]]) -> None:
        """Raise :class:`CaptureError` where a declared column is not there, or has values that it does not hold."""
        types = dict(columns)
        for name, declared in self.capture.columns:
            where = f"the column '{name}' of {label}"
            if name not in types:
                raise CaptureError(
                    f"{where} is declared, and the log does not have it: it was renamed or dropped",
                    "declare the columns that the table has",
                )
            if not holds(declared, types[name], self.capture.zone):
                is_local = types[name].name == "timestamp" and declared.root == "TIMESTAMP"
                hint = "set 'server-time-zone'" if is_local else "declare a type that holds its values"
                raise CaptureError(
                    f"{where} is {types[name]}, and is declared as {declared.nullable_()}",
                    f"{hint}; docs/cdc.md lists them",
                )

    def names(self, table: Table) -> tuple[str, ...]:
        """The names of the values in a table's changes: the declared columns, then those of the key."""
        return (*(name for name, _ in self.capture.columns), *table.key_names)

    def relation(self, table: Table) -> Relation:
        """A table as its changes have it."""
        return Relation(table.number, table.database, table.name, tuple((name, 0, 0) for name in self.names(table)))

    def relation_layout(self, relation: Relation) -> Layout:
        """Which columns of a table, as the log has it, are declared."""
        declared = len(self.capture.columns)
        places = (i if i < declared else -1 for i in range(len(relation.columns)))
        return Layout(relation.schema, relation.name, tuple(places))

    def encoded(self, table: Table, values: dict[str, Any]) -> bytes:
        """A row by the names of its columns, as in a message of pgoutput."""
        if table.number not in self._columns:
            types = dict(table.columns)
            self._columns[table.number] = [(name, types[name], declared) for name, declared in self.capture.columns]
        parts = [(len(self.capture.columns) + len(table.key)).to_bytes(2, "big")]
        for name, type_, declared in self._columns[table.number]:
            text = text_of(values[name], type_, declared, self.capture.zone)
            parts.append(b"n" if text is None else b"t%b%b" % (len(text).to_bytes(4, "big"), text))
        for column in table.key:
            text = key_text(values[column.name]).encode()
            parts.append(b"t%b%b" % (len(text).to_bytes(4, "big"), text))
        return b"".join(parts)

    # ------------------------------------------------------------ the log

    def prepare(self, tables: Sequence[Table]) -> None:
        """Check that the log has what is needed."""
        names = ", ".join(f"'{name}'" for name in _NEEDED)
        found = dict(self.ask(f"SHOW GLOBAL VARIABLES WHERE variable_name IN ({names})"))
        for name, value in _NEEDED.items():
            if found.get(name, "").upper() != value:
                now = f"is {found[name]}" if name in found else "is not known to it"
                hint = f"SET GLOBAL {name} = '{value}'" if name.startswith("binlog") else "start it with --log-bin"
                raise CaptureError(f"the setting {name} of MySQL at {self.capture.address} {now}", hint)

    def begin(self) -> int:
        """The LSN at which the log begins for the source."""
        match self.capture.startup:
            case mode if mode in (EARLIEST, TIMESTAMP):
                return self.lsn(self._files()[0][0], _BEGIN_OF_FILE)
            case mode if mode == SPECIFIC:
                assert self.capture.file is not None
                return self.lsn(self.capture.file, self.capture.position)
        return self.written()

    def written(self) -> int:
        """The LSN up to which the log is there."""
        try:
            rows = self.ask("SHOW MASTER STATUS")
        except CaptureError:
            rows = self.ask("SHOW BINARY LOG STATUS")
        return self.lsn(rows[0][0], rows[0][1])

    def _files(self) -> list[tuple[str, int]]:
        return [(row[0], int(row[1])) for row in self.ask("SHOW BINARY LOGS")]

    def check_place(self, lsn: int) -> None:
        """Raise :class:`CaptureError` where the log is gone from an LSN on."""
        sizes = {self.lsn(name, 0): size for name, size in self._files()}
        start = lsn >> _POSITION_BITS << _POSITION_BITS
        way_out = "start with a new checkpoint, which reads the tables anew"
        file, position = self.place(lsn)
        if start not in sizes:
            raise CaptureError(f"the server has removed the file {file} of its log, and with it changes", way_out)
        if sizes[start] < position:
            raise CaptureError(
                f"the file {file} of the server's log ends at {sizes[start]}, and the checkpoint is at {position}: "
                "it is the log of another server",
                way_out,
            )

    def lsn(self, file: str, position: int) -> int:
        """A place in the log as a number."""
        self._base, _, number = file.rpartition(".")
        return int(number) << _POSITION_BITS | position

    def place(self, lsn: int) -> tuple[str, int]:
        """The file of the log and the position in it that a number stands for."""
        if not self._base:
            self.written()
        return f"{self._base}.{lsn >> _POSITION_BITS:06d}", lsn & ((1 << _POSITION_BITS) - 1)

    def snapshot(self) -> MysqlSnapshot:
        """A new snapshot."""
        return MysqlSnapshot(self)

    def shows(self, view: str, transaction: Transaction) -> bool:
        """Whether a snapshot shows a transaction."""
        return 0 < transaction.end <= int(view)

    def ranks(self, table: Table, keys: Sequence[Key], bounds: Sequence[Key]) -> list[int]:
        """How many of the ``bounds`` are below each of the keys, as the server compares them."""

        def constant(text: str, column: KeyColumn) -> str:
            written = self.literal(text, column)
            if column.collation is None:
                return written
            charset, collation = column.collation
            return f"CONVERT({written} USING {charset}) COLLATE {collation}"

        ranks = []
        for key in keys:
            own = [constant(text, column) for text, column in zip(key, table.key, strict=True)]
            tests = [_behind(own, [constant(t, c) for t, c in zip(b, table.key, strict=True)]) for b in bounds]
            ((rank,),) = self.ask("SELECT " + " + ".join(f"({test})" for test in tests))
            ranks.append(int(rank))
        return ranks

    def literal(self, text: str, column: KeyColumn) -> str:
        """The text of a key's column in SQL."""
        if text.startswith("\\x") and column.collation is None:
            return f"X'{bytes.fromhex(text[2:]).hex()}'"
        if _NUMBER.fullmatch(text) and column.collation is None:
            return text
        if self._connection is None:
            self._connection = self.connect()
        return str(self._connection.escape(text))


class MysqlSnapshot:
    """A snapshot of the database, whose ``view`` is the LSN up to which it has all transactions."""

    def __init__(self, server: Mysql) -> None:
        self._server = server
        self._connection = server.connect()
        with self._errors(), self._connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            cursor.execute(f"SHOW STATUS LIKE '{SNAPSHOT_STATUS}'")
            known = {name.lower(): value for name, value in cursor.fetchall()}
            if known.get("binlog_snapshot_file"):
                self.end = server.lsn(known["binlog_snapshot_file"], int(known["binlog_snapshot_position"]))
            else:  # MySQL does not tell it, so that nothing may be written meanwhile
                cursor.execute("ROLLBACK")
                cursor.execute("FLUSH TABLES WITH READ LOCK")
                cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
                self.end = server.written()
                cursor.execute("UNLOCK TABLES")
        self.view = str(self.end)

    def read(
        self, table: Table, names: Sequence[str], after: Key | None, rows: int | None, path: Path
    ) -> tuple[int, Key | None]:
        """As :meth:`log.Snapshot.read`."""
        from pymysql.cursors import SSCursor

        cuts = bool(table.key) and rows is not None
        types = dict(table.columns)
        wanted = list(dict.fromkeys([*names, *(column.name for column in table.key)]))
        # a FLOAT is shown with six digits, as a DOUBLE with all that it has
        shown = [f"{quoted(n)} * 1e0" if types[n].name == "float" else quoted(n) for n in wanted]
        statement = f"SELECT {', '.join(shown)} FROM {quoted(table.database)}.{quoted(table.name)}"
        keys = [quoted(column.name) for column in table.key]
        if after is not None:
            bound = [self._server.literal(text, column) for text, column in zip(after, table.key, strict=True)]
            statement += f" WHERE {_behind(keys, bound)}"
        if cuts:
            statement += f" ORDER BY {', '.join(keys)} LIMIT {rows}"
        relation = self._server.relation(table)
        layout, file = self._server.relation_layout(relation), ChangesFile(path)
        values: dict[str, Any] = {}
        with self._errors(), self._connection.cursor(SSCursor) as cursor:
            cursor.execute(statement)
            for row in cursor:
                values = dict(zip(wanted, row, strict=True))
                message = b"I" + relation.oid.to_bytes(4, "big") + b"N" + self._server.encoded(table, values)
                file.add(relation.oid, layout, 0, KEEPS_ALL, message)
        file.close()
        if rows is None or not cuts or file.changes < rows:
            return file.changes, None
        return file.changes, [key_text(values[column.name]) for column in table.key]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        import pymysql

        try:
            yield
        except pymysql.MySQLError as e:
            raise CaptureError(f"MySQL at {self._server.capture.address}: {message_of(e)}") from None

    def close(self) -> None:
        """Let go of it."""
        if self._connection.open:
            self._connection.close()


def _behind(values: Sequence[str], bound: Sequence[str]) -> str:
    """The condition that a row of values is above another one, written so that an index is used."""
    value, *more = values
    least, *rest = bound
    if not more:
        return f"{value} > {least}"
    return f"({value} >= {least} AND ({value} > {least} OR {_behind(more, rest)}))"


def key_text(value: Any) -> str:
    """The value of a key's column as positions have it."""
    match value:
        case bytes() | bytearray():
            return "\\x" + bytes(value).hex()
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case timedelta():
            return time_text(value)
        case set():
            return ",".join(sorted(value))
    return str(value)


def quoted(name: str) -> str:
    """A name in SQL."""
    return "`" + name.replace("`", "``") + "`"


def message_of(error: Exception) -> str:
    """What the server says, in a line."""
    return " ".join(str(error.args[-1] if error.args else error).split())
