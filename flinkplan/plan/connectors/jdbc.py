"""The connector of tables in databases, with all its options.

Sources: ``JdbcConnectorOptions`` and ``JdbcDynamicTableFactory`` of flink-connector-jdbc, ``LookupOptions`` of Flink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..options import BOOLEAN, DURATION, TEXT, WHOLE, Option, one_of
from ..row_kinds import INSERTS, UPSERTS
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, PARALLELISM, unused
from .model import Connector, Options, Problem, Sink, Source, always

DRIVERS: Mapping[str, tuple[str, ...]] = {
    "jdbc:derby:": ("org.apache.derby.jdbc.EmbeddedDriver", "org.apache.derby.iapi.jdbc.AutoloadedDriver"),
    "jdbc:postgresql:": ("org.postgresql.Driver",),
}
"""The databases whose tables are executed here, by how their URLs begin, and what their drivers are called."""

_PARTITIONS = tuple(f"scan.partition.{name}" for name in ("column", "num", "lower-bound", "upper-bound"))

_LOOKUPS = (
    unused("lookup.cache", one_of("NONE", "PARTIAL"), "NONE", "which rows are kept that were looked up"),
    unused("lookup.max-retries", WHOLE, "3", "how often a lookup is tried again"),
    unused("lookup.partial-cache.max-rows", WHOLE, None, "so many rows"),
    unused("lookup.partial-cache.expire-after-write", DURATION, None, "for so long"),
    unused("lookup.partial-cache.expire-after-access", DURATION, None, "for so long since they were last asked for"),
    unused("lookup.partial-cache.cache-missing-key", BOOLEAN, "true", "keys without rows, too"),
    unused("lookup.cache.max-rows", WHOLE, None, "the same by its older name"),
    unused("lookup.cache.ttl", DURATION, None, "the same by its older name"),
    unused("lookup.cache.caching-missing-key", BOOLEAN, "true", "the same by its older name"),
)


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    yield from _together(options, ("username", "password"))
    yield from _together(options, _PARTITIONS)
    lower, upper = (options.get(f"scan.partition.{end}-bound", "") for end in ("lower", "upper"))
    if lower.isdigit() and upper.isdigit() and int(lower) > int(upper):
        yield Problem("scan.partition.lower-bound", f"{lower} is above 'scan.partition.upper-bound', {upper}")


def _together(options: Options, keys: tuple[str, ...]) -> Iterator[Problem]:
    missing = [key for key in keys if key not in options]
    if missing and len(missing) < len(keys):
        given = next(key for key in keys if key in options)
        yield Problem(given, f"'{given}' needs the option '{missing[0]}'", "set all of them, or none")


JDBC = Connector(
    "jdbc",
    "tables of a database",
    Source(always(INSERTS), projection=True, limit=True, bounded=True, lookups=True),
    Sink(always(UPSERTS)),
    (
        *EVERYWHERE,
        Option(
            "url", TEXT, None, "the database: jdbc:derby:… or jdbc:postgresql:…; others are compiled", required=True
        ),
        Option("table-name", TEXT, None, "the table", required=True),
        Option("driver", TEXT, None, "the class of the driver, which the URL tells"),
        Option("username", TEXT, None, "who asks"),
        Option("password", TEXT, None, "a variable"),
        unused("compatible-mode", TEXT, None, "what a database of several dialects speaks"),
        unused("connection.max-retry-timeout", DURATION, "60 s", "how long a connection is waited for"),
        Option("scan.partition.column", TEXT, None, "a column of numbers by which several tasks read"),
        Option("scan.partition.num", WHOLE, None, "how many parts are read"),
        Option("scan.partition.lower-bound", WHOLE, None, "the least number that is read"),
        Option("scan.partition.upper-bound", WHOLE, None, "the greatest"),
        Option("scan.fetch-size", WHOLE, "0", "how many rows are fetched at once; 0: as the driver does"),
        Option("scan.auto-commit", BOOLEAN, "true", "whether rows are read outside a transaction"),
        unused("scan.parallelism", WHOLE, None, "how many tasks read"),
        unused("filter.handling.policy", one_of("ALWAYS", "INDEX_ONLY", "NEVER"), "ALWAYS", "which filters it takes"),
        *_LOOKUPS,
        Option("sink.buffer-flush.max-rows", WHOLE, "100", "how many rows are written at once"),
        unused("sink.buffer-flush.interval", DURATION, "1 s", "and after how long"),
        Option("sink.max-retries", WHOLE, "3", "how often writing is tried again"),
        PARALLELISM,
    ),
    problems=_problems,
    secrets=("password",),
    executed=True,
)
