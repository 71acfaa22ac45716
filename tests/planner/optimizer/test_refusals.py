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


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT rn FROM (SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS rn FROM t) WHERE rn > 2",
            "a Top-N needs an end",
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
