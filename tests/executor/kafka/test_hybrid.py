"""Tables that are read from files, then from a topic, or from files that come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from flinkplan.executor.errors import ExecutionError, TableError
from flinkplan.executor.prepare.modes import Mode

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


TIMED = "ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
COUNTED = "s TIMESTAMP(3), n BIGINT"


def by_clock(cluster: Cluster, name: str) -> tuple[str, str, str]:
    """Windows over a table whose watermark is the clock once its history has been read."""
    table = hybrid(cluster, TIMED, topic(name)).replace("WITH (", "WITH ('use-processing-time' = 'true', ")
    return table, cluster.out(COUNTED), WINDOWS


def counted(cluster: Cluster) -> list[tuple[str, int]]:
    return sorted((row["s"], row["n"]) for row in cluster.rows())


def test_windows_close_by_event_time_in_the_history_and_by_the_clock_behind_it(cluster: Cluster) -> None:
    put(cluster, "history", "1", *({"ts": f"2024-01-01 00:00:{s}"} for s in ("05", "25", "15", "26")))
    cluster.broker.put("clocked", {"ts": "2024-01-01 00:00:28"}, {"ts": "2999-01-01 00:00:01"})
    script = by_clock(cluster, "clocked")
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    closed = [("2024-01-01 00:00:00", 1), ("2024-01-01 00:00:20", 2)]  # 00:00:15 came behind 00:00:25, 00:00:28 now
    assert counted(cluster) == closed
    cluster.broker.put("clocked", {"ts": "2999-01-01 00:00:02"})
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert counted(cluster) == closed
    cluster.run(*script, mode=Mode.BOUNDED)
    assert counted(cluster) == [*closed, ("2999-01-01 00:00:00", 2)]


@pytest.mark.parametrize("streams", [False, True])
def test_input_that_ends_has_late_rows_by_the_clock_too(cluster: Cluster, streams: bool) -> None:
    put(cluster, "history", "1", {"ts": "2024-01-01 00:00:05"})
    cluster.broker.put(f"ends-{streams}", {"ts": "2024-01-01 00:00:06"}, {"ts": "2999-01-01 00:00:01"})
    cluster.run(*by_clock(cluster, f"ends-{streams}"), mode=Mode.BOUNDED, streams=streams)
    assert counted(cluster) == [("2024-01-01 00:00:00", 1), ("2999-01-01 00:00:00", 1)]


def test_a_history_ahead_of_the_clock_fails_the_job(cluster: Cluster) -> None:
    put(cluster, "history", "1", {"ts": "2999-01-01 00:00:05"})
    cluster.broker.put("behind", {"ts": "2024-01-01 00:00:06"})
    with pytest.raises(ExecutionError, match=r"the watermark is 2999-01-01T00:00:05Z.* it would go back"):
        cluster.run(*by_clock(cluster, "behind"), mode=Mode.AVAILABLE_NOW)


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_the_switch_falls_between_batches_and_survives_restarts(cluster: Cluster, batches: int) -> None:
    """Of the batches of history, of its watermark, and of messages a job does so many; then another one goes on."""
    put(cluster, "history", "1", {"ts": "2024-01-01 00:00:05"}, {"ts": "2024-01-01 00:00:06"})
    cluster.broker.put(f"restart-{batches}", {"ts": "2024-01-01 00:00:07"}, {"ts": "2999-01-01 00:00:01"})
    script = by_clock(cluster, f"restart-{batches}")
    job = cluster.start(*script, mode=Mode.STREAMING)
    while len(cluster.progress) < batches:
        job.wait(0.05)
    job.stop()
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert counted(cluster) == [("2024-01-01 00:00:00", 2)]
    assert [progress.rows_read for progress in cluster.progress if progress.rows_read] == [2, 2]
    assert sum(progress.rows_dropped for progress in cluster.progress) == 1


RATES = "cur STRING PRIMARY KEY NOT ENFORCED, rate INT"
ORDERS = "cur STRING, v INT, p AS PROCTIME()"
JOIN = (
    "SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';"
    "INSERT INTO `out` SELECT o.v, h.rate FROM o LEFT JOIN h FOR SYSTEM_TIME AS OF o.p ON o.cur = h.cur;"
)


def rates(cluster: Cluster, name: str) -> str:
    """Rates whose history is the first three messages of a topic, which may be still to come."""
    servers = {"properties.bootstrap.servers": "${BROKERS}", "key.format": "json", "value.format": "json"}
    upserts = {"connector": "upsert-kafka", **servers}
    ends = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:3"}
    history = {"path": "", "format": ""} | upserts | ends | {"topic": f"{name}-history"}
    table = hybrid(cluster, RATES, upserts | {"topic": f"{name}-live"}, **history)
    return table.replace("'history.path' = '', 'history.format' = '', ", "")


def rate(cluster: Cluster, name: str, currency: str, value: int) -> None:
    cluster.broker.put(name, {"cur": currency, "rate": value}, key={"cur": currency})


def test_rows_wait_for_a_history_that_has_not_ended(cluster: Cluster) -> None:
    rate(cluster, "late-history", "EUR", 1)
    rate(cluster, "late-history", "USD", 2)
    rate(cluster, "late-live", "EUR", 9)
    cluster.broker.put("late-orders", {"cur": "EUR", "v": 1}, {"cur": "USD", "v": 2})
    cluster.broker.put("late-orders", {"cur": "XXX", "v": 3}, partition=1)
    orders = cluster.table("o", ORDERS, topic="late-orders", scan_startup_mode="earliest-offset", format="json")
    script = (rates(cluster, "late"), orders, cluster.out("v INT, rate INT"), JOIN)
    job = cluster.start(*script, mode=Mode.STREAMING)
    try:
        while not any(progress.waiting for progress in cluster.progress):
            job.wait(0.05)
        (waiting,) = {p.waiting for p in cluster.progress if p.waiting}
        assert sorted((each.source, each.waits_for.split(".")[-1], each.waiting) for each in waiting) == [
            ("messages", "`h`", 1),
            ("messages", "`h`", 3),
        ]
        assert cluster.rows() == []
        rate(cluster, "late-history", "EUR", 3)
        while len(cluster.rows()) < 3:
            job.wait(0.05)
    finally:
        job.stop()
    found = {row["v"]: row["rate"] for row in cluster.rows()}
    assert found[1] in (3, 9)
    assert (found[2], found[3]) == (2, None)


def test_files_that_end_first_wait_as_well_across_restarts(cluster: Cluster) -> None:
    rate(cluster, "first-history", "EUR", 1)
    rate(cluster, "first-live", "EUR", 9)
    put(cluster, "orders", "1", {"cur": "EUR", "v": 1}, {"cur": "USD", "v": 2})
    path = cluster.folder / "orders"
    orders = f"CREATE TABLE o ({ORDERS}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');"
    script = (rates(cluster, "first"), orders, cluster.out("v INT, rate INT"), JOIN)
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    assert cluster.rows() == []
    rate(cluster, "first-history", "USD", 2)
    rate(cluster, "first-history", "EUR", 3)
    cluster.run(*script, mode=Mode.AVAILABLE_NOW)
    found = {row["v"]: row["rate"] for row in cluster.rows()}
    assert found[1] in (3, 9)
    assert found[2] == 2


def test_rows_that_cannot_wait_are_refused(cluster: Cluster) -> None:
    rate(cluster, "none-history", "EUR", 1)
    orders = f"CREATE TABLE o ({ORDERS}) WITH ('connector' = 'datagen', 'number-of-rows' = '1');"
    script = (rates(cluster, "none"), orders, cluster.out("v INT, rate INT"), JOIN)
    with pytest.raises(TableError, match=r"its rows do not wait here until the history of .*`h` ends"):
        cluster.run(*script, mode=Mode.AVAILABLE_NOW)
