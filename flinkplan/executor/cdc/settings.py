"""What the options of a table say of its source."""

from __future__ import annotations

from typing import Any

from ...plan.connectors import cdc as declared
from ...plan.connectors.cdc import option_default
from ...plan.durations import parse_duration
from ...plan.options import is_true
from ...plan.record import Record
from ...plan.types import LogicalType
from ..connectors.tables import Table


class CaptureError(Exception):
    """Why a table cannot be read, or not on from where it is."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint


class Capture(Record, kw_only=True):
    """What is read of a database.

    ``database`` and ``table`` are names or, as far as the connector says, regular expressions; ``columns`` are the
    physical ones that are declared.  ``chunk_rows``: how many rows of a snapshot are read at once, ``None``: all.
    ``chunk_key`` is the column by which it is cut, ``None``: the primary key.  Durations are in seconds.
    """

    host: str
    port: int
    user: str
    password: str
    database: str
    table: str
    columns: tuple[tuple[str, LogicalType], ...]
    startup: str
    chunk_rows: int | None
    chunk_key: str | None
    heartbeat: float
    timeout: float
    retries: int
    commit_delay: int = 0
    """By how many batches what the server keeps is behind."""

    @property
    def address(self) -> str:
        """The server, for people."""
        return f"{self.host}:{self.port}"

    @property
    def log_name(self) -> str:
        """The log, for people who look at how far it has been read."""
        return self.address


class PostgresCapture(Capture, kw_only=True):
    """What is read of PostgreSQL.

    ``needs_old_rows``: updates and deletions have to come with the whole row that was there.
    """

    schema: str
    slot: str
    publication: str
    autocreate: str
    partitioned: bool
    needs_old_rows: bool
    ssl_mode: str
    ssl_root: str | None

    @property
    def log_name(self) -> str:
        """The slot."""
        return self.slot


class MysqlCapture(Capture, kw_only=True):
    """What is read of MySQL or MariaDB.

    ``server_ids``: the first and the last id under which the log is read; ``None``: one by chance.  ``file`` and
    ``position`` are those of the mode specific-offset, ``since_ms`` is the time of the mode timestamp.  ``zone`` is the
    time zone in which TIMESTAMPs are declared without one.
    """

    server_ids: tuple[int, int] | None
    file: str | None
    position: int
    since_ms: int
    zone: str | None


def capture_of(table: Table) -> Capture:
    """What the options of a table say."""
    options = table.options

    def option(key: str) -> str:
        return option_default(options, key)

    def seconds(key: str) -> float:
        return parse_duration(option(key)) / 1000

    is_mysql = options["connector"] == declared.MYSQL_CDC.name
    common: dict[str, Any] = {
        "host": options["hostname"],
        "port": int(option("port")),
        "user": options["username"],
        "password": options["password"],
        "database": options["database-name"],
        "table": options["table-name"],
        "columns": table.physical,
        "startup": option(declared.STARTUP),
        "chunk_rows": int(option(declared.CHUNK_SIZE)) if is_true(option(declared.INCREMENTAL)) else None,
        "chunk_key": options.get(declared.CHUNK_KEY),
        "heartbeat": seconds(declared.MYSQL_HEARTBEAT if is_mysql else declared.HEARTBEAT),
        "timeout": seconds(declared.TIMEOUT),
        "retries": int(option(declared.RETRIES)),
    }
    if is_mysql:
        return MysqlCapture(
            **common,
            server_ids=declared.parse_server_ids(options[declared.SERVER_ID])
            if declared.SERVER_ID in options
            else None,
            file=options.get(declared.OFFSET_FILE),
            position=int(options.get(declared.OFFSET_POSITION, 4)),
            since_ms=int(options.get(declared.STARTUP_MILLIS, 0))
            if option(declared.STARTUP) == declared.TIMESTAMP
            else 0,
            zone=options.get(declared.TIME_ZONE),
        )
    return PostgresCapture(
        **common,
        commit_delay=int(option(declared.COMMIT_DELAY)),
        schema=options["schema-name"],
        slot=options[declared.SLOT],
        publication=option(declared.PUBLICATION),
        autocreate=option(declared.AUTOCREATE),
        partitioned=is_true(option(declared.PARTITIONED)),
        needs_old_rows=option(declared.CHANGELOG_MODE).lower() == "all" and not declared.is_bounded(options),
        ssl_mode=option(declared.SSL_MODE),
        ssl_root=options.get(declared.SSL_ROOT),
    )
