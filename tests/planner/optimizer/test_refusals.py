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
