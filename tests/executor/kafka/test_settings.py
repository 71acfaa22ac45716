"""What options of tables tell the client."""

from __future__ import annotations

import pytest

from flinkplan.executor.errors import TableError
from flinkplan.executor.kafka.settings import client_settings, reading_of, writer_settings
from flinkplan.executor.tables import Table
from flinkplan.plan.specs import ResolvedSchema, ResolvedTable

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
