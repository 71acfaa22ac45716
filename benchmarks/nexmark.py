"""Measures the queries of Nexmark: bounded, as batch, against the same as a stream, and on Flink where it is given.

    benchmarks/nexmark.py QUERIES [--events N] [--only q4,q9] [--rounds N] [--stream] [--flink PYTHON] [--data DIR]

QUERIES is the folder of the queries in a clone of github.com/nexmark/nexmark:
`nexmark-flink/src/main/resources/queries`.  The events are made here, in Nexmark's proportions: of 50 one is a person,
3 are auctions and 46 bids, half of which go to the hottest auctions.  ``--stream`` measures them in micro-batches, too.

A figure is the least of the seconds of all rounds but the first one in a session, which is shown beside it.
``--flink`` names the Python of a virtual environment that has apache-flink.
"""

import argparse
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from flink_job import processor_seconds
from rich.console import Console
from rich.table import Table

from flinkplan.executor.job import JobOptions, execute
from flinkplan.executor.session import session
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

HERE = Path(__file__).parent
EVENTS_A_SECOND = 10_000
START = datetime(2024, 1, 1, tzinfo=UTC)
STATES = ("OR", "ID", "CA", "WA", "AZ", "WY")
CITIES = ("Portland", "Boise", "San Francisco", "Seattle", "Phoenix", "Cheyenne")
CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
BOUNDED = "'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'"


def events(count: int) -> Iterator[dict[str, Any]]:
    """Events in the order of their times; the same count gives the same events."""
    draw = random.Random(42)
    people = auctions = 0
    for number in range(count):
        at = START + timedelta(microseconds=number * 1_000_000 // EVENTS_A_SECOND)
        text = f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
        place = number % 50
        extra = "x" * draw.randrange(20, 60)
        if place == 0:
            city = draw.randrange(len(CITIES))
            person = {
                "id": 1000 + people,
                "name": f"name {people % 997}",
                "emailAddress": f"{people}@example.org",
                "creditCard": f"{draw.randrange(10**16):016}",
                "city": CITIES[city],
                "state": STATES[city],
                "dateTime": text,
                "extra": extra,
            }
            people += 1
            yield {"event_type": 0, "person": person}
        elif place < 4:
            hot = draw.randrange(4) > 0
            seller = people - 1 - people % 100 if hot and people % 100 < people else draw.randrange(people)
            expires = at + timedelta(milliseconds=draw.randrange(500, 10_000))
            initial = round(10 ** (draw.random() * 6) * 100)
            auction = {
                "id": 1000 + auctions,
                "itemName": f"item {auctions % 499}",
                "description": f"description {draw.randrange(10**6)}",
                "initialBid": initial,
                "reserve": initial + round(10 ** (draw.random() * 6) * 100),
                "dateTime": text,
                "expires": f"{expires:%Y-%m-%d %H:%M:%S}.{expires.microsecond // 1000:03}",
                "seller": 1000 + max(0, seller),
                "category": 10 + draw.randrange(5),
                "extra": extra,
            }
            auctions += 1
            yield {"event_type": 1, "auction": auction}
        else:
            hot = draw.randrange(2) > 0
            of = (auctions - 1) // 100 * 100 if hot else max(0, auctions - 1 - draw.randrange(100))
            bidder = (people - 1) // 100 * 100 if draw.randrange(4) > 0 else draw.randrange(people)
            channel = draw.choice(CHANNELS) if draw.randrange(2) else f"channel-{draw.randrange(10_000)}"
            bid = {
                "auction": 1000 + of,
                "bidder": 1000 + bidder,
                "price": round(10 ** (draw.random() * 6) * 100),
                "channel": channel,
                "url": f"https://www.nexmark.com/{draw.randrange(1000)}/{of}/item.htm?query=1&channel_id={of}",
                "dateTime": text,
                "extra": extra,
            }
            yield {"event_type": 2, "bid": bid}


def build(folder: Path, count: int) -> Path:
    """The folder of a file of so many events."""
    made = folder / f"events-{count}"
    if not made.exists():
        hidden = folder / f".{made.name}"
        hidden.mkdir(parents=True, exist_ok=True)
        with (hidden / "0.json").open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(event) + "\n" for event in events(count))
        hidden.rename(made)
    return made


def script(queries: Path, name: str, data: Path) -> str:
    """The script of a query over bounded input."""
    tables = (queries / "ddl_kafka.sql").read_text("utf-8")
    head, _, _ = tables.partition("WITH (")
    head = head.replace("CREATE TABLE kafka", "CREATE TABLE events")
    source = f"{head}WITH ({BOUNDED.format(path=data)});\n"
    views = (queries / "ddl_views.sql").read_text("utf-8").replace("${NEXMARK_TABLE}", "events").strip()
    text = (queries / f"{name}.sql").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join([source, views.rstrip(";") + ";", *lines]) + "\n"


class Round(NamedTuple):
    """The seconds of a run, and those of processor time."""

    seconds: float
    processor: float


def run(sql: str, rounds: int, *, streams: bool) -> list[Round]:
    """What each round took here."""
    plan = compile_script(sql)
    spark: Any = session()
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
            options = JobOptions(checkpoint=folder, spark=spark, streams=streams)
            begin, used = time.perf_counter(), time.process_time() + processor_seconds(jvm)
            execute(plan, options).wait()
            used = time.process_time() + processor_seconds(jvm) - used
            found.append(Round(time.perf_counter() - begin, used))
    return found


def run_flink(sql: str, rounds: int, python: str) -> list[Round]:
    """The same on Flink, with its state on the heap."""
    with tempfile.TemporaryDirectory(prefix="flinkplan-bench-") as folder:
        file = Path(folder, "job.sql")
        file.write_text(sql, encoding="utf-8")
        command = [python, str(HERE / "flink_job.py"), str(file), "hashmap", str(rounds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [Round(*map(float, line.split())) for line in done.stdout.splitlines()[-rounds:]]


def least(rounds: list[Round]) -> Round:
    """The best of all rounds but the first one."""
    return Round(min(r.seconds for r in rounds[1:]), min(r.processor for r in rounds[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("queries", type=Path)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--flink")
    parser.add_argument("--data", type=Path, default=Path("out/nexmark"))
    given = parser.parse_args()
    data = build(given.data.absolute(), given.events)
    names = given.only.split(",") if given.only else [f"q{n}" for n in range(24)]
    table = Table(title=f"Nexmark, {given.events:,} events, bounded: seconds (of processor time)")
    for column in ("query", "first", "warm", "as a stream", "Flink", "ours ÷ Flink"):
        table.add_column(column, justify="right")
    session("local[2]")
    for name in names:
        try:
            sql = script(given.queries, name, data)
            batch = run(sql, given.rounds, streams=False)
        except (FlinkplanError, OSError) as e:
            table.add_row(name, str(e).splitlines()[0])
            continue
        found = [batch[0], least(batch)]
        shown = [_shown(round_) for round_ in found]
        shown.append(_shown(least(run(sql, given.rounds, streams=True))) if given.stream else "")
        flink = least(run_flink(sql, given.rounds, given.flink)) if given.flink else None
        shown.append(_shown(flink) if flink else "")
        shown.append(_shown(Round(*(a / b for a, b in zip(found[1], flink, strict=True)))) if flink else "")
        table.add_row(name, *shown)
    Console().print(table)


def _shown(of: Round) -> str:
    return f"{of.seconds:.2f} ({of.processor:.2f})"


if __name__ == "__main__":
    main()
