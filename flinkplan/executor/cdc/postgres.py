"""What is asked of a PostgreSQL server by SQL: its tables, the rows of a snapshot, publications and slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from ...plan.connectors.cdc import COMMITTED, EXECUTED_PLUGIN, LATEST
from ...plan.record import Record
from .column_types import ColumnType, holds
from .files import Layout, begin_rows
from .log import Key, Relation, Transaction
from .matching import matches
from .settings import CaptureError, PostgresCapture

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg.sql import Composable, Composed

_OPTIONS = "-c TimeZone=UTC -c DateStyle=ISO -c extra_float_digits=3 -c bytea_output=hex -c statement_timeout=0"
"""The settings of a session, by which values have the texts that ``TextValues.java`` reads."""

_PAUSE = 1.0
_CREATING = Lock()
"""Held by a stream that may create a slot: those of several sinks begin at once."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PARTITIONED, _WHOLE_ROWS = "p", "f"
_LSN = "pg_wal_lsn_diff({}, '0/0')::bigint"


class KeyColumn(Record):
    """A column of a primary key; ``type_name`` as SQL writes it, ``collation`` with its schema, if it has its own."""

    name: str
    type_name: str
    collation: tuple[str, str] | None


class Table(Record):
    """A table that is read; ``key`` is what its snapshot is cut by, empty where it is read as a whole."""

    schema: str
    name: str
    is_partitioned: bool
    columns: tuple[tuple[str, ColumnType], ...]
    key: tuple[KeyColumn, ...]

    @property
    def label(self) -> str:
        """Its name, for people and in positions."""
        return f"{self.schema}.{self.name}"

    @property
    def key_names(self) -> Sequence[str]:
        """The columns by which its snapshot is cut."""
        return [column.name for column in self.key]


class Slot(Record):
    """A replication slot; ``confirmed`` is the LSN before which changes are gone, ``is_lost``: those behind it, too."""

    plugin: str
    confirmed: int
    is_lost: bool


class Postgres:
    """A server with the tables of a source; a connection is opened by the first question, and again when it is lost."""

    def __init__(self, capture: PostgresCapture) -> None:
        self.capture = capture
        self._connection: Connection | None = None
        self._types: dict[int, ColumnType] = {}

    def conninfo(self, **more: str) -> str:
        """The parameters of a connection."""
        from psycopg.conninfo import make_conninfo

        c = self.capture
        given = {"sslrootcert": c.ssl_root} if c.ssl_root else {}
        return make_conninfo(
            host=c.host,
            port=c.port,
            user=c.user,
            password=c.password,
            dbname=c.database,
            sslmode=c.ssl_mode,
            connect_timeout=max(2, round(c.timeout)),
            application_name="flinkplan",
            client_encoding="UTF8",
            options=_OPTIONS,
            **given,
            **more,
        )

    def connect(self) -> Connection:
        """A new connection, in which each statement is a transaction.  Raises :class:`CaptureError`."""
        import psycopg

        for attempt in range(self.capture.retries + 1):
            try:
                return psycopg.connect(self.conninfo(), autocommit=True)
            except psycopg.OperationalError as e:
                problem = str(e).strip()
                if attempt == self.capture.retries or "authentication" in problem or "does not exist" in problem:
                    break
                sleep(_PAUSE)
        raise CaptureError(f"no connection to PostgreSQL at {self.capture.address}: {problem}")

    def ask(self, statement: str | Composable, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement.  Raises :class:`CaptureError` for what the server says against it."""
        import psycopg

        for is_last in (False, True):
            if self._connection is None or self._connection.closed:
                self._connection = self.connect()
            try:
                cursor = self._connection.execute(statement, parameters or None)  # type: ignore[arg-type]
                return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError as e:
                self.close()
                if is_last:
                    raise CaptureError(f"PostgreSQL at {self.capture.address}: {message_of(e)}") from None
            except psycopg.Error as e:
                raise CaptureError(f"PostgreSQL at {self.capture.address}: {message_of(e)}") from None
        raise AssertionError

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ------------------------------------------------------------ tables

    def tables(self) -> list[Table]:
        """The tables that the options name, in the order of their names.

        Raises :class:`CaptureError` where there is none, or one does not have the columns that are declared.
        """
        rows = self.ask(
            "SELECT n.nspname, c.relname, c.oid, c.relkind, c.relreplident FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') "
            "AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
            "ORDER BY 1, 2"
        )
        c = self.capture
        found = [row for row in rows if matches(c.schema, row[0]) and matches(c.table, row[1])]
        if not found:
            raise CaptureError(f"there is no table {c.schema}.{c.table} in the database '{c.database}'")
        tables = [self._table(*row) for row in found]
        for table in tables:
            self.layout(table.schema, table.name, table.columns)
        return tables

    def _table(self, schema: str, name: str, oid: int, kind: str, identity: str) -> Table:
        if (is_partitioned := kind == _PARTITIONED) and not self.capture.partitioned:
            hint = "set 'scan.include-partitioned-tables.enabled' = 'true', or name its partitions"
            raise CaptureError(f"the table {schema}.{name} is partitioned", hint)
        if self.capture.needs_old_rows and identity != _WHOLE_ROWS:
            raise CaptureError(
                f"the log does not have the old rows of {schema}.{name}, which 'changelog-mode' = 'all' needs",
                f"ALTER TABLE {schema}.{name} REPLICA IDENTITY FULL; or set 'changelog-mode' = 'upsert'",
            )
        columns = self.ask(
            "SELECT attname, atttypid, atttypmod FROM pg_attribute "
            "WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            oid,
        )
        return Table(schema, name, is_partitioned, self.typed(columns), self._key(schema, name, oid))

    def _key(self, schema: str, name: str, oid: int) -> tuple[KeyColumn, ...]:
        rows = self.ask(
            "SELECT a.attname, format_type(a.atttypid, a.atttypmod), "
            "CASE WHEN a.attcollation NOT IN (0, 100) THEN n.nspname END, c.collname "
            "FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(attnum, place) "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum "
            "LEFT JOIN pg_collation c ON c.oid = a.attcollation LEFT JOIN pg_namespace n ON n.oid = c.collnamespace "
            "WHERE i.indrelid = %s AND i.indisprimary ORDER BY k.place",
            oid,
        )
        columns = [KeyColumn(n, t, (s, c) if s else None) for n, t, s, c in rows]
        if (chosen := self.capture.chunk_key) is None:
            return tuple(columns)
        if chosen not in (column.name for column in columns):
            raise CaptureError(
                f"the column '{chosen}' is not in the primary key of {schema}.{name}, so that it cuts no snapshot",
                "leave 'scan.incremental.snapshot.chunk.key-column' out",
            )
        return tuple(column for column in columns if column.name == chosen)

    def typed(self, columns: Iterable[Sequence[Any]]) -> tuple[tuple[str, ColumnType], ...]:
        """Names and types of columns that are given with the ids and modifiers of their types."""
        listed = list(columns)
        self._learn({oid for _, oid, _ in listed})
        return tuple((name, _modified(self._types[oid], modifier)) for name, oid, modifier in listed)

    def _learn(self, oids: set[int]) -> None:
        """Ask for types that are not known."""
        unknown = [oid for oid in oids if oid not in self._types]
        if not unknown:
            return
        rows = self.ask(
            "SELECT oid, typname, typtype, typbasetype, typtypmod, CASE WHEN typcategory = 'A' THEN typelem ELSE 0 END "
            "FROM pg_type WHERE oid = ANY(%s)",
            unknown,
        )
        self._learn({oid for row in rows for oid in (row[3], row[5]) if oid})
        for oid, name, kind, base, modifier, element in rows:
            if base:
                self._types[oid] = _modified(self._types[base], modifier)
            else:
                self._types[oid] = ColumnType(name, kind, element=self._types[element] if element else None)
        for oid in unknown:
            self._types.setdefault(oid, ColumnType("of an unknown type"))

    def layout(self, schema: str, table: str, columns: Sequence[tuple[str, ColumnType]]) -> Layout:
        """Which of a table's columns are declared.

        Raises :class:`CaptureError` where one that is declared is not there, or has a type whose values it does not
        hold.
        """
        places = {name: i for i, (name, _) in enumerate(self.capture.columns)}
        types = dict(columns)
        for name, declared in self.capture.columns:
            where = f"the column '{name}' of {schema}.{table}"
            if name not in types:
                raise CaptureError(
                    f"{where} is declared, and the log does not have it: it was renamed or dropped, is generated, or "
                    "not in the publication",
                    "declare the columns that the table has",
                )
            if not holds(declared, types[name]):
                raise CaptureError(
                    f"{where} is {types[name]}, and is declared as {declared.nullable_()}",
                    "declare a type that holds its values; docs/cdc.md lists them",
                )
        return Layout(schema, table, tuple(places.get(name, -1) for name, _ in columns))

    def ranks(self, table: Table, keys: Sequence[Key], bounds: Sequence[Key]) -> list[int]:
        """How many of the ``bounds`` are below each of the keys, as the server compares them."""
        from psycopg.sql import SQL

        value = [_typed(SQL("k.c{}").format(SQL(str(i))), column) for i, column in enumerate(table.key)]
        bound = SQL("ROW({})").format(SQL(", ").join(_typed(SQL("%s"), column) for column in table.key))
        tests = [SQL("(ROW({}) > {})::int").format(SQL(", ").join(value), bound) for _ in bounds]
        names = SQL(", ").join(SQL(f"c{i}") for i in range(len(table.key)))
        arrays = SQL(", ").join(SQL("%s::text[]") for _ in table.key)
        statement = SQL("SELECT {} FROM unnest({}) WITH ORDINALITY AS k({}, place) ORDER BY place").format(
            SQL(" + ").join(tests), arrays, names
        )
        columns = [[key[i] for key in keys] for i in range(len(table.key))]
        rows = self.ask(statement, *(text for bound in bounds for text in bound), *columns)
        return [rank for (rank,) in rows]

    # ------------------------------------------------------------ publication and slot

    def prepare(self, tables: Sequence[Table]) -> None:
        """Have the publication there, with the tables in it."""
        name = self.capture.publication
        if not self._publication():
            self._create_publication(tables)
        ((inserts, updates, deletes, via_root),) = self._publication()
        if not (inserts and updates and deletes):
            raise CaptureError(
                f"the publication '{name}' does not publish all changes",
                f"ALTER PUBLICATION {name} SET (publish = 'insert, update, delete')",
            )
        published = set(self.ask("SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s", name))
        for table in tables:
            if table.is_partitioned and not via_root:
                raise CaptureError(
                    f"the publication '{name}' publishes the partitions of {table.label}, and not the whole",
                    f"ALTER PUBLICATION {name} SET (publish_via_partition_root = true)",
                )
            if (table.schema, table.name) not in published:
                raise CaptureError(
                    f"the table {table.label} is not in the publication '{name}'",
                    f"ALTER PUBLICATION {name} ADD TABLE {table.label}",
                )

    def _publication(self) -> list[tuple[Any, ...]]:
        return self.ask(
            "SELECT pubinsert, pubupdate, pubdelete, pubviaroot FROM pg_publication WHERE pubname = %s",
            self.capture.publication,
        )

    def _create_publication(self, tables: Sequence[Table]) -> None:
        from psycopg.sql import SQL, Identifier

        c = self.capture
        if c.autocreate == "disabled":
            hint = "create it: CREATE PUBLICATION … FOR TABLE …"
            raise CaptureError(f"there is no publication '{c.publication}'", hint)
        what = (
            SQL("ALL TABLES")
            if c.autocreate == "all_tables"
            else SQL("TABLE {}").format(SQL(", ").join(Identifier(table.schema, table.name) for table in tables))
        )
        root = SQL(" WITH (publish_via_partition_root = true)") if c.partitioned else SQL("")
        try:
            self.ask(SQL("CREATE PUBLICATION {} FOR {}{}").format(Identifier(c.publication), what, root))
        except CaptureError as e:
            if not self._publication():
                hint = "create the publication, or set 'debezium.publication.autocreate.mode' = 'filtered'"
                raise CaptureError(e.message, hint) from None

    def slot(self) -> Slot | None:
        """The slot of the source; ``None`` where there is none."""
        rows = self.ask(
            f"SELECT plugin, database, {_LSN.format('confirmed_flush_lsn')}, wal_status "
            "FROM pg_replication_slots WHERE slot_name = %s",
            self.capture.slot,
        )
        if not rows:
            return None
        ((plugin, database, confirmed, status),) = rows
        if plugin != EXECUTED_PLUGIN or database != self.capture.database:
            raise CaptureError(
                f"the replication slot '{self.capture.slot}' is of the plugin {plugin} and the database {database}",
                "name another one, 'slot.name'",
            )
        return Slot(plugin, confirmed or 0, status == "lost" or confirmed is None)

    def create_slot(self) -> int:
        """Create the slot; the LSN from which it has changes."""
        try:
            ((lsn,),) = self.ask(
                f"SELECT {_LSN.format('lsn')} FROM pg_create_logical_replication_slot(%s, %s)",
                self.capture.slot,
                EXECUTED_PLUGIN,
            )
        except CaptureError as e:
            hint = "set wal_level = logical and restart the server" if "wal_level" in e.message else None
            raise CaptureError(e.message, hint) from None
        return int(lsn)

    def begin(self) -> int:
        """The LSN at which the log begins for the source; its slot is there then."""
        with _CREATING:
            return self._begin()

    def _begin(self) -> int:
        slot = self.slot()
        if slot is None and self.capture.startup == COMMITTED:
            raise CaptureError(
                f"there is no replication slot '{self.capture.slot}'",
                "create it, or let 'scan.startup.mode' be initial or latest-offset",
            )
        begin = slot.confirmed if slot is not None else self.create_slot()
        return max(begin, self.written()) if self.capture.startup == LATEST else begin

    def snapshot(self) -> Snapshot:
        """A new snapshot."""
        return Snapshot(self)

    def shows(self, view: str, transaction: Transaction) -> bool:
        """Whether a snapshot shows a transaction."""
        return snapshot_shows(view, transaction.xid)

    def relation_layout(self, relation: Relation) -> Layout:
        """Which columns of a table, as the log has it, are declared."""
        return self.layout(relation.schema, relation.name, self.typed(relation.columns))

    def written(self) -> int:
        """The LSN up to which the log is on disk."""
        ((lsn,),) = self.ask(f"SELECT {_LSN.format('pg_current_wal_flush_lsn()')}")
        return int(lsn)


class Snapshot:
    """A snapshot of the database, which lasts as long as its connection.

    ``view`` is what PostgreSQL calls it; of all transactions that it shows the log has the end before ``end``.
    """

    def __init__(self, server: Postgres) -> None:
        from psycopg import IsolationLevel

        self._address = server.capture.address
        self._connection = server.connect()
        self._connection.autocommit = False
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True
        with self._errors():
            row = self._connection.execute(
                f"SELECT pg_current_snapshot()::text, {_LSN.format('pg_current_wal_insert_lsn()')}"
            ).fetchone()
        assert row is not None
        self.view, self.end = str(row[0]), int(row[1])

    def read(
        self, table: Table, names: Sequence[str], after: Key | None, rows: int | None, path: Path
    ) -> tuple[int, Key | None]:
        """Write up to so many rows of a table whose keys are behind one; how many they were, and the last one's key.

        No key: there are no more rows.
        """
        from psycopg.sql import SQL, Identifier

        cuts = bool(table.key) and rows is not None
        key = [column.name for column in table.key] if cuts else []
        columns = SQL(", ").join(map(Identifier, (*names, *key)))
        ordered = SQL(", ").join(map(Identifier, key))
        relation = Identifier(table.schema, table.name)
        statement = SQL("SELECT {} FROM {}{}").format(columns, SQL("" if table.is_partitioned else "ONLY "), relation)
        if after is not None:
            bound = SQL(", ").join(_typed(SQL("%s"), column) for column in table.key)
            statement += SQL(" WHERE ROW({}) > ROW({})").format(ordered, bound)
        if cuts:
            # rows that are equal in a part of the key stay together
            statement += SQL(" ORDER BY {} FETCH FIRST {} ROWS WITH TIES").format(ordered, SQL(str(rows)))
        count, line = 0, memoryview(b"")
        copying = SQL("COPY ({}) TO STDOUT").format(statement)
        with path.open("wb") as file, self._errors(), self._connection.cursor() as cursor:
            begin_rows(file, Layout(table.schema, table.name, tuple(range(len(names)))))
            for line in _lines(cursor, copying, after):
                file.write(line)
                count += 1
        if rows is None or not cuts or count < rows:
            return count, None
        return count, [_unescaped(text) for text in bytes(line).decode().rstrip("\n").split("\t")[-len(key) :]]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as e:
            raise CaptureError(f"PostgreSQL at {self._address}: {message_of(e)}") from None

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()


def _lines(cursor: Cursor, statement: Composed, parameters: Sequence[str] | None) -> Iterator[memoryview]:
    with cursor.copy(statement, parameters) as copy:
        yield from copy  # type: ignore[misc]


def lsn_text(lsn: int) -> str:
    """An LSN as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def snapshot_shows(view: str, transaction: int) -> bool:
    """Whether a snapshot shows a transaction, whose id has 32 bits, as those in logs have."""
    first, end, *open_ = view.split(":")
    lowest, highest = int(first), int(end)
    full = (highest & ~0xFFFFFFFF) | transaction
    if full > highest + 0x7FFFFFFF:
        full -= 1 << 32
    elif full < highest - 0x80000000:
        full += 1 << 32
    is_open = str(full) in open_[0].split(",") if open_ else False
    return full < lowest or (full < highest and not is_open)


def wait_for(seconds: float) -> Iterator[None]:
    """Go round until a time is over, with a pause in between."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        yield
        sleep(_PAUSE / 4)


def _modified(type_: ColumnType, modifier: int) -> ColumnType:
    from ...plan.record import replace

    if modifier < 0:
        return type_
    if type_.element is not None:
        return replace(type_, element=_modified(type_.element, modifier))
    return replace(type_, modifier=modifier)


def _typed(value: Composable, column: KeyColumn) -> Composable:
    """A value as one of a column's."""
    from psycopg.sql import SQL, Identifier

    # the name comes from the server's format_type, which quotes it
    typed = SQL("{}::{}").format(value, SQL(column.type_name))
    return typed if column.collation is None else SQL("{} COLLATE {}").format(typed, Identifier(*column.collation))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def message_of(error: Exception) -> str:
    """What the server says, in a line."""
    return " ".join(str(error).split())
