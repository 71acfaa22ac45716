"""Run the sample's plan: start a broker, send orders and rates, print rows as they arrive, then stop all of it.

The broker is that of librdkafka's own tests, inside this process. Rates come as real ones did from February 2013 on.
"""

import csv
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from confluent_kafka import Consumer, Producer, TopicPartition
from rich.console import Console
from rich.table import Table

from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.executor.jvm.session import session
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import load

DATA = Path(__file__).parents[1] / "data"
ORDERS = 40
PER_SECOND = 2
RATES_EVERY = 4
"""So many orders come between the rates of one day and those of the next."""
PATIENCE = 300.0
"""Seconds after which the demonstration is given up."""


class Broker:
    """The broker, what is sent to it and what has arrived in the topic ``converted``."""

    def __init__(self) -> None:
        self._host = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
        brokers = self._host.list_topics(timeout=10).brokers.values()
        self.servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
        self._producer = Producer({"bootstrap.servers": self.servers, "log_level": 0})
        self._consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "demo", "log_level": 0})
        for topic in ("orders", "rates", "converted"):
            partitions = self._producer.list_topics(topic, timeout=10).topics[topic].partitions
        self._consumer.assign([TopicPartition("converted", number, 0) for number in partitions])

    def send(self, topic: str, value: dict[str, Any], key: dict[str, Any] | None = None) -> None:
        """Send a message."""
        self._producer.produce(topic, json.dumps(value), json.dumps(key) if key else None)
        self._producer.poll(0)

    def arrived(self) -> Iterator[dict[str, Any]]:
        """The rows that have come since the last call."""
        for message in self._consumer.consume(100, timeout=0.1):
            if message.error() is None and (value := message.value()) is not None:
                yield json.loads(value)


class Shop:
    """The database: one of Derby's in a folder, which the job's JVM opens."""

    def __init__(self, folder: Path) -> None:
        jvm = session()._jvm
        assert jvm is not None
        self._connection = jvm.java.sql.DriverManager.getConnection(f"jdbc:derby:{folder / 'shop'};create=true")
        self._connection.createStatement().execute(
            "CREATE TABLE turnover (currency VARCHAR(3) PRIMARY KEY, orders BIGINT, euros DECIMAL(10, 2))"
        )

    def orders(self) -> int:
        """How many orders the table ``turnover`` knows of."""
        found = self._connection.createStatement().executeQuery("SELECT SUM(orders) FROM turnover")
        found.next()
        return int(found.getLong(1))

    def turnover(self) -> Table:
        """The table ``turnover``, to print."""
        found = self._connection.createStatement().executeQuery("SELECT * FROM turnover ORDER BY euros DESC")
        shown = Table("currency", "orders", "euros")
        while found.next():
            shown.add_row(*(found.getString(i) for i in (1, 2, 3)))
        return shown


def orders() -> Iterator[dict[str, Any]]:
    """Orders, some of each currency."""
    currencies = ("USD", "GBP", "JPY", "CHF")
    for i in range(1, ORDERS + 1):
        currency = currencies[i * 7 % 9 % 4]
        yield {"id": i, "currency": currency, "amount": 25 * (i % 9 + 1) * (100 if currency == "JPY" else 1)}


def days() -> Iterator[list[dict[str, Any]]]:
    """The rates of the days after those of the files."""
    with (DATA / "rates_next.csv").open(encoding="utf-8") as file:
        rows = [dict(zip(("day", "currency", "rate"), row, strict=True)) for row in csv.reader(file)]
    for _, rates in itertools.groupby(rows, lambda row: row["day"]):
        yield list(rates)


def show(broker: Broker, console: Console) -> int:
    """Print the rows that have arrived, and say how many."""
    rows = list(broker.arrived())
    for row in rows:
        amount = f"{row['amount']:.2f} {row['currency']}"
        console.print(f"order {row['id']:>3}  {amount:>12}  is {row['euros']:>7.2f} euros by the rate of {row['day']}")
    return len(rows)


def serve(
    job: Job, broker: Broker, shop: Shop, console: Console, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    """Send all orders, change rates between them, and print what comes of them.

    The first orders have to wait until the job is up; only then come others, and rates.
    """
    coming, rates, sent, arrived, last = orders(), days(), 0, 0, 0.0
    deadline = time.monotonic() + PATIENCE
    while (arrived < ORDERS or shop.orders() < ORDERS) and time.monotonic() < deadline:
        is_due = time.monotonic() - last >= 1 / PER_SECOND and (arrived or sent < RATES_EVERY)
        if is_due and (order := next(coming, None)) is not None:
            broker.send("orders", order)
            sent, last = sent + 1, time.monotonic()
            if arrived and sent % RATES_EVERY == 0:
                change(next(rates, []))
        arrived += show(broker, console)
        job.wait(0.1)
    if arrived < ORDERS:
        raise SystemExit(f"{arrived} of {ORDERS} orders have come out within {PATIENCE:.0f} s")


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path) -> None:
    console = Console(highlight=False)
    folder = folder.resolve()
    broker, shop = Broker(), Shop(folder / "output")
    variables = {"BROKERS": broker.servers, "DATA": str(DATA), "OUT": str(folder / "output")}
    options = JobOptions(
        checkpoint=str(folder / "checkpoint"),
        variables=variables,
        mode=Mode.STREAMING,
        trigger_interval=0.5,
        databases=(str(folder / "output"),),
    )
    job = execute(load(folder / "plan.json"), options)

    def change(rates: list[dict[str, Any]]) -> None:
        for rate in rates:
            broker.send("rates", rate, {"currency": rate["currency"]})

    try:
        serve(job, broker, shop, console, change)
    finally:
        job.stop()
    console.print("turnover, as the database has it:", shop.turnover(), sep="\n")


if __name__ == "__main__":
    main()
