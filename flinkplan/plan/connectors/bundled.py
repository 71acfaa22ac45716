"""The connectors that Flink includes, with all their options; flinkplan executes them as well.

Sources: the options of ``FileSystemConnectorOptions``, ``DataGenConnectorOptions``, ``PrintConnectorOptions`` and
``FactoryUtil`` of Flink 2.3, and the ``getChangelogMode`` and ``Supports…`` interfaces of the connectors.
"""

from __future__ import annotations

from ..arrow_data import DATA, NAME
from ..elements import FILE, OPTION, ROWS
from ..elements import NAME as ELEMENTS
from ..options import BOOLEAN, DURATION, MEMORY, NUMBER, TEXT, WHOLE, Option, OptionType, exactly_one_of, one_of
from ..row_kinds import ALL, INSERTS, UPSERTS
from ..types import BIGINT, STRING, timestamp_ltz
from .kinds import by_format
from .model import Connector, Sink, Source, always
from .partition_commits import OPTIONS as PARTITION_COMMITS


def unused(key: str, type_: OptionType, default: str | None, meaning: str) -> Option:
    """An option that has an effect in Flink only."""
    return Option(key, type_, default, meaning, executed=False)


PARALLELISM = unused("sink.parallelism", WHOLE, None, "how many tasks write")

EVERYWHERE = (
    Option("connector", TEXT, None, "the connector's name", required=True),
    unused("property-version", WHOLE, "1", "the version of the table's properties"),
    unused(
        "scan.watermark.emit.strategy", one_of("ON-PERIODIC", "ON-EVENT"), "on-periodic", "when watermarks are made"
    ),
    unused("scan.watermark.alignment.group", TEXT, None, "the group of sources that wait for each other"),
    unused("scan.watermark.alignment.max-drift", DURATION, None, "the maximum difference between their watermarks"),
    unused("scan.watermark.alignment.update-interval", DURATION, "1 s", "the interval of updates of the alignment"),
    Option(
        "scan.watermark.idle-timeout",
        DURATION,
        None,
        "a source without rows for this time does not hold back the watermark",
    ),
)
"""Options of every table."""

FILE_SYSTEMS = (
    *("file", "hdfs", "webhdfs", "swebhdfs", "viewfs", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs"),
    *("adl", "oss", "cosn", "obs", "bos", "tos", "o3fs", "ofs", "swift", "dbfs", "alluxio", "jfs", "maprfs", "lakefs"),
)
"""The schemes of paths.  Hadoop knows others, such as ``http`` and ``har``, which Flink does not support as folders."""

DEFAULT_PARTITION = Option(
    "partition.default-name", TEXT, "__DEFAULT_PARTITION__", "the folder of rows whose partition is NULL or ''"
)

FILE_SIZE = Option(
    "sink.rolling-policy.file-size", MEMORY, "128 mb", "a file is finished at this size, in formats of lines"
)
COMPACTS, COMPACTED_SIZE = "auto-compaction", "compaction.file-size"

_FILES = (
    Option("path", TEXT, None, "the folder (to read: or the file)", required=True),
    Option("format", TEXT, None, "the format of the files", required=True),
    Option("source.monitor-interval", DURATION, None, "the interval of looking for new files; reading then never ends"),
    Option("source.path.regex-pattern", TEXT, None, "read the files whose whole path matches this expression"),
    unused("source.report-statistics", one_of("NONE", "ALL"), "ALL", "files tell the planner how many rows they hold"),
    DEFAULT_PARTITION,
    *PARTITION_COMMITS,
    FILE_SIZE,
    unused("sink.rolling-policy.rollover-interval", DURATION, "30 min", "a file is finished after this time"),
    unused(
        "sink.rolling-policy.inactivity-interval", DURATION, "30 min", "a file is finished after this time without rows"
    ),
    unused("sink.rolling-policy.check-interval", DURATION, "1 min", "the interval of these checks"),
    Option("sink.shuffle-by-partition.enable", BOOLEAN, "false", "all rows of a partition are written by one task"),
    PARALLELISM,
    Option(COMPACTS, BOOLEAN, "false", "the rows of a batch are in as few files as there are partitions"),
    Option(COMPACTED_SIZE, MEMORY, None, "a file is finished at this size then; by default at the one without"),
    unused("compaction.parallelism", WHOLE, None, "how many tasks merge files"),
)

_FIELDS = (
    Option("fields.#.kind", exactly_one_of("random", "sequence"), "random", "random values, or a sequence of numbers"),
    Option("fields.#.min", NUMBER, None, "the minimum of random numbers; by default the type's"),
    Option("fields.#.max", NUMBER, None, "the maximum of random numbers; by default the type's"),
    Option("fields.#.max-past", DURATION, "0 ms", "the maximum age of random times"),
    Option("fields.#.start", WHOLE, None, "the first number of a sequence"),
    Option("fields.#.end", WHOLE, None, "the last number of a sequence, which ends reading"),
    Option("fields.#.length", WHOLE, "100", "the length of texts and bytes; collections have 3 elements by default"),
    unused("fields.#.var-len", BOOLEAN, "false", "texts and bytes have random lengths up to that"),
    Option("fields.#.null-rate", NUMBER, "0", "the share of NULLs"),
)

BUNDLED = (
    Connector(
        "filesystem",
        "files below a folder, perhaps in folders of partitions",
        Source(by_format, projection=True, filters=True, limit=True, partitions=True),
        Sink(by_format, overwrites=True),
        (*EVERYWHERE, *_FILES),
        formats=("format",),
        metadata={
            "file.path": STRING.not_null(),
            "file.name": STRING.not_null(),
            "file.size": BIGINT.not_null(),
            "file.modification-time": timestamp_ltz(3, nullable=False),
        },
        has_metadata=True,
        executed=True,
    ),
    Connector(
        "datagen",
        "generated rows",
        Source(always(INSERTS), limit=True),
        None,
        (
            *EVERYWHERE,
            Option("number-of-rows", WHOLE, None, "the number of rows; unlimited by default"),
            Option("rows-per-second", WHOLE, "10000", "the number of rows per second if it is unlimited"),
            unused("scan.parallelism", WHOLE, None, "how many tasks read"),
            *_FIELDS,
        ),
        executed=True,
    ),
    Connector(
        "print",
        "prints rows to standard output, each with its kind",
        None,
        Sink(always(ALL), as_requested=True),
        (
            *EVERYWHERE,
            Option("print-identifier", TEXT, None, "the prefix of each row"),
            Option("standard-error", BOOLEAN, "false", "rows go to standard error"),
            PARALLELISM,
        ),
        executed=True,
    ),
    Connector(
        NAME,
        "rows of a data frame, within the plan; PyFlink's `from_pandas` makes such tables",
        Source(always(INSERTS), bounded=True),
        None,
        (*EVERYWHERE, Option(DATA, TEXT, None, "the rows", required=True)),
        executed=True,
    ),
    Connector(
        ELEMENTS,
        "rows of Python values, within the plan; PyFlink's `from_elements` makes such tables",
        Source(always(INSERTS), bounded=True),
        None,
        (
            *EVERYWHERE,
            unused("batched", BOOLEAN, "true", "whether PyFlink's file has all rows at once"),
            unused(FILE, TEXT, None, "PyFlink's file of the rows; flinkplan reads none"),
            Option(OPTION, ROWS, None, "the rows, until a plan is made"),
        ),
        executed=True,
    ),
    Connector(
        "blackhole",
        "discards rows",
        None,
        Sink(always(UPSERTS), as_requested=True),
        EVERYWHERE,
        executed=True,
    ),
)
