"""The connectors of change data capture, with all their options.

Source: the documentation of Flink CDC 3 (connectors ``postgres-cdc`` and ``mysql-cdc``), and that of Debezium for the
properties that they pass on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..errors import FlinkplanError
from ..options import (
    BOOLEAN,
    DURATION,
    NUMBER,
    POSITIVE,
    TEXT,
    TIME_ZONE_NAME,
    WHOLE,
    Option,
    OptionType,
    exactly_one_of,
    one_of,
)
from ..row_kinds import ALL
from ..specs import ResolvedSchema
from ..types import STRING, LogicalType, timestamp_ltz
from .bundled import EVERYWHERE, unused
from .kinds import postgres, unless
from .model import Connector, Options, Problem, Source

STARTUP, PLUGIN, SLOT, CHANGELOG_MODE = "scan.startup.mode", "decoding.plugin.name", "slot.name", "changelog-mode"
APPEND_ONLY = "scan.read-changelog-as-append-only.enabled"
INCREMENTAL, CHUNK_SIZE = "scan.incremental.snapshot.enabled", "scan.incremental.snapshot.chunk.size"
CHUNK_KEY, PARTITIONED = "scan.incremental.snapshot.chunk.key-column", "scan.include-partitioned-tables.enabled"
COMMIT_DELAY, HEARTBEAT = "scan.lsn-commit.checkpoints-num-delay", "heartbeat.interval.ms"
PUBLICATION, AUTOCREATE = "debezium.publication.name", "debezium.publication.autocreate.mode"
LATER_TABLES = "scan.newly-added-table.enabled"
SSL_MODE, SSL_ROOT = "debezium.database.sslmode", "debezium.database.sslrootcert"
TIMEOUT, RETRIES = "connect.timeout", "connect.max-retries"

SERVER_ID, TIME_ZONE, MYSQL_HEARTBEAT = "server-id", "server-time-zone", "heartbeat.interval"
OFFSET_FILE, OFFSET_POSITION = "scan.startup.specific-offset.file", "scan.startup.specific-offset.pos"
STARTUP_MILLIS = "scan.startup.timestamp-millis"

INITIAL, SNAPSHOT, LATEST, COMMITTED = "initial", "snapshot", "latest-offset", "committed-offset"
EARLIEST, SPECIFIC, TIMESTAMP = "earliest-offset", "specific-offset", "timestamp"
EXECUTED_PLUGIN = "pgoutput"

METADATA: Mapping[str, LogicalType] = {
    "table_name": STRING.not_null(),
    "schema_name": STRING.not_null(),
    "database_name": STRING.not_null(),
    "op_ts": timestamp_ltz(3, nullable=False),
    "row_kind": STRING.not_null(),
}
"""The types of metadata columns by their keys."""

_LATER = "tables that are added to a database later are not read"
_PASSED = "only properties on a list are obeyed"


def _slot(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9_]{1,63}", text):
        raise FlinkplanError("it has up to 63 lower-case letters, digits and underscores")
    return text


def parse_server_ids(text: str) -> tuple[int, int]:
    """Parse an id such as ``5400`` or a range such as ``5400-5408``.  Raises :class:`FlinkplanError`."""
    match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text)
    if match is None or not 0 < int(match[1]) <= int(match[2] or match[1]) < 1 << 32:
        raise FlinkplanError("it is an id such as 5400, or a range such as 5400-5408")
    return int(match[1]), int(match[2] or match[1])


def is_bounded(options: Options) -> bool:
    """Whether reading ends: with the snapshot."""
    return options.get(STARTUP) == SNAPSHOT


def reads_snapshot(options: Options) -> bool:
    """Whether reading begins with a snapshot of the tables."""
    return options.get(STARTUP, INITIAL) in (INITIAL, SNAPSHOT)


def option_default(options: Options, key: str) -> str:
    """The value of an option, or its default."""
    connector = MYSQL_CDC if options.get("connector") == MYSQL_CDC.name else POSTGRES_CDC
    declared = next(option for option in connector.options or () if option.key == key)
    return options.get(key, declared.default or "")


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    if options.get(CHANGELOG_MODE, "").lower() == "upsert" and schema.primary_key is None:
        yield Problem(
            CHANGELOG_MODE, "'changelog-mode' = 'upsert' needs a primary key", "add PRIMARY KEY (…) NOT ENFORCED"
        )


_PLACE = (
    Option("hostname", TEXT, None, "the host of the server", required=True),
    Option("username", TEXT, None, "the name of the user", required=True),
    Option("password", TEXT, None, "the password, as a variable", required=True),
)
_CHUNKS = (
    Option(CHUNK_SIZE, POSITIVE, "8096", "how many rows of a table are read at once in the snapshot"),
    Option(CHUNK_KEY, TEXT, None, "the column of the primary key by which chunks are cut; by default the whole key"),
    unused("scan.incremental.snapshot.unbounded-chunk-first.enabled", BOOLEAN, "true", "the last chunk is read first"),
    unused("scan.incremental.snapshot.backfill.skip", BOOLEAN, "false", "changes during the snapshot come behind it"),
    unused("scan.incremental.close-idle-reader.enabled", BOOLEAN, "false", "readers end with the snapshot"),
    unused("scan.snapshot.fetch.size", WHOLE, "1024", "how many rows of a chunk are fetched at once"),
    unused("chunk-meta.group.size", WHOLE, "1000", "how many chunks are described in one message"),
    unused("chunk-key.even-distribution.factor.lower-bound", NUMBER, "0.05", "when keys are even enough to divide"),
    unused("chunk-key.even-distribution.factor.upper-bound", NUMBER, "1000", "when keys are even enough to divide"),
    Option(LATER_TABLES, BOOLEAN, "false", "read tables that are added later", refused=_LATER),
    Option(TIMEOUT, DURATION, "30 s", "the timeout of a connection"),
    Option(RETRIES, WHOLE, "3", "the maximum number of retries of a connection"),
    Option(APPEND_ONLY, BOOLEAN, "false", "all changes are inserts, whose kind is in the metadata"),
)

POSTGRES_CDC = Connector(
    "postgres-cdc",
    "tables in PostgreSQL: a snapshot, then changes",
    Source(postgres, deletes_by_key=True),
    None,
    (
        *EVERYWHERE,
        *_PLACE,
        Option("port", WHOLE, "5432", "the port of the server"),
        Option("database-name", TEXT, None, "the database", required=True),
        Option("schema-name", TEXT, None, "the schema, or a regular expression for several", required=True),
        Option("table-name", TEXT, None, "the table, or a regular expression for several", required=True),
        Option(SLOT, OptionType("name of a slot", _slot), None, "the replication slot", required=True),
        Option(
            PLUGIN,
            exactly_one_of(
                *("decoderbufs", "wal2json", "wal2json_rds", "wal2json_streaming", "wal2json_rds_streaming"),
                EXECUTED_PLUGIN,
            ),
            "decoderbufs",
            "the plugin that decodes the log; only pgoutput is executed here",
        ),
        Option(CHANGELOG_MODE, one_of("ALL", "UPSERT"), "all", "whether updates come with their old rows"),
        Option(
            STARTUP,
            exactly_one_of(INITIAL, LATEST, COMMITTED, SNAPSHOT),
            INITIAL,
            "where reading begins",
        ),
        Option(INCREMENTAL, BOOLEAN, "false", "the snapshot is read in chunks, of which each can be in a checkpoint"),
        *_CHUNKS,
        unused("connect.pool.size", WHOLE, "30", "the number of connections"),
        Option(PARTITIONED, BOOLEAN, "false", "read partitioned tables as a whole"),
        unused("table-id.include-database", BOOLEAN, "false", "names of tables begin with that of the database"),
        Option(COMMIT_DELAY, WHOLE, "3", "by how many checkpoints the slot is behind the last one"),
        Option(HEARTBEAT, DURATION, "30 s", "how often the position moves on while the tables do not change"),
        Option(PUBLICATION, TEXT, "dbz_publication", "the publication of the tables"),
        Option(
            AUTOCREATE,
            exactly_one_of("all_tables", "filtered", "disabled"),
            "all_tables",
            "whether a publication that does not exist is created: of all tables, of those of the source, not",
        ),
        Option(
            SSL_MODE,
            exactly_one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
            "prefer",
            "how the connection is encrypted",
        ),
        Option(SSL_ROOT, TEXT, None, "the file with the certificates of authorities"),
        Option("debezium.*", TEXT, None, "another property of Debezium", refused=_PASSED),
    ),
    metadata=METADATA,
    has_metadata=True,
    problems=_problems,
    secrets=("password",),
    executed=True,
)


def _mysql_problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    mode = options.get(STARTUP, INITIAL)
    for needed_by, key in ((SPECIFIC, OFFSET_FILE), (TIMESTAMP, STARTUP_MILLIS)):
        if mode == needed_by and key not in options:
            yield Problem(STARTUP, f"the mode '{mode}' needs the option '{key}'", "add it to WITH")
    is_cut = options.get(INCREMENTAL, "true").lower() != "false"
    if is_cut and schema.primary_key is None and CHUNK_KEY not in options:
        hint = f"add PRIMARY KEY (…) NOT ENFORCED, or set '{INCREMENTAL}' = 'false'"
        yield Problem("", "a snapshot is read in chunks by the primary key of the table, which has none", hint)


MYSQL_CDC = Connector(
    "mysql-cdc",
    "tables in MySQL or MariaDB: a snapshot, then changes",
    Source(unless(APPEND_ONLY, ALL)),
    None,
    (
        *EVERYWHERE,
        *_PLACE,
        Option("port", WHOLE, "3306", "the port of the server"),
        Option("database-name", TEXT, None, "the database, or a regular expression for several", required=True),
        Option("table-name", TEXT, None, "the table, or a regular expression for several", required=True),
        Option(SERVER_ID, OptionType("id or range", parse_server_ids), None, "the ids under which the log is read"),
        Option(
            STARTUP,
            exactly_one_of(INITIAL, EARLIEST, LATEST, SPECIFIC, TIMESTAMP, SNAPSHOT),
            INITIAL,
            "where reading begins",
        ),
        Option(OFFSET_FILE, TEXT, None, "the file of the log of the mode specific-offset"),
        Option(OFFSET_POSITION, WHOLE, "4", "the position in that file"),
        *(
            Option(f"scan.startup.specific-offset.{key}", TEXT, None, meaning, refused="a file and a position are")
            for key, meaning in (
                ("gtid-set", "the transactions of the mode specific-offset"),
                ("skip-events", "how many events are left out behind the position"),
                ("skip-rows", "how many rows are left out behind the position"),
            )
        ),
        Option(STARTUP_MILLIS, WHOLE, None, "the time of the mode timestamp"),
        Option(TIME_ZONE, TIME_ZONE_NAME, None, "the zone in which TIMESTAMPs are read that are declared without one"),
        Option(INCREMENTAL, BOOLEAN, "true", "the snapshot is read in chunks, of which each can be in a checkpoint"),
        *_CHUNKS,
        unused("connection.pool.size", WHOLE, "20", "the number of connections"),
        Option(MYSQL_HEARTBEAT, DURATION, "30 s", "how often the position moves on while the tables do not change"),
        Option(
            "scan.parse.online.schema.changes.enabled",
            BOOLEAN,
            "false",
            "follow the tables of gh-ost and pt-osc",
            refused="changes of a schema are not followed",
        ),
        unused("use.legacy.json.format", BOOLEAN, "true", "blanks in JSON of the log"),
        Option("jdbc.properties.*", TEXT, None, "a property of the JDBC driver", refused="there is no JDBC driver"),
        Option("debezium.*", TEXT, None, "a property of Debezium", refused="there is no Debezium"),
    ),
    metadata={key: type_ for key, type_ in METADATA.items() if key != "schema_name"},
    has_metadata=True,
    problems=_mysql_problems,
    secrets=("password",),
    executed=True,
)
