"""The connectors of Kafka, with all their options.

Sources: ``KafkaConnectorOptions``, ``KafkaConnectorOptionsUtil``, ``KafkaDynamicTableFactory``,
``UpsertKafkaDynamicTableFactory`` and ``KafkaDynamicSource`` of flink-connector-kafka 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..errors import FlinkplanError
from ..options import BOOLEAN, DURATION, TEXT, WHOLE, Option, OptionType, exactly_one_of
from ..row_kinds import UPSERTS
from ..specs import ResolvedSchema
from ..types import BIGINT, BYTES, INT, STRING, LogicalType, timestamp_ltz
from .bundled import EVERYWHERE, PARALLELISM, unused
from .formats import FORMATS
from .kafka_properties import PROPERTIES
from .kinds import by_format
from .model import FORMAT, KEY_FORMAT, MESSAGE_FORMATS, VALUE_FORMAT, Connector, Options, Problem, Sink, Source, always

_OFFSETS = re.compile(r"partition:(\d{1,9}),offset:(\d{1,18})")


def parse_offsets(text: str) -> Mapping[int, int]:
    """Parse a text such as ``partition:0,offset:42;partition:1,offset:300`` into offsets by partition.

    Raises :class:`FlinkplanError`.
    """
    pairs = [_OFFSETS.fullmatch(pair) for pair in text.split(";")]
    offsets = {int(pair[1]): int(pair[2]) for pair in pairs if pair}
    if not all(pairs):
        raise FlinkplanError("it is a list such as partition:0,offset:42;partition:1,offset:300")
    return offsets


def parse_names(text: str) -> list[str]:
    """Parse a list of names such as ``a;b``."""
    return [name for name in text.split(";") if name]


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise FlinkplanError(f"it is no regular expression: {error}") from None
    return text


_POSITIONS = OptionType("offsets by partition", parse_offsets)
_NAMES = OptionType("names between semicolons", parse_names)
_PATTERN = OptionType("regular expression", _pattern)
_INCLUDED = exactly_one_of("ALL", "EXCEPT_KEY")
_GUARANTEES = exactly_one_of("at-least-once", "none", "exactly-once")

_TOPICS = (
    Option("topic", _NAMES, None, "the topic; to read, also several"),
    Option("topic-pattern", _PATTERN, None, "read the topics whose whole names match this expression"),
    *PROPERTIES,
)
_MESSAGES = (
    Option("key.fields-prefix", TEXT, None, "a prefix of the names of key columns in the table, not in messages"),
    Option("value.fields-include", _INCLUDED, "ALL", "whether the value also contains the key columns"),
)
_ENDS = (
    Option(
        "scan.bounded.mode",
        exactly_one_of("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
        "unbounded",
        "where reading ends",
    ),
    Option("scan.bounded.specific-offsets", _POSITIONS, None, "the offsets of the mode specific-offsets"),
    Option("scan.bounded.timestamp-millis", WHOLE, None, "the time of the mode timestamp"),
)
_SCAN_PARALLELISM = unused("scan.parallelism", WHOLE, None, "how many tasks read")
_DELIVERY = (
    Option(
        "sink.delivery-guarantee", _GUARANTEES, "at-least-once", "the delivery guarantee; exactly-once is refused here"
    ),
    unused("sink.transactional-id-prefix", TEXT, None, "the prefix of the ids of transactions"),
    unused(
        "sink.transaction-naming-strategy",
        exactly_one_of("DEFAULT", "INCREMENTING", "POOLING"),
        "DEFAULT",
        "how the ids of transactions continue",
    ),
    PARALLELISM,
)

_SECRETS = tuple(
    f"properties.{name}"
    for name in (
        "sasl.password",
        "sasl.jaas.config",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.client.credentials.client.secret",
        "ssl.key.password",
        "ssl.key.pem",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.truststore.password",
    )
)

METADATA: Mapping[str, LogicalType] = {
    "topic": STRING.not_null(),
    "partition": INT.not_null(),
    "headers": LogicalType("MAP", False, children=(STRING.not_null(), BYTES.not_null())),
    "leader-epoch": INT,
    "offset": BIGINT.not_null(),
    "timestamp": timestamp_ltz(3, nullable=False),
    "timestamp-type": STRING.not_null(),
}
"""The types of a message's metadata, by the keys of metadata columns."""


def is_bounded(options: Options) -> bool:
    """Whether reading ends."""
    return options.get("scan.bounded.mode", "unbounded") != "unbounded"


def key_fields(options: Options, schema: ResolvedSchema) -> tuple[str, ...]:
    """The names of the columns in message keys; for ``upsert-kafka`` those of the table's primary key."""
    if options.get("connector") == "upsert-kafka":
        return schema.primary_key.columns if schema.primary_key else ()
    return tuple(parse_names(options.get("key.fields", "")))


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    yield from _topic_problems(options)
    if FORMAT not in options and VALUE_FORMAT not in options:
        yield Problem("", "the table has no option 'format'", "add it to WITH: 'format' = 'json'")
    if not as_sink:
        yield from _position_problems(options)
    elif options.get("sink.partitioner") == "round-robin" and "key.fields" in options:
        yield Problem("sink.partitioner", "messages with keys are not dealt out round-robin", "leave it out")
    yield from _key_problems(options, schema)


def _topic_problems(options: Options) -> Iterator[Problem]:
    if "topic" not in options and "topic-pattern" not in options:
        yield Problem("", "the table has neither 'topic' nor 'topic-pattern'", "add it to WITH: 'topic' = '…'")
    if "topic" in options and "topic-pattern" in options:
        yield Problem("topic-pattern", "'topic' and 'topic-pattern' do not go together", "leave one of them out")


_REQUIRED_BY_MODE = {"timestamp": "timestamp-millis", "specific-offsets": "specific-offsets"}
"""The options that the modes for the start and end of reading require."""


def _position_problems(options: Options) -> Iterator[Problem]:
    for end in ("startup", "bounded"):
        mode = options.get(f"scan.{end}.mode", "")
        needed = f"scan.{end}.{_REQUIRED_BY_MODE.get(mode)}"
        if mode in _REQUIRED_BY_MODE and needed not in options:
            yield Problem(f"scan.{end}.mode", f"the mode '{mode}' needs the option '{needed}'", "add it to WITH")
        elif mode == "specific-offsets" and len(parse_names(options.get("topic", ""))) != 1:
            yield Problem(needed, "offsets by partition are those of a single topic", "name one topic")


def _key_problems(options: Options, schema: ResolvedSchema) -> Iterator[Problem]:
    upserts = options.get("connector") == "upsert-kafka"
    if upserts and schema.primary_key is None:
        yield Problem(
            "",
            "a table of 'upsert-kafka' has a primary key, which is the key of its messages",
            "add PRIMARY KEY (…) NOT ENFORCED to its columns",
        )
        return
    has_format, fields = KEY_FORMAT in options, key_fields(options, schema)
    if fields and not has_format:
        yield Problem("key.fields", "'key.fields' needs the option 'key.format'", "add it to WITH")
    if has_format and not fields:
        yield Problem(KEY_FORMAT, "'key.format' needs the option 'key.fields'", "add it to WITH: 'key.fields' = '…'")
    if (format_ := FORMATS.get(options.get(KEY_FORMAT, ""))) is not None and format_.is_changelog:
        yield Problem(KEY_FORMAT, f"keys tell no changes, as '{format_.name}' does", "take json, csv or raw")
    if (format_ := FORMATS.get(options.get(VALUE_FORMAT, ""))) is not None and upserts and format_.is_changelog:
        yield Problem(VALUE_FORMAT, f"'upsert-kafka' tells changes by keys, not as '{format_.name}' does", "take json")
    yield from _key_field_problems(options, fields, [c.name for c in schema.columns if c.is_physical])


def _key_field_problems(options: Options, fields: Sequence[str], columns: Sequence[str]) -> Iterator[Problem]:
    prefix = options.get("key.fields-prefix", "")
    if prefix and options.get("value.fields-include", "ALL") == "ALL":
        hint = "set it to EXCEPT_KEY"
        yield Problem("key.fields-prefix", "a prefix needs 'value.fields-include' = 'EXCEPT_KEY'", hint)
    for name in fields:
        if "${" in name:
            continue
        if name not in columns:
            hint = f"these are: {', '.join(columns)}"
            yield Problem("key.fields", f"the key's field '{name}' is no physical column of the table", hint)
        elif not name.startswith(prefix):
            hint = "rename the column, or leave the prefix out"
            yield Problem("key.fields-prefix", f"the key's field '{name}' does not begin with '{prefix}'", hint)


KAFKA = (
    Connector(
        "kafka",
        "topics of Kafka",
        Source(by_format),
        Sink(by_format),
        (
            *EVERYWHERE,
            *_TOPICS,
            Option(FORMAT, TEXT, None, "the format of values"),
            Option(VALUE_FORMAT, TEXT, None, "the format of values, if its options begin with 'value.'"),
            Option(KEY_FORMAT, TEXT, None, "the format of keys, whose options begin with 'key.'"),
            Option("key.fields", _NAMES, None, "the key columns"),
            *_MESSAGES,
            Option(
                "scan.startup.mode",
                exactly_one_of("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
                "group-offsets",
                "where reading begins",
            ),
            Option("scan.startup.specific-offsets", _POSITIONS, None, "the offsets of the mode specific-offsets"),
            Option("scan.startup.timestamp-millis", WHOLE, None, "the time of the mode timestamp"),
            *_ENDS,
            Option(
                "scan.topic-partition-discovery.interval",
                DURATION,
                "5 min",
                "the interval of looking for new partitions; 0 means never",
            ),
            _SCAN_PARALLELISM,
            Option(
                "sink.partitioner", TEXT, "default", "which partition a message goes to: default, fixed, round-robin"
            ),
            *_DELIVERY,
            *(
                Option(
                    f"record.{part}.include.kafka.connect.json.schema",
                    BOOLEAN,
                    "false",
                    f"{part}s contain their schema; refused here",
                )
                for part in ("key", "value")
            ),
        ),
        formats=MESSAGE_FORMATS,
        metadata=METADATA,
        has_metadata=True,
        problems=_problems,
        secrets=_SECRETS,
        executed=True,
    ),
    Connector(
        "upsert-kafka",
        "the last message of each key of a topic of Kafka",
        Source(always(UPSERTS), bounded=False),
        Sink(always(UPSERTS)),
        (
            *EVERYWHERE,
            *_TOPICS,
            Option(KEY_FORMAT, TEXT, None, "the format of keys, whose options begin with 'key.'", required=True),
            Option(VALUE_FORMAT, TEXT, None, "the format of values, whose options begin with 'value.'", required=True),
            *_MESSAGES,
            *_ENDS,
            _SCAN_PARALLELISM,
            unused(
                "sink.buffer-flush.max-rows",
                WHOLE,
                "0",
                "the maximum number of rows of which only the last one of each key is written",
            ),
            unused(
                "sink.buffer-flush.interval", DURATION, "0 s", "the maximum time for which rows are collected for that"
            ),
            *_DELIVERY,
        ),
        formats=(VALUE_FORMAT, KEY_FORMAT),
        metadata=METADATA,
        has_metadata=True,
        problems=_problems,
        secrets=_SECRETS,
        executed=True,
    ),
)
