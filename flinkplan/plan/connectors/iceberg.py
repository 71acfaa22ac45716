"""The connector of Iceberg tables.

Sources: ``FlinkDynamicTableFactory``, ``FlinkCatalogFactory``, ``FlinkReadOptions`` and ``FlinkWriteOptions`` of Apache
Iceberg, and the documentation of its catalogs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..options import BOOLEAN, DURATION, TEXT, WHOLE, Option, exactly_one_of
from ..row_kinds import ALL, INSERTS
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, unused
from .model import Connector, Options, Problem, Sink, Source, always

CATALOG, TYPE, URI, WAREHOUSE = "catalog-name", "catalog-type", "uri", "warehouse"
DATABASE, TABLE = "catalog-database", "catalog-table"
CREDENTIAL, TOKEN, USER, PASSWORD = "credential", "token", "jdbc.user", "jdbc.password"
SNAPSHOT, TIME, BRANCH, TAG = SNAPSHOT_NAMES = "snapshot-id", "as-of-timestamp", "branch", "tag"
STREAMING = "streaming"
CHANGING = ("write.upsert.enabled", "upsert-enabled", "overwrite-enabled")
"""The options by which a sink does more than append rows."""

STREAMED = "new snapshots of Iceberg tables are not read here: one snapshot is, which ends"
UPSERT = CHANGING[:2]
"""Those by which rows replace the ones of their keys."""

UNKEYED = "changes are written to an Iceberg table by its primary key, and it has none"
OVERWRITTEN = "a stream does not overwrite a table"
_UNLISTED = "only options on a list are handed to a catalog"


def _streamed(key: str, meaning: str) -> Option:
    return Option(key, TEXT, None, meaning, refused=STREAMED)


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    named = [key for key in SNAPSHOT_NAMES if key in options]
    if not as_sink and len(named) > 1:
        yield Problem(named[1], f"'{named[0]}' names the snapshot already", "leave one of them out")


ICEBERG = Connector(
    "iceberg",
    "tables of Apache Iceberg",
    Source(always(INSERTS), projection=True, limit=True),
    Sink(always(ALL), as_requested=True),
    (
        *EVERYWHERE,
        Option(CATALOG, TEXT, None, "the catalog, which may also be configured for PyIceberg"),
        Option(
            TYPE,
            exactly_one_of("hive", "hadoop", "rest", "jdbc", "glue", "nessie"),
            None,
            "the type of the catalog; rest and jdbc are executed here",
        ),
        Option("catalog-impl", TEXT, None, "the class of the catalog", refused="it loads a class"),
        Option("io-impl", TEXT, None, "the class that reads and writes files", refused="it loads a class"),
        # what a catalog answers can name classes, so that a plan alone chooses none
        Option(
            URI, TEXT, None, "the address of the catalog, or the URL of its database: jdbc:sqlite:/path", by_user=True
        ),
        Option(WAREHOUSE, TEXT, None, "the directory of the tables, or the name of a warehouse"),
        Option(CREDENTIAL, TEXT, None, "the credential of a REST catalog"),
        Option(TOKEN, TEXT, None, "the token of a REST catalog"),
        Option(USER, TEXT, None, "the user of the catalog's database"),
        Option(PASSWORD, TEXT, None, "the password of that user"),
        Option(DATABASE, TEXT, "default", "the namespace of the table; that of its name in an Iceberg catalog"),
        Option(TABLE, TEXT, None, "the table; by default it has the name of this one"),
        Option(SNAPSHOT, WHOLE, None, "read this snapshot; the current one by default"),
        Option(TIME, WHOLE, None, "read the snapshot of this time, in milliseconds since 1970"),
        Option(BRANCH, TEXT, None, "read the snapshot of this branch"),
        Option(TAG, TEXT, None, "read the snapshot of this tag"),
        Option(STREAMING, BOOLEAN, "false", "read new snapshots, too; refused here"),
        unused("monitor-interval", DURATION, "60 s", "the interval of looking for them"),
        _streamed("start-snapshot-id", "the snapshot after which a stream begins"),
        _streamed("start-snapshot-timestamp", "the time at which a stream begins"),
        _streamed("start-tag", "the tag after which a stream begins"),
        _streamed("end-snapshot-id", "the last snapshot of a stream"),
        _streamed("end-tag", "the tag of the last snapshot"),
        Option(CHANGING[0], BOOLEAN, "false", "rows replace those of their primary key"),
        Option(CHANGING[1], BOOLEAN, "false", "rows replace those of their primary key"),
        Option(CHANGING[2], BOOLEAN, "false", "rows replace all that are there; refused here"),
        unused("write-format", TEXT, "parquet", "the format of data files; they are Parquet here"),
        unused("target-file-size-bytes", WHOLE, None, "the size of data files"),
        unused("write-parallelism", WHOLE, None, "how many tasks write"),
        unused("distribution-mode", TEXT, None, "how rows are brought to the tasks that write"),
        Option("*", TEXT, None, "another property of the catalog or table", refused=_UNLISTED),
    ),
    problems=_problems,
    secrets=(CREDENTIAL, TOKEN, PASSWORD),
    executed=True,
)
