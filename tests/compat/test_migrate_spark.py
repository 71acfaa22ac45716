"""A checkpoint that is migrated: its job has the rows of one that ran the new plan from the beginning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script
from tests.compat.migrated import in_folder, migrate, total, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
CREATE TABLE a (k INT, g INT, v INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/in/a', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE b (k INT, x INT) WITH (
  'connector' = 'filesystem', 'path' = '${DIR}/in/b', 'format' = 'json', 'source.monitor-interval' = '1 s');
CREATE TABLE joined (k INT, v INT, x INT) WITH ('connector' = 'print');
CREATE TABLE sums (g INT, s INT) WITH ('connector' = 'print');
CREATE TABLE counted (g INT, n BIGINT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET BEGIN
"""
OLD = """
INSERT INTO joined SELECT a.k, v, x FROM a JOIN b ON a.k = b.k;
INSERT INTO sums SELECT g, SUM(v) FROM a GROUP BY g HAVING SUM(v) > 3;
INSERT INTO counted SELECT k, CAST(x AS BIGINT) FROM b;
END;
"""
NEW = """
INSERT INTO joined SELECT a.k, v, x FROM a LEFT JOIN b ON a.k = b.k;
INSERT INTO sums SELECT g, SUM(v) FROM a GROUP BY g HAVING SUM(v) > 5;
INSERT INTO counted SELECT k, CAST(x AS BIGINT) FROM b;
END;
"""
FIRST = {
    "a/1": [{"k": 1, "g": 1, "v": 4}, {"k": 2, "g": 2, "v": 6}, {"k": 3, "g": 3, "v": 1}],
    "b/1": [{"k": 1, "x": 10}, {"k": 1, "x": 11}, {"k": 9, "x": 12}],
}
SECOND = {
    "a/2": [{"k": 1, "g": 1, "v": 2}, {"k": 9, "g": 3, "v": 1}],
    "b/2": [{"k": 2, "x": 20}, {"k": 3, "x": 30}],
}


def test_a_changed_job_goes_on_and_its_sinks_are_told(spark: SparkSession, tmp_path: Path) -> None:
    plans = compile_script(SCRIPT + OLD), compile_script(SCRIPT + NEW)
    outcome = migrate(plans, (FIRST, SECOND), tmp_path, spark)
    assert not outcome.refused
    assert outcome.has_first_rows
    assert outcome.all == outcome.expected
    # as after a kill behind the rows of the change, before it was noted that they are written
    work = tmp_path / "migrated"
    folder = work / "target" / "joined"
    (folder / "first-rows-written").rename(folder / "first-rows")
    options = JobOptions(str(work / "target"), mode=Mode.AVAILABLE_NOW, spark=spark)
    execute(in_folder(plans[1], work), options).wait()
    assert total(written(work)) == outcome.expected
