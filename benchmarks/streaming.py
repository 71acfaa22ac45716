"""Jobs that are fed while they run, here and on Flink, and how long their rows take."""

import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from io import BufferedReader
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, Protocol

HERE = Path(__file__).parent
KEYS = 1000
WARM_UP = 30.0
"""Seconds of rows before those that count: the JVM compiles what it runs often, and a batch is planned seldom."""
PATIENCE = 180.0
"""Seconds within which a job must have started."""
CHUNK = 50_000
"""Lines that are written at once where all are there."""

_LAST = re.compile(rb"(\d+)\]\s*$")
_FORK = get_context("fork")


class Query(NamedTuple):
    """A query over the tables ``events (k, v, t)`` and ``names (k, name)``.

    ``columns`` are those of what is printed, of which the last one is the time of a row.
    """

    name: str
    columns: str
    select: str


class Running(NamedTuple):
    """A job: what it prints, what takes bytes of lines for it, and how many seconds are between them."""

    output: BufferedReader
    write: Callable[[bytes], object]
    tick: float


class Engine(Protocol):
    """What runs a query; ``interval`` is that between its pauses, in seconds, if it has any."""

    @property
    def name(self) -> str: ...

    @property
    def interval(self) -> float | None: ...

    def start(self, folder: Path, query: Query) -> AbstractContextManager[Running]: ...


class Measured(NamedTuple):
    """Milliseconds: that results took, all and those between checkpoints, and that the pauses lasted."""

    all: list[float]
    between: list[float]
    pauses: list[float]


def _table(name: str, columns: str, folder: Path, more: str = "") -> str:
    path = folder / name
    return (
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{more});"
    )


def _printed(query: Query) -> str:
    return (
        f"CREATE TABLE printed ({query.columns}) WITH ('connector' = 'print');\nINSERT INTO printed {query.select};\n"
    )


def _prepare(folder: Path, script: str) -> Path:
    """The files that are there from the start; returns that of the script."""
    for table in ("events", "names"):
        (folder / table).mkdir()
    (folder / "names" / "all").write_text("".join(f"{k},name{k}\n" for k in range(KEYS + 1)), encoding="utf-8")
    file = folder / "job.sql"
    file.write_text(script, encoding="utf-8")
    return file


@contextmanager
def _process(command: list[str]) -> Iterator[BufferedReader]:
    """What a process prints; when it is left, nobody holds it open any more."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert isinstance(process.stdout, BufferedReader)
        try:
            yield process.stdout
        finally:
            process.kill()
            process.stdout.read()


@contextmanager
def _job(folder: Path, query: Query, mode: list[str]) -> Iterator[BufferedReader]:
    """A job of ours, which tells of each batch as well."""
    monitored = ", 'source.monitor-interval' = '1 s'"
    tables = _table("events", "k INT, v INT, t BIGINT", folder, monitored) + _table(
        "names", "k INT, name STRING", folder, monitored
    )
    file = _prepare(folder, tables + _printed(query))
    program = Path(sys.executable).parent / "flinkplan"
    command = [program, "run", file, "--checkpoint", folder / "checkpoint", "--log-format", "json", *mode]
    with _process([*map(str, command)]) as output:
        yield output


class RealTime:
    """Real-time mode, over a file to which lines are added."""

    name = "real-time"

    def __init__(self, interval: int) -> None:
        self.interval = float(interval)

    @contextmanager
    def start(self, folder: Path, query: Query) -> Iterator[Running]:
        mode = ["--mode", "real-time", "--checkpoint-interval", f"{self.interval:g}s"]
        with _job(folder, query, mode) as output, (folder / "events" / "0").open("ab", buffering=0) as file:
            yield Running(output, file.write, 0.001)


class MicroBatches:
    """Micro-batches one behind the other, over files that come."""

    name = "micro-batches"
    interval = None

    @contextmanager
    def start(self, folder: Path, query: Query) -> Iterator[Running]:
        def write(lines: bytes) -> None:
            unfinished, file = folder / "unfinished", folder / "events" / str(time.time_ns())
            unfinished.write_bytes(lines)
            unfinished.rename(file)

        with _job(folder, query, ["--mode", "streaming"]) as output:
            yield Running(output, write, 0.05)


class Flink:
    """Flink, with as many parallel tasks as partitions here, over lines that come through a socket."""

    name = "Flink"
    interval = None

    def __init__(self, python: str, interval: int) -> None:
        self._python = python
        self._seconds = interval

    @contextmanager
    def start(self, folder: Path, query: Query) -> Iterator[Running]:
        columns = ("INT", "INT", "BIGINT")
        split = (f"CAST(SPLIT_INDEX(line, ',', {i}) AS {type})" for i, type in enumerate(columns))
        events = f"CREATE TEMPORARY VIEW events (k, v, t) AS SELECT {', '.join(split)} FROM `lines`;\n"
        file = _prepare(folder, events + _table("names", "k INT, name STRING", folder) + "\n" + _printed(query))
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(PATIENCE)
            port = server.getsockname()[1]
            command = [self._python, HERE / "flink_stream.py", file, port, self._seconds, folder / "checkpoint"]
            with _process([*map(str, command)]) as output:
                connection, _ = server.accept()
                with connection:
                    yield Running(output, connection.sendall, 0.001)


@contextmanager
def _started(engine: Engine, query: Query) -> Iterator[Running]:
    """A job that has printed the result of a first row."""
    with (
        tempfile.TemporaryDirectory(prefix="flinkplan-bench-", ignore_cleanup_errors=True) as folder,
        engine.start(Path(folder), query) as running,
    ):
        running.write(b"1,1,0\n")
        while not _is_result(running.output.readline()):
            pass
        yield running


@contextmanager
def _feeding(feed: Callable[..., None], *arguments: object) -> Iterator[None]:
    """Have a process of its own write lines meanwhile."""
    process = _FORK.Process(target=feed, args=arguments)
    process.start()
    try:
        yield
    finally:
        process.kill()


def _is_result(line: bytes) -> bool:
    """Whether a line shows a row that a query yields; on Flink the number of its task stands before it."""
    if not line:
        raise RuntimeError("the job has ended")
    return b"+" in line[:6]


def _feed(write: Callable[[bytes], object], tick: float, rate: int, until: float) -> None:
    """Write rows at the rate, as long as there is time."""
    chosen = random.Random(1)
    started, sent = time.time(), 0
    while (now := time.time()) < until:
        due = int((now - started) * rate) - sent
        if due:
            rows = (f"{chosen.randrange(KEYS)},{chosen.randrange(100)},{time.time_ns()}\n" for _ in range(due))
            write("".join(rows).encode())
        sent += due
        time.sleep(tick)


def latencies(engine: Engine, query: Query, rate: int, seconds: float) -> Measured:
    """From a row's being written to its result, once the job runs and has done so for a while."""
    with _started(engine, query) as running:
        begin = time.time() + WARM_UP
        end = begin + seconds
        results: list[tuple[float, float]] = []
        batches: list[tuple[float, float]] = []
        with _feeding(_feed, running.write, running.tick, rate, end):
            for line in running.output:
                now = time.time()
                if line.startswith(b"{"):
                    batches.append(_batch(line))
                    is_over = engine.interval is not None and sum(batches[-1]) > end
                elif _is_result(line) and (found := _LAST.search(line)):
                    written = int(found[1]) / 1e9
                    results.append((written, now))
                    is_over = engine.interval is None and written > end - 0.2
                else:
                    continue
                if is_over:
                    break
    counted = [(written, came) for written, came in results if written >= begin]
    pauses = _pauses(batches, engine.interval, [came for _, came in counted]) if engine.interval else []
    between = [r for r in counted if not any(r[0] < until and since < r[1] for since, until in pauses)]
    return Measured(_milliseconds(counted), _milliseconds(between), _milliseconds(pauses))


def _milliseconds(spans: list[tuple[float, float]]) -> list[float]:
    return [1000 * (end - begin) for begin, end in spans]


def _batch(line: bytes) -> tuple[float, float]:
    """When a batch began, and how many seconds it took to the beginning of the next one."""
    event = json.loads(line)
    return datetime.fromisoformat(event["time"]).timestamp(), event["duration_ms"] / 1000


def _pauses(batches: list[tuple[float, float]], interval: float, came: list[float]) -> list[tuple[float, float]]:
    """From the earliest end of a batch's reading to the first result of the next batch; ``came`` is in order."""
    found = []
    for start, duration in batches:
        place = bisect_left(came, start + duration)
        if came and start + interval > came[0] and place < len(came):
            found.append((start + interval, came[place]))
    return found


def throughput(engine: Engine, query: Query, rows: int) -> float:
    """Rows a second of so many that are there at once, when as many have been done before."""
    rounds = [_backlog(rows, place) for place in (1, 2)]
    taken = 0.0
    with _started(engine, query) as running:
        for place, chunks in enumerate(rounds, 1):
            mark = re.compile(rb"[\[ ]%d\]\r?\n" % place)
            began, tail = time.time(), b""
            with _feeding(_write_all, running.write, chunks):
                while not mark.search(tail):
                    if not (read := running.output.read1(1 << 20)):
                        raise RuntimeError("the job has ended")
                    tail = tail[-100:] + read
            taken = time.time() - began
    return rows / taken


def _write_all(write: Callable[[bytes], object], chunks: list[bytes]) -> None:
    for chunk in chunks:
        write(chunk)


def _backlog(rows: int, place: int) -> list[bytes]:
    """Lines whose times grow; the last one has a key of its own, and the place among the backlogs as its time."""
    chosen = random.Random(place)
    lines = [f"{chosen.randrange(KEYS)},{chosen.randrange(100)},{place * rows + i + 10}\n" for i in range(rows - 1)]
    lines.append(f"{KEYS},0,{place}\n")
    return ["".join(lines[i : i + CHUNK]).encode() for i in range(0, rows, CHUNK)]
