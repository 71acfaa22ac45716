"""Tables that are read from files, then from a topic, or from files that come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from flinkplan.executor.context import Mode
from flinkplan.executor.errors import TableError

from .clusters import Cluster

pytestmark = pytest.mark.spark

WINDOWS = (
    "INSERT INTO `out` SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE h, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end;"
)


def hybrid(cluster: Cluster, columns: str, live: Mapping[str, str], **history: str) -> str:
    """The table ``h``: the files of the folder ``history``, then what ``live`` says."""
    files = {"connector": "filesystem", "path": str(cluster.folder / "history"), "format": "json", **history}
    options = {"connector": "hybrid", "source-identifiers": "history,live"}
    options |= {f"history.{key}": value for key, value in files.items()}
    options |= {f"live.{key}": value for key, value in live.items()}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE h ({columns}) WITH ({given});"


def topic(name: str, **more: str) -> dict[str, str]:
    """The options of a topic that is read from its beginning."""
    servers = {"properties.bootstrap.servers": "${BROKERS}", "scan.startup.mode": "earliest-offset"}
    return {"connector": "kafka", "topic": name, "format": "json", **servers, **more}


def put(cluster: Cluster, folder: str, name: str, *rows: Any) -> None:
    """A file in a folder."""
    file = cluster.folder / folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_history_is_read_once_then_messages_across_restarts(cluster: Cluster) -> None:
    put(cluster, "history", "1", {"n": 1}, {"n": 2})
    cluster.broker.put("then", {"n": 3})
    script = (
        hybrid(cluster, "n INT", topic("then")),
        cluster.out("n INT"),
        "INSERT INTO `out` SELECT n FROM h;",
    )
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert sorted(row["n"] for row in cluster.rows()) == [1, 2, 3]
    put(cluster, "history", "2", {"n": 100})  # too late to be history
    cluster.broker.put("then", {"n": 4}, {"n": 5}, partition=1)
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert sorted(row["n"] for row in cluster.rows()) == [1, 2, 3, 4, 5]


def test_messages_come_behind_the_watermark_of_history(cluster: Cluster) -> None:
    put(cluster, "history", "1", {"ts": "2024-01-01 00:00:05"}, {"ts": "2024-01-01 00:00:25"})
    cluster.broker.put("timed-then", {"ts": "2024-01-01 00:00:07"}, {"ts": "2024-01-01 00:00:28"})
    table = hybrid(cluster, "ts TIMESTAMP(3), WATERMARK FOR ts AS ts", topic("timed-then"))
    out = cluster.out("s TIMESTAMP(3), n BIGINT")
    cluster.run(table, out, WINDOWS, mode=Mode.AVAILABLE_NOW)
    assert [(row["s"][-2:], row["n"]) for row in cluster.rows()] == [("00", 1)]  # the message of 00:00:07 is late
    cluster.run(table, out, WINDOWS, mode=Mode.BOUNDED)
    assert sorted((row["s"][-2:], row["n"]) for row in cluster.rows()) == [("00", 1), ("20", 2)]


def test_a_topic_that_ends_is_read_at_once_behind_history(cluster: Cluster) -> None:
    put(cluster, "history", "1", {"id": 1, "v": "old"}, {"id": 2, "v": "old"})
    cluster.broker.put("upserts", {"id": 1, "v": "new"}, key={"id": 1})
    cluster.broker.put("upserts", None, key={"id": 2})
    live = topic("upserts") | {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
    live |= {"scan.bounded.mode": "latest-offset"}
    del live["format"], live["scan.startup.mode"]
    cluster.run(
        hybrid(cluster, "id INT PRIMARY KEY NOT ENFORCED, v STRING", live),
        cluster.out("n BIGINT, v STRING", "debezium-json"),
        "INSERT INTO `out` SELECT COUNT(*), MAX(v) FROM h;",
    )
    assert cluster.rows()[-1]["after"] == {"n": 1, "v": "new"}


def test_files_that_come_follow_files_that_are_there(cluster: Cluster) -> None:
    put(cluster, "history", "1", {"n": 1})
    put(cluster, "live", "1", {"n": 2})
    path = str(cluster.folder / "live")
    live = {"connector": "filesystem", "path": path, "format": "json", "source.monitor-interval": "1 s"}
    script = (hybrid(cluster, "n INT", live), cluster.out("n INT"), "INSERT INTO `out` SELECT n FROM h;")
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    put(cluster, "live", "2", {"n": 3})
    put(cluster, "history", "2", {"n": 100})
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert sorted(row["n"] for row in cluster.rows()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("history", "live", "words"),
    [
        ({"source.monitor-interval": "1 s"}, topic("t"), "reading this source does not end"),
        ({}, {"connector": "datagen"}, "a source of 'datagen' does not wait"),
    ],
)
def test_sources_that_cannot_be_read_in_turn_are_refused(
    cluster: Cluster, history: dict[str, str], live: dict[str, str], words: str
) -> None:
    put(cluster, "history", "1", {"n": 1})
    table = hybrid(cluster, "n INT", live, **history)
    with pytest.raises(TableError, match=words):
        cluster.run(table, cluster.out("n INT"), "INSERT INTO `out` SELECT n FROM h;")
