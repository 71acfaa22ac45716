"""A statement set over tables that are watched for new files, what comes in, and what goes out.

One sink copies rows, one aggregates over a join, one has a window of event time.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.compat.pipelines import TABLES, WINDOW, WINDOW_COLUMNS
from tests.compat.truths import order, shipment
from tests.killing import left

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
    """The script; ``DIR`` is a folder for input and output."""
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
    for table, lines in rows.items():
        hidden = folder / "in" / table / f".{number:06}"
        hidden.parent.mkdir(parents=True, exist_ok=True)
        hidden.write_text("".join(json.dumps(row) + "\n" for row in lines))
        hidden.rename(hidden.with_name(f"{number:06}"))


def expected(feeds: int) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink holds in the end, computed from so many files of each table."""
    ids = range(feeds * ROWS)
    summed: dict[str, list[int]] = {}
    windowed: Counter[tuple[str, str]] = Counter()
    for i in ids:
        shipped = i - i % 3
        total = summed.setdefault(f"p{shipped % 7}", [0, 0])
        total[:] = total[0] + shipped % 5, max(total[1], i % 11)
        windowed[str(START + timedelta(minutes=i - i % 10)), f"p{i % 7}"] += i % 5
    return {
        "copied": Counter((i, f"p{i % 7}", i % 5) for i in ids),
        "summed": Counter((product, amount, cost) for product, (amount, cost) in summed.items()),
        "windowed": Counter((start, product, amount) for (start, product), amount in windowed.items()),
    }


def written(folder: Path) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows that each sink's changelog leaves."""
    return {name: left(folder / "out" / name) for name in SINKS}
