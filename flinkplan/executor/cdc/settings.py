"""What the options of a table say of its source."""

from __future__ import annotations

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


class Capture(Record):
    """What is read of a database.

    ``schema`` and ``table`` are names or regular expressions; ``columns`` are the physical ones that are declared.
    ``chunk_rows``: how many rows of a snapshot are read at once, ``None``: all.  ``chunk_key`` is the column by which
    it is cut, ``None``: the primary key.  ``needs_old_rows``: updates and deletions have to come with the whole row
    that was there.  ``commit_delay``: by how many batches the slot is behind.  Durations are in seconds.
    """

    host: str
    port: int
    user: str
    password: str
    database: str
    schema: str
    table: str
    columns: tuple[tuple[str, LogicalType], ...]
    slot: str
    publication: str
    autocreate: str
    startup: str
    chunk_rows: int | None
    chunk_key: str | None
    partitioned: bool
    needs_old_rows: bool
    commit_delay: int
    heartbeat: float
    timeout: float
    retries: int
    ssl_mode: str
    ssl_root: str | None

    @property
    def address(self) -> str:
        """The server, for people."""
        return f"{self.host}:{self.port}"


def capture_of(table: Table) -> Capture:
    """What the options of a table say."""
    options = table.options

    def option(key: str) -> str:
        return option_default(options, key)

    def seconds(key: str) -> float:
        return parse_duration(option(key)) / 1000

    return Capture(
        host=options["hostname"],
        port=int(option("port")),
        user=options["username"],
        password=options["password"],
        database=options["database-name"],
        schema=options["schema-name"],
        table=options["table-name"],
        columns=table.physical,
        slot=options[declared.SLOT],
        publication=option(declared.PUBLICATION),
        autocreate=option(declared.AUTOCREATE),
        startup=option(declared.STARTUP),
        chunk_rows=int(option(declared.CHUNK_SIZE)) if is_true(option(declared.INCREMENTAL)) else None,
        chunk_key=options.get(declared.CHUNK_KEY),
        partitioned=is_true(option(declared.PARTITIONED)),
        needs_old_rows=option(declared.CHANGELOG_MODE).lower() == "all" and not declared.is_bounded(options),
        commit_delay=int(option(declared.COMMIT_DELAY)),
        heartbeat=seconds(declared.HEARTBEAT),
        timeout=seconds(declared.TIMEOUT),
        retries=int(option(declared.RETRIES)),
        ssl_mode=option(declared.SSL_MODE),
        ssl_root=options.get(declared.SSL_ROOT),
    )
