"""Messages of Avro, by the schema that Flink derives from columns; what reads and writes them apart is Avro itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flinkplan.executor.errors import ExecutionError, TableError

from .clusters import Cluster

pytestmark = pytest.mark.spark

COLUMNS = (
    "id BIGINT NOT NULL, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, f FLOAT, d DOUBLE, s STRING, x BYTES, "
    "n DECIMAL(10, 2), dt DATE, t TIME(3), ts TIMESTAMP(3), a ARRAY<INT>, m MAP<STRING, BIGINT>, "
    "r ROW<p INT NOT NULL, q STRING>, rr ARRAY<ROW<z INT>>"
)


def optional(of: Any) -> list[Any]:
    return ["null", of]


def logical(of: str, name: str, **more: int) -> list[Any]:
    return optional({"type": of, "logicalType": name, **more})


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields.items()]}


SCHEMA = record(
    "record",
    id="long",
    b=optional("boolean"),
    i8=optional("int"),
    i16=optional("int"),
    i32=optional("int"),
    f=optional("float"),
    d=optional("double"),
    s=optional("string"),
    x=optional("bytes"),
    n=logical("bytes", "decimal", precision=10, scale=2),
    dt=logical("int", "date"),
    t=logical("int", "time-millis"),
    ts=logical("long", "timestamp-millis"),
    a=optional({"type": "array", "items": optional("int")}),
    m=optional({"type": "map", "values": optional("long")}),
    r=optional(record("record_r", p="int", q=optional("string"))),
    rr=optional({"type": "array", "items": optional(record("record_rr", z=optional("int")))}),
)

AVRO = {
    "id": 7, "b": {"boolean": True}, "i8": {"int": -8}, "i16": {"int": 16}, "i32": {"int": 32}, "f": {"float": 0.5},
    "d": {"double": -1.25}, "s": {"string": "é"}, "x": {"bytes": "\u0000\u00ff"}, "n": {"bytes": "\u0004\u00d2"},
    "dt": {"int": 19782}, "t": {"int": 3723004}, "ts": {"long": 1_709_164_923_004},
    "a": {"array": [{"int": 1}, None]}, "m": {"map": {"k": {"long": 5}}}, "r": {"record_r": {"p": 1, "q": None}},
    "rr": {"array": [{"record_rr": {"z": {"int": 9}}}]},
}  # fmt: skip
"""A row as Avro's own JSON has it."""

ROW = {
    "id": 7, "b": True, "i8": -8, "i16": 16, "i32": 32, "f": 0.5, "d": -1.25, "s": "é", "x": "AP8=", "n": 12.34,
    "dt": "2024-02-29", "t": "01:02:03.004", "ts": "2024-02-29 00:02:03.004", "a": [1, None], "m": {"k": 5},
    "r": {"p": 1, "q": None}, "rr": [{"z": 9}],
}  # fmt: skip
NULLS = {name: 8 if name == "id" else None for name in ROW}


class Avro:
    """Avro's own writer and reader of a schema."""

    def __init__(self, cluster: Cluster, schema: dict[str, Any]) -> None:
        session: Any = cluster.spark
        self._jvm = session._jvm
        self._avro = self._jvm.org.apache.avro
        self._schema = self._avro.Schema.Parser().parse(json.dumps(schema))

    def binary(self, value: dict[str, Any]) -> bytes:
        """A message of what is in Avro's JSON."""
        given = self._avro.io.DecoderFactory.get().jsonDecoder(self._schema, json.dumps(value))
        found = self._avro.generic.GenericDatumReader(self._schema).read(None, given)
        out = self._jvm.java.io.ByteArrayOutputStream()
        encoder = self._avro.io.EncoderFactory.get().binaryEncoder(out, None)
        self._avro.generic.GenericDatumWriter(self._schema).write(found, encoder)
        encoder.flush()
        return bytes(out.toByteArray())

    def json(self, message: bytes | None) -> Any:
        """A message in Avro's JSON."""
        assert message is not None
        decoder = self._avro.io.DecoderFactory.get().binaryDecoder(bytearray(message), None)
        found = self._avro.generic.GenericDatumReader(self._schema).read(None, decoder)
        assert decoder.isEnd()
        out = self._jvm.java.io.ByteArrayOutputStream()
        encoder = self._avro.io.EncoderFactory.get().jsonEncoder(self._schema, out)
        self._avro.generic.GenericDatumWriter(self._schema).write(found, encoder)
        encoder.flush()
        return json.loads(bytes(out.toByteArray()))


def test_messages_of_avro_are_read(cluster: Cluster) -> None:
    avro = Avro(cluster, SCHEMA)
    nulls = {name: 8 if name == "id" else None for name in AVRO}
    cluster.broker.put("avro-in", avro.binary(AVRO), avro.binary(nulls))
    script = cluster.source("avro__in", COLUMNS, topic="avro-in", format="avro"), cluster.out(COLUMNS)
    cluster.run(*script, "INSERT INTO `out` SELECT * FROM avro__in;")
    assert sorted(cluster.rows(), key=lambda row: int(row["id"])) == [ROW, NULLS]


def test_columns_are_found_behind_others(cluster: Cluster) -> None:
    cluster.broker.put("avro-some", Avro(cluster, SCHEMA).binary(AVRO))
    table = cluster.source("several", COLUMNS, topic="avro-some", format="avro")
    cluster.run(table, cluster.out("d DOUBLE, i8 INT"), "INSERT INTO `out` SELECT d, CAST(i8 AS INT) FROM several;")
    assert cluster.rows() == [{"d": -1.25, "i8": -8}]


def test_avro_reads_what_is_written(cluster: Cluster) -> None:
    (cluster.folder / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in (ROW, NULLS)))
    path = cluster.folder / "rows"
    rows = f"CREATE TABLE rows_ ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');"
    cluster.run(
        rows,
        cluster.table("written", COLUMNS, topic="avro-out", format="avro"),
        "INSERT INTO written SELECT * FROM rows_;",
    )
    avro = Avro(cluster, SCHEMA)
    found = [avro.json(message.value()) for message in cluster.broker.messages("avro-out")]
    assert sorted(found, key=lambda row: int(row["id"])) == [AVRO, {**dict.fromkeys(AVRO), "id": 8}]


PRECISE = "m TIMESTAMP(3), u TIMESTAMP(6), n TIMESTAMP(9), l TIMESTAMP_LTZ(6)"


def test_times_are_local_ones_and_finer_in_the_newer_mapping(cluster: Cluster) -> None:
    units = {"m": "local-timestamp-millis", "u": "local-timestamp-micros", "n": "local-timestamp-nanos"}
    fields = {name: logical("long", unit) for name, unit in {**units, "l": "timestamp-micros"}.items()}
    avro = Avro(cluster, record("record", **fields))
    given = {"m": -1, "u": -1, "n": -1, "l": 1}
    cluster.broker.put("avro-times", avro.binary({name: {"long": value} for name, value in given.items()}))
    newer = {"format": "avro", "avro_timestamp_mapping_legacy": "false"}
    tables = [cluster.table(n, PRECISE, topic=n, **newer) for n in ("copied",)]
    source = cluster.source("times", PRECISE, topic="avro-times", **newer)
    tables = [table.replace("timestamp.mapping", "timestamp_mapping") for table in (source, *tables)]
    cluster.run(*tables, "INSERT INTO copied SELECT * FROM times;")
    (message,) = cluster.broker.messages("copied")
    assert avro.json(message.value()) == {name: {"long": value} for name, value in given.items()}


def test_a_message_that_is_cut_off_is_named(cluster: Cluster) -> None:
    cluster.broker.put("avro-cut", Avro(cluster, SCHEMA).binary(AVRO)[:9])
    script = cluster.source("cut", COLUMNS, topic="avro-cut", format="avro"), cluster.out("id BIGINT")
    with pytest.raises(ExecutionError, match="topic avro-cut, partition 0, offset 0"):
        cluster.run(*script, "INSERT INTO `out` SELECT id FROM cut;")


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ("t TIMESTAMP(6)", {}, "has no columns of the type TIMESTAMP\\(6\\), as 't' is"),
        ("t TIMESTAMP_LTZ(3)", {}, "has no columns of the type TIMESTAMP_LTZ\\(3\\), as 't' is"),
        ("m MAP<INT, INT>", {}, "has no columns of the type MAP<INT, INT>"),
        ("`a-b` INT", {}, "Avro has no fields 'a-b'"),
        ("a INT", {"avro_encoding": "json"}, "'avro.encoding' = 'json' is not executed here"),
    ],
)
def test_what_avro_does_not_hold_is_refused(
    cluster: Cluster, columns: str, options: dict[str, str], words: str
) -> None:
    table = cluster.table("t", columns, format="avro", **options)
    name = columns.split()[0]
    with pytest.raises(TableError, match=words):
        cluster.run(
            table, f"CREATE TABLE o ({columns}) WITH ('connector' = 'blackhole'); INSERT INTO o SELECT {name} FROM t;"
        )
