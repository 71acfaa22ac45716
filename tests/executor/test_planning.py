"""What Spark makes of a stream before it is run: once for all micro-batches that have rows of the same sources."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.jvm.session import ADAPTIVE, copy_of
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE a (v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/a', 'format' = 'json');
CREATE TABLE b (v BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/b', 'format' = 'json');
CREATE TABLE o (v BIGINT, r DOUBLE, t TIMESTAMP_LTZ(3))
  WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'json');
INSERT INTO o SELECT v, RAND(), CURRENT_TIMESTAMP
  FROM (SELECT v + 1 - 1 AS v FROM a WHERE v > 0 UNION ALL SELECT v FROM b WHERE v > 0);
"""
_RULE = re.compile(r"^\S+\.optimizer\.\S+ +\d+ / \d+ +(\d+) / \d+", re.MULTILINE)


def test_batches_are_planned_as_before_in_a_session_that_had_streams(place: Place) -> None:
    (place.root / "a").mkdir()
    (place.root / "b").mkdir()
    (place.root / "a" / "1").write_text('{"v": 1}\n')
    options = JobOptions(checkpoint=str(place.root / "checkpoint"), mode=Mode.AVAILABLE_NOW, spark=place.spark)
    execute(compile_script(SCRIPT.format(root=place.root)), options).wait()
    batch = copy_of(place.spark)
    batch.conf.set(ADAPTIVE, "true")
    assert batch.range(100, numPartitions=3).repartition("id").groupBy().count().collect()[0][0] == 100
    jsc: Any = place.spark.sparkContext._jsc
    settings, known = jsc.hadoopConfiguration(), "io.file.buffer.size"
    assert settings.get(known) is not None
    assert settings.getPropertySources(known) is None, "that would be sent to tasks with each batch"


def test_a_stream_is_optimized_once(place: Place) -> None:
    plan = compile_script(SCRIPT.format(root=place.root))
    jvm: Any = place.spark._jvm
    rules = jvm.org.apache.spark.sql.catalyst.rules.RuleExecutor
    for table in ("a", "b"):
        (place.root / table).mkdir()

    def put(table: str, *numbers: int) -> None:
        for number in numbers:
            (place.root / table / str(number)).write_text(f'{{"v": {number}}}\n{{"v": 0}}\n')

    def changes() -> int:
        """How often rules of the optimizer have changed a plan while files were read, a batch each."""
        rules.resetMetrics()
        options = JobOptions(
            checkpoint=str(place.root / "checkpoint"),
            mode=Mode.AVAILABLE_NOW,
            files_per_batch=1,
            listener=place,
            spark=place.spark,
        )
        execute(plan, options).wait()
        return sum(map(int, _RULE.findall(rules.dumpTimeSpent())))

    put("a", 11)
    put("b", 21)
    both = changes()
    put("a", 12)
    one = changes()
    assert len(place.progress) == 2
    put("a", 13, 14, 15)
    assert changes() == one > 0, "three batches"
    put("a", 16, 17)
    put("b", 22)
    assert changes() == both + one, "a batch with rows of both, and one without"
    rows = [json.loads(line) for line in place.lines()]
    assert sorted(row["v"] for row in rows) == [11, 12, 13, 14, 15, 16, 17, 21, 22]
    assert len({row["t"] for row in rows}) == len(place.progress) == 7
    assert len({row["r"] for row in rows}) == len(rows)
