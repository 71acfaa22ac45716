"""What the options of the connectors of Kafka say together."""

from __future__ import annotations

import pytest

from flinkplan.plan.connectors.checks import exposed, problems
from flinkplan.plan.connectors.kafka import key_fields, parse_offsets
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.specs import Column, ResolvedSchema, UniqueConstraint
from flinkplan.plan.types import STRING

PLAIN = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "h:1", "format": "json"}
KEYED = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "h:1", "value.format": "json"} | {
    "key.format": "json",
    "key.fields": "k_a",
}
UPSERT = {"connector": "upsert-kafka", "topic": "t", "properties.bootstrap.servers": "h:1"} | {
    "key.format": "json",
    "value.format": "json",
}
COLUMNS = (Column("k_a", data_type=STRING), Column("v", data_type=STRING))
SCHEMA = ResolvedSchema(COLUMNS)
WITH_KEY = ResolvedSchema(COLUMNS, primary_key=UniqueConstraint("PK", "PRIMARY_KEY", ("k_a",)))


def told(options: dict[str, str], schema: ResolvedSchema = SCHEMA, as_sink: bool = False) -> list[str]:
    return [f"{p.message}; {p.hint}" for p in problems("x", options, schema, as_sink)]


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        (PLAIN, SCHEMA),
        (PLAIN | {"json.ignore-parse-errors": "true", "properties.fetch.min.bytes": "1"}, SCHEMA),
        (KEYED | {"value.json.ignore-parse-errors": "true", "key.json.fail-on-missing-field": "true"}, SCHEMA),
        (KEYED | {"value.fields-include": "EXCEPT_KEY", "key.fields-prefix": "k_"}, SCHEMA),
        (PLAIN | {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "0"}, SCHEMA),
        (
            PLAIN | {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:4"},
            SCHEMA,
        ),
        (PLAIN | {"topic": "a;b", "scan.startup.mode": "earliest-offset"}, SCHEMA),
        (UPSERT, WITH_KEY),
    ],
)
def test_what_flink_takes(options: dict[str, str], schema: ResolvedSchema) -> None:
    assert told(options, schema) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (PLAIN | {"topics": "x"}, "has no option 'topics'; did you mean 'topic'?"),
        (PLAIN | {"scan.startup.mod": "x"}, "did you mean 'scan.startup.mode'"),
        (PLAIN | {"json.ignore-parse-error": "true"}, "did you mean 'json.ignore-parse-errors'?"),
        (PLAIN | {"value.json.ignore-parse-errors": "true"}, "the connector 'kafka' has no option 'value.json.ignore"),
        (KEYED | {"value.json.ignore-parse-error": "true"}, "did you mean 'value.json.ignore-parse-errors'"),
        (PLAIN | {"scan.startup.mode": "earliest"}, "it is earliest-offset, latest-offset"),
        (PLAIN | {"topic-pattern": "x.*"}, "'topic' and 'topic-pattern' do not go together"),
        (PLAIN | {"topic-pattern": "("}, "it is no regular expression"),
        (PLAIN | {"scan.startup.mode": "timestamp"}, "needs the option 'scan.startup.timestamp-millis'"),
        (PLAIN | {"scan.bounded.mode": "specific-offsets"}, "needs the option 'scan.bounded.specific-offsets'"),
        (PLAIN | {"scan.startup.specific-offsets": "0:1"}, "it is a list such as partition:0,offset:42"),
        (KEYED | {"key.fields": "n"}, "the key's field 'n' is no physical column of the table; these are: k_a, v"),
        (KEYED | {"key.fields-prefix": "k_"}, "a prefix needs 'value.fields-include' = 'EXCEPT_KEY'"),
        (KEYED | {"key.format": "canal-json"}, "keys tell no changes, as 'canal-json' does"),
        (PLAIN | {"key.fields": "v"}, "'key.fields' needs the option 'key.format'"),
        (PLAIN | {"key.format": "json"}, "'key.format' needs the option 'key.fields'"),
        (UPSERT, "a table of 'upsert-kafka' has a primary key"),
        ({k: v for k, v in PLAIN.items() if k != "topic"}, "neither 'topic' nor 'topic-pattern'"),
        ({k: v for k, v in PLAIN.items() if k != "format"}, "has no option 'format'"),
        ({k: v for k, v in PLAIN.items() if k[:5] != "prope"}, "has no option 'properties.bootstrap.servers'"),
    ],
)
def test_what_flink_refuses(options: dict[str, str], words: str) -> None:
    assert any(words in message for message in told(options)), told(options)


def test_two_topics_have_no_offsets_by_partition() -> None:
    options = PLAIN | {"topic": "a;b", "scan.startup.mode": "specific-offsets"}
    (message,) = told(options | {"scan.startup.specific-offsets": "partition:0,offset:1"})
    assert "those of a single topic" in message


def test_only_keys_tell_changes_in_upsert_kafka() -> None:
    (message,) = told(UPSERT | {"value.format": "debezium-json"}, WITH_KEY)
    assert "tells changes by keys" in message


def test_messages_with_keys_are_not_dealt_out() -> None:
    assert "round-robin" in told(KEYED | {"sink.partitioner": "round-robin"}, as_sink=True)[0]


def test_keys_are_the_columns_that_are_named_or_the_primary_key() -> None:
    assert key_fields(KEYED, SCHEMA) == ("k_a",)
    assert key_fields(UPSERT, WITH_KEY) == ("k_a",)
    assert key_fields(PLAIN, WITH_KEY) == ()


def test_a_secret_is_a_variable() -> None:
    password = PLAIN | {"properties.sasl.password": "hunter2"}
    (problem,) = exposed(password)
    assert "hunter2" not in f"{problem.message}{problem.hint}"
    login = PLAIN | {"properties.sasl.jaas.config": 'Plain required username="a" password="${PASSWORD}";'}
    assert list(exposed(login)) == []


def test_offsets_by_partition() -> None:
    assert parse_offsets("partition:0,offset:42;partition:1,offset:300") == {0: 42, 1: 300}
    for text in ("", "partition:0", "partition:0,offset:x", "partition:0,offset:1;;"):
        with pytest.raises(FlinkplanError):
            parse_offsets(text)
