"""The connector of tables of Delta Lake, with all its options.

Source: the documentation of the Flink/Delta connector (``DeltaCatalog``, ``DeltaFlinkJobSpecificOptions`` and
``DeltaSourceOptions``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FlinkplanError
from ..options import BOOLEAN, POSITIVE, TEXT, WHOLE, Option, OptionType, exactly_one_of, is_true
from ..row_kinds import ALL, INSERTS, Kinds
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, unused
from .kinds import upserts_by_key
from .model import Connector, Options, Problem, Sink, Source

PATH, MODE, VERSION, TIME, PROPERTY = "table-path", "mode", "versionAsOf", "timestampAsOf", "delta.*"
STARTING_VERSION, STARTING_TIME, CHECK_INTERVAL = "startingVersion", "startingTimestamp", "updateCheckIntervalMillis"
IGNORE_DELETES, IGNORE_CHANGES, CHANGE_FEED = "ignoreDeletes", "ignoreChanges", "readChangeFeed"
STREAMING, LATEST = "streaming", "latest"
_OF_STREAMS = (STARTING_VERSION, STARTING_TIME, CHECK_INTERVAL, IGNORE_DELETES, IGNORE_CHANGES, CHANGE_FEED)
_OF_BATCHES = (VERSION, TIME)


def is_streaming(options: Options) -> bool:
    """Whether new versions are read, too."""
    return options.get(MODE, "").lower() == STREAMING


def reads_changes(options: Options) -> bool:
    """Whether a stream has all changes of the table, from its change data feed."""
    return is_streaming(options) and is_true(options.get(CHANGE_FEED))


def _source(options: Options, keyed: bool) -> Kinds:
    return ALL if reads_changes(options) else INSERTS


def _read_version(text: str) -> None:
    if text.lower() != LATEST and not text.isdecimal():
        raise FlinkplanError(f"it must be a whole number from 0 on, or {LATEST}")


_START = OptionType(f"whole number or {LATEST}", _read_version)


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    if as_sink:
        return
    if VERSION in options and TIME in options:
        yield Problem(TIME, f"either '{VERSION}' or '{TIME}' names the snapshot", "leave one of them out")
    for key in (IGNORE_DELETES, IGNORE_CHANGES):
        if reads_changes(options) and is_true(options.get(key)):
            yield Problem(key, f"'{CHANGE_FEED}' has all changes", f"leave it out, or '{CHANGE_FEED}'")
    if STARTING_VERSION in options and STARTING_TIME in options:
        yield Problem(
            STARTING_TIME, f"either '{STARTING_VERSION}' or '{STARTING_TIME}' begins", "leave one of them out"
        )
    streams = is_streaming(options)
    for key in _OF_BATCHES if streams else _OF_STREAMS:
        if key in options:
            mode = STREAMING if streams else "batch"
            yield Problem(key, f"it has no place where '{MODE}' is '{mode}'", f"set '{MODE}', or leave it out")


DELTA = Connector(
    "delta",
    "tables of Delta Lake",
    Source(_source),
    Sink(upserts_by_key, as_requested=True, overwrites=True),
    (
        *EVERYWHERE,
        Option(PATH, TEXT, None, "the directory of the table, which a sink creates", required=True),
        Option(
            MODE, exactly_one_of("batch", STREAMING), "batch", "whether reading ends, or new versions are read, too"
        ),
        Option(VERSION, WHOLE, None, "read this version of the table; the latest by default"),
        Option(TIME, TEXT, None, "read the version of this time, as in 2024-05-01T12:00:00Z"),
        Option(STARTING_VERSION, _START, None, "a stream reads the changes of this version, and those behind it"),
        Option(STARTING_TIME, TEXT, None, "a stream reads the changes of the versions from this time on"),
        Option(CHECK_INTERVAL, POSITIVE, "5000", "the interval of looking for new versions"),
        unused("updateCheckDelayMillis", WHOLE, "1000", "the delay of the first look"),
        Option(IGNORE_DELETES, BOOLEAN, "false", "a stream goes on over versions that delete rows"),
        Option(IGNORE_CHANGES, BOOLEAN, "false", "a stream goes on over versions that change rows"),
        Option(
            CHANGE_FEED, BOOLEAN, "false", "a stream reads all changes; the table keeps them, which Flink does not read"
        ),
        unused("parquetBatchSize", WHOLE, "2048", "how many rows are read at once"),
        Option(PROPERTY, TEXT, None, "a property of the table, which it has from its creation on"),
    ),
    problems=_problems,
    executed=True,
)


def default_of(key: str) -> str:
    """The default of an option that has one."""
    default = next(option for option in DELTA.options or () if option.key == key).default
    assert default is not None
    return default
