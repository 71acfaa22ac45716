"""Streams in which nearly each row has a key of its own, beside keys of many rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.planner import compile_script

pytestmark = pytest.mark.spark

SCRIPT = """\
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{root}/t', 'format' = 'json');
CREATE TABLE n (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{root}/n', 'format' = 'json');
CREATE TABLE counts (k INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/counts',
  'format' = 'debezium-json');
CREATE TABLE distincts (k INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{root}/distincts',
  'format' = 'debezium-json');
CREATE TABLE pairs (k INT, name STRING) WITH ('connector' = 'filesystem', 'path' = '{root}/pairs', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO counts SELECT k, COUNT(*) FROM t GROUP BY k;
INSERT INTO distincts SELECT k, COUNT(DISTINCT v) FROM t GROUP BY k;
INSERT INTO pairs SELECT t.k, n.name FROM t JOIN n ON t.k = n.k;
END;
"""
SINGLE = 18_000
"""More rows of a key each than a task reads before it judges whether it is worthwhile to fold them."""
HOT = 5
DISTINCT = 20
ROWS = [(i, i % 100) for i in range(SINGLE)] + [(i % HOT, i % 100) for i in range(2000)]


def written(folder: Path) -> list[Any]:
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def last_counts(folder: Path) -> dict[int, int]:
    """The largest count of each key, of counts that only grow."""
    last: dict[int, int] = {}
    for change in filter(None, (row["after"] for row in written(folder))):
        last[change["k"]] = max(change["n"], last.get(change["k"], 0))
    return last


def test_each_key_has_what_all_its_rows_make(spark: SparkSession, tmp_path: Path) -> None:
    names = [[(-1, "of no row")], [(k, f"name {k}") for k in range(HOT)]]
    batches: dict[str, list[list[dict[str, object]]]] = {
        "t": [[{"k": k, "v": v} for k, v in part] for part in (ROWS, ROWS[-10:])],
        "n": [[{"k": k, "name": name} for k, name in part] for part in names],
    }
    for table, files in batches.items():
        (tmp_path / table).mkdir()
        for number, rows in enumerate(files):
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / table / f"{number}.json").write_text(text, encoding="utf-8")
    options = JobOptions(
        checkpoint=str(tmp_path / "checkpoint"), mode=Mode.AVAILABLE_NOW, spark=spark, files_per_batch=1
    )
    execute(compile_script(SCRIPT.format(root=tmp_path)), options).wait()
    expected = Counter(k for k, _ in ROWS + ROWS[-10:])
    assert last_counts(tmp_path / "counts") == expected
    assert last_counts(tmp_path / "distincts") == {k: DISTINCT if k < HOT else 1 for k in range(SINGLE)}
    pairs = Counter((row["k"], row["name"]) for row in written(tmp_path / "pairs"))
    assert pairs == {(k, f"name {k}"): expected[k] for k in range(HOT)}
