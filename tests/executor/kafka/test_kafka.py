"""Tables of Kafka, read and written by jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Sink
from flinkplan.plan.record import replace
from flinkplan.plan.specs import WritingMetadata
from flinkplan.planner import compile_script

from .clusters import Cluster

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.spark


def test_keys_values_and_metadata(cluster: Cluster) -> None:
    put = cluster.broker.put
    put("clicks", {"page": "x", "n": 1}, key={"id": 7}, partition=1, timestamp=1_700_000_000_123, headers={"h": b"1"})
    put("clicks", {"page": "y"}, key={"id": 8}, partition=1, timestamp=1_700_000_001_000)
    put("clicks", {"page": "lost"}, partition=2)  # a key that is none, so no row of it
    columns = (
        "k_id INT, page STRING, n INT, `partition` INT METADATA VIRTUAL, place BIGINT METADATA FROM 'offset' VIRTUAL, "
        "ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL, "
        "name STRING METADATA FROM 'topic' VIRTUAL, h MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL"
    )
    keyed = {"key_format": "json", "value_format": "json", "key_fields": "k_id", "key_fields__prefix": "k_"}
    cluster.run(
        cluster.source("clicks", columns, **keyed, value_fields__include="EXCEPT_KEY"),
        cluster.out(
            "id INT, page STRING, n INT, p INT, place BIGINT, ts TIMESTAMP(3), kind STRING, name STRING, h STRING"
        ),
        "INSERT INTO `out` SELECT k_id, page, n, `partition`, place, CAST(ts AS TIMESTAMP(3)), kind, name, "
        "CAST(h['h'] AS STRING) FROM clicks;",
    )
    shared = {"p": 1, "kind": "CreateTime", "name": "clicks"}
    assert cluster.rows() == [
        {"id": 7, "page": "x", "n": 1, "place": 0, "ts": "2023-11-14 22:13:20.123", "h": "1", **shared},
        {"id": 8, "page": "y", "n": None, "place": 1, "ts": "2023-11-14 22:13:21", "h": None, **shared},
    ]


def test_upserts_are_written_and_read_by_key(cluster: Cluster) -> None:
    change = {"before": None, "after": None}
    cluster.broker.put(
        "changes",
        change | {"op": "c", "after": {"id": 1, "v": "a"}},
        change | {"op": "c", "after": {"id": 2, "v": "b"}},
        change | {"op": "u", "before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": "c"}},
        change | {"op": "d", "before": {"id": 2, "v": "b"}},
        None,
    )
    upserts = {"connector": "upsert-kafka", "key_format": "json", "value_format": "json"}
    columns = "id INT PRIMARY KEY NOT ENFORCED, v STRING"
    cluster.run(
        cluster.source("changes", columns, format="debezium-json"),
        cluster.table("kept", columns, **upserts),
        "INSERT INTO kept SELECT id, v FROM changes;",
    )
    last = dict((key["id"], value) for key, value in cluster.broker.contents("kept"))
    assert last == {1: {"id": 1, "v": "c"}, 2: None}
    cluster = Cluster(cluster.broker, cluster.spark, cluster.folder / "again")
    cluster.run(
        cluster.source("kept", columns, **upserts, scan_bounded_mode="latest-offset"),
        cluster.out("id INT, v STRING", "debezium-json"),
        "INSERT INTO `out` SELECT id, v FROM kept;",
    )
    kept: dict[int, Any] = {}
    for row in cluster.rows():
        (kept.pop(row["before"]["id"]) if row["op"] == "d" else kept.update({row["after"]["id"]: row["after"]["v"]}))
    assert kept == {1: "c"}


def test_each_message_is_read_once_across_restarts(cluster: Cluster) -> None:
    script = (
        cluster.table("once", "n INT", format="json", scan_startup_mode="earliest-offset"),
        cluster.out("n INT"),
        "INSERT INTO `out` SELECT n FROM once;",
    )
    for numbers in ([1, 2, 3], [], [4, 5]):
        for number in numbers:
            cluster.broker.put("once", {"n": number}, partition=number % 2)
        cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert sorted(row["n"] for row in cluster.rows()) == [1, 2, 3, 4, 5]


def test_windows_close_by_the_messages_that_come(cluster: Cluster) -> None:
    for second in (1, 5, 12, 40):
        cluster.broker.put("timed", {"ts": f"2024-01-01 00:00:{second:02}"})
    cluster.run(
        cluster.source("timed", "ts TIMESTAMP(3), WATERMARK FOR ts AS ts", format="json"),
        cluster.out("s TIMESTAMP(3), n BIGINT"),
        "INSERT INTO `out` SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end;",
    )
    found = sorted((row["s"][-2:], row["n"]) for row in cluster.rows())
    assert found == [("00", 2), ("10", 1), ("40", 1)]


def test_csv_and_raw_messages_with_time_and_headers(cluster: Cluster) -> None:
    cluster.broker.put("plain", "1,a", "2,b\n")
    columns = "id INT, v STRING, `timestamp` TIMESTAMP_LTZ(3), headers MAP<STRING, BYTES>"
    formats = {"value_format": "csv", "key_format": "raw", "key_fields": "v", "sink_partitioner": "fixed"}
    plan = compile_script(
        cluster.source("plain", "id INT, v STRING", format="csv")
        + cluster.table("stamped", columns, **formats)
        + "INSERT INTO stamped SELECT id, v, TO_TIMESTAMP_LTZ(id, 0), MAP['n', CAST(v AS BYTES)] FROM plain;"
    )
    cluster.execute(with_written_metadata(plan, "timestamp", "headers"))
    found = sorted(cluster.broker.messages("stamped"), key=lambda m: m.offset() or 0)
    assert [(m.key(), m.value(), m.timestamp()[1], m.headers()) for m in found] == [
        (b"a", b"1,a", 1000, [("n", b"a")]),
        (b"b", b"2,b", 2000, [("n", b"b")]),
    ]


def with_written_metadata(plan: Plan, *keys: str) -> Plan:
    """A plan as Flink has it where the last columns of its sink are written as metadata."""
    *nodes, sink = plan.nodes
    assert isinstance(sink, Sink)
    into = sink.dynamic_table_sink
    table = into.table.resolved_table
    assert table is not None
    *physical, _, _ = table.schema.columns
    metadata = [replace(column, kind="METADATA", is_virtual=False) for column in table.schema.columns[-2:]]
    schema = replace(table.schema, columns=(*physical, *metadata))
    resolved = replace(into.table, resolved_table=replace(table, schema=schema))
    ability = WritingMetadata(keys, sink.output_type)
    sink = replace(sink, dynamic_table_sink=replace(into, table=resolved, abilities=(ability,)))
    return Plan(plan.flink_version, (*nodes, sink), plan.edges)


def test_a_message_that_cannot_be_read_is_named(cluster: Cluster) -> None:
    cluster.broker.put("broken", {"n": 1}, "{")
    with pytest.raises(ExecutionError) as e:
        cluster.run(
            cluster.source("broken", "n INT", format="json"),
            cluster.out("n INT"),
            "INSERT INTO `out` SELECT n FROM broken;",
        )
    assert e.value.where == "topic broken, partition 0, offset 1"


def test_what_is_not_there_is_told_before_anything_runs(cluster: Cluster) -> None:
    sink = (cluster.out("n INT"), "INSERT INTO `out` SELECT n FROM {};")
    with pytest.raises(TableError, match="there is no topic 'absent'"):
        cluster.run(cluster.source("absent", "n INT", format="json"), sink[0], sink[1].format("absent"))
    cluster.broker.put("present", {"n": 1})
    odd = {"properties_security_protocol": "bogus"}
    with pytest.raises(TableError, match=r'Invalid value "bogus" for .*"security\.protocol"'):
        cluster.run(cluster.source("present", "n INT", format="json", **odd), sink[0], sink[1].format("present"))
