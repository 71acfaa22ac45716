"""Joins in real-time mode that take more task slots than the session that tests share has."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from flinkplan.executor.jvm.session import PARTITIONS, REAL_TIME_CONF
from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.killing import Work

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("processes")]

PATIENCE = 180.0
SLOTS = 3
"""A task for each source, one for the join."""
SCRIPT = """
    CREATE TABLE orders (id INT, k STRING, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH (
        'connector' = 'filesystem', 'path' = '${DIR}/orders', 'format' = 'json', 'source.monitor-interval' = '1 s');
    CREATE TABLE rates (k STRING, r INT, t TIMESTAMP(3), WATERMARK FOR t AS t, PRIMARY KEY (k) NOT ENFORCED) WITH (
        'connector' = 'filesystem', 'path' = '${DIR}/rates', 'format' = 'debezium-json',
        'source.monitor-interval' = '1 s');
    CREATE TABLE found (id INT, r INT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/found', 'format' = 'json');
    INSERT INTO found SELECT id, r FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.t AS r ON o.k = r.k;
"""


def test_rows_find_the_version_of_their_time_and_do_after_a_kill(tmp_path: Path) -> None:
    save(compile_script(SCRIPT), tmp_path / "plan.json")
    work = Work(tmp_path / "plan.json", tmp_path, {"DIR": str(tmp_path)})

    def come(orders: list[tuple[int, str, int]], rates: list[tuple[str, int | None, int, int]]) -> None:
        """Orders by minute; rates: before, then and since which minute."""
        _add(tmp_path / "orders", [{"id": i, "k": k, "t": _minute(at)} for i, k, at in orders])
        _add(tmp_path / "rates", [_change(k, before, then, at) for k, before, then, at in rates])

    def yields(wanted: dict[int, int | None]) -> None:
        options = ("--checkpoint-interval", "5s", "--conf", f"{PARTITIONS}=1")
        worker = work.worker("real-time", SLOTS, *options, conf=REAL_TIME_CONF)
        worker.begin()
        end = time.monotonic() + PATIENCE
        while (found := _found(tmp_path)) != sorted(wanted.items()) and time.monotonic() < end:
            worker.batch()
        worker.kill()
        assert found == sorted(wanted.items())

    come(
        [(1, "a", 5), (2, "a", 15), (3, "x", 6), (9, "z", 20)], [("a", None, 1, 0), ("a", 1, 2, 10), ("z", None, 9, 20)]
    )
    first: dict[int, int | None] = {1: 1, 2: 2, 3: None, 9: 9}
    yields(first)
    come([(4, "a", 25), (5, "z", 30), (10, "x", 40)], [("a", 2, 3, 22), ("z", 9, 8, 40)])
    yields(first | {4: 3, 5: 9, 10: None})


def _minute(at: int) -> str:
    return f"2024-01-01 10:{at:02}:00"


def _change(key: str, before: int | None, then: int, at: int) -> dict[str, object]:
    row = {"k": key, "r": then, "t": _minute(at)}
    old = None if before is None else {**row, "r": before}
    return {"before": old, "after": row, "op": "c" if before is None else "u"}


def _add(folder: Path, rows: list[dict[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / "rows").open("a") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)


def _found(folder: Path) -> list[tuple[int, int | None]]:
    files = (file for file in (folder / "found").glob("[!._]*") if file.is_file())
    rows = (json.loads(line) for file in files for line in file.read_text().splitlines())
    return sorted((row["id"], row["r"]) for row in rows)
