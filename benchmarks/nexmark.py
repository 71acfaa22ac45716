"""Measures the queries of Nexmark: bounded, as streams, or as whole processes, and on Flink where it is given.

    benchmarks/nexmark.py QUERIES [--events N] [--only q4,q9] [--rounds N] [--stream [--batch N] | --cold]
                          [--flink PYTHON] [--set KEY=VALUE] [--master URL] [--conf KEY=VALUE] [--data DIR]

QUERIES is the folder of the queries in a clone of github.com/nexmark/nexmark:
`nexmark-flink/src/main/resources/queries`.  The events are made here, in Nexmark's proportions: of 50 one is a person,
3 are auctions and 46 bids, half of which go to the hottest auctions.

A figure is the least of the seconds of all rounds but the first one in a session, which is shown beside it.
``--stream`` reads 100,000 events a micro-batch, or what ``--batch`` says, and keeps its state; windows that are open
in the end stay so.  Flink then has its state in RocksDB and makes a checkpoint every ten seconds.  ``--cold`` runs each
round in a process of its own.  ``--set`` sets an option of both sessions, such as ``table.exec.state.ttl=1 h``.
``--flink`` names the Python of a virtual environment that has apache-flink.  ``--master`` is Spark's, such as
``local-cluster[2,1,4096]``, whose executors' processor time is counted; ``--conf`` sets what Spark is to know.
"""

import argparse
import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any

from measuring import Report, Round, least, run, run_cold, run_flink, run_flink_cold, two_or_more

from flinkplan.executor.jvm.session import session
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError

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


def build(folder: Path, count: int, files: int = 1) -> Path:
    """The folder of so many events, in files whose names are in their order."""
    made = folder / (f"events-{count}" if files == 1 else f"events-{count}-in-{files}")
    if not made.exists():
        hidden = folder / f".{made.name}"
        hidden.mkdir(parents=True, exist_ok=True)
        left = events(count)
        for number in range(files):
            with (hidden / f"{number:04}.json").open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(event) + "\n" for event in islice(left, ceil(count / files)))
        hidden.rename(made)
    return made


def script(queries: Path, name: str, data: Path, settings: Sequence[str] = ()) -> str:
    """The script of a query over bounded input."""
    options = ("SET '{}' = '{}';".format(*setting.split("=", 1)) for setting in settings)
    tables = (queries / "ddl_kafka.sql").read_text("utf-8")
    head, _, _ = tables.partition("WITH (")
    head = head.replace("CREATE TABLE kafka", "CREATE TABLE events")
    source = f"{head}WITH ({BOUNDED.format(path=data)});\n"
    views = (queries / "ddl_views.sql").read_text("utf-8").replace("${NEXMARK_TABLE}", "events").strip()
    text = (queries / f"{name}.sql").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join([*options, source, views.rstrip(";") + ";", *lines]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("queries", type=Path)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=two_or_more, default=3)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--stream", action="store_true")
    kind.add_argument("--cold", action="store_true")
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--flink")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--conf", action="append", default=[])
    parser.add_argument("--data", type=Path, default=Path("out/nexmark"))
    given = parser.parse_args()
    data = build(given.data.absolute(), given.events, ceil(given.events / given.batch) if given.stream else 1)
    names = given.only.split(",") if given.only else [f"q{n}" for n in range(24)]
    how = f"as a stream of {given.batch:,} a micro-batch" if given.stream else "cold" if given.cold else "bounded"
    report = Report(
        f"Nexmark, {given.events:,} events, {how}: seconds (of processor time)", ["Flink"] if given.flink else []
    )
    for name in names:
        try:
            sql = script(given.queries, name, data, given.settings)
            ours = measure(sql, given)
        except (FlinkplanError, OSError, subprocess.CalledProcessError) as e:
            report.fail(name, e)
            continue
        report.add(name, ours, {"Flink": least(measure_flink(sql, given))} if given.flink else {})
    report.print()


def measure(sql: str, given: argparse.Namespace) -> list[Round]:
    """The rounds of a query here."""
    if given.cold:
        return run_cold(sql, given.rounds)
    session(given.master, dict(setting.split("=", 1) for setting in given.conf))
    if given.stream:
        return run(sql, given.rounds, mode=Mode.AVAILABLE_NOW, files_per_batch=1)
    return run(sql, given.rounds)


def measure_flink(sql: str, given: argparse.Namespace) -> list[Round]:
    """The rounds of a query on Flink."""
    if given.cold:
        return run_flink_cold(sql, given.rounds, given.flink)
    return run_flink(sql, given.rounds, given.flink, stream=given.stream)


if __name__ == "__main__":
    main()
