"""The connector of tables of Delta Lake, with all its options.

Source: the documentation of the Flink/Delta connector (``DeltaCatalog``, ``DeltaFlinkJobSpecificOptions`` and
``DeltaSourceOptions``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..options import BOOLEAN, TEXT, WHOLE, Option, exactly_one_of
from ..row_kinds import INSERTS
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, unused
from .kinds import upserts_by_key
from .model import Connector, Options, Problem, Sink, Source, always

PATH, MODE, VERSION, TIME, PROPERTY = "table-path", "mode", "versionAsOf", "timestampAsOf", "delta.*"

STREAMED = "new versions of Delta tables are not read here: a snapshot is, which ends"


def _streamed(key: str, meaning: str) -> Option:
    return Option(key, TEXT, None, meaning, refused=STREAMED)


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    if as_sink:
        return
    if VERSION in options and TIME in options:
        yield Problem(TIME, f"either '{VERSION}' or '{TIME}' names the snapshot", "leave one of them out")


DELTA = Connector(
    "delta",
    "tables of Delta Lake",
    Source(always(INSERTS)),
    Sink(upserts_by_key, as_requested=True),
    (
        *EVERYWHERE,
        Option(PATH, TEXT, None, "the directory of the table, which a sink creates", required=True),
        Option(MODE, exactly_one_of("batch", "streaming"), "batch", "whether reading ends; streaming is refused"),
        Option(VERSION, WHOLE, None, "read this version of the table; the latest by default"),
        Option(TIME, TEXT, None, "read the version of this time, as in 2024-05-01T12:00:00Z"),
        _streamed("startingVersion", "the version that a stream begins with"),
        _streamed("startingTimestamp", "the time that a stream begins with"),
        unused("updateCheckIntervalMillis", WHOLE, "5000", "the interval of looking for new versions"),
        unused("updateCheckDelayMillis", WHOLE, "1000", "the delay of the first look"),
        unused("ignoreDeletes", BOOLEAN, "false", "a stream goes on over versions that delete rows"),
        unused("ignoreChanges", BOOLEAN, "false", "a stream goes on over versions that change rows"),
        unused("parquetBatchSize", WHOLE, "2048", "how many rows are read at once"),
        Option(PROPERTY, TEXT, None, "a property of the table, which it has from its creation on"),
    ),
    problems=_problems,
    executed=True,
)
