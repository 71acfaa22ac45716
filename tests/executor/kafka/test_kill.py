"""A job between topics of Kafka that is killed again and again leaves the rows that its input comes to.

A join, an aggregation over one and a window read two topics and write others.  Read by key, as ``upsert-kafka`` is, the
topics hold each row once; where messages have no keys that mean anything, some may be there again.
The process is killed within a batch; ``FLINKPLAN_KILLS`` as in ``tests/compat/test_kill.py``, and
``make soak-kafka`` kills 50 times.  In the middle the broker is down for some seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.killing import Kills, Place, Work

from .apart import BrokerApart, broker_apart
from .brokers import PARTITIONS, Broker

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("jobs over files are killed in the same way, and a broker with a job takes two minutes"),
]

ROWS = 25
START = datetime(2020, 1, 1)
SECONDS_DOWN = 3.0
HOUR = "TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
SOURCES = {
    "orders": "id BIGINT, product STRING, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR",
    "shipments": "id BIGINT, order_id BIGINT, cost INT",
}
COPIED = "id BIGINT, amount INT", "SELECT id, amount FROM orders"
"""What is written without keys."""
SINKS = {
    "joined": (
        "id BIGINT PRIMARY KEY NOT ENFORCED, product STRING, cost INT",
        "SELECT s.id, o.product, s.cost FROM orders o JOIN shipments s ON o.id = s.order_id",
    ),
    "summed": (
        "product STRING PRIMARY KEY NOT ENFORCED, amount INT, shipped BIGINT",
        "SELECT o.product, SUM(o.amount), COUNT(*) FROM orders o JOIN shipments s ON o.id = s.order_id "
        "GROUP BY o.product",
    ),
    "windowed": (
        "since TIMESTAMP(3), product STRING, amount INT, n BIGINT, PRIMARY KEY (since, product) NOT ENFORCED",
        f"SELECT window_start, product, SUM(amount), COUNT(*) FROM TABLE({HOUR}) "
        "GROUP BY window_start, window_end, product",
    ),
}
SETTING = "SET 'table.exec.sink.require-on-conflict' = 'false';"
KEYED = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
PLAIN = "'connector' = 'kafka', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"


def pipeline() -> str:
    """One statement set over topics whose names begin with the name of a run."""
    tables = [_table(name, columns, PLAIN) for name, columns in SOURCES.items()]
    tables += [_table(name, columns, KEYED) for name, (columns, _) in SINKS.items()]
    tables.append(_table("copied", COPIED[0], PLAIN))
    inserts = [f"INSERT INTO {name} {query};" for name, (_, query) in {**SINKS, "copied": COPIED}.items()]
    return "\n".join([SETTING, *tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def _table(name: str, columns: str, options: str) -> str:
    place = f"'topic' = '${{RUN}}-{name}', 'properties.bootstrap.servers' = '${{BROKERS}}'"
    return f"CREATE TABLE {name} ({columns}) WITH ({options}, {place});"


def _order(i: int) -> dict[str, Any]:
    return {"id": i, "product": f"p{i % 7}", "amount": i % 5, "ts": str(START + timedelta(minutes=i))}


def _shipment(i: int) -> dict[str, Any]:
    return {"id": i, "order_id": i - i % 3, "cost": i % 11}


def expected(feeds: int) -> dict[str, dict[str, Any]]:
    """The last value of each key in the end, by topic, computed from so many messages."""
    ids = range(feeds * ROWS)
    summed: dict[str, dict[str, Any]] = {}
    windowed: dict[str, dict[str, Any]] = {}
    for i in ids:
        product, amount = f"p{(i - i % 3) % 7}", (i - i % 3) % 5
        total = summed.setdefault(_key(product=product), {"product": product, "amount": 0, "shipped": 0})
        total["amount"] += amount
        total["shipped"] += 1
        since, product = str(START + timedelta(hours=i // 60)), f"p{i % 7}"
        nothing = {"since": since, "product": product, "amount": 0, "n": 0}
        window = windowed.setdefault(_key(since=since, product=product), nothing)
        window["amount"] += i % 5
        window["n"] += 1
    joined = {_key(id=i): {"id": i, "product": f"p{(i - i % 3) % 7}", "cost": i % 11} for i in ids}
    return {"joined": joined, "summed": summed, "windowed": windowed}


def _key(**columns: Any) -> str:
    return json.dumps(columns)


class Run:
    """A job over topics of its own."""

    def __init__(self, name: str, broker: Broker, folder: Path) -> None:
        self._name = name
        self._broker = broker
        self.work = Work(
            folder / "plan.json",
            folder / name,
            {"RUN": name, "BROKERS": broker.servers},
        )

    def feed(self, number: int) -> None:
        """Add the messages ``number`` to both topics; the orders' times go on and on."""
        ids = range(number * ROWS, (number + 1) * ROWS)
        for partition in range(PARTITIONS):
            some = [i for i in ids if i % PARTITIONS == partition]
            self._broker.put(f"{self._name}-orders", *map(_order, some), partition=partition)
            self._broker.put(f"{self._name}-shipments", *map(_shipment, some), partition=partition)

    def by_key(self) -> dict[str, dict[str, Any]]:
        """The last value of each key, by topic."""
        return {name: {json.dumps(k): v for k, v in self._contents(name)} for name in SINKS}

    def copied(self) -> Counter[str]:
        """The messages without keys, and how often each is there."""
        return Counter(json.dumps(value) for _, value in self._contents("copied"))

    def _contents(self, topic: str) -> list[tuple[Any, Any]]:
        return self._broker.contents(f"{self._name}-{topic}")


def interrupt(broker: BrokerApart) -> None:
    """Have the broker down for a while."""
    broker.turn("down")
    Timer(SECONDS_DOWN, broker.turn, ["up"]).start()


def test_nothing_is_lost_and_read_by_key_nothing_comes_twice(tmp_path: Path) -> None:
    kills = Kills(Place.WITHIN)
    save(compile_script(pipeline()), tmp_path / "plan.json")
    with broker_apart() as process:
        run = Run("killed", Broker(process.servers), tmp_path)

        def feed(number: int) -> None:
            run.feed(number)
            if number == kills.feeds // 2:
                interrupt(process)

        feeds = kills.inflict(run.work, feed, (*SINKS, "copied"))
        assert run.by_key() == expected(feeds)
        assert run.copied().keys() == {_key(id=i, amount=i % 5) for i in range(feeds * ROWS)}
