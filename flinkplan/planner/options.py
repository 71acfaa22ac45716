"""What Flink knows of table options and of the configuration, to say early what it would refuse.

Source: the ``requiredOptions`` and ``optionalOptions`` of Flink's factories, ``FactoryUtil``, and the option classes of
``flink-table-api-java``.  Connectors and formats that Flink does not bring along are known by name only: their options
are left to them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.durations import parse_duration
from ..plan.errors import FlinkplanError
from ..plan.printable import shortened
from ..plan.record import Record
from .binder.context import TableUse
from .binder.errors import BindError
from .catalog.catalog import did_you_mean
from .format_options import FOREIGN_FORMATS, FORMATS, check_format
from .option_values import Check, boolean, duration, one_of, time_zone, whole
from .sql.source import NO_SPAN, Span


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class Connector(Record):
    """What a connector can be, and its options; ``fields.#.min`` takes the name of a column for ``#``."""

    source: bool
    sink: bool
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    formats: bool = False
    metadata: tuple[str, ...] = ()


_EVERYWHERE = _words("""
    connector property-version scan.watermark.emit.strategy scan.watermark.alignment.group
    scan.watermark.alignment.max-drift scan.watermark.alignment.update-interval scan.watermark.idle-timeout
""")

CONNECTORS: dict[str, Connector] = {
    "filesystem": Connector(
        source=True,
        sink=True,
        required=("path", "format"),
        optional=_words("""
            auto-compaction compaction.file-size compaction.parallelism partition.default-name
            partition.time-extractor.class partition.time-extractor.kind partition.time-extractor.timestamp-formatter
            partition.time-extractor.timestamp-pattern sink.parallelism sink.partition-commit.delay
            sink.partition-commit.policy.class sink.partition-commit.policy.class.parameters
            sink.partition-commit.policy.kind sink.partition-commit.success-file.name sink.partition-commit.trigger
            sink.partition-commit.watermark-time-zone sink.rolling-policy.check-interval
            sink.rolling-policy.file-size sink.rolling-policy.inactivity-interval
            sink.rolling-policy.rollover-interval sink.shuffle-by-partition.enable source.monitor-interval
            source.path.regex-pattern source.report-statistics
        """),
        formats=True,
        metadata=("file.path", "file.name", "file.size", "file.modification-time"),
    ),
    "datagen": Connector(
        source=True,
        sink=False,
        optional=_words("""
            number-of-rows rows-per-second scan.parallelism fields.#.kind fields.#.min fields.#.max fields.#.max-past
            fields.#.start fields.#.end fields.#.length fields.#.var-len fields.#.null-rate
        """),
    ),
    "print": Connector(source=False, sink=True, optional=_words("print-identifier standard-error sink.parallelism")),
    "blackhole": Connector(source=False, sink=True),
}
"""Flink's own connectors."""

_FOREIGN_CONNECTORS = _words("""
    kafka upsert-kafka jdbc elasticsearch-6 elasticsearch-7 elasticsearch-8 opensearch opensearch-2 hbase-1.4 hbase-2.2
    mongodb kinesis firehose dynamodb sqs rabbitmq pulsar cassandra hive iceberg paimon hudi delta fluss starrocks doris
    clickhouse mysql-cdc postgres-cdc oracle-cdc sqlserver-cdc mongodb-cdc db2-cdc tidb-cdc oceanbase-cdc vitess-cdc
    faker redis influxdb http rest-lookup prometheus cloudwatch socket values python-arrow-source python-input-format
    legacy-csv
""")


def check_use(use: TableUse) -> None:
    """Raise :class:`BindError` for options that Flink refuses where the table is read or written."""
    name = use.table.identifier.name
    connector = use.options.get("connector")
    if connector is None:
        raise BindError(f"the table '{name}' has no option 'connector'", use.span, "add it to WITH: 'connector' = '…'")
    known = CONNECTORS.get(connector)
    if known is None:
        if connector in _FOREIGN_CONNECTORS:
            return
        choices = (*CONNECTORS, *_FOREIGN_CONNECTORS)
        raise use.wrong("connector", f"there is no connector '{connector}'", did_you_mean(connector, choices))
    if not (known.sink if use.as_sink else known.source):
        able, unable = ("read", "written to") if use.as_sink else ("written to", "read")
        raise BindError(f"'{name}' cannot be {unable}: a table of '{connector}' is only {able}", use.span)
    _check_options(use, known)
    for option in known.required:
        if option not in use.options:
            raise BindError(
                f"the table '{name}' has no option '{option}'", use.span, f"add it to WITH: '{option}' = '…'"
            )
    if known.formats:
        check_format(use)
    _check_metadata(use, known)


def _check_options(use: TableUse, connector: Connector) -> None:
    columns = [c.name for c in use.table.resolved.schema.columns if c.is_physical]
    names = [*_EVERYWHERE, *connector.required]
    for option in connector.optional:
        names += [option.replace("#", column) for column in columns] if "#" in option else [option]
    prefixes = tuple(f"{f}." for f in (*FORMATS, *FOREIGN_FORMATS)) if connector.formats else ()
    for option in use.options:
        if option not in names and not option.startswith(prefixes):
            message = f"the connector '{use.options['connector']}' has no option '{option}'"
            raise use.wrong(option, message, did_you_mean(option, names))


def _check_metadata(use: TableUse, connector: Connector) -> None:
    """What a metadata column can read is the connector's: files offer nothing of their formats."""
    for column in use.table.resolved.schema.columns:
        if column.kind != "METADATA" or (use.as_sink and column.is_virtual):
            continue
        key = column.metadata_key or column.name
        if use.as_sink:
            raise BindError(
                f"the metadata column '{column.name}' cannot be written to a table of '{use.options['connector']}'",
                use.span,
                "declare it VIRTUAL, which leaves it out of what is written",
            )
        if key not in connector.metadata:
            raise BindError(
                f"the connector '{use.options['connector']}' has no metadata '{key}' for the column '{column.name}'",
                use.span,
                did_you_mean(key, connector.metadata) or f"there is {', '.join(connector.metadata) or 'none'}",
            )


# ---------------------------------------------------------------- configuration


SETTINGS: dict[str, Check] = {
    "table.local-time-zone": time_zone,
    "table.dynamic-table-options.enabled": boolean,
    "table.plan.compile.catalog-objects": one_of("ALL", "SCHEMA", "IDENTIFIER"),
    "table.plan.restore.catalog-objects": one_of("ALL", "ALL_ENFORCED", "IDENTIFIER"),
    "table.plan.force-recompile": boolean,
    "table.exec.state.ttl": duration,
    "table.exec.source.idle-timeout": duration,
    "table.exec.source.cdc-events-duplicate": boolean,
    "table.exec.sink.not-null-enforcer": one_of("ERROR", "DROP"),
    "table.exec.sink.type-length-enforcer": one_of("IGNORE", "TRIM_PAD", "ERROR"),
    "table.exec.sink.nested-constraint-enforcer": one_of("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
    "table.exec.sink.upsert-materialize": one_of("NONE", "AUTO", "FORCE"),
    "table.exec.sink.keyed-shuffle": one_of("NONE", "AUTO", "FORCE"),
    "table.exec.sink.rowtime-inserter": one_of("ENABLED", "DISABLED"),
    "table.exec.sink.require-on-conflict": boolean,
    "table.exec.mini-batch.enabled": boolean,
    "table.exec.mini-batch.allow-latency": duration,
    "table.exec.mini-batch.size": whole,
    "table.exec.legacy-cast-behaviour": one_of("ENABLED", "DISABLED"),
    "table.exec.rank.topn-cache-size": whole,
    "table.exec.deduplicate.insert-update-after-sensitive-enabled": boolean,
    "table.exec.deduplicate.mini-batch.compact-changes-enabled": boolean,
    "table.exec.interval-join.min-cleanup-interval": duration,
    "table.exec.async-state.enabled": boolean,
    "table.exec.emit.early-fire.enabled": boolean,
    "table.exec.emit.early-fire.delay": duration,
    "table.exec.emit.late-fire.enabled": boolean,
    "table.exec.emit.late-fire.delay": duration,
    "table.exec.emit.allow-lateness": duration,
    "table.optimizer.agg-phase-strategy": one_of("AUTO", "ONE_PHASE", "TWO_PHASE"),
    "table.optimizer.distinct-agg.split.enabled": boolean,
    "table.optimizer.distinct-agg.split.bucket-num": whole,
    "table.optimizer.reuse-sub-plan-enabled": boolean,
    "table.optimizer.reuse-source-enabled": boolean,
    "table.optimizer.reuse-sink-enabled": boolean,
    "table.optimizer.join-reorder-enabled": boolean,
    "table.optimizer.multiple-input-enabled": boolean,
    "table.optimizer.incremental-agg-enabled": boolean,
    "table.optimizer.multi-join.enabled": boolean,
    "table.optimizer.non-deterministic-update.strategy": one_of("TRY_RESOLVE", "IGNORE"),
    "table.optimizer.delta-join.strategy": one_of("AUTO", "FORCE", "NONE"),
}
"""The settings that a plan can depend on, each with a check of its values.  Others are not judged."""


def check_setting(key: str, value: str, span: Span = NO_SPAN) -> None:
    """Raise :class:`BindError` for a value that the setting cannot have."""
    check = SETTINGS.get(key)
    if check is None:
        return
    try:
        check(value)
    except FlinkplanError as error:
        raise BindError(f"'{shortened(value)}' is no value of {key}: {error.message}", span, error.hint) from None


def check_settings(config: Mapping[str, str]) -> None:
    """Raise :class:`BindError` for a value that a setting cannot have, and for settings that do not go together."""
    for key, value in config.items():
        check_setting(key, value)
    if config.get("table.exec.mini-batch.enabled", "").lower() == "true":
        latency = config.get("table.exec.mini-batch.allow-latency", "0")
        if not parse_duration(latency):
            raise BindError(
                "table.exec.mini-batch.enabled needs a latency",
                NO_SPAN,
                "SET 'table.exec.mini-batch.allow-latency' = '1 s'",
            )
