"""A job that is killed again and again writes what one that is never killed writes.

An aggregation over a join, and a window, write files.  ``FLINKPLAN_KILLS`` sets how often the process is killed, with
SIGKILL at random moments: while it starts, within a batch, or between two; ``make soak`` kills 200 times.  Each process
has another number of cores, and cuts its input into as many tasks.  The last one ends the input.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import TABLES, WINDOW, WINDOW_COLUMNS
from tests.compat.truths import order, shipment
from tests.killing import Kills, Work, left

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

ROWS = 25
START = datetime(2020, 1, 1)
SINKS = {
    "copied": ("SELECT id, product, amount FROM orders", "id BIGINT, product STRING, amount INT"),
    "summed": (
        "SELECT o.product, SUM(o.amount), MAX(s.cost) FROM orders o JOIN shipments s ON o.id = s.order_id "
        "GROUP BY o.product",
        "product STRING, amount INT, cost DECIMAL(10, 2)",
    ),
    "windowed": (WINDOW, WINDOW_COLUMNS),
}


def pipeline() -> str:
    """One statement set over tables that are watched for new files."""
    watched = TABLES.replace("'format' = 'json')", "'format' = 'json', 'source.monitor-interval' = '100 ms')")
    tables, inserts = [watched], []
    for name, (query, columns) in SINKS.items():
        options = f"'connector' = 'filesystem', 'path' = '${{DIR}}/out/{name}', 'format' = 'debezium-json'"
        tables.append(f"CREATE TABLE {name} ({columns}) WITH ({options});")
        inserts.append(f"INSERT INTO {name} {query};")
    return "\n".join([*tables, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def feed(folder: Path, number: int) -> None:
    """Add the files ``number`` of both tables, each whole at once; the orders' times go on and on."""
    ids = range(number * ROWS, (number + 1) * ROWS)
    rows: dict[str, list[Any]] = {
        "orders": [order(i, product=f"p{i % 7}", amount=i % 5, ts=str(START + timedelta(minutes=i))) for i in ids],
        "shipments": [shipment(i - i % 3, cost=i % 11) for i in ids],
    }
    for table, its in rows.items():
        hidden = folder / "in" / table / f".{number:06}"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("".join(json.dumps(row) + "\n" for row in its))
        hidden.rename(hidden.with_name(f"{number:06}"))


def written(work: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink's changelog leaves."""
    return {name: left(work / "out" / name) for name in SINKS}


def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path, classes: Path) -> None:
    kills, plan = Kills(6), tmp_path / "plan.json"
    save(compile_script(pipeline()), plan)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    for number in range(kills.feeds):
        feed(whole, number)
    Work(plan, whole, {"DIR": str(whole)}, classes).finish()
    assert all(written(whole).values())

    kills.inflict(Work(plan, killed, {"DIR": str(killed)}, classes), lambda number: feed(killed, number), SINKS)
    assert written(killed) == written(whole)
