"""Input that several tasks read: rows of a key come by their times, or as they are, without being held."""

from __future__ import annotations

import json
import random
import shutil
from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame

from flinkplan.executor.build import kernels
from flinkplan.executor.build.context import TranslationContext
from flinkplan.executor.prepare.known import input_size
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '9' DAY)
WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o ({columns}) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o {query};
"""
SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND))"
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))"
QUERIES = {
    "sort": ("v INT, k STRING", "SELECT v, k FROM t ORDER BY ts, v"),
    "over rows": (
        "v INT, s INT",
        "SELECT v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t",
    ),
    "over a time": (
        "v INT, s INT",
        "SELECT v, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING "
        "AND CURRENT ROW) FROM t",
    ),
    "over all before": ("v INT, n BIGINT", "SELECT v, COUNT(*) OVER (ORDER BY ts) FROM t"),
    "over what is over": (
        "v INT, m BIGINT",
        "SELECT v, MAX(n) OVER (PARTITION BY k ORDER BY ts) FROM (SELECT *, COUNT(*) OVER (PARTITION BY k ORDER BY ts "
        "ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS n FROM t)",
    ),
    "sessions": (
        "k STRING, n BIGINT, s INT, a TIMESTAMP(3)",
        f"SELECT k, COUNT(*), SUM(v), window_start FROM {SESSION} GROUP BY k, window_start, window_end",
    ),
    "first of a window": (
        "v INT, n BIGINT",
        "SELECT v, n FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n "
        f"FROM {TUMBLE}) WHERE n <= 7",
    ),
    "last of a window": (
        "k STRING, v INT",
        "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) "
        f"AS n FROM {TUMBLE}) WHERE n = 1",
    ),
    "interval join": (
        "v INT, w INT",
        "SELECT a.v, b.v FROM t a LEFT JOIN t b ON a.k = b.k AND a.v < b.v AND b.ts BETWEEN a.ts - INTERVAL '2' SECOND "
        "AND a.ts + INTERVAL '2' SECOND",
    ),
}
ROWS = 10_000


def rows() -> list[dict[str, Any]]:
    """Rows of three keys by their times, all of which differ."""
    chance = random.Random(3)
    times = sorted(chance.sample(range(ROWS * 20), ROWS))
    start = datetime(2024, 1, 1)
    values = chance.sample(range(ROWS), ROWS)
    return [
        {"k": chance.choice("abc"), "v": v, "ts": (start + timedelta(seconds=t)).isoformat(" ") + ".000"}
        for t, v in zip(times, values, strict=True)
    ]


@pytest.mark.parametrize("name", QUERIES)
def test_they_come_to_what_they_do_in_order_and_one_task(
    name: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, query = QUERIES[name]
    plan = compile_script(SCRIPT.format(root=place.root, columns=columns, query=query))
    ordered = rows()
    place.put("all", *ordered)
    place.run(plan)
    expected = place.lines()
    assert expected

    for folder in ("in", "out", "checkpoint"):
        shutil.rmtree(place.root / folder)
    (place.root / "in").mkdir()
    shuffled = random.Random(5).sample(ordered, ROWS)
    for task in range(4):
        place.put(str(task), *shuffled[task::4])
    monkeypatch.setattr(input_size, "SMALL_INPUT", 0)
    place.spark.conf.set("spark.sql.files.minPartitionNum", "4")
    place.run(plan)
    place.spark.conf.unset("spark.sql.files.minPartitionNum")
    found = place.lines()
    assert sorted(found) == sorted(expected)
    if name == "sort":
        assert [json.loads(line) for line in found] == [json.loads(line) for line in expected]


@pytest.mark.parametrize(
    ("name", "limit", "column"),
    [
        ("sort", 0, "__time"),
        ("over rows", 0, "__time"),
        ("sessions", 0, "__start"),
        ("interval join", 0, None),
        ("sort", 1 << 20, None),
    ],
)
def test_few_of_a_keys_rows_wait_at_a_time(
    name: str, limit: int, column: str | None, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def run(context: TranslationContext, frame: DataFrame, keys: int, kernel: Any) -> DataFrame:
        found.append(kernel.takesRowsBy())
        return kernels.run(context, frame, keys, kernel)

    monkeypatch.setattr("flinkplan.executor.build.windows.kernels.run", run)
    monkeypatch.setattr(input_size, "SMALL_INPUT", limit)
    place.put("0", *rows()[:10])
    columns, query = QUERIES[name]
    place.run(compile_script(SCRIPT.format(root=place.root, columns=columns, query=query)))
    assert found == [column]
