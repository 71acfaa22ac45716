"""The connector of Iceberg tables.

Sources: ``FlinkDynamicTableFactory``, ``FlinkCatalogFactory``, ``FlinkReadOptions`` and ``FlinkWriteOptions`` of Apache
Iceberg, and the documentation of its catalogs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..options import BOOLEAN, DURATION, MEMORY, POSITIVE, TEXT, WHOLE, Option, exactly_one_of, is_true, one_of
from ..row_kinds import ALL, INSERTS, Kinds
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, unused
from .model import Connector, Options, Problem, Sink, Source, always

CATALOG, TYPE, URI, WAREHOUSE = "catalog-name", "catalog-type", "uri", "warehouse"
DATABASE, TABLE = "catalog-database", "catalog-table"
CREDENTIAL, TOKEN, USER, PASSWORD = "credential", "token", "jdbc.user", "jdbc.password"
SNAPSHOT, TIME, BRANCH, TAG = SNAPSHOT_NAMES = "snapshot-id", "as-of-timestamp", "branch", "tag"
STREAMING, INTERVAL, STRATEGY, MOST_SNAPSHOTS = (
    *("streaming", "monitor-interval", "starting-strategy", "max-planning-snapshot-count"),
)
CHANGES = "read-changes"
START_SNAPSHOT, START_TIME, START_TAG = "start-snapshot-id", "start-snapshot-timestamp", "start-tag"
END_SNAPSHOT, END_TAG = "end-snapshot-id", "end-tag"
WHOLE_FIRST, FROM_SNAPSHOT, FROM_TIME = (
    *("TABLE_SCAN_THEN_INCREMENTAL", "INCREMENTAL_FROM_SNAPSHOT_ID", "INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP"),
)
FROM_LATEST, BEHIND_LATEST, FROM_EARLIEST = (
    "INCREMENTAL_FROM_LATEST_SNAPSHOT",
    "INCREMENTAL_FROM_LATEST_SNAPSHOT_EXCLUSIVE",
    "INCREMENTAL_FROM_EARLIEST_SNAPSHOT",
)
CHANGING = ("write.upsert.enabled", "upsert-enabled", "overwrite-enabled")
"""The options by which a sink does more than append rows."""

UPSERT = CHANGING[:2]
"""Those by which rows replace the ones of their keys."""

UNKEYED = "changes are written to an Iceberg table by its primary key, and it has none"
OVERWRITTEN = "a stream does not overwrite a table"
_OF_FILES = "watermarks are not made here of the statistics of files"
_UNLISTED = "only options on a list are handed to a catalog"


def is_streaming(options: Options) -> bool:
    """Whether new snapshots are read, too."""
    return is_true(options.get(STREAMING))


def reads_changes(options: Options) -> bool:
    """Whether a stream has all changes between snapshots, not only what they append."""
    return is_streaming(options) and is_true(options.get(CHANGES))


def _source(options: Options, keyed: bool) -> Kinds:
    return ALL if reads_changes(options) else INSERTS


def starts_or_ends(options: Options) -> bool:
    """Whether a batch reads what was appended between two snapshots."""
    return any(key in options for key in (START_SNAPSHOT, START_TAG, END_SNAPSHOT, END_TAG))


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    if as_sink:
        return
    named = [key for key in SNAPSHOT_NAMES if key in options]
    if len(named) > 1:
        yield Problem(named[1], f"'{named[0]}' names the snapshot already", "leave one of them out")
    for by_id, by_tag in ((START_SNAPSHOT, START_TAG), (END_SNAPSHOT, END_TAG)):
        if by_id in options and by_tag in options:
            yield Problem(by_tag, f"'{by_id}' names the snapshot already", "leave one of them out")
    if is_true(options.get(CHANGES)) and not is_streaming(options):
        yield Problem(CHANGES, "only a stream reads changes", f"add '{STREAMING}' = 'true', or leave it out")
    if is_streaming(options):
        yield from _stream_problems(options)


def _stream_problems(options: Options) -> Iterator[Problem]:
    """As ``ScanContext.validate`` finds them."""
    for key in (SNAPSHOT, TIME, TAG, END_SNAPSHOT, END_TAG):
        if key in options:
            yield Problem(key, "a stream has no end", f"leave it out, or '{STREAMING}'")
    strategy = options.get(STRATEGY, WHOLE_FIRST).upper()
    for named, key, other in (
        (FROM_SNAPSHOT, START_SNAPSHOT, START_TIME),
        (FROM_TIME, START_TIME, START_SNAPSHOT),
    ):
        if strategy == named and key not in options:
            yield Problem(STRATEGY, f"'{named}' needs '{key}'", "add it")
        if strategy == named and other in options:
            yield Problem(other, f"it has no place with '{named}'", "leave it out")


ICEBERG = Connector(
    "iceberg",
    "tables of Apache Iceberg",
    Source(_source, projection=True, limit=True),
    Sink(always(ALL), as_requested=True, overwrites=True),
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
        Option(STREAMING, BOOLEAN, "false", "read new snapshots, too"),
        Option(INTERVAL, DURATION, "60 s", "the interval of looking for new snapshots"),
        Option(
            STRATEGY,
            one_of(WHOLE_FIRST, FROM_LATEST, BEHIND_LATEST, FROM_EARLIEST, FROM_SNAPSHOT, FROM_TIME),
            WHOLE_FIRST,
            "what a stream begins with",
        ),
        Option(CHANGES, BOOLEAN, "false", "a stream reads deleted rows, too, which Flink's source passes over"),
        Option(MOST_SNAPSHOTS, POSITIVE, "2147483647", "how many snapshots a batch of a stream reads at most"),
        Option(
            START_SNAPSHOT, WHOLE, None, "the snapshot with which a stream begins; a batch reads what came after it"
        ),
        Option(START_TIME, WHOLE, None, "a stream begins with the first snapshot from this time on, in milliseconds"),
        Option(START_TAG, TEXT, None, "a batch reads what was appended after this tag; no effect in a stream"),
        Option(END_SNAPSHOT, WHOLE, None, "the last snapshot of which a batch reads what was appended"),
        Option(END_TAG, TEXT, None, "the tag of the last snapshot of which a batch reads what was appended"),
        unused("case-sensitive", BOOLEAN, "false", "names of columns are compared in upper and lower case"),
        unused("split-size", MEMORY, "128 mb", "the bytes that a task reads at once"),
        unused("split-lookback", WHOLE, "10", "how many tasks files are distributed over at once"),
        unused("split-file-open-cost", MEMORY, "4 mb", "the bytes that opening a file counts for"),
        unused("include-column-stats", BOOLEAN, "false", "statistics of columns are read with the files"),
        unused("max-allowed-planning-failures", TEXT, "3", "how often looking for new snapshots may fail"),
        Option("limit", WHOLE, None, "how many rows are read at most", refused="write LIMIT in the query"),
        Option("watermark-column", TEXT, None, "watermarks are those of files", refused=_OF_FILES),
        Option("watermark-column-time-unit", TEXT, None, "the unit of that column", refused=_OF_FILES),
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


def default_of(key: str) -> str:
    """The default of an option that has one."""
    default = next(option for option in ICEBERG.options or () if option.key == key).default
    assert default is not None
    return default
