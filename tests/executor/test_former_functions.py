"""Queries go on with the versions of functions that they began with."""

from __future__ import annotations

import json
from pathlib import Path

from flinkplan.executor.prepare.former_functions import with_former_functions
from flinkplan.plan.document import Plan, dumps
from flinkplan.planner import compile_script
from flinkplan.state.checkpoint import FUNCTIONS, CheckpointRecord

SPLIT = """
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 s';
SET 'table.exec.mini-batch.size' = '10';
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;
"""


def split() -> Plan:
    return compile_script(SPLIT)


def test_a_new_checkpoint_has_the_functions_of_today(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    assert record.functions == FUNCTIONS
    record.prepare()
    record.begin(split(), "bounded", {})
    assert CheckpointRecord(tmp_path).functions == FUNCTIONS
    assert with_former_functions(split(), record.functions) == split()


def test_a_checkpoint_that_names_no_functions_goes_on_with_the_former_ones(tmp_path: Path) -> None:
    (tmp_path / "flinkplan").mkdir()
    (tmp_path / "flinkplan" / "plan.json").write_text(dumps(split()))
    record = CheckpointRecord(tmp_path)
    former = with_former_functions(split(), record.functions)
    assert "$HASH_CODE$0" in dumps(former) and "$HASH_CODE$1" not in dumps(former)
    record.begin(split(), "bounded", {})
    assert record.functions == {}


def test_functions_that_are_recorded_are_read(tmp_path: Path) -> None:
    (tmp_path / "flinkplan").mkdir()
    (tmp_path / "flinkplan" / "functions.json").write_text(json.dumps({"$HASH_CODE$1": "flink"}))
    assert CheckpointRecord(tmp_path).functions == FUNCTIONS
