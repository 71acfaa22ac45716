"""What Flink refuses to plan."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

TABLES = (
    "CREATE TABLE t (a INT, b STRING, r ROW<x INT>, m MAP<STRING, INT>) WITH ('connector' = 'datagen');"
    "CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole');"
)


@pytest.mark.parametrize(("argument", "type_"), [("(a, b)", "ROW<"), ("r", "ROW<`x` INT>"), ("m", "MAP<")])
@pytest.mark.parametrize("mini_batch", ["false", "true"])
def test_distinct_takes_simple_types_only(argument: str, type_: str, mini_batch: str) -> None:
    settings = (
        f"SET 'table.exec.mini-batch.enabled' = '{mini_batch}'; SET 'table.exec.mini-batch.size' = '9';"
        "SET 'table.exec.mini-batch.allow-latency' = '1 s';"
    )
    with pytest.raises(FlinkplanError, match=f"does not support {type_}"):
        compile_script(f"{settings}{TABLES} INSERT INTO o SELECT COUNT(DISTINCT {argument}) FROM t;")


@pytest.mark.parametrize("query", ["MAX(m) FROM t", "MIN(r) FROM t GROUP BY a", "(SELECT m FROM t) FROM t"])
def test_what_has_no_order_is_not_compared(query: str) -> None:
    with pytest.raises(FlinkplanError, match=r"(MAX|MIN|SINGLE_VALUE) does not support (MAP|ROW)<"):
        compile_script(f"{TABLES} INSERT INTO o SELECT COUNT(*) FROM (SELECT {query});")


CHANGES = (
    "CREATE TABLE c (a INT, k STRING{key}) WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'debezium-json');"
)


def test_repeated_events_need_a_key_to_be_told_by() -> None:
    repeating = "SET 'table.exec.source.cdc-events-duplicate' = 'true';"
    query = "INSERT INTO o SELECT COUNT(*) FROM c;"
    keyed = CHANGES.format(key=", PRIMARY KEY (a) NOT ENFORCED")
    assert compile_script(f"{repeating}{TABLES}{keyed}{query}")
    with pytest.raises(FlinkplanError, match="'c' has no primary key"):
        compile_script(f"{repeating}{TABLES}{CHANGES.format(key='')}{query}")


def test_changes_are_written_by_one_task() -> None:
    sink = (
        "CREATE TABLE f (k STRING) WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'debezium-json',"
        " 'sink.parallelism' = '2');"
    )
    assert compile_script(f"{TABLES}{sink} INSERT INTO f SELECT b FROM t;")
    with pytest.raises(FlinkplanError, match=r"sink\.parallelism takes inserts only"):
        compile_script(f"{TABLES}{CHANGES.format(key='')}{sink} INSERT INTO f SELECT k FROM c;")


def test_a_versioned_table_is_not_filtered() -> None:
    timed = "a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    tables = (
        f"CREATE TABLE l ({timed}) WITH ('connector' = 'datagen');"
        f"CREATE TABLE r ({timed}, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'datagen');"
        "CREATE VIEW few AS SELECT * FROM r WHERE a > 1;"
    )
    join = "INSERT INTO o SELECT COUNT(*) FROM l JOIN {} FOR SYSTEM_TIME AS OF l.ts AS v ON l.a = v.a WHERE v.a > 1;"
    assert compile_script(TABLES + tables + join.format("r"))
    with pytest.raises(FlinkplanError, match="'r' is filtered before the join"):
        compile_script(TABLES + tables + join.format("few"))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT rn FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS rn FROM t) WHERE rn > 2",
            "a Top-N needs an end",
        ),
        (
            "SELECT rn FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS rn FROM t) WHERE rn < 0",
            "a Top-N cannot end at -1",
        ),
        (
            "SELECT rn FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS rn FROM t) WHERE rn = '1'",
            "a rank is compared with a text",
        ),
        (
            "SELECT x + y FROM (SELECT RANK() OVER (PARTITION BY b ORDER BY a) AS x,"
            " COUNT(*) OVER (PARTITION BY a ORDER BY b) AS y FROM t)",
            "only one partition and order for OVER",
        ),
        (
            "SELECT SUM(a) OVER (PARTITION BY b ORDER BY p ROWS 2 PRECEDING)"
            " + COUNT(a) OVER (PARTITION BY b ORDER BY p) FROM (SELECT *, PROCTIME() AS p FROM t)",
            "only one frame",
        ),
    ],
)
def test_windows_that_flink_cannot_plan(query: str, message: str) -> None:
    with pytest.raises(FlinkplanError, match=message):
        compile_script(f"{TABLES} INSERT INTO o {query};")


def test_an_interval_join_compares_times_of_one_type() -> None:
    tables = (
        "CREATE TABLE x (i INT, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH ('connector' = 'datagen');"
        "CREATE TABLE y (i INT, t TIMESTAMP_LTZ(3), WATERMARK FOR t AS t) WITH ('connector' = 'datagen');"
    )
    query = "SELECT x.i FROM x JOIN y ON x.i = y.i AND y.t BETWEEN x.t AND x.t + INTERVAL '1' HOUR"
    with pytest.raises(FlinkplanError, match=r"not TIMESTAMP\(3\) with TIMESTAMP_LTZ\(3\)"):
        compile_script(f"{tables}{TABLES}INSERT INTO o SELECT COUNT(*) FROM ({query});")
