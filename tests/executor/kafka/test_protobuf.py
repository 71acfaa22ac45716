"""Messages of Protocol Buffers; what reads and writes them apart is Google's library."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format

from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.formats.protobuf import message_spec
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.checks import Subject, refusals
from flinkplan.plan.nodes import Sink
from flinkplan.plan.tables import DESCRIPTORS
from flinkplan.planner import compile_script

from .clusters import Cluster

SCALARS = (
    *(("i32", "int32"), ("i64", "int64"), ("u32", "uint32"), ("u64", "uint64"), ("s32", "sint32"), ("s64", "sint64")),
    *(("f32", "fixed32"), ("f64", "fixed64"), ("sf32", "sfixed32"), ("sf64", "sfixed64"), ("f", "float")),
    *(("d", "double"), ("b", "bool"), ("s", "string"), ("x", "bytes")),
)
SQL = {
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), "INT"),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), "BIGINT"),
    **{"float": "FLOAT", "double": "DOUBLE", "bool": "BOOLEAN", "string": "STRING", "bytes": "BYTES"},
}
COLUMNS = ", ".join(f"{name} {SQL[kind]}" for name, kind in SCALARS) + (
    ", e STRING, n BIGINT, inner_ ROW<v BIGINT, w STRING>, ints ARRAY<INT>, texts ARRAY<STRING>, "
    "rows_ ARRAY<ROW<v BIGINT, w STRING>>, m MAP<STRING, BIGINT>, mm MAP<STRING, ROW<v BIGINT, w STRING>>, "
    "first_ INT, second_ STRING"
)


def declaration(syntax: str) -> str:
    """A file with a message that has all kinds of fields."""
    fields = [
        f'field {{ name: "{name}" number: {i} label: LABEL_OPTIONAL type: TYPE_{kind.upper()} }}'
        for i, (name, kind) in enumerate(SCALARS, 1)
    ]

    def message(name: str, number: int, label: str, of: str) -> str:
        return (
            f'field {{ name: "{name}" number: {number} label: LABEL_{label} type: TYPE_MESSAGE '
            f'type_name: ".shop.All.{of}" }}'
        )

    def entry(name: str, key: str, value: str) -> str:
        return (
            f'nested_type {{ name: "{name}" options {{ map_entry: true }} '
            f'field {{ name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_{key} }} '
            f'field {{ name: "value" number: 2 label: LABEL_OPTIONAL {value} }} }}'
        )

    return f"""
        name: "shop/{syntax}_all.proto" package: "shop" syntax: "{syntax}"
        options {{ java_package: "com.shop" {"java_multiple_files: true" if syntax == "proto3" else ""} }}
        message_type {{
          name: "All"
          {" ".join(fields)}
          field {{ name: "e" number: 20 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: ".shop.All.Kind" }}
          field {{ name: "n" number: 21 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: ".shop.All.Kind" }}
          {message("inner_", 22, "OPTIONAL", "Inner")}
          field {{ name: "ints" number: 23 label: LABEL_REPEATED type: TYPE_INT32 }}
          field {{ name: "texts" number: 24 label: LABEL_REPEATED type: TYPE_STRING }}
          {message("rows_", 25, "REPEATED", "Inner")}
          {message("m", 26, "REPEATED", "MEntry")}
          {message("mm", 27, "REPEATED", "MmEntry")}
          {message("mi", 31, "REPEATED", "MiEntry")}
          field {{ name: "first_" number: 28 label: LABEL_OPTIONAL type: TYPE_INT32 oneof_index: 0 }}
          field {{ name: "second_" number: 29 label: LABEL_OPTIONAL type: TYPE_STRING oneof_index: 0 }}
          field {{ name: "unread" number: 30 label: LABEL_REPEATED type: TYPE_STRING }}
          oneof_decl {{ name: "either" }}
          enum_type {{ name: "Kind" value {{ name: "NONE" number: 0 }} value {{ name: "SOME" number: 5 }} }}
          nested_type {{
            name: "Inner"
            field {{ name: "v" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }}
            field {{ name: "w" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }}
          }}
          {entry("MEntry", "STRING", "type: TYPE_INT64")}
          {entry("MiEntry", "INT32", "type: TYPE_STRING")}
          {entry("MmEntry", "STRING", 'type: TYPE_MESSAGE type_name: ".shop.All.Inner"')}
        }}
    """


class Messages:
    """The messages of a syntax, as Google's library has them."""

    def __init__(self, folder: Path, syntax: str) -> None:
        file = text_format.Parse(declaration(syntax), descriptor_pb2.FileDescriptorProto())
        self.path = folder / f"{syntax}.desc"
        self.path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
        pool = descriptor_pool.DescriptorPool()
        pool.AddSerializedFile(file.SerializeToString())
        self.all: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.All"))
        self.syntax = syntax
        self.java = "com.shop.All" if syntax == "proto3" else "com.shop.Proto2All$All"

    def binary(self, **fields: Any) -> bytes:
        return bytes(json_format.ParseDict(fields, self.all()).SerializeToString())

    def fields(self, message: bytes | None) -> Any:
        return json_format.MessageToDict(self.all.FromString(message or b""), preserving_proto_field_name=True)


NUMBERS = {
    **{"i32": -1, "i64": "-1", "u32": 4294967295, "u64": "18446744073709551615", "s32": -3, "s64": "-3", "f32": 7},
    **{"f64": "8", "sf32": -7, "sf64": "-8", "f": 0.5, "d": -1.25, "b": True, "s": "é", "x": "AP8="},
}
FULL = {
    **NUMBERS,
    **{"e": "SOME", "n": "SOME", "inner_": {"v": "1", "w": "x"}, "ints": [1, 0, -1], "texts": ["", "y"]},
    **{"rows_": [{"v": "2"}, {}], "m": {"k": "3"}, "mm": {"9": {"w": "z"}}, "second_": "o"},
}
INNER = {"v": 1, "w": "x"}
ROW = {
    **{k: int(v) if isinstance(v, str) and k not in ("s", "x") else v for k, v in NUMBERS.items()},
    **{"u32": -1, "u64": -1, "e": "SOME", "n": 5, "inner_": INNER, "ints": [1, 0, -1], "texts": ["", "y"]},
}


def run(cluster: Cluster, messages: Sequence[Messages], *statements: str) -> None:
    files = os.pathsep.join(str(each.path) for each in messages)
    options = JobOptions(
        checkpoint=str(cluster.folder / "checkpoint"),
        variables={"BROKERS": cluster.broker.settings["bootstrap.servers"], DESCRIPTORS: files},
        spark=cluster.spark,
    )
    execute(compile_script("\n".join(statements)), options).wait()


def options(messages: Messages, **more: str) -> dict[str, str]:
    named = {f"protobuf_{key}".replace("_", "."): value for key, value in more.items()}
    return {"format": "protobuf", "protobuf_message__class__name": messages.java, **named}


def both(cluster: Cluster) -> list[Messages]:
    return [Messages(cluster.folder, syntax) for syntax in ("proto2", "proto3")]


def rows(cluster: Cluster, folder: str) -> list[dict[str, Any]]:
    files = sorted((cluster.folder / folder).rglob("part-*"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.spark
def test_messages_are_read(cluster: Cluster) -> None:
    tables, inserts = [], []
    for messages in (files := both(cluster)):
        name = messages.syntax
        merged = messages.binary(inner_={"v": 4}) + messages.binary(inner_={"w": "m"}, first_=1)
        switched = messages.binary(first_=1, unread=["u"]) + messages.binary(second_="o")
        unnamed = bytes([20 << 3 & 0x7F | 0x80, 20 >> 4, 9])  # the enum `e` with a number that has no name
        cluster.broker.put(f"{name}-in", messages.binary(**FULL), b"", merged, switched, unnamed)
        for table, more in ((name, {}), (f"{name}_defaults", {"protobuf_read__default__values": "true"})):
            tables.append(cluster.source(table, COLUMNS, topic=f"{name}-in", **options(messages), **more))
            out = cluster.out(COLUMNS).replace("`out`", f"{table}_out").replace("/out'", f"/{table}'")
            tables.append(out)
            inserts.append(f"INSERT INTO {table}_out SELECT * FROM {table};")
    run(cluster, files, *tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;")
    for messages in files:
        is_proto3 = messages.syntax == "proto3"
        zeros: dict[str, Any] = {name: 0 for name, _ in SCALARS} | {"b": False, "s": "", "x": "", "f": 0.0, "d": 0.0}
        zeros |= {"e": "NONE", "n": 0, "first_": 0, "second_": ""}
        nothing: dict[str, Any] = dict.fromkeys([*ROW, "rows_", "m", "mm", "first_", "second_"])
        unset = {**nothing, **(zeros if is_proto3 else {})}
        empty_text, zero = ("", 0) if is_proto3 else (None, None)
        inner = [{"v": 2, "w": empty_text}, {"v": zero, "w": empty_text}]
        nested = {"rows_": inner, "m": {"k": 3}, "mm": {"9": {"v": zero, "w": "z"}}, "second_": "o"}
        assert rows(cluster, messages.syntax) == [
            {**unset, **ROW, **nested},
            unset,
            {**unset, "inner_": {"v": 4, "w": "m"}, "first_": 1},
            {**unset, "second_": "o"},
            {**unset, **({"e": "UNRECOGNIZED"} if is_proto3 else {})},
        ]
        empty = {"inner_": {"v": 0, "w": ""}, "ints": [], "texts": [], "rows_": [], "m": {}, "mm": {}}
        assert rows(cluster, f"{messages.syntax}_defaults")[1] == {**zeros, **empty}


@pytest.mark.spark
def test_messages_are_written(cluster: Cluster) -> None:
    mm = {"9": {"v": None, "w": "z"}}
    full = {**ROW, "rows_": [{"v": 2, "w": None}, None], "m": {"k": 3}, "mm": mm, "second_": "o"}
    odd = {"e": "?", "n": 77, "texts": [None, "t"], "m": {"k": None}, "first_": 1, "second_": "last", "i32": 0, "s": ""}
    (cluster.folder / "rows").write_text("".join(f"{json.dumps(row)}\n" for row in (full, odd)))
    given = f"'connector' = 'filesystem', 'path' = '{cluster.folder / 'rows'}', 'format' = 'json'"
    tables, inserts = [f"CREATE TABLE rows_ ({COLUMNS}) WITH ({given});"], []
    for messages in (files := both(cluster)):
        name, more = f"{messages.syntax}_out", {"protobuf_write__null__string__literal": "nil"}
        tables.append(cluster.table(name, f"{COLUMNS}, mi MAP<INT, STRING>", **options(messages), **more))
        inserts.append(f"INSERT INTO {name} SELECT *, MAP[9, 'z'] FROM rows_;")
    run(cluster, files, *tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;")
    for messages in files:
        read = [messages.fields(message.value()) for message in cluster.broker.messages(f"{messages.syntax}_out")]
        assert len(read) == 2
        (first,) = [row for row in read if "inner_" in row]
        assert first == {**FULL, "mi": {"9": "z"}}
        (second,) = [row for row in read if "inner_" not in row]
        always = {"i32": 0, "s": "", "e": "NONE", "n": "NONE"} if messages.syntax == "proto2" else {}
        assert second == {**always, "texts": ["nil", "t"], "m": {"k": "0"}, "mi": {"9": "z"}, "second_": "last"}


@pytest.mark.spark
def test_messages_that_cannot_be_read(cluster: Cluster) -> None:
    messages = Messages(cluster.folder, "proto3")
    broken = {
        "cut": (messages.binary(s="abc")[:-1], "it is cut off"),
        "text": (bytes([14 << 3 | 2, 1, 0xFF]), "a text is not encoded in UTF-8"),
        "number": (bytes([21 << 3 & 0x7F | 0x80, 21 >> 4, 9]), "the field 'n' has the number 9, which has no name"),
        "zero": (b"\0\0", "it has a field without a number"),
        "groups": (bytes([0x03 | 30 << 3 & 0x78 | 0x80, 30 >> 4]) * 200, "too many groups"),
    }
    good = messages.binary(i64="1")
    for name, (message, words) in broken.items():
        cluster.broker.put(f"broken-{name}", message, good)
        if name != "text":
            continue  # they are skipped below, and each job takes seconds
        columns = "i64 BIGINT, n INT, s STRING"
        strict = cluster.source(f"strict_{name}", columns, topic=f"broken-{name}", **options(messages))
        sink = f"CREATE TABLE o_{name} (i BIGINT) WITH ('connector' = 'blackhole');"
        with pytest.raises(ExecutionError, match=f"topic broken-{name}, partition 0, offset 0") as caught:
            run(cluster, [messages], strict, sink, f"INSERT INTO o_{name} SELECT i64 FROM strict_{name};")
        assert words in str(caught.value)
    lax = (
        cluster.source("lax", "i64 BIGINT, n INT, s STRING", topic_pattern="broken-.*", topic="", **options(messages))
        .replace("'topic' = '', ", "")
        .replace("topic.pattern", "topic-pattern")
    )
    lax = lax.replace("'format'", "'protobuf.ignore-parse-errors' = 'true', 'format'")
    run(cluster, [messages], lax, cluster.out("i64 BIGINT"), "INSERT INTO `out` SELECT i64 FROM lax;")
    assert cluster.rows() == [{"i64": 1}] * len(broken)


# ---------------------------------------------------------------- descriptors, without Spark


def physical(columns: str) -> list[Any]:
    script = (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen');"
        f"CREATE TABLE o ({columns}) WITH ('connector' = 'blackhole'); INSERT INTO o SELECT * FROM t;"
    )
    (node,) = (node for node in compile_script(script).nodes if isinstance(node, Sink))
    table = node.dynamic_table_sink.table.resolved_table
    assert table is not None
    return [(c.name, c.data_type.regular()) for c in table.schema.columns if c.data_type is not None]


def spec(path: str, name: str, columns: str = "s STRING") -> Any:
    return json.loads(message_spec(physical(columns), {"message-class-name": name}, path, "table t"))


def test_messages_have_the_names_of_their_java_classes(tmp_path: Path) -> None:
    paths = os.pathsep.join(str(Messages(tmp_path, syntax).path) for syntax in ("proto2", "proto3"))
    assert [spec(paths, name)["proto3"] for name in ("com.shop.All", "com.shop.Proto2All$All")] == [True, False]
    assert spec(paths, "com.shop.All$Inner", "v BIGINT")["fields"][0]["number"] == 1
    file = descriptor_pb2.FileDescriptorProto(name="a/odd-name.proto", syntax="proto2")
    for name in ("OddName", "Other"):
        message = file.message_type.add(name=name)
        message.field.add(name="s", number=1, label=2, type=9, default_value="d")
    path = tmp_path / "odd.desc"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    read = spec(str(path), "OddNameOuterClass$Other")
    assert (read["required"], read["fields"][0]["default"]) == ([1], "d")
    file.options.java_outer_classname = "Named"
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    assert spec(str(path), "Named$Other")["proto3"] is False


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("com.shop.None", "s STRING", "no file of descriptors has the class 'com.shop.None'"),
        ("com.shop.All", "t STRING", "the message 'shop.All' has no field 't'"),
        ("com.shop.All", "i32 BIGINT", "the field 'i32' of the message is a int32, and the column is BIGINT"),
        ("com.shop.All", "ints INT", "the field 'ints' of the message is a repeated int32, and the column is INT"),
        ("com.shop.All", "m ARRAY<INT>", "the field 'm' of the message is a map of messages"),
        ("com.shop.All", "inner_ ROW<v INT>", "the field 'v' of the message is a int64, and the column is INT"),
        ("com.shop.All", "e DOUBLE", "the field 'e' of the message is a enum"),
    ],
)
def test_columns_are_held_against_the_message(tmp_path: Path, name: str, columns: str, words: str) -> None:
    with pytest.raises(TableError, match=words):
        spec(str(Messages(tmp_path, "proto3").path), name, columns)


def test_files_that_are_none_of_descriptors(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="the file of descriptors cannot be read: No such file"):
        spec(str(tmp_path / "none"), "a.B")
    for content in (b"", b"syntax = proto3;"):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(TableError, match="is no file of descriptors with all that they import"):
            spec(str(tmp_path / "bad"), "a.B")


def test_a_plan_without_descriptors_is_refused_until_they_are_named() -> None:
    script = (
        "CREATE TABLE t (s STRING) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'protobuf', "
        "'properties.bootstrap.servers' = 'b:1', 'protobuf.message-class-name' = 'com.shop.All');"
        "CREATE TABLE o (s STRING) WITH ('connector' = 'blackhole'); INSERT INTO o SELECT * FROM t;"
    )
    plan = compile_script(script)
    (missing,) = refusals(plan)
    assert (missing.subject, DESCRIPTORS in str(missing.error.hint)) == (Subject.VARIABLE, True)
    (unknown,) = refusals(plan, {DESCRIPTORS: "/none"})
    assert (unknown.subject, "cannot be read" in str(unknown.error)) == (Subject.TABLE, True)
