"""The connector of tables of Apache Paimon.

Sources: ``CoreOptions`` and ``FlinkConnectorOptions`` of Apache Paimon, ``BaseDataTableSource``, ``FlinkTableSinkBase``
and ``FileSystemCatalog``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FlinkplanError
from ..options import (
    BOOLEAN,
    DURATION,
    MEMORY,
    NUMBER,
    POSITIVE,
    TEXT,
    WHOLE,
    Option,
    OptionType,
    exactly_one_of,
    option_of,
)
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, PARALLELISM, unused
from .kinds import paimon_sink, paimon_source
from .model import Connector, Options, Problem, Sink, Source

PATH, AUTO_CREATE, BUCKET, BUCKET_KEY = "path", "auto-create", "bucket", "bucket-key"
MERGE_ENGINE, CHANGELOG_PRODUCER, DELETION_VECTORS = "merge-engine", "changelog-producer", "deletion-vectors.enabled"
DEDUPLICATE, FIRST_ROW, NO_CHANGELOG, INPUT = "deduplicate", "first-row", "none", "input"
SCAN_MODE, SNAPSHOT, TAG, TIME, TIME_MILLIS = (
    *("scan.mode", "scan.snapshot-id", "scan.tag-name", "scan.timestamp", "scan.timestamp-millis"),
)
WATERMARK, VERSION, BETWEEN = "scan.watermark", "scan.version", "incremental-between"
INTERVAL = "continuous.discovery-interval"
DEFAULT, FULL, OLD_FULL, LATEST, FROM_TIME, FROM_SNAPSHOT, FULL_FROM_SNAPSHOT, INCREMENTAL = (
    "default",
    "latest-full",
    "full",
    "latest",
    "from-timestamp",
    "from-snapshot",
    "from-snapshot-full",
    "incremental",
)
SNAPSHOT_NAMES = (VERSION, SNAPSHOT, TAG, WATERMARK, TIME, TIME_MILLIS)
"""The options that name a snapshot, of which a table has one."""

_PINNED = (TAG, WATERMARK, VERSION, BETWEEN)
"""The options that name what only a batch reads."""

UNKEYED = "changes are written to a Paimon table by its primary key, and it has none"
_UNLISTED = "only options on a list are handed to Paimon"


def is_pinned(options: Options) -> bool:
    """Whether what is read is fixed: one snapshot, or the changes between two of them."""
    return any(key in options for key in _PINNED)


def start_of(options: Options) -> str:
    """What reading begins with, as ``CoreOptions.startupMode`` derives it."""
    mode = options.get(SCAN_MODE, DEFAULT)
    if mode == DEFAULT:
        if TIME in options or TIME_MILLIS in options:
            return FROM_TIME
        if any(key in options for key in (SNAPSHOT, TAG, WATERMARK, VERSION)):
            return FROM_SNAPSHOT
        return INCREMENTAL if BETWEEN in options else FULL
    return FULL if mode == OLD_FULL else mode


def _read_bucket(text: str) -> None:
    if text not in ("-1", "-2") and not (text.isdecimal() and int(text) > 0):
        raise FlinkplanError("it must be a number of buckets from 1 on, or -1")


_BUCKETS = OptionType("whole number", _read_bucket)


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    named = [key for key in SNAPSHOT_NAMES if key in options]
    if not as_sink and len(named) > 1:
        yield Problem(named[1], f"'{named[0]}' names the snapshot already", "leave one of them out")
    mode = options.get(SCAN_MODE, DEFAULT)
    needed = {FROM_TIME: (TIME_MILLIS, TIME), FROM_SNAPSHOT: (SNAPSHOT, TAG, WATERMARK, VERSION)}
    needed |= {FULL_FROM_SNAPSHOT: (SNAPSHOT,), INCREMENTAL: (BETWEEN,)}
    if not as_sink and mode in needed and not any(key in options for key in needed[mode]):
        yield Problem(SCAN_MODE, f"'{mode}' needs '{needed[mode][0]}'", "add it")
    if options.get(CHANGELOG_PRODUCER, NO_CHANGELOG) != NO_CHANGELOG and schema.primary_key is None:
        yield Problem(CHANGELOG_PRODUCER, "only a table with a primary key produces a changelog", "declare PRIMARY KEY")


PAIMON = Connector(
    "paimon",
    "tables of Apache Paimon",
    Source(paimon_source, projection=True, filters=False, limit=True, deletes_by_key=True, lookups=True),
    Sink(paimon_sink, as_requested=True, overwrites=True),
    (
        *EVERYWHERE,
        Option(PATH, TEXT, None, "the directory of the table; in a Paimon catalog it follows from the warehouse"),
        unused(AUTO_CREATE, BOOLEAN, "false", "a sink creates the table; here it always does"),
        Option(BUCKET, _BUCKETS, "-1", "the number of buckets; -1: as many as needed with a primary key, else none"),
        Option(BUCKET_KEY, TEXT, None, "the columns by which rows go into buckets; by default the primary key"),
        Option(
            MERGE_ENGINE,
            exactly_one_of(DEDUPLICATE, "partial-update", "aggregation", FIRST_ROW),
            DEDUPLICATE,
            "what becomes of rows with the same primary key; first-row is read only",
        ),
        Option(
            CHANGELOG_PRODUCER,
            exactly_one_of(NO_CHANGELOG, INPUT, "full-compaction", "lookup"),
            NO_CHANGELOG,
            "what makes the changelog that streams read; full-compaction and lookup are read only",
        ),
        Option("sequence.field", TEXT, None, "of rows with the same primary key the one with the greatest value stays"),
        Option("sequence.field.sort-order", exactly_one_of("ascending", "descending"), "ascending", "or the smallest"),
        Option("ignore-delete", BOOLEAN, "false", "deletions are dropped"),
        Option("ignore-update-before", BOOLEAN, "false", "rows before an update are dropped"),
        Option("fields.default-aggregate-function", TEXT, None, "how the values of columns are aggregated"),
        Option("fields.#.aggregate-function", TEXT, None, "how the values of a column are aggregated"),
        Option(
            "fields.#.ignore-retract",
            BOOLEAN,
            "false",
            "retractions of a column's values are dropped",
            refused="pypaimon does not know it",
        ),
        Option("rowkind.field", TEXT, None, "the column with the kind of change", refused="rows have a kind already"),
        Option(DELETION_VECTORS, BOOLEAN, "false", "files of deleted rows; such tables are read only"),
        Option("file.format", exactly_one_of("parquet", "orc", "avro"), "parquet", "the format of data files"),
        Option("file.compression", TEXT, "zstd", "how data files are compressed"),
        Option("file.compression.zstd-level", POSITIVE, "1", "how much they are compressed"),
        Option("target-file-size", MEMORY, None, "a data file is finished at this size"),
        Option("dynamic-bucket.target-row-num", POSITIVE, "200000", "the rows of a bucket where 'bucket' is -1"),
        Option("metadata.stats-mode", TEXT, "truncate(16)", "the statistics of columns that are kept"),
        Option("partition.default-name", TEXT, "__DEFAULT_PARTITION__", "the folder of rows without a partition"),
        Option("commit.max-retries", WHOLE, "10", "how often a commit is tried again where others commit, too"),
        Option("commit.timeout", DURATION, None, "how long a commit is tried again"),
        Option(
            SCAN_MODE,
            exactly_one_of(DEFAULT, FULL, OLD_FULL, LATEST, FROM_TIME, FROM_SNAPSHOT, FULL_FROM_SNAPSHOT, INCREMENTAL),
            DEFAULT,
            "what reading begins with",
        ),
        Option(SNAPSHOT, WHOLE, None, "a batch reads this snapshot; a stream reads its changes and those behind it"),
        Option(TAG, TEXT, None, "read the snapshot of this tag"),
        Option(TIME, TEXT, None, "as 'scan.timestamp-millis', as in 2024-05-01 12:00:00 in the session's time zone"),
        Option(
            TIME_MILLIS, WHOLE, None, "a batch reads the snapshot of this time; a stream reads the changes from it on"
        ),
        Option(WATERMARK, WHOLE, None, "read the first snapshot with this watermark"),
        Option(VERSION, TEXT, None, "read the snapshot of this tag, or with this id"),
        Option(BETWEEN, TEXT, None, "a batch reads the changes behind a snapshot and up to another: 12,20"),
        Option(INTERVAL, DURATION, "10 s", "the interval of looking for new snapshots"),
        Option(
            "streaming-read-overwrite",
            BOOLEAN,
            "false",
            "a stream reads what INSERT OVERWRITE has written, too",
            refused="a stream passes over snapshots that overwrite others",
        ),
        Option("scan.remove-normalize", BOOLEAN, "false", "a stream takes the changes of the table as they are"),
        Option("scan.bounded.watermark", WHOLE, None, "a stream ends there", refused="use --mode bounded"),
        Option("incremental-between-timestamp", TEXT, None, "as incremental-between", refused=f"name '{BETWEEN}'"),
        Option("branch", TEXT, None, "the branch of the table", refused="branches are not read here"),
        unused("consumer-id", TEXT, None, "who reads; positions are in the checkpoint here"),
        unused("consumer.expiration-time", DURATION, None, "how long consumers are kept"),
        unused("consumer.mode", TEXT, "exactly-once", "how consumers keep their positions"),
        unused("scan.parallelism", WHOLE, None, "how many tasks read"),
        unused("scan.infer-parallelism", BOOLEAN, "true", "how many tasks read follows from the table"),
        unused("scan.split-enumerator.batch-size", WHOLE, None, "how many splits are handed out at once"),
        unused("scan.max-splits-per-task", WHOLE, None, "how many splits a task has at once"),
        unused("source.split.target-size", MEMORY, "128 mb", "the bytes that a task reads at once"),
        unused("source.split.open-file-cost", MEMORY, "4 mb", "the bytes that opening a file counts for"),
        PARALLELISM,
        unused("sink.use-managed-memory-allocator", BOOLEAN, "false", "where writers take memory"),
        unused("sink.committer-cpu", NUMBER, "1", "the CPUs of the committer"),
        unused("sink.committer-memory", MEMORY, None, "the memory of the committer"),
        unused("write-only", BOOLEAN, "false", "no compaction; here there never is one"),
        unused("write-buffer-size", MEMORY, "256 mb", "the memory for rows before they are written"),
        unused("write-buffer-spillable", BOOLEAN, None, "whether it goes to disk"),
        unused("num-sorted-run.compaction-trigger", WHOLE, "5", "when files are compacted"),
        unused("num-sorted-run.stop-trigger", WHOLE, None, "when writing waits for compaction"),
        unused("num-levels", WHOLE, None, "the levels of files"),
        unused("compaction.*", TEXT, None, "how files are compacted"),
        unused("full-compaction.delta-commits", WHOLE, None, "how often all files are compacted"),
        unused("changelog-producer.*", TEXT, None, "how compaction makes a changelog"),
        unused("snapshot.num-retained.min", POSITIVE, "10", "how many snapshots stay; here all do"),
        unused("snapshot.num-retained.max", POSITIVE, None, "how many snapshots stay at most"),
        unused("snapshot.time-retained", DURATION, "1 h", "how long snapshots stay"),
        unused("partition.expiration-time", DURATION, None, "how long partitions stay"),
        unused("tag.*", TEXT, None, "when tags are made"),
        unused("file-index.*", TEXT, None, "indexes of data files"),
        unused("lookup.*", TEXT, None, "how lookup joins find rows"),
        unused("lookup-wait", BOOLEAN, "true", "commits wait for compaction"),
        unused("snapshot.watermark-idle-timeout", DURATION, None, "when a source is idle for the snapshot's watermark"),
        Option("*", TEXT, None, "another property of the table", refused=_UNLISTED),
    ),
    problems=_problems,
    executed=True,
)

COMPACTED_BY_OTHERS = {
    MERGE_ENGINE: (FIRST_ROW,),
    CHANGELOG_PRODUCER: ("full-compaction", "lookup"),
    DELETION_VECTORS: ("true",),
    BUCKET: ("-2",),
}
"""The values of options of tables that Paimon's compaction completes, so that they are not written here."""


def is_property(key: str) -> bool:
    """Whether an option is one of the table's own, which it has from its creation on."""
    declared = option_of(key, PAIMON.options or ())
    common = {option.key for option in EVERYWHERE} | {PATH, AUTO_CREATE, PARALLELISM.key, INTERVAL}
    of_readers = ("scan.", "streaming-read-", "sink.", "incremental-", "consumer", "source.")
    return declared is not None and key not in common and not key.startswith(of_readers)


def default_of(key: str) -> str:
    """The default of an option that has one."""
    default = next(option for option in PAIMON.options or () if option.key == key).default
    assert default is not None
    return default
