"""What Flink knows of table options and of the configuration, to say early what it would refuse.

Source: the ``requiredOptions`` and ``optionalOptions`` of Flink's factories, ``FactoryUtil``, and the option classes of
``flink-table-api-java``.  Connectors and formats that Flink does not bring along are known by name only: their options
are left to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..plan.durations import parse_duration
from ..plan.errors import FlinkplanError
from .binder.context import TableUse
from .binder.errors import BindError
from .catalog import did_you_mean
from .sql.source import NO_SPAN, Span


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True, slots=True)
class Connector:
    """What a connector can be, and its options; ``fields.#.min`` takes the name of a column for ``#``."""

    source: bool
    sink: bool
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    formats: bool = False


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

_JSON = _words("""
    ignore-parse-errors map-null-key.mode map-null-key.literal timestamp-format.standard encode.ignore-null-fields
    encode.decimal-as-plain-number
""")
FORMATS: dict[str, tuple[str, ...]] = {
    "json": (*_JSON, "fail-on-missing-field", "decode.json-parser.enabled"),
    "csv": _words("""
        field-delimiter disable-quote-character quote-character allow-comments ignore-parse-errors
        array-element-delimiter escape-character null-literal empty-string-as-null fail-on-missing-columns
        allow-trailing-comma trim-spaces ignore-trailing-unmappable write-bigdecimal-in-scientific-notation
    """),
    "debezium-json": (*_JSON, "schema-include"),
    "canal-json": (*_JSON, "database.include", "table.include"),
    "maxwell-json": _JSON,
    "ogg-json": _JSON,
    "raw": ("charset", "endianness"),
}
"""The formats that Flink brings along, and their options."""

_FOREIGN_FORMATS = _words("""
    parquet orc avro avro-confluent debezium-avro-confluent protobuf json-confluent protobuf-confluent avro-glue
    json-glue
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
        raise _wrong(use, "connector", f"there is no connector '{connector}'", did_you_mean(connector, choices))
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
        _check_format(use)


def _check_options(use: TableUse, connector: Connector) -> None:
    columns = [c.name for c in use.table.resolved.schema.columns if c.is_physical]
    names = [*_EVERYWHERE, *connector.required]
    for option in connector.optional:
        names += [option.replace("#", column) for column in columns] if "#" in option else [option]
    prefixes = tuple(f"{f}." for f in (*FORMATS, *_FOREIGN_FORMATS)) if connector.formats else ()
    for option in use.options:
        if option not in names and not option.startswith(prefixes):
            message = f"the connector '{use.options['connector']}' has no option '{option}'"
            raise _wrong(use, option, message, did_you_mean(option, names))


def _check_format(use: TableUse) -> None:
    name = use.options["format"]
    if name in _FOREIGN_FORMATS:
        return
    if name not in FORMATS:
        choices = (*FORMATS, *_FOREIGN_FORMATS)
        raise _wrong(use, "format", f"there is no format '{name}'", did_you_mean(name, choices))
    known = [f"{name}.{option}" for option in FORMATS[name]]
    for option in use.options:
        if option.startswith(f"{name}.") and option not in known:
            raise _wrong(use, option, f"the format '{name}' has no option '{option}'", did_you_mean(option, known))


def _wrong(use: TableUse, option: str, message: str, hint: str | None) -> BindError:
    """The error at the option, or at the table's name where the option is written in a hint or nowhere."""
    own = option not in use.hints
    return BindError(message, use.table.option_spans.get(option, use.span) if own else use.span, hint)


# ---------------------------------------------------------------- configuration


def _boolean(value: str) -> None:
    if value.lower() not in ("true", "false"):
        raise FlinkplanError("it is true or false")


def _whole(value: str) -> None:
    if not re.fullmatch(r"[+-]?\d+", value.strip()):
        raise FlinkplanError("it is a whole number")


def _duration(value: str) -> None:
    parse_duration(value)


def _one_of(*values: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        if value.upper() not in values:
            raise FlinkplanError(f"it is {', '.join(values[:-1])} or {values[-1]}")

    return check


def _time_zone(value: str) -> None:
    from zoneinfo import ZoneInfo

    if value == "default" or re.fullmatch(r"(UTC|GMT)([+-]\d{1,2}(:\d\d)?)?", value):
        return
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError):
        raise FlinkplanError("it is a time zone such as America/Los_Angeles, GMT+03:00 or UTC") from None


SETTINGS: dict[str, Callable[[str], None]] = {
    "table.local-time-zone": _time_zone,
    "table.dynamic-table-options.enabled": _boolean,
    "table.plan.compile.catalog-objects": _one_of("ALL", "SCHEMA", "IDENTIFIER"),
    "table.plan.restore.catalog-objects": _one_of("ALL", "ALL_ENFORCED", "IDENTIFIER"),
    "table.plan.force-recompile": _boolean,
    "table.exec.state.ttl": _duration,
    "table.exec.source.idle-timeout": _duration,
    "table.exec.source.cdc-events-duplicate": _boolean,
    "table.exec.sink.not-null-enforcer": _one_of("ERROR", "DROP"),
    "table.exec.sink.type-length-enforcer": _one_of("IGNORE", "TRIM_PAD", "ERROR"),
    "table.exec.sink.nested-constraint-enforcer": _one_of("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
    "table.exec.sink.upsert-materialize": _one_of("NONE", "AUTO", "FORCE"),
    "table.exec.sink.keyed-shuffle": _one_of("NONE", "AUTO", "FORCE"),
    "table.exec.sink.rowtime-inserter": _one_of("ENABLED", "DISABLED"),
    "table.exec.sink.require-on-conflict": _boolean,
    "table.exec.mini-batch.enabled": _boolean,
    "table.exec.mini-batch.allow-latency": _duration,
    "table.exec.mini-batch.size": _whole,
    "table.exec.legacy-cast-behaviour": _one_of("ENABLED", "DISABLED"),
    "table.exec.rank.topn-cache-size": _whole,
    "table.exec.deduplicate.insert-update-after-sensitive-enabled": _boolean,
    "table.exec.deduplicate.mini-batch.compact-changes-enabled": _boolean,
    "table.exec.interval-join.min-cleanup-interval": _duration,
    "table.exec.async-state.enabled": _boolean,
    "table.exec.emit.early-fire.enabled": _boolean,
    "table.exec.emit.early-fire.delay": _duration,
    "table.exec.emit.late-fire.enabled": _boolean,
    "table.exec.emit.late-fire.delay": _duration,
    "table.exec.emit.allow-lateness": _duration,
    "table.optimizer.agg-phase-strategy": _one_of("AUTO", "ONE_PHASE", "TWO_PHASE"),
    "table.optimizer.distinct-agg.split.enabled": _boolean,
    "table.optimizer.distinct-agg.split.bucket-num": _whole,
    "table.optimizer.reuse-sub-plan-enabled": _boolean,
    "table.optimizer.reuse-source-enabled": _boolean,
    "table.optimizer.reuse-sink-enabled": _boolean,
    "table.optimizer.join-reorder-enabled": _boolean,
    "table.optimizer.multiple-input-enabled": _boolean,
    "table.optimizer.incremental-agg-enabled": _boolean,
    "table.optimizer.multi-join.enabled": _boolean,
    "table.optimizer.non-deterministic-update.strategy": _one_of("TRY_RESOLVE", "IGNORE"),
    "table.optimizer.delta-join.strategy": _one_of("AUTO", "FORCE", "NONE"),
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
        raise BindError(f"'{value}' is no value of {key}: {error.message}", span, error.hint) from None


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
