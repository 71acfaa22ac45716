"""What is kept of keys whose times have come."""

from __future__ import annotations

import pytest

from flinkplan.executor.jvm.session import TRACK_ROWS
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE t (ts TIMESTAMP(3), k STRING, WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' MINUTE PRECEDING) FROM t;
"""


def test_nothing_is_left_of_keys_that_are_done(place: Place) -> None:
    plan = compile_script(SCRIPT.format(root=place.root))
    place.spark.conf.set(TRACK_ROWS, "true")
    for number, hour in enumerate((0, 1, 2, 3)):
        keys = "abcdefgh" if not number else "z"
        place.put(str(number), *({"ts": f"2024-01-01 0{hour}:00:00", "k": key} for key in keys))
        place.run(plan, Mode.AVAILABLE_NOW)
    place.spark.conf.set(TRACK_ROWS, "false")
    (operator,) = place.progress[-1].operators
    assert operator.state_rows == 3, "the last row, its time and its timer"
    assert len(place.rows()) == 11
