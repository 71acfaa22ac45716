"""Measures reading and writing a topic of Kafka against the same JSON in files.

    benchmarks/kafka.py [--messages N] [--rounds N]

The broker is that of librdkafka's own tests, in this process; it keeps 5 MB a partition.  What counts is the ratio.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from confluent_kafka import Producer

from flinkplan.executor.job import JobOptions, execute
from flinkplan.executor.session import session
from flinkplan.planner import compile_script

PARTITIONS = 4
COLUMNS = "id BIGINT, name STRING, price DOUBLE, ts TIMESTAMP(3)"


def started() -> tuple[Producer, str]:
    """A broker, which lives as long as its producer, and where it is."""
    host = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
    return host, ",".join(f"{b.host}:{b.port}" for b in host.list_topics(timeout=10).brokers.values())


def fill(servers: str, folder: Path, messages: int) -> None:
    """Put the same messages into the topic ``events`` and into files, as many as it has partitions."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "log_level": 0})
    folder.mkdir()
    for partition in range(PARTITIONS):
        with (folder / str(partition)).open("w") as file:
            for i in range(partition, messages, PARTITIONS):
                event = {"id": i, "name": f"name{i}", "price": i * 0.25, "ts": "2024-01-01 00:00:00"}
                line = json.dumps(event)
                file.write(f"{line}\n")
                producer.produce("events", line.encode(), partition=partition)
                producer.poll(0)
    producer.flush()


def tables(servers: str, folder: Path) -> str:
    """The statements of the tables: events in and out, of Kafka and of files."""
    kafka = f"'connector' = 'kafka', 'format' = 'json', 'properties.bootstrap.servers' = '{servers}'"
    bounds = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"
    files = "'connector' = 'filesystem', 'format' = 'json'"
    options = {
        "topic_in": f"{kafka}, 'topic' = 'events', {bounds}",
        "topic_out": f"{kafka}, 'topic' = 'written'",
        "files_in": f"{files}, 'path' = '{folder}'",
        "files_out": f"{files}, 'path' = '{folder}-written'",
        "nowhere": "'connector' = 'blackhole'",
    }
    return "".join(f"CREATE TABLE {name} ({COLUMNS}) WITH ({with_});" for name, with_ in options.items())


def seconds(script: str) -> float:
    """How long a job takes from its start to its end."""
    plan = compile_script(script)
    begin = time.perf_counter()
    execute(plan, JobOptions(spark=session())).wait()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=180_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    _host, servers = started()
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as scratch:
        folder = Path(scratch) / "events"
        fill(servers, folder, arguments.messages)
        for _ in range(arguments.rounds):
            for what, of_kafka, of_files in (
                ("read", "nowhere SELECT * FROM topic_in", "nowhere SELECT * FROM files_in"),
                ("written", "topic_out SELECT * FROM files_in", "files_out SELECT * FROM files_in"),
            ):
                kafka, files = (seconds(f"{tables(servers, folder)} INSERT INTO {q};") for q in (of_kafka, of_files))
                rate = arguments.messages / kafka
                print(f"{what}: Kafka {kafka:.2f} s, files {files:.2f} s, {rate:,.0f} messages/s, {files / kafka:.2f}")


if __name__ == "__main__":
    main()
