"""Joins as of processing time in a job that is killed again and again write each row once.

Orders are looked up in a table of Derby's, which stays as it is, and joined with the latest rate of their currency.  A
rate comes with the orders before those that ask for it, so that what they find does not depend on when batches begin.
The process is killed within a batch; ``FLINKPLAN_KILLS`` as in ``tests/compat/test_kill.py``.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.runtime.jar import jars, java
from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.killing import Kills, Place, Work, changes

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("jobs over files are killed in the same way, and these joins go on from checkpoints elsewhere"),
]

ROWS = 25
CUSTOMERS = 7
"""So many are in the database; orders have one more, who is not found."""
WATCHED = "'connector' = 'filesystem', 'format' = 'json', 'source.monitor-interval' = '100 ms'"
SCRIPT = f"""
SET 'table.exec.temporal-join.processing-time' = 'wait-for-snapshot';
CREATE TABLE orders (id INT, customer INT, currency INT, p AS PROCTIME()) WITH ({WATCHED}, 'path' = '${{DIR}}/orders');
CREATE TABLE rates (currency INT PRIMARY KEY NOT ENFORCED, rate INT)
  WITH ({WATCHED.replace("'json'", "'debezium-json'")}, 'path' = '${{DIR}}/rates');
CREATE TABLE customers (id INT PRIMARY KEY NOT ENFORCED, name STRING)
  WITH ('connector' = 'jdbc', 'url' = '${{URL}}', 'table-name' = 'customers');
CREATE TABLE looked_up (id INT, name STRING)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '${{DIR}}/out/looked_up');
CREATE TABLE converted (id INT, rate INT)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '${{DIR}}/out/converted');
EXECUTE STATEMENT SET BEGIN
INSERT INTO looked_up SELECT o.id, c.name FROM orders o
  LEFT JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.customer = c.id;
INSERT INTO converted SELECT o.id, r.rate FROM orders o
  LEFT JOIN rates FOR SYSTEM_TIME AS OF o.p AS r ON o.currency = r.currency;
END;
"""
SINKS = ("looked_up", "converted")


def feed(folder: Path, number: int) -> None:
    """Add the rate ``number + 1``, then orders with those up to ``number``, the first of which is none."""
    rate = {"currency": number + 1, "rate": 100 + number}
    _put(folder / "rates" / f"{number:06}", {"op": "c", "before": None, "after": rate})
    ids = range(number * ROWS, (number + 1) * ROWS)
    orders = ({"id": i, "customer": i % (CUSTOMERS + 1), "currency": i % (number + 1)} for i in ids)
    _put(folder / "orders" / f"{number:06}", *orders)


def _put(file: Path, *rows: dict[str, Any]) -> None:
    """A file that is there whole at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f".{file.name}")
    hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hidden.rename(file)


def expected(feeds: int) -> dict[str, Counter[tuple[Any, ...]]]:
    """What each sink holds in the end."""
    orders = [(i, i % (i // ROWS + 1)) for i in range(feeds * ROWS)]
    names = [None, *(f"customer {i}" for i in range(1, CUSTOMERS + 1))]
    return {
        "looked_up": Counter((i, names[i % (CUSTOMERS + 1)]) for i, _ in orders),
        "converted": Counter((i, 99 + currency if currency else None) for i, currency in orders),
    }


@pytest.fixture
def customers(tmp_path: Path) -> str:
    """The URL of a database in files, which one process at a time may open."""
    url = f"jdbc:derby:{tmp_path / 'shop'}"
    rows = ", ".join(f"({i}, 'customer {i}')" for i in range(1, CUSTOMERS + 1))
    script = (
        f"CONNECT '{url};create=true'; CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(20));"
        f"INSERT INTO customers VALUES {rows}; EXIT;"
    )
    program = java()
    assert program is not None
    command = [program, "-cp", f"{jars()}/*", "org.apache.derby.tools.ij"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert f"{CUSTOMERS} rows inserted" in done.stdout
    return url


def test_nothing_is_lost_and_nothing_comes_twice(customers: str, tmp_path: Path) -> None:
    kills, plan, folder = Kills(Place.WITHIN), tmp_path / "plan.json", tmp_path / "killed"
    save(compile_script(SCRIPT), plan)
    work = Work(plan, folder, {"DIR": str(folder), "URL": customers})
    feeds = kills.inflict(work, lambda number: feed(folder, number), SINKS)
    found = {name: Counter(tuple(row.values()) for row in changes(folder / "out" / name)) for name in SINKS}
    assert found == expected(feeds)
