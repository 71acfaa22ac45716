"""The connector of tables in databases, with all its options.

Sources: ``JdbcConnectorOptions`` and ``JdbcDynamicTableFactory`` of flink-connector-jdbc, ``LookupOptions`` of Flink.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..durations import parse_duration
from ..functions import comparison
from ..options import BOOLEAN, DURATION, TEXT, WHOLE, Option, is_true, one_of
from ..record import Record
from ..rex import Call, InputRef, Literal, RexNode
from ..row_kinds import INSERTS, UPSERTS
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, PARALLELISM, unused
from .model import Connector, Options, Problem, Sink, Source, always

OPERATORS: Mapping[str, str] = {
    **{
        operator.internal_name: sql
        for operator, sql in (
            (comparison.EQ, "="),
            (comparison.LT, "<"),
            (comparison.LE, "<="),
            (comparison.GT, ">"),
            (comparison.GE, ">="),
            (comparison.NE, "<>"),
            (comparison.AND, "AND"),
            (comparison.OR, "OR"),
            (comparison.LIKE, "LIKE"),
        )
    },
}
"""The SQL operators of pushed filters, by Flink's internal name; LIKE may be followed by an escape character."""

TESTS: Mapping[str, str] = {
    comparison.IS_NULL.internal_name: "IS NULL",
    comparison.IS_NOT_NULL.internal_name: "IS NOT NULL",
}
"""The SQL predicates of a single column in pushed filters, by Flink's internal name."""

_CONSTANTS = (
    *("CHAR", "VARCHAR", "BOOLEAN", "DECIMAL", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
    *("DATE", "TIME", "TIMESTAMP"),
)


def filters(options: Options, predicate: RexNode) -> bool:
    """Whether the database applies a predicate to all rows, so that the job need not.

    Source: ``JdbcDynamicTableSource.applyFilters``, ``JdbcFilterPushdownPreparedStatementVisitor``.
    """
    is_off = options.get("filter.handling.policy", "ALWAYS").upper() == "NEVER"
    return not is_off and isinstance(predicate, Call) and _is_supported(predicate)


def _is_supported(rex: RexNode) -> bool:
    match rex:
        case InputRef():
            return True
        case Literal():
            return rex.type.root in _CONSTANTS and rex.value is not None
        case Call() if rex.name in OPERATORS:
            return all(map(_is_supported, rex.operands))
        case Call() if rex.name in TESTS:
            return isinstance(rex.operands[0], InputRef)
    return False


_PARTITIONS = tuple(f"scan.partition.{name}" for name in ("column", "num", "lower-bound", "upper-bound"))

_LOOKUPS = (
    Option("lookup.cache", one_of("NONE", "PARTIAL"), "NONE", "which looked-up rows are cached"),
    Option("lookup.max-retries", WHOLE, "3", "the maximum number of retries of a lookup"),
    Option("lookup.partial-cache.max-rows", WHOLE, None, "the maximum number of cached keys"),
    Option("lookup.partial-cache.expire-after-write", DURATION, None, "how long rows are cached"),
    Option(
        "lookup.partial-cache.expire-after-access", DURATION, None, "how long rows are cached after the last lookup"
    ),
    Option("lookup.partial-cache.cache-missing-key", BOOLEAN, "true", "whether keys without rows are cached"),
    Option(
        "lookup.cache.max-rows",
        WHOLE,
        None,
        "the maximum number of cached keys; with the next option, the same as PARTIAL",
    ),
    Option("lookup.cache.ttl", DURATION, None, "how long rows are cached; the older name"),
    Option("lookup.cache.caching-missing-key", BOOLEAN, "true", "whether keys without rows are cached; the older name"),
)


class LookupCache(Record):
    """The cache of a lookup table: the maximum number of keys, and expiry in milliseconds; 0 means no limit."""

    max_rows: int
    after_write: int
    after_access: int
    missing_keys: bool


def lookup_cache(options: Options) -> LookupCache | None:
    """The cache that a table's options configure; ``None`` if they configure none.

    Source: ``JdbcDynamicTableFactory.getLookupCache``, ``DefaultLookupCache.fromConfig``.
    """

    def millis(key: str) -> int:
        return parse_duration(options.get(key, "0"))

    if options.get("lookup.cache", "NONE").upper() == "PARTIAL":
        prefix = "lookup.partial-cache"
        rows, missing = int(options.get(f"{prefix}.max-rows", "0")), options.get(f"{prefix}.cache-missing-key", "true")
        write, access = millis(f"{prefix}.expire-after-write"), millis(f"{prefix}.expire-after-access")
        return LookupCache(rows, write, access, is_true(missing))
    rows, write = int(options.get("lookup.cache.max-rows", "0")), millis("lookup.cache.ttl")
    missing = options.get("lookup.cache.caching-missing-key", "true")
    return LookupCache(rows, write, 0, is_true(missing)) if rows > 0 and write > 0 else None


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    yield from _all_or_none(options, ("username", "password"))
    yield from _all_or_none(options, _PARTITIONS)
    yield from _all_or_none(options, ("lookup.cache.max-rows", "lookup.cache.ttl"))
    lower, upper = (options.get(f"scan.partition.{end}-bound", "") for end in ("lower", "upper"))
    if lower.isdigit() and upper.isdigit() and int(lower) > int(upper):
        yield Problem("scan.partition.lower-bound", f"{lower} is above 'scan.partition.upper-bound', {upper}")


def _all_or_none(options: Options, keys: tuple[str, ...]) -> Iterator[Problem]:
    missing = [key for key in keys if key not in options]
    if missing and len(missing) < len(keys):
        present = next(key for key in keys if key in options)
        yield Problem(present, f"'{present}' needs the option '{missing[0]}'", "set all of them, or none")


JDBC = Connector(
    "jdbc",
    "tables of a database",
    Source(always(INSERTS), projection=True, filters=filters, limit=True, bounded=True, lookups=True),
    Sink(always(UPSERTS)),
    (
        *EVERYWHERE,
        Option(
            "url", TEXT, None, "the database: jdbc:derby:… or jdbc:postgresql:…; others are compiled", required=True
        ),
        Option("table-name", TEXT, None, "the table", required=True),
        Option("driver", TEXT, None, "the class of the driver; by default that of the URL"),
        Option("username", TEXT, None, "the name of the user"),
        Option("password", TEXT, None, "the password, as a variable"),
        unused("compatible-mode", TEXT, None, "the mode of a database with several dialects"),
        unused("connection.max-retry-timeout", DURATION, "60 s", "the timeout of a connection"),
        Option("scan.partition.column", TEXT, None, "a numeric column by which several tasks read in parallel"),
        Option("scan.partition.num", WHOLE, None, "the number of partitions that are read"),
        Option("scan.partition.lower-bound", WHOLE, None, "the smallest value of the partition column"),
        Option("scan.partition.upper-bound", WHOLE, None, "the largest value of the partition column"),
        Option("scan.fetch-size", WHOLE, "0", "how many rows are fetched at once; 0 means the driver's default"),
        Option("scan.auto-commit", BOOLEAN, "true", "whether rows are read outside a transaction"),
        unused("scan.parallelism", WHOLE, None, "how many tasks read"),
        Option(
            "filter.handling.policy", one_of("ALWAYS", "INDEX_ONLY", "NEVER"), "ALWAYS", "which filters are pushed down"
        ),
        *_LOOKUPS,
        Option("sink.buffer-flush.max-rows", WHOLE, "100", "the maximum number of rows in a write"),
        Option("sink.buffer-flush.interval", DURATION, "1 s", "the maximum time that rows wait for a write"),
        Option("sink.max-retries", WHOLE, "3", "the maximum number of retries of a write"),
        PARALLELISM,
    ),
    problems=_problems,
    secrets=("password",),
    executed=True,
)
