"""What options of tables tell the client."""

from __future__ import annotations

import pytest

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.kafka.settings import client_settings, reading_of, writer_settings
from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.connectors.kafka_properties import PREFIX, PROPERTIES
from flinkplan.plan.document import Plan
from flinkplan.plan.specs import ResolvedSchema, ResolvedTable
from flinkplan.planner import compile_script

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def _table(**options: str) -> Table:
    given = {"connector": "kafka", "topic": "t", **{k.replace("_", "."): v for k, v in options.items()}}
    return Table("`t`", "t", ResolvedTable(ResolvedSchema(()), options=given), given)


def test_properties_are_the_clients_but_for_serializers() -> None:
    table = _table(properties_bootstrap_servers="h:1", properties_key_serializer="S", properties_value_deserializer="D")
    assert client_settings(table) == {"bootstrap.servers": "h:1"}


@pytest.mark.parametrize(
    "login",
    [
        f'{_PLAIN} username="ann" password="a;b";',
        f"{_PLAIN} password='a;b' username=ann",
        '\n org.apache.kafka.common.security.scram.ScramLoginModule required\n username="ann"\n password="a;b" ;\n',
    ],
)
def test_a_login_for_java_is_user_and_password(login: str) -> None:
    found = client_settings(_table(properties_sasl_jaas_config=login))
    assert found == {"sasl.username": "ann", "sasl.password": "a;b"}


def test_another_login_is_refused_without_being_told() -> None:
    login = "com.sun.security.auth.module.Krb5LoginModule required secret=hidden;"
    with pytest.raises(TableError) as e:
        client_settings(_table(properties_sasl_jaas_config=login))
    assert "hidden" not in f"{e.value}{e.value.hint}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plugin.library.paths", "/tmp/x.so"),
        ("sasl.kerberos.kinit.cmd", "touch /tmp/x"),
        ("sasl.kerberos.principal", "me; touch /tmp/x"),
        ("sasl.kerberos.keytab", "$(touch /tmp/x)"),
        ("ssl.engine.location", "/tmp/x.so"),
        ("ssl.providers", "x"),
    ],
)
def test_a_table_loads_no_library_and_runs_no_command(name: str, value: str) -> None:
    with pytest.raises(TableError, match="is not taken from a table"):
        client_settings(_table(**{f"properties_{name}": value}))


def test_the_client_knows_every_listed_property() -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    own = {f"{PREFIX}sasl.jaas.config"}  # taken apart
    (others,) = (option for option in PROPERTIES if option.listed)
    unknown = []
    for option in (o for o in others.listed if o.is_executed and o.key not in own):
        try:
            confluent_kafka.Producer({"log_level": 0, option.passed_as or option.key.removeprefix(PREFIX): "\x01"})
        except confluent_kafka.KafkaException as e:
            if "No such configuration property" in str(e):
                unknown.append(option.key)
    assert not unknown


def test_properties_of_java_alone_are_left_out_or_renamed() -> None:
    table = _table(**{"properties.max.poll.records": "5", "properties.fetch.max.wait.ms": "7", "properties.acks": "1"})
    assert client_settings(table) == {"fetch.wait.max.ms": "7", "acks": "1"}


def test_kerberos_has_plain_names() -> None:
    assert client_settings(_table(properties_sasl_kerberos_principal="me/host@REALM")) == {
        "sasl.kerberos.principal": "me/host@REALM"
    }


def test_reading_begins_at_the_groups_offsets_and_does_not_end() -> None:
    reading = reading_of(_table(properties_group_id="g"))
    assert (reading.start, reading.end, reading.group, reading.topics) == ("group-offsets", "unbounded", "g", ("t",))


def test_uncommitted_messages_are_read_unless_said_otherwise() -> None:
    assert reading_of(_table()).client["isolation.level"] == "read_uncommitted"
    said = _table(properties_isolation_level="read_committed")
    assert reading_of(said).client["isolation.level"] == "read_committed"


@pytest.mark.parametrize(
    ("given", "idempotent"),
    [
        ({}, True),
        ({"properties_acks": "all"}, True),
        ({"properties_acks": "1"}, False),
        ({"properties_retries": "0"}, False),
        ({"properties_max_in_flight_requests_per_connection": "6"}, False),
        ({"properties_acks": "1", "properties_enable_idempotence": "true"}, "true"),
    ],
)
def test_what_is_sent_again_comes_once_and_in_order_unless_the_table_says_otherwise(
    given: dict[str, str], idempotent: bool | str
) -> None:
    found = writer_settings(_table(properties_bootstrap_servers="h:1", **given))
    assert found["enable.idempotence"] == idempotent


def test_options_say_where_reading_begins_and_ends() -> None:
    given = {
        "topic-pattern": "a.*",
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:42;partition:1,offset:300",
        "scan.startup.timestamp-millis": "1000",
        "scan.bounded.mode": "timestamp",
        "scan.bounded.specific-offsets": "partition:2,offset:7",
        "scan.bounded.timestamp-millis": "2000",
        "scan.topic-partition-discovery.interval": "10 s",
    }
    reading = reading_of(_table(**given))
    assert (reading.pattern, reading.discovery_ms) == ("a.*", 10_000)
    assert (reading.start, reading.start_offsets, reading.start_time) == ("specific-offsets", {0: 42, 1: 300}, 1000)
    assert (reading.end, reading.end_offsets, reading.end_time) == ("timestamp", {2: 7}, 2000)


def _plan(**options: str) -> Plan:
    given = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "h:1", "format": "json", **options}
    with_ = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return compile_script(
        f"CREATE TABLE t (n INT) WITH ({with_}); CREATE TABLE s (n INT) WITH ('connector' = 'datagen');"
        "INSERT INTO t SELECT n FROM s;"
    )


@pytest.mark.parametrize("guarantee", ["at-least-once", "none"])
def test_messages_are_written_at_least_once(guarantee: str) -> None:
    check_executable(_plan(**{"sink.delivery-guarantee": guarantee}), {}, {})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("sink.delivery-guarantee", "exactly-once"),
        ("record.key.include.kafka.connect.json.schema", "true"),
        ("record.value.include.kafka.connect.json.schema", "true"),
        ("sink.partitioner", "com.acme.P"),
    ],
)
def test_what_is_refused_is_named(option: str, value: str) -> None:
    with pytest.raises(TableError, match=value if option == "sink.partitioner" else option):
        check_executable(_plan(**{option: value}), {}, {})
