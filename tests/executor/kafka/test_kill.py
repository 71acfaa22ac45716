"""A job between topics of Kafka that is killed again and again leaves the rows of one that is never killed.

A join, an aggregation over one and a window read two topics and write others.  Read by key, as ``upsert-kafka`` is, the
topics hold each row once; where messages have no keys that mean anything, some may be there again.
``FLINKPLAN_KILLS`` sets how often the process is killed, as in ``tests/compat/test_kill.py``; ``make soak-kafka`` kills
50 times.  In the middle the broker is down for some seconds.
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
from tests.killing import Kills, Work

from .apart import BrokerApart, broker_apart
from .brokers import PARTITIONS, Broker

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

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


class Run:
    """A job over topics of its own."""

    def __init__(self, name: str, broker: Broker, folder: Path, classes: Path) -> None:
        self._name = name
        self._broker = broker
        self.work = Work(
            folder / "plan.json",
            folder / name,
            {"RUN": name, "BROKERS": broker.servers},
            classes,
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


def test_nothing_is_lost_and_read_by_key_nothing_comes_twice(tmp_path: Path, classes: Path) -> None:
    kills = Kills(2)
    save(compile_script(pipeline()), tmp_path / "plan.json")
    with broker_apart() as process:
        broker = Broker(process.servers)
        whole, killed = (Run(name, broker, tmp_path, classes) for name in ("whole", "killed"))
        for number in range(kills.feeds):
            whole.feed(number)
        whole.work.finish()
        assert set(whole.copied().values()) == {1}

        def feed(number: int) -> None:
            killed.feed(number)
            if number == kills.feeds // 2:
                interrupt(process)

        kills.inflict(killed.work, feed, (*SINKS, "copied"))
        assert killed.by_key() == whole.by_key()
        assert killed.copied().keys() == whole.copied().keys()
