"""Messages of Avro whose schemas are in a registry; what reads and writes them apart is Avro itself."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.formats.avro_schema import is_like, schema_of, schema_of_changes
from flinkplan.executor.formats.registry import RegistryFormat
from flinkplan.executor.prepare.checks import refusals
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink
from flinkplan.planner import compile_script

from .clusters import Cluster
from .registries import Registry, registry
from .test_avro import AVRO, COLUMNS, NULLS, ROW, Avro, optional, record


@pytest.fixture
def served() -> Iterator[Registry]:
    with registry() as served:
        yield served


def framed(number: int, content: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + content


def with_defaults(schema: Any) -> Any:
    """A schema whose fields that may be NULL are so by default, as Flink registers it."""
    match schema:
        case [_, of]:
            return ["null", with_defaults(of)]
        case {"type": "record"}:
            fields = [
                {"name": f["name"], "type": with_defaults(f["type"])}
                | ({"default": None} if isinstance(f["type"], list) else {})
                for f in schema["fields"]
            ]
            return {**schema, "fields": fields}
        case {"type": "array"}:
            return {**schema, "items": with_defaults(schema["items"])}
    return schema


# ---------------------------------------------------------------- schemas, without Spark


def physical(columns: str) -> list[Any]:
    script = (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen');"
        f"CREATE TABLE o ({columns}) WITH ('connector' = 'blackhole'); INSERT INTO o SELECT * FROM t;"
    )
    (node,) = (node for node in compile_script(script).nodes if isinstance(node, Sink))
    table = node.dynamic_table_sink.table.resolved_table
    assert table is not None
    return [(c.name, c.data_type.regular()) for c in table.schema.columns if c.data_type is not None]


def test_schemas_are_those_that_flink_derives() -> None:
    from .test_avro import SCHEMA

    namespace = {"namespace": "org.apache.flink.avro.generated"}
    assert schema_of(physical(COLUMNS)) == {**with_defaults(SCHEMA), **namespace}
    row = optional("int")
    changes = record(
        "record",
        before=optional(record("record_before", a=row)),
        after=optional(record("record_after", a=row)),
        op=optional("string"),
    )
    assert schema_of_changes(physical("a INT")) == ["null", {**with_defaults(changes), **namespace}]


def test_a_schema_of_ones_own_may_name_records_otherwise() -> None:
    derived = schema_of(physical("a INT, r ROW<p INT NOT NULL>, q ROW<p INT NOT NULL>"))
    inner = {"type": "record", "name": "x.Inner", "doc": "…", "fields": [{"name": "p", "type": {"type": "int"}}]}
    fields = [{"name": "a", "type": ["null", "int"]}, {"name": "r", "type": ["null", inner]}]
    own = {"type": "record", "name": "Own", "fields": [*fields, {"name": "q", "type": ["null", "x.Inner"]}]}
    assert is_like(json.dumps(own), derived)
    assert not is_like(json.dumps({**own, "fields": fields}), derived)
    assert not is_like('"int"', derived)


def part(served: Registry, **options: str) -> RegistryFormat:
    return RegistryFormat(physical("a INT"), {"url": served.url, **options}, False, "t-value", "table t")


def test_a_schema_is_registered_once(served: Registry) -> None:
    other = RegistryFormat(physical("b INT"), {"schema-registry.url": served.url}, False, "t-value", "table t")
    assert [part(served).register(), other.register(), part(served).register()] == [1, 2, 1]
    assert part(served, subject="a/b c").register() == 1
    assert list(served.subjects) == ["t-value", "a/b c"]
    assert part(served, **{"auto.register.schemas": "false"}).register() == 1
    with pytest.raises(TableError, match="not registered under 'x': Subject 'x' not found"):
        part(served, subject="x", **{"auto.register.schemas": "false"}).register()
    assert part(served, url=f"http://127.0.0.1:1, {served.url}/").register() == 1


@pytest.mark.parametrize(
    ("options", "header"),
    [
        (
            {"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "u:p"},
            f"Basic {b64encode(b'u:p').decode()}",
        ),
        ({"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "t"}, "Bearer t"),
    ],
)
def test_credentials_are_sent(served: Registry, options: Mapping[str, str], header: str) -> None:
    served.authorization = header
    assert part(served, **options).register() == 1
    assert part(served, **options).spec()["authorization"] == header
    with pytest.raises(TableError, match="not registered under 't-value': Unauthorized"):
        part(served).register()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "file:///etc/passwd"}, "is no address of a schema registry"),
        ({"basic-auth.credentials-source": "SASL_INHERIT"}, "credentials are not taken here from SASL_INHERIT"),
        ({"bearer-auth.credentials-source": "CUSTOM"}, "credentials are not taken here from CUSTOM"),
        ({"schema": '"int"'}, "the schema of the format is not the one of the columns"),
        ({"schema-registry.schema": "{"}, "the schema of the format is no JSON"),
    ],
)
def test_what_is_not_executed(served: Registry, options: Mapping[str, str], words: str) -> None:
    with pytest.raises(TableError, match=words):
        part(served, **options).check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("", "needs 'avro-confluent.url'"),
        (", 'avro-confluent.urls' = 'x'", "has no option 'avro-confluent.urls'"),
        (", 'avro-confluent.url' = 'http://x', 'avro-confluent.auto.register.schemas' = '1'", "is no value of"),
    ],
)
def test_options_are_checked(options: str, words: str) -> None:
    with pytest.raises(FlinkplanError, match=words):
        compile_script(SCRIPT % options)


SCRIPT = (
    "CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', "
    "'format' = 'avro-confluent'%s); CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');"
    "INSERT INTO o SELECT * FROM t;"
)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("ssl.keystore.location", "certificates of authorities that the machine trusts"),
        ("ssl.keystore.password", "certificates of authorities that the machine trusts"),
        ("ssl.truststore.location", "certificates of authorities that the machine trusts"),
        ("ssl.truststore.password", "certificates of authorities that the machine trusts"),
        ("properties.proxy.host", "it has no list of them"),
        ("basic-auth.user-info", "is a secret"),
        ("bearer-auth.token", "is a secret"),
    ],
)
def test_what_a_plan_may_not_say(key: str, words: str) -> None:
    text = SCRIPT % f", 'avro-confluent.url' = 'http://x', 'avro-confluent.{key}' = 'v'"
    try:
        found = [str(refusal.error) for refusal in refusals(compile_script(text))]
    except FlinkplanError as e:
        found = [str(e)]
    assert any(words in each for each in found), found


def test_credentials_go_to_servers_that_the_user_names() -> None:
    options = ", 'avro-confluent.url' = '%s', 'avro-confluent.bearer-auth.token' = '${TOKEN}'"
    variables = {"TOKEN": "t", "URL": "http://x"}
    (refusal,) = refusals(compile_script(SCRIPT % options % "http://x"), variables)
    assert "where secrets are sent, is for the user to say, not for a plan" in str(refusal.error)
    assert list(refusals(compile_script(SCRIPT % options % "${URL}"), variables)) == []


# ---------------------------------------------------------------- messages


@pytest.mark.spark
def test_messages_are_resolved_by_name(cluster: Cluster, served: Registry) -> None:
    from .test_avro import SCHEMA

    whole = served.add(SCHEMA)
    older = record("Old", gone=optional("string"), s="string", i32="int", id="int")
    part = served.add(older)
    content = {"gone": {"string": "x"}, "s": "short", "i32": 5, "id": 9}
    cluster.broker.put(
        "registered",
        framed(whole, Avro(cluster, SCHEMA).binary(AVRO)),
        framed(part, Avro(cluster, older).binary(content)),
        framed(whole, Avro(cluster, SCHEMA).binary({**dict.fromkeys(AVRO), "id": 8})),
    )
    options = {"format": "avro-confluent", "avro__confluent_url": served.url}
    source = cluster.source("registered_", COLUMNS, topic="registered", **options)
    query = "INSERT INTO `out` SELECT * FROM registered_;"
    cluster.run(source, cluster.out(COLUMNS), query)
    rows = sorted(cluster.rows(), key=lambda row: int(row["id"]))
    assert rows == [ROW, NULLS, {**dict.fromkeys(ROW), "id": 9, "s": "short", "i32": 5}]
    assert sorted(served.requests) == [f"GET /schemas/ids/{n}" for n in (whole, part)]


@pytest.mark.spark
def test_messages_are_written_as_registered(cluster: Cluster, served: Registry) -> None:
    (cluster.folder / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in (ROW, NULLS)))
    given = f"'connector' = 'filesystem', 'path' = '{cluster.folder / 'rows'}', 'format' = 'json'"
    formats = {
        "connector": "upsert-kafka",
        "key_format": "avro-confluent",
        "key_avro__confluent_url": served.url,
        "value_format": "avro-confluent",
        "value_avro__confluent_url": served.url,
        "value_avro__confluent_subject": "own",
    }
    keyed = f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED"
    cluster.run(
        f"CREATE TABLE rows_ ({COLUMNS}) WITH ({given});",
        cluster.table("kept_avro", keyed, topic="kept_avro", **formats),
        "INSERT INTO kept_avro SELECT * FROM rows_ ON CONFLICT DO DEDUPLICATE;",
    )
    assert sorted(served.subjects) == ["kept_avro-key", "own"]
    key, value = (Avro(cluster, served.schema(subject)) for subject in sorted(served.subjects))
    messages = [(m.key() or b"", m.value() or b"") for m in cluster.broker.messages("kept_avro")]
    ids = (framed(served.subjects[subject][0], b"") for subject in sorted(served.subjects))
    assert {(k[:5], v[:5]) for k, v in messages} == {tuple(ids)}
    rows = [(key.json(k[5:]), value.json(v[5:])) for k, v in messages]
    named = json.loads(json.dumps(AVRO).replace('"record_', '"org.apache.flink.avro.generated.record_'))
    assert sorted(rows, key=lambda row: int(row[0]["id"])) == [
        ({"id": 7}, named),
        ({"id": 8}, {**dict.fromkeys(AVRO), "id": 8}),
    ]


@pytest.mark.spark
def test_changes_of_debezium(cluster: Cluster, served: Registry) -> None:
    """The schema is as Debezium's connectors register it, with more fields than are read."""
    row = record("Value", id="int", label=optional("string"), more=optional("long"))
    envelope = record("Envelope", op="string", before=optional(row), after=optional("Value"), ts_ms=optional("long"))
    number = served.add(envelope)
    avro = Avro(cluster, envelope)

    def change(op: str, before: str | None, after: str | None) -> bytes:
        def image(name: str | None) -> Any:
            return name and {"Value": {"id": 1, "label": {"string": name}, "more": None}}

        return framed(number, avro.binary({"op": op, "before": image(before), "after": image(after), "ts_ms": None}))

    cluster.broker.put("registered_changes", change("r", None, "a"), change("u", "a", "b"), b"", change("d", "b", None))
    options = {"format": "debezium-avro-confluent", "debezium__avro__confluent_url": served.url}
    columns = "id INT, label STRING"
    cluster.run(
        cluster.source("changes_", columns, topic="registered_changes", **options),
        cluster.out(columns, "debezium-json"),
        cluster.table("sent", columns, **options),
        "EXECUTE STATEMENT SET BEGIN INSERT INTO `out` SELECT * FROM changes_;",
        "INSERT INTO sent SELECT * FROM changes_; END;",
    )
    found = [(c["op"], c["before"], c["after"]) for c in cluster.rows()]
    a, b = ({"id": 1, "label": name} for name in "ab")
    expected = [("c", None, a), ("d", a, None), ("c", None, b), ("d", b, None)]
    assert found == expected
    prefix = "org.apache.flink.avro.generated.record"
    written = Avro(cluster, served.schema("sent-value"))
    sent = [written.json((m.value() or b"")[5:])[prefix] for m in cluster.broker.messages("sent")]

    def read(part: str, of: Any) -> Any:
        return of and {f"{prefix}_{part}": {"id": {"int": of["id"]}, "label": {"string": of["label"]}}}

    # without a key each message goes to any partition
    assert sorted(map(json.dumps, sent)) == sorted(
        json.dumps({"before": read("before", old), "after": read("after", new), "op": {"string": op}})
        for op, old, new in expected
    )


@pytest.mark.spark
def test_messages_that_cannot_be_read_are_named(cluster: Cluster, served: Registry) -> None:
    short = served.add(record("Short", s="string"))
    messages = {
        "unknown": (framed(99, b""), "the schema registry has no schema 99"),
        "short": (framed(short, b"\2a"), "missing required field id"),
    }
    for name, (message, words) in messages.items():
        cluster.broker.put(f"bad-{name}", message)
        options = {"format": "avro-confluent", "avro__confluent_url": served.url}
        table = cluster.source(f"bad_{name}", "id BIGINT NOT NULL", topic=f"bad-{name}", **options)
        sink = f"CREATE TABLE o_{name} (id BIGINT) WITH ('connector' = 'blackhole');"
        with pytest.raises(ExecutionError, match=f"topic bad-{name}, partition 0, offset 0") as caught:
            cluster.run(table, sink, f"INSERT INTO o_{name} SELECT id FROM bad_{name};")
        assert words in str(caught.value)
