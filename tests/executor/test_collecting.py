"""The rows of a SELECT, on their way to the process that asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.errors import ExecutionError
from flinkplan.executor.jobs.collecting import Collector
from flinkplan.executor.jobs.job import Job, JobOptions, execute
from flinkplan.plan.document import Plan
from flinkplan.table import EnvironmentSettings, QueryResult, TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def env(spark: SparkSession) -> TableEnvironment:
    def start(plan: Plan, options: Mapping[str, str], *, collector: Any = None) -> Job:
        return execute(plan, JobOptions(spark=spark, options=options, collector=collector))

    return TableEnvironment(EnvironmentSettings.in_streaming_mode(), start)


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock is not that of UTC."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def select(env: TableEnvironment, query: str) -> QueryResult:
    result = env.execute_sql(query)
    assert isinstance(result, QueryResult)
    return result


@pytest.mark.spark
def test_each_change_is_seen_in_its_order(env: TableEnvironment) -> None:
    query = "SELECT k, SUM(v) AS s FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS t (k, v) GROUP BY k"
    assert [(str(row.get_row_kind()), *row) for row in select(env, query).collect()] == [
        ("+I", "a", 1),
        ("+I", "b", 2),
        ("-U", "a", 1),
        ("+U", "a", 4),
    ]


@pytest.mark.spark
def test_values_are_pythons(env: TableEnvironment, far_away: None) -> None:
    (row,) = select(
        env,
        "SELECT CAST(1.50 AS DECIMAL(10, 2)), DATE '2020-03-08', TIMESTAMP '2020-03-08 02:30:00.123456', "
        "CAST(TIMESTAMP '2020-03-08 02:30:00' AS TIMESTAMP_LTZ(3)), ARRAY[TIMESTAMP '2020-03-08 02:30:00', NULL], "
        "MAP['k', ROW(1, X'0aff')], CAST(NULL AS INT), TRUE",
    ).collect()
    assert row == (
        Decimal("1.50"),
        date(2020, 3, 8),
        datetime(2020, 3, 8, 2, 30, 0, 123456),
        datetime(2020, 3, 8, 2, 30, tzinfo=UTC),
        [datetime(2020, 3, 8, 2, 30), None],
        {"k": (1, b"\x0a\xff")},
        None,
        True,
    )


@pytest.mark.spark
def test_texts_are_flinks(env: TableEnvironment) -> None:
    query = "SELECT ARRAY[1, 2, NULL] AS a, MAP['k', 1] AS m, ROW(1, 'a') AS r, X'0aff' AS b, TRUE AS t"
    row = list(select(env, query).lines())[3]
    assert row.split() == [
        "|",
        "+I",
        "|",
        "[1,",
        "2,",
        "NULL]",
        "|",
        "{k=1}",
        "|",
        "(1,",
        "a)",
        "|",
        "x'0aff'",
        "|",
        "TRUE",
        "|",
    ]


@pytest.mark.spark
def test_the_first_rows_of_an_endless_query(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE endless (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000')")
    result = select(env, "SELECT 1 AS x FROM endless")
    assert list(result.lines(limit=3))[-1] == "3 rows in set"


@pytest.mark.spark
def test_a_failure_reaches_who_asked(env: TableEnvironment) -> None:
    with pytest.raises(ExecutionError, match=r"sink \*result\*: 1 cannot be divided by zero$"):
        list(select(env, "SELECT 1 / v FROM (VALUES (1), (0)) AS t (v)").collect())


def test_a_batch_that_waits_for_its_rows_to_be_fetched_waits_no_longer_when_closed() -> None:
    collector = Collector(as_text=True, waiting=1)
    assert collector._put((0, ("x",)))
    waiting = threading.Thread(target=collector._put, args=((0, ("x",)),))
    waiting.start()
    collector.close()
    waiting.join(10)
    assert not waiting.is_alive()
