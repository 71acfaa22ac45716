"""Measures reading and writing a topic of Kafka against the same JSON in files, or how long a message takes.

    benchmarks/kafka.py [--messages N] [--rounds N]
    benchmarks/kafka.py --latency [--mode streaming|real-time] [--query NAME] [--rate N] [--seconds N]

The broker is that of librdkafka's own tests, in this process; it keeps 5 MB a partition.  What counts is the ratio.
The latency is the time from sending a message until its result has come from another topic: in streaming mode with
batches as fast as they can be, in real-time mode between two checkpoints, and over all of them.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Thread

from confluent_kafka import Consumer, Producer, TopicPartition

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jobs.progress import QueryProgress
from flinkplan.executor.jvm.session import session
from flinkplan.executor.prepare.modes import Mode
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


WARM_UP = 30.0
"""Seconds of messages before those that count: the JVM compiles what it runs often."""
LINGER_MS = 5
"""How long clients of Kafka gather messages by default."""

TEXT = "x" * 1000
"""A column of each message: the broker keeps 5 MB a partition and looks for each message from the oldest one on, so
that with small messages it is soon slower than the job."""

QUERIES = {
    "filter": ("k INT, t BIGINT", "SELECT k, t, text FROM sent WHERE k >= 0"),
    "group aggregate": ("k INT, n BIGINT, t BIGINT", "SELECT k, COUNT(*), MAX(t), MAX(text) FROM sent GROUP BY k"),
    "join": ("k INT, n INT, t BIGINT", "SELECT s.k, k.n, s.t, s.text FROM sent s JOIN known k ON s.k = k.k"),
}
KEYS = 1000


def stream(servers: str, name: str) -> str:
    """The script of a query from the topic ``sent`` to one of its own."""
    columns, query = QUERIES[name]
    place = f"'properties.bootstrap.servers' = '{servers}'"
    begin = "'scan.startup.mode' = 'latest-offset'"
    source = (
        f"'connector' = 'kafka', 'topic' = 'sent', 'format' = 'json', 'scan.startup.mode' = 'latest-offset', {place}"
    )
    sink = f"'connector' = 'upsert-kafka', 'topic' = '{topic_of(name)}', 'key.format' = 'json', 'value.format' = 'json'"
    keyed = columns.replace("k INT", "k INT PRIMARY KEY NOT ENFORCED")
    return (
        "SET 'table.exec.sink.require-on-conflict' = 'false';"
        f"CREATE TABLE sent (k INT, t BIGINT, text STRING) WITH ({source}, {begin});"
        f"CREATE TABLE known (k INT, n INT) WITH ({source.replace('sent', 'known').replace('latest', 'earliest')});"
        f"CREATE TABLE got ({keyed}, text STRING) WITH ({sink}, {place});"
        f"INSERT INTO got {query};"
    )


def topic_of(name: str) -> str:
    return name.replace(" ", "-")


def send(servers: str, rate: int, until: float) -> None:
    """Put messages into the topic at the rate, as long as there is time."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": LINGER_MS, "log_level": 0})
    started, sent = time.time(), 0
    while (now := time.time()) < until:
        for i in range(sent, due := int((now - started) * rate)):
            value = {"k": i % KEYS, "t": time.time_ns(), "text": TEXT}
            producer.produce("sent", json.dumps(value).encode(), partition=i % PARTITIONS)
        sent = due
        producer.poll(0.001)
    producer.flush()


def results(servers: str, name: str, begin: float, end: float) -> list[tuple[float, float]]:
    """When messages were sent between two times (seconds since 1970), and the milliseconds that they took."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "benchmark", "fetch.wait.max.ms": 5, "log_level": 0})
    consumer.assign([TopicPartition(topic_of(name), partition, 0) for partition in range(PARTITIONS)])
    found: list[tuple[float, float]] = []
    while time.time() < end + 10:
        message = consumer.poll(0.1)
        if message is None or message.error() is not None:
            continue
        now, sent = time.time_ns(), json.loads(message.value() or b"{}")["t"]
        if begin * 1e9 <= sent < end * 1e9:
            found.append((sent / 1e9, (now - sent) / 1e6))
        elif sent >= end * 1e9:
            break
    consumer.close()
    return found


SLOTS = 6
"""How many tasks run at once at most: those of two sources, a join and a sink."""

CHECKPOINT_SECONDS = 10.0
"""Between two checkpoints of real-time mode."""

AROUND_CHECKPOINT = 1.5
"""Seconds around a checkpoint in which rows wait for it."""


class Checkpoints:
    """Notes when checkpoints were taken, in seconds since 1970."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def batch_done(self, progress: QueryProgress) -> None:
        self.times.append(datetime.fromisoformat(progress.time).timestamp() + progress.duration_ms / 1000)

    def is_near(self, moment: float) -> bool:
        return any(abs(moment - taken) < AROUND_CHECKPOINT for taken in self.times)


@contextmanager
def running(script: str, mode: Mode) -> Iterator[Checkpoints]:
    """A job that runs meanwhile."""
    checkpoints = Checkpoints()
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-", ignore_cleanup_errors=True) as folder:
        options = JobOptions(
            checkpoint=folder,
            mode=mode,
            spark=None if mode is Mode.REAL_TIME else session(),
            master=f"local[{SLOTS}]",
            checkpoint_interval=CHECKPOINT_SECONDS,
            listener=checkpoints,
        )
        job = execute(compile_script(script), options)
        try:
            yield checkpoints
        finally:
            # tells of the batches that are over
            job.wait(1)
            job.stop()


def show_latencies(mode: Mode, queries: Iterable[str], rate: int, seconds: float) -> None:
    """A line for each query, which has a broker of its own: it looks for a message among all that it was ever sent."""
    for name in queries:
        _host, servers = started()
        for topic in ("sent", topic_of(name)):
            create(servers, topic)
        know(servers)
        with running(stream(servers, name), mode) as checkpoints:
            begin = time.time() + WARM_UP
            end = begin + seconds
            Thread(target=send, args=(servers, rate, end + 1), daemon=True).start()
            found = results(servers, name, begin, end)
        between = [took for sent, took in found if not checkpoints.is_near(sent)]
        print(f"{name}, {mode.value}: {len(found):,} results, {shown([took for _, took in found])}")
        if mode is Mode.REAL_TIME:
            print(f"{name}, between checkpoints: {shown(between)}")


def shown(found: list[float]) -> str:
    """Percentiles of milliseconds."""
    found = sorted(found)
    p50, p99, most = (found[int((len(found) - 1) * share)] for share in (0.5, 0.99, 1))
    return f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms, most {most:,.0f} ms"


def know(servers: str) -> None:
    """Put the other side of the join into its topic."""
    producer = Producer({"bootstrap.servers": servers, "log_level": 0})
    for k in range(KEYS):
        producer.produce("known", b'{"k": %d, "n": %d}' % (k, k), partition=k % PARTITIONS)
    producer.flush()


def create(servers: str, topic: str) -> None:
    """Let a topic be there."""
    producer = Producer({"bootstrap.servers": servers, "log_level": 0})
    producer.produce(topic, b'{"k": 0, "t": 0}')
    producer.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=180_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--mode", choices=("streaming", "real-time"), default="streaming")
    parser.add_argument("--query", choices=[*QUERIES])
    parser.add_argument("--rate", type=int, default=1000, help="messages a second")
    parser.add_argument("--seconds", type=float, default=30)
    arguments = parser.parse_args()
    if arguments.latency:
        queries = [arguments.query] if arguments.query else [*QUERIES]
        show_latencies(Mode(arguments.mode), queries, arguments.rate, arguments.seconds)
        return
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
