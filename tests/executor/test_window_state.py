"""Windows of a key that are few, then many, then few again, over restarts."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from operator import itemgetter

import pytest

from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE t (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
  WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (k STRING, e TIMESTAMP(3), n BIGINT, s INT, d BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o SELECT k, window_end, COUNT(*), SUM(v), COUNT(DISTINCT v)
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
"""
START = datetime(2024, 1, 1)
BATCHES: tuple[list[tuple[int, str]], ...] = (
    [(second, "a") for second in range(0, 200, 4)],
    [(second, "a") for second in range(100, 900, 5)] + [(7, "b")],
    [(second, "a") for second in range(0, 60, 3)] + [(8, "b"), (4_000, "b")],
    [(second, "a") for second in range(500, 900, 50)],
    [(9_000, "c")],
    [(second, "a") for second in range(8_000, 8_020)],
    [(14_000, "c"), (14_001, "a")],
    [(20_000, "c")],
)
"""Seconds and keys of the rows of each run; the watermark is an hour behind."""


def test_windows_go_on_when_they_become_many_or_few(place: Place) -> None:
    plan = compile_script(SCRIPT.format(root=place.root))
    windows: dict[tuple[str, datetime], list[int]] = defaultdict(list)
    for number, batch in enumerate(BATCHES):
        rows = [(START + timedelta(seconds=second), k, second % 7) for second, k in batch]
        for ts, k, v in rows:
            windows[k, ts - timedelta(seconds=ts.second % 10) + timedelta(seconds=10)].append(v)
        place.put(str(number), *({"ts": f"{ts}", "k": k, "v": v} for ts, k, v in rows))
        place.run(plan, Mode.AVAILABLE_NOW)
    closed = START + timedelta(seconds=20_000 - 3_600)
    expected = [
        {"k": k, "e": f"{end}", "n": len(vs), "s": sum(vs), "d": len(set(vs))}
        for (k, end), vs in windows.items()
        if end <= closed
    ]
    in_order = itemgetter("k", "e")
    assert sorted(place.rows(), key=in_order) == sorted(expected, key=in_order)
