"""What is known of connectors and formats."""

from __future__ import annotations

import pytest

from flinkplan.plan.connectors import (
    CONNECTORS,
    FORMATS,
    kinds_are_assumed,
    kinds_text,
    parse_kinds,
    sink_kinds,
    source_kinds,
)
from flinkplan.plan.errors import FlinkplanError


def test_every_default_is_a_value_of_its_type() -> None:
    declared = [c.options for c in CONNECTORS.values()] + [f.options for f in FORMATS.values()]
    for option in (option for options in declared for option in options or ()):
        if option.default is not None:
            option.check(option.default)


def test_what_is_executed_has_all_its_options() -> None:
    own = {"filesystem", "datagen", "print", "blackhole", "jdbc", "hybrid", "savepoint"}
    python = {"python-arrow-source", "python-input-format"}
    executed = own | python | {"kafka", "upsert-kafka", "delta", "iceberg", "paimon", "postgres-cdc", "mysql-cdc"}
    assert {c.name for c in CONNECTORS.values() if c.executed} == executed
    assert all(c.options is not None for c in CONNECTORS.values() if c.executed)
    assert all(f.options is not None for f in FORMATS.values() if f.executed)


@pytest.mark.parametrize(
    ("options", "keyed", "kinds"),
    [
        ({"connector": "mysql-cdc"}, True, "I,UB,UA,D"),
        ({"connector": "mysql-cdc", "scan.read-changelog-as-append-only.enabled": "true"}, True, "I"),
        ({"connector": "postgres-cdc"}, True, "I,UB,UA,D"),
        ({"connector": "postgres-cdc", "changelog-mode": "upsert"}, True, "I,UA,D"),
        ({"connector": "mongodb-cdc"}, True, "I,UA,D"),
        ({"connector": "mongodb-cdc", "scan.full-changelog": "true"}, True, "I,UB,UA,D"),
        ({"connector": "tidb-cdc"}, True, "I,UA,D"),
        ({"connector": "oracle-cdc"}, True, "I,UB,UA,D"),
        ({"connector": "upsert-kafka"}, True, "I,UA,D"),
        ({"connector": "kafka", "format": "json"}, False, "I"),
        ({"connector": "kafka", "value.format": "debezium-avro-confluent"}, False, "I,UB,UA,D"),
        ({"connector": "paimon"}, True, "I,UA,D"),
        ({"connector": "paimon"}, False, "I"),
        ({"connector": "paimon", "changelog-producer": "lookup"}, True, "I,UB,UA,D"),
        ({"connector": "paimon", "merge-engine": "first-row"}, True, "I"),
        ({"connector": "hudi"}, True, "I"),
        ({"connector": "hudi", "read.streaming.enabled": "true", "changelog.enabled": "true"}, True, "I,UB,UA,D"),
        ({"connector": "iceberg"}, True, "I"),
        ({"connector": "fluss"}, True, "I,UB,UA,D"),
        ({"connector": "jdbc"}, True, "I"),
        ({"connector": "acme"}, True, "I"),
        ({"connector": "acme", "flinkplan.changelog": "i, ua, d"}, True, "I,UA,D"),
    ],
)
def test_what_sources_emit(options: dict[str, str], keyed: bool, kinds: str) -> None:
    assert kinds_text(source_kinds(options, keyed)) == kinds


@pytest.mark.parametrize(
    ("options", "keyed", "inserts_only", "kinds"),
    [
        ({"connector": "elasticsearch-8"}, True, False, "I,UA,D"),
        ({"connector": "elasticsearch-7"}, True, True, "I"),
        ({"connector": "hbase-2.2"}, True, False, "I,UA,D"),
        ({"connector": "jdbc"}, True, True, "I,UA,D"),
        ({"connector": "mongodb"}, False, False, "I"),
        ({"connector": "doris"}, True, False, "I,UA,D"),
        ({"connector": "doris", "sink.ignore.update-before": "false"}, True, False, "I,UB,UA,D"),
        ({"connector": "starrocks"}, True, False, "I,UB,UA,D"),
        ({"connector": "iceberg"}, True, False, "I,UB,UA,D"),
        ({"connector": "paimon"}, True, False, "I,UA,D"),
        ({"connector": "paimon", "merge-engine": "aggregation"}, True, False, "I,UB,UA,D"),
        ({"connector": "hudi"}, True, False, "I,UA,D"),
        ({"connector": "dynamodb"}, True, True, "I,UA,D"),
        ({"connector": "kinesis", "format": "json"}, True, False, "I"),
        ({"connector": "print"}, False, False, "I,UB,UA,D"),
        ({"connector": "blackhole"}, False, True, "I"),
        ({"connector": "filesystem", "format": "debezium-json"}, False, True, "I,UB,UA,D"),
        ({"connector": "acme", "flinkplan.changelog": "I,UB,UA,D"}, False, False, "I,UB,UA,D"),
    ],
)
def test_what_sinks_take(options: dict[str, str], keyed: bool, inserts_only: bool, kinds: str) -> None:
    assert kinds_text(sink_kinds(options, keyed, inserts_only)) == kinds


@pytest.mark.parametrize(
    ("options", "as_sink", "assumed"),
    [
        ({"connector": "acme"}, False, True),
        ({"connector": "redis"}, True, True),
        ({"connector": "redis", "flinkplan.changelog": "I,UA,D"}, True, False),
        ({"connector": "mysql-cdc"}, False, False),
    ],
)
def test_what_is_assumed(options: dict[str, str], as_sink: bool, assumed: bool) -> None:
    assert kinds_are_assumed(options, as_sink) is assumed


@pytest.mark.parametrize("text", ["", "X", "UA,D", "I,UB,D", "all"])
def test_texts_that_name_no_kinds(text: str) -> None:
    with pytest.raises(FlinkplanError) as caught:
        parse_kinds(text)
    assert "I,UA,D" in (caught.value.hint or "")
