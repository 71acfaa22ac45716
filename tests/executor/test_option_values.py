"""What options of tables do that belong to no test of more."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.plan.connectors.jdbc import LookupCache, lookup_cache
from flinkplan.planner import compile_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({}, None),
        ({"lookup.cache": "PARTIAL"}, LookupCache(0, 0, 0, True)),
        (
            {
                "lookup.cache": "PARTIAL",
                "lookup.partial-cache.max-rows": "5",
                "lookup.partial-cache.expire-after-write": "1 s",
                "lookup.partial-cache.expire-after-access": "2 s",
                "lookup.partial-cache.cache-missing-key": "false",
            },
            LookupCache(5, 1000, 2000, False),
        ),
        (
            {"lookup.cache.max-rows": "5", "lookup.cache.ttl": "1 s", "lookup.cache.caching-missing-key": "false"},
            LookupCache(5, 1000, 0, False),
        ),
    ],
)
def test_what_a_lookup_keeps(options: dict[str, str], limits: LookupCache | None) -> None:
    assert lookup_cache(options) == limits


@pytest.mark.spark
def test_files_by_their_paths_and_rows_by_chance(spark: SparkSession, tmp_path: Path) -> None:
    def files(name: str, columns: str, folder: str, more: str = "") -> str:
        options = f"'connector' = 'filesystem', 'path' = '{tmp_path / folder}', 'format' = 'json'"
        partitions = " PARTITIONED BY (p)" if "p INT" in columns else ""
        return f"CREATE TABLE {name} ({columns}){partitions} WITH ({options}{more});"

    (tmp_path / "in").mkdir()
    for name in ("a-1", "a-2", "b-1"):
        (tmp_path / "in" / name).write_text(json.dumps({"name": name}))
    script = [
        files("chosen", "name STRING", "in", ", 'source.path.regex-pattern' = '.*/a-[0-9]'"),
        files("names", "name STRING", "names"),
        "CREATE TABLE made (n INT, t TIMESTAMP(3), p INT) WITH ('connector' = 'datagen', 'number-of-rows' = '200', "
        "'fields.n.null-rate' = '0.5', 'fields.t.max-past' = '1 h', 'fields.p.min' = '1', 'fields.p.max' = '2');",
        files("rows_made", "n INT, t TIMESTAMP(3), p INT", "made", ", 'sink.shuffle-by-partition.enable' = 'true'"),
        "EXECUTE STATEMENT SET BEGIN INSERT INTO names SELECT name FROM chosen; "
        "INSERT INTO rows_made SELECT * FROM made; END;",
    ]
    began = datetime.now(UTC).replace(tzinfo=None)
    execute(compile_script("".join(script)), JobOptions(spark=spark)).wait()

    assert [row["name"] for row in _rows(tmp_path / "names")] == ["a-1", "a-2"]
    assert [len(_files(tmp_path / "made" / f"p={p}")) for p in (1, 2)] == [1, 1]  # one task writes a partition
    made = _rows(tmp_path / "made")
    assert 50 < sum(row["n"] is None for row in made) < 150
    times = [datetime.fromisoformat(str(row["t"])) for row in made]
    assert began - timedelta(hours=1, seconds=1) < min(times) < max(times) < began + timedelta(minutes=5)
    assert max(times) - min(times) > timedelta(minutes=30)


@pytest.mark.spark
def test_rows_are_printed_where_the_table_says(spark: SparkSession) -> None:
    java = spark._jvm.java  # type: ignore[union-attr]
    kept = java.lang.System.out, java.lang.System.err
    printed = java.io.ByteArrayOutputStream(), java.io.ByteArrayOutputStream()
    sinks = {"plain": "'print-identifier' = 'here'", "odd": "'standard-error' = 'true'"}
    tables = (f"CREATE TABLE {name} (n INT) WITH ('connector' = 'print', {more});" for name, more in sinks.items())
    inserts = " ".join(f"INSERT INTO {name} SELECT n FROM (VALUES (7)) AS v (n);" for name in sinks)
    script = f"{''.join(tables)} EXECUTE STATEMENT SET BEGIN {inserts} END;"
    try:
        java.lang.System.setOut(java.io.PrintStream(printed[0]))
        java.lang.System.setErr(java.io.PrintStream(printed[1]))
        execute(compile_script(script), JobOptions(spark=spark)).wait()
    finally:
        java.lang.System.setOut(kept[0])
        java.lang.System.setErr(kept[1])
    assert [each.toString().strip() for each in printed] == ["here> +I[7]", "+I[7]"]


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))]


def _rows(folder: Path) -> list[dict[str, object]]:
    lines = [line for file in sorted(_files(folder)) for line in file.read_text("utf-8").splitlines()]
    return sorted(map(json.loads, lines), key=str)
