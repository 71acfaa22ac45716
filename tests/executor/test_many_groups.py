"""Groups of which there are nearly as many as rows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from flinkplan.executor.build import many_groups
from flinkplan.executor.build.stream import Stream
from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.prepare.known import input_size
from flinkplan.planner import compile_script

from .jobs import Place

pytestmark = pytest.mark.spark

ROWS = 20_000
GROUPS = """\
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/in', 'format' = 'json');
CREATE TABLE o ({columns}) WITH ('connector' = 'filesystem', 'path' = '{root}/out', 'format' = 'debezium-json');
INSERT INTO o {query};
"""
COUNTED = "SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k"
JOINED = "SELECT a.k, COUNT(*), SUM(b.v) FROM t a JOIN t b ON a.k = b.k GROUP BY a.k"


def share(spark: SparkSession, rows: DataFrame) -> float:
    jvm: Any = spark._jvm
    found: float = jvm.flinkplan.runtime.batch.Sample.distinct(rows._jdf, [rows["k"]._jc])
    return found


@pytest.mark.parametrize(("keys", "expected"), [(ROWS, 1.0), (ROWS // 2, 0.5), (100, 0.005)])
def test_the_first_tasks_rows_tell_how_many_groups_there_are(spark: SparkSession, keys: int, expected: float) -> None:
    rows = spark.range(0, ROWS, 1, 1).select((F.col("id") % keys).alias("k"))
    assert share(spark, rows) == pytest.approx(expected, rel=0.01)


def test_nothing_is_said_of_few_rows_or_of_such_as_cannot_be_read(spark: SparkSession) -> None:
    assert share(spark, spark.range(100).withColumnRenamed("id", "k")) == 0
    assert share(spark, spark.range(ROWS).select(F.raise_error(F.lit("no row")).alias("k"))) == 0


@pytest.mark.parametrize(
    ("query", "keys", "large", "comes_first"),
    [
        (COUNTED, ROWS - 1, True, True),
        (COUNTED, ROWS - 1, False, False),
        (COUNTED, 100, True, False),
        (JOINED, ROWS - 1, True, False),
    ],
)
def test_rows_of_large_input_come_together_first_where_groups_are_many(
    query: str, keys: int, large: bool, comes_first: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(input_size, "LARGE_INPUT", 1)
    decisions: list[bool] = []

    def brought_together(stream: Stream, *args: Any) -> Stream:
        after = original(stream, *args)
        decisions.append(after.frame is not stream.frame)
        return after

    original = many_groups.brought_together
    monkeypatch.setattr("flinkplan.executor.build.operators.aggregates.brought_together", brought_together)
    place.put("1", *({"k": i % keys, "v": i} for i in range(ROWS)))
    text = GROUPS.format(root=place.root, query=query, columns="k INT, n BIGINT, s INT")
    place.run(compile_script(text))
    assert decisions == ([comes_first] if large and query == COUNTED else [])
    rows = [row["after"] for row in place.rows()]
    assert len(rows) == keys
    if query == COUNTED:
        assert {row["k"]: row["s"] for row in rows} == {k: sum(range(k, ROWS, keys)) for k in range(keys)}
        assert place.progress[0].rows_read == ROWS


def test_the_job_says_what_cannot_be_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_size, "LARGE_INPUT", 1)
    place.put("1", "no JSON")
    text = GROUPS.format(root=place.root, query=COUNTED, columns="k INT, n BIGINT, s INT")
    with pytest.raises(ExecutionError, match="JSON"):
        place.run(compile_script(text))
