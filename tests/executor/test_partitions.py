"""Reading the partitions of tables over files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.planner import compile_script

DEFAULT = "__DEFAULT_PARTITION__"


def _table(name: str, column: str, path: Path, more: str = "", format_: str = "json") -> str:
    options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{format_}'{more}"
    return f"CREATE TABLE {name} (id BIGINT, {column}) PARTITIONED BY ({column.split()[0]}) WITH ({options});"


def _sink(name: str, path: Path) -> str:
    options = f"'connector' = 'filesystem', 'path' = '{path / name}', 'format' = 'json'"
    return f"CREATE TABLE {name} (id BIGINT, v STRING) WITH ({options});"


def _rows(folder: Path) -> dict[int, str | None]:
    files = [f for f in folder.rglob("*") if f.is_file() and not f.name.startswith((".", "_"))]
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return {row["id"]: row["v"] for row in sorted(rows, key=lambda row: row["id"])}


@pytest.mark.spark
def test_the_default_partition_holds_null(spark: SparkSession, tmp_path: Path) -> None:
    texts = {1: "1", 2: "2", 3: DEFAULT, 4: "a%2Fb", 5: "a b", 6: "%C3%A4", 7: "100%", 8: "%zz", 9: "a+b"}
    for folder, ids in (("numbers", (1, 2, 3)), ("texts", range(1, 10))):
        for number in ids:
            partition = tmp_path / folder / f"p={texts[number]}"
            partition.mkdir(parents=True)
            (partition / "a.json").write_text(json.dumps({"id": number}))
    for number in (1, 2, 3):
        spark.range(number, number + 1).write.parquet(str(tmp_path / "columns" / f"p={texts[number]}"))
    queries = {
        "all_of_them": "numbers",
        "more": "numbers WHERE p > 1",
        "nulls": "numbers WHERE p IS NULL",
        "not_null": "numbers WHERE p IS NOT NULL",
        "otherwise": "numbers WHERE COALESCE(p, 7) > 1",
        "later": "numbers WHERE p > id - 1 OR p IS NULL",
        "named": "texts",
        "unlike": "texts WHERE p <> '1'",
        "renamed": "texts /*+ OPTIONS('partition.default-name' = '100%') */ WHERE p IS NULL OR p < 'A'",
        "columnar": "columns",
        "columnar_none": "columns WHERE p IS NULL",
        "columnar_not": "columns WHERE p <> 1",
    }
    inserts = [f"INSERT INTO {name} SELECT id, CAST(p AS STRING) FROM {query};" for name, query in queries.items()]
    script = [
        _table("numbers", "p INT", tmp_path / "numbers"),
        _table("texts", "p STRING", tmp_path / "texts"),
        _table("columns", "p INT", tmp_path / "columns", format_="parquet"),
        *(_sink(name, tmp_path) for name in queries),
        f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;",
    ]
    execute(compile_script("".join(script)), JobOptions(spark=spark)).wait()

    named = {1: "1", 2: "2", 3: None, 4: "a/b", 5: "a b", 6: "ä", 7: "100%", 8: "%zz", 9: "a+b"}
    expected: dict[str, dict[int, str | None]] = {
        "all_of_them": {1: "1", 2: "2", 3: None},
        "more": {2: "2"},
        "nulls": {3: None},
        "not_null": {1: "1", 2: "2"},
        "otherwise": {2: "2", 3: None},
        "later": {1: "1", 2: "2", 3: None},
        "named": named,
        "unlike": {id_: text for id_, text in named.items() if id_ not in (1, 3)},
        "renamed": {1: "1", 2: "2", 7: None, 8: "%zz"},
        "columnar": {1: "1", 2: "2", 3: None},
        "columnar_none": {3: None},
        "columnar_not": {2: "2"},
    }
    assert {name: _rows(tmp_path / name) for name in queries} == expected
