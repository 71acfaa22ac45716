"""Messages to Arrow and back, as Spark's workers do it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.serializers import CloudPickleSerializer

from flinkplan.executor.build.connectors.positions import java_positions
from flinkplan.executor.kafka import sink, source
from flinkplan.executor.kafka import stream as stream_module
from flinkplan.executor.kafka.positions import KafkaError, Range
from flinkplan.executor.kafka.settings import READER, WRITER, Reading
from flinkplan.executor.kafka.sink import Writing, writer
from flinkplan.executor.kafka.stream import Positions

from .brokers import Broker

pa = pytest.importorskip("pyarrow")


def _client(broker: Broker) -> dict[str, Any]:
    return {**READER, "group.id": "flinkplan", **broker.settings}


def _read(broker: Broker, wanted: Range, *columns: str) -> list[dict[str, Any]]:
    batches = source.messages([wanted], columns, _client(broker))
    return [row for batch in batches for row in batch.to_pylist()]


def test_every_column_of_a_message(broker: Broker) -> None:
    headers = [("h", b"1"), ("h", b"2")]
    broker.put("columns", {"a": 1}, key="k", partition=1, timestamp=1_700_000_000_123, headers=headers)
    (row,) = _read(broker, Range("columns", 1, 0, 1), *source.COLUMNS)
    leader_epoch = row.pop("leader-epoch")
    assert leader_epoch is None or leader_epoch >= 0
    assert row == {
        "topic": "columns",
        "partition": 1,
        "offset": 0,
        "key": b"k",
        "value": b'{"a": 1}',
        "timestamp": 1_700_000_000_123,
        "timestamp-type": 1,
        "headers": [("h", b"2")],
    }


def test_a_range_and_no_more(broker: Broker) -> None:
    broker.put("range", *range(10))
    for start, end in ((0, 4), (4, 7), (2, 3)):  # one after the other, then back
        found = _read(broker, Range("range", 0, start, end), "offset", "value")
        assert [row["offset"] for row in found] == list(range(start, end))
        assert [row["value"] for row in found] == [b"%d" % i for i in range(start, end)]


def test_many_messages_come_in_several_batches(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK", 3)
    broker.put("chunks", *range(10))
    batches = list(source.messages([Range("chunks", 0, 0, 10)], ("value",), _client(broker)))
    assert sum(batch.num_rows for batch in batches) == 10
    assert max(batch.num_rows for batch in batches) <= 3


def test_small_ranges_are_read_together_one_partition_after_the_other(broker: Broker) -> None:
    for partition in range(3):
        broker.put("together", *range(6), partition=partition)
    wanted = [Range("together", 2, 1, 3), Range("together", 0, 0, 6), Range("together", 1, 4, 5)]
    batches = source.messages(wanted, ("partition", "offset"), _client(broker))
    found = [(row["partition"], row["offset"]) for batch in batches for row in batch.to_pylist()]
    assert found == [(2, 1), (2, 2), *((0, i) for i in range(6)), (1, 4)]


def test_what_is_gone_of_one_of_several_partitions_is_an_error(broker: Broker) -> None:
    broker.put("half-gone", 1)
    wanted = [Range("half-gone", 0, 0, 1), Range("half-gone", 1, 100, 200)]
    with pytest.raises(KafkaError, match="the partition 1 of 'half-gone' cannot be read"):
        list(source.messages(wanted, ("value",), _client(broker)))


def test_a_message_without_key_and_value(broker: Broker) -> None:
    broker.put("empty", None)
    assert _read(broker, Range("empty", 0, 0, 1), "key", "value") == [{"key": None, "value": None}]


def test_messages_that_are_gone_are_an_error(broker: Broker) -> None:
    broker.put("gone", 1)
    with pytest.raises(KafkaError, match="the partition 0 of 'gone' cannot be read"):
        _read(broker, Range("gone", 0, 100, 200), "value")


def test_what_is_written_is_read(broker: Broker) -> None:
    batch = pa.RecordBatch.from_pydict({"key": [b"a", None], "value": [b"1", None]})
    write = writer(Writing("written", {**WRITER, **broker.settings}))
    assert [b.to_pylist() for b in write(iter([batch]))] == [[{"written": 2}]]
    found = [(m.key(), m.value()) for m in broker.messages("written")]
    assert sorted(found, key=str) == [(None, None), (b"a", b"1")]


def test_time_and_headers_are_written(broker: Broker) -> None:
    columns = {"key": [b"a"], "value": [b"1"], "timestamp": [1_700_000_000_123], "headers": [[("h", b"1")]]}
    types = {"key": pa.binary(), "value": pa.binary(), "timestamp": pa.int64()}
    schema = pa.schema({**types, "headers": pa.map_(pa.string(), pa.binary())})
    batch = pa.RecordBatch.from_pydict(columns, schema=schema)
    list(writer(Writing("headers", {**WRITER, **broker.settings}))(iter([batch])))
    (message,) = broker.messages("headers")
    assert (message.timestamp()[1], message.headers()) == (1_700_000_000_123, [("h", b"1")])


def test_keys_go_where_javas_client_puts_them(broker: Broker) -> None:
    keys = [b"%d" % i for i in range(8)]
    batch = pa.RecordBatch.from_pydict({"key": keys, "value": keys})
    list(writer(Writing("places", {**WRITER, **broker.settings}))(iter([batch])))
    found = {m.key(): m.partition() for m in broker.messages("places")}
    assert [found[key] for key in keys] == [_murmur2(key) % 4 for key in keys]


def _murmur2(data: bytes) -> int:
    """Murmur2 as ``org.apache.kafka.common.utils.Utils`` has it, made positive."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) // 4 * 4
    for i in range(0, whole, 4):
        k = int.from_bytes(data[i : i + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


def test_a_message_that_is_not_taken_is_an_error(broker: Broker) -> None:
    settings = {**broker.settings, "message.max.bytes": 1000, "enable.idempotence": False}
    settings |= {"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": 300}
    batch = pa.RecordBatch.from_pydict({"key": [None], "value": [b"1"]})
    with pytest.raises(KafkaError, match="a message to 'lost' was not taken"):
        list(writer(Writing("lost", settings))(iter([batch])))


def test_a_client_writes_for_one_task_after_another_until_one_fails(broker: Broker) -> None:
    settings = {**WRITER, **broker.settings, "message.max.bytes": 1000}
    write = writer(Writing("written-in-turn", settings))

    pickled: Any = CloudPickleSerializer()  # type: ignore[no-untyped-call]

    def written(*values: bytes) -> Any:
        sent = pa.RecordBatch.from_pydict({"key": pa.nulls(len(values)), "value": values})
        list(pickled.loads(pickled.dumps(write))(iter([sent])))  # as each task of a worker gets it
        (sender,) = sink._SENDERS.values()
        return sender

    sink._SENDERS.clear()
    assert written(b"1") is written(b"2", b"3")
    with pytest.raises(KafkaError, match="a message to 'written-in-turn' was not taken"):
        written(b"x" * 2000)
    assert not sink._SENDERS
    written(b"4")
    assert sorted(m.value() or b"" for m in broker.messages("written-in-turn")) == [b"1", b"2", b"3", b"4"]


def test_the_stream_takes_what_has_come(broker: Broker) -> None:
    broker.put("stream", 1, 2)
    reading = Reading(topics=("stream",), pattern=None, client=_client(broker), start="earliest-offset")
    stream = Positions(reading, settles=True)
    start = stream.initial()
    first = stream.latest(start)
    assert stream.between(start, first) == [[Range("stream", 0, 0, 2)]]
    assert (first["positions"]["stream"]["0"], first["settled"]) == (2, False)
    second = stream.latest(first)
    assert second["settled"] and not stream.between(first, second)
    assert stream.latest(second) == second


def test_how_much_is_behind_what_was_read(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "monotonic", lambda: 5.0)
    broker.put("behind", 1, 2)
    reading = Reading(topics=("behind",), pattern=None, client=_client(broker), start="earliest-offset")
    stream = Positions(reading, tells_lag=True)
    start = stream.initial()
    end = stream.latest(start)
    broker.put("behind", 3)
    assert stream.lag(end)["behind/0"] == 1
    broker.put("behind", 4)
    read = end["positions"]["behind"]["0"]  # a message that the producer repeats counts twice
    assert stream.lag(start)["behind/0"] == read + 1  # the broker is not asked again within a second
    assert stream.lag({}) == {}
    assert Positions(reading).lag(end) == {}


def test_what_comes_later_is_left_for_the_next_run(broker: Broker) -> None:
    broker.put("now", 1)
    reading = Reading(topics=("now",), pattern=None, client=_client(broker), start="earliest-offset")
    stream = Positions(reading)
    start = stream.initial()
    stream.stop_at_what_is_there()
    broker.put("now", 2)
    end = stream.latest(start)
    assert end["positions"]["now"]["0"] == 1
    assert stream.latest(end) == end


def test_a_stream_ends_where_the_table_says(broker: Broker) -> None:
    broker.put("ends", 1)
    reading = Reading(
        topics=("ends",), pattern=None, client=_client(broker), start="earliest-offset", end="latest-offset"
    )
    start = Positions(reading).initial()
    broker.put("ends", 2)
    restarted = Positions(reading)
    assert restarted.latest(start)["positions"]["ends"]["0"] == 1


def test_new_partitions_begin_at_their_beginning(broker: Broker) -> None:
    broker.put("grown", 1)
    reading = Reading(topics=("grown",), pattern=None, client=_client(broker), start="latest-offset")
    stream = Positions(reading)
    known = {"positions": {"grown": {"1": 0, "2": 0, "3": 0}}, "ends": None, "settled": True}
    seen = stream.latest(known)
    assert seen["positions"]["grown"]["0"] == 0 and not stream.between(known, seen)
    later = stream.latest(seen)
    assert stream.between(seen, later) == [[Range("grown", 0, 0, 1)]]


def test_java_asks_in_json(broker: Broker) -> None:
    broker.put("asked-by-java", 1)
    reading = Reading(topics=("asked-by-java",), pattern=None, client=_client(broker), start="earliest-offset")
    java = java_positions(Positions(reading), KafkaError)
    start = json.loads(java.apply("initial", "[]"))["answer"]
    end = json.loads(java.apply("latest", json.dumps([start])))["answer"]
    found = json.loads(java.apply("between", json.dumps([start, end])))["answer"]
    assert found == [[{"topic": "asked-by-java", "partition": 0, "start": 0, "end": 1}]]
    nowhere = Reading(topics=("nowhere",), pattern=None, client=_client(broker))
    absent = java_positions(Positions(nowhere), KafkaError)
    assert json.loads(absent.apply("latest", json.dumps([start])))["error"] == "there is no topic 'nowhere'"


def test_a_task_reads_its_range(broker: Broker) -> None:
    broker.put("ranged", 1, 2, 3)
    wanted = json.dumps([{"topic": "ranged", "partition": 0, "start": 1, "end": 3}])
    batches = [pa.RecordBatch.from_pydict({"ranges": [wanted]}), pa.RecordBatch.from_pydict({"ranges": pa.nulls(1)})]
    found = source.reader(("value",), _client(broker))(iter(batches))
    assert [row["value"] for batch in found for row in batch.to_pylist()] == [b"2", b"3"]
