"""Iceberg tables: written exactly once, read by snapshots, checked before a job starts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.types import StringType

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.lake.iceberg import IcebergLog, catalog_properties, files_of, snapshot
from flinkplan.executor.lake.log import JavaTableLog
from flinkplan.executor.prepare.checks import refusals
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Sink
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script

from ..jobs import Place
from .readers import iceberg_table

COLUMNS = "id INT, v DECIMAL(10, 2), small SMALLINT, t TIMESTAMP(3), z TIMESTAMP_LTZ(3), a ARRAY<STRING>, p STRING"


def options(folder: Path, uri: str | None = None) -> str:
    kind = f"'catalog-type' = 'jdbc', 'uri' = '{uri or address(folder)}'"
    return f"'connector' = 'iceberg', 'catalog-name' = 'lake', {kind}, 'warehouse' = 'file://{folder / 'lake'}'"


def address(folder: Path) -> str:
    return f"jdbc:sqlite:{folder / 'catalog.db'}"


def catalog(folder: Path) -> Any:
    uri, warehouse = f"sqlite:///{folder / 'catalog.db'}", f"file://{folder / 'lake'}"
    return load_catalog("lake", type="sql", uri=uri, warehouse=warehouse)


def plan(place: Place, query: str) -> Plan:
    """A query of files and an Iceberg table."""
    files = f"'connector' = 'filesystem', 'path' = '{place.root / 'in'}', 'format' = 'json'"
    read = files.replace(str(place.root / "in"), str(place.root / "read"))
    lake = options(place.root, "${CATALOG}")
    return compile_script(f"""
        CREATE TABLE given ({COLUMNS}) WITH ({files}, 'json.timestamp-format.standard' = 'ISO-8601');
        CREATE TABLE lake ({COLUMNS}) PARTITIONED BY (p) WITH ({lake}, 'catalog-database' = 'db');
        CREATE TABLE files ({COLUMNS}) WITH ({read});
        {query};
    """)


def run(place: Place, of: Plan, mode: Mode | None = None) -> None:
    """Run a plan to its end, in micro-batches."""
    options = JobOptions(
        checkpoint=str(place.root / "checkpoint"),
        mode=mode,
        variables={"CATALOG": address(place.root)},
        spark=place.spark,
        streams=True,
    )
    execute(of, options).wait()


def row(number: int, p: str | None) -> dict[str, Any]:
    times = {"t": f"2024-05-01T00:00:0{number}.5", "z": f"2024-05-01T00:00:0{number}.5Z"}
    return {"id": number, "v": f"{number}.25", "small": number, **times, "a": [p, "x"], "p": p}


def rows(place: Place) -> list[tuple[Any, ...]]:
    """What other readers see."""
    table = iceberg_table(place.root / "catalog.db", place.root / "lake", "db.lake", "lake")
    return sorted((r["id"], str(r["v"]), r["t"].isoformat(), r["z"].isoformat(), r["p"]) for r in table.to_pylist())


def seen(number: int, p: str | None) -> tuple[Any, ...]:
    time = f"2024-05-01T00:00:0{number}.500000"
    return number, f"{number}.25", time, f"{time}+00:00", p


@pytest.mark.spark
def test_each_batch_is_one_snapshot_and_comes_once(place: Place) -> None:
    place.put("1", row(1, "a/b %c"), row(2, None), row(3, "ä=#?"))
    job = plan(place, "INSERT INTO lake SELECT * FROM given")
    run(place, job, Mode.AVAILABLE_NOW)
    assert rows(place) == [seen(1, "a/b %c"), seen(2, None), seen(3, "ä=#?")]
    place.put("2", row(4, "a/b %c"))
    run(place, job, Mode.AVAILABLE_NOW)
    assert rows(place) == [seen(1, "a/b %c"), seen(2, None), seen(3, "ä=#?"), seen(4, "a/b %c")]
    # Spark has not noted the end of the last batch, so it runs it again
    (last,) = (p for p in (place.root / "checkpoint").rglob("commits/1"))
    for file in (last, last.with_name(f".{last.name}.crc")):
        file.unlink(missing_ok=True)
    run(place, job, Mode.AVAILABLE_NOW)
    assert len(rows(place)) == 4
    assert len(catalog(place.root).load_table("db.lake").snapshots()) == 2
    run(place, plan(place, "INSERT INTO files SELECT * FROM lake WHERE id < 3"))
    read = [json.loads(line) for p in (place.root / "read").rglob("part-*") for line in p.read_text().splitlines()]
    assert sorted(read, key=lambda each: each["id"]) == [
        {**row(n, p), "v": n + 0.25, "t": f"2024-05-01 00:00:0{n}.5", "z": f"2024-05-01 00:00:0{n}.5Z"}
        for n, p in ((1, "a/b %c"), (2, None))
    ]


def sink(folder: Path, columns: str = "id INT, p STRING", more: str = "PARTITIONED BY (p)") -> Table:
    script = (
        f"CREATE TABLE lake ({columns}) {more} WITH ({options(folder)});"
        "CREATE TABLE made (id INT) WITH ('connector' = 'datagen');"
        "INSERT INTO lake SELECT id, CAST(id AS STRING) FROM made;"
    )
    (node,) = (node for node in compile_script(script).nodes if isinstance(node, Sink))
    resolved = node.dynamic_table_sink.table.resolved_table
    assert resolved is not None
    return Table("lake", "lake", resolved, resolved.options or {})


def test_a_commit_is_known_by_its_writer_and_batch(tmp_path: Path) -> None:
    log = IcebergLog(sink(tmp_path))
    asked = JavaTableLog(log)
    assert asked.apply("holds", '["query", 0]') == '{"answer": false}'
    data = log.data
    assert data is not None
    data.mkdir(parents=True)
    pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "p": ["a:b"]}), data / "f.parquet")
    assert asked.apply("commit", '["query", 3, ["f.parquet"]]') == '{"answer": null}'
    assert asked.apply("commit", '["other", 0, []]') == '{"answer": null}'
    known = [asked.apply("holds", f'["{w}", {b}]') for w, b in (("query", 3), ("query", 4), ("other", 0))]
    assert known == ['{"answer": true}', '{"answer": false}', '{"answer": true}']
    read = catalog(tmp_path).load_table("default.lake")
    assert read.scan().to_arrow().to_pylist() == [{"id": 1, "p": "a:b"}]
    assert "missing.parquet" in json.loads(asked.apply("commit", '["query", 4, ["missing.parquet"]]'))["error"]


@pytest.mark.parametrize(
    ("columns", "more", "words"),
    [
        ("id BIGINT, p STRING", "PARTITIONED BY (p)", "has the columns id int, p string"),
        ("id INT, p STRING", "", r"is partitioned by identity\(p\)"),
    ],
)
def test_a_table_that_is_declared_otherwise_is_refused(tmp_path: Path, columns: str, more: str, words: str) -> None:
    IcebergLog(sink(tmp_path))
    with pytest.raises(TableError, match=words):
        IcebergLog(sink(tmp_path, columns, more))


def with_options(table: Table, more: Mapping[str, str]) -> Table:
    return replace(table, options={**table.options, **more})


def test_snapshots_are_named_by_id_time_branch_and_tag(tmp_path: Path) -> None:
    given = sink(tmp_path, more="")
    log = IcebergLog(given)
    data = log.data
    assert data is not None
    data.mkdir(parents=True)
    for batch in range(2):
        path = data / f"{batch}.parquet"
        pq.write_table(pa.table({"id": pa.array([batch], pa.int32()), "p": ["x"]}), path)
        JavaTableLog(log).apply("commit", json.dumps(["query", batch, [path.name]]))
    table = catalog(tmp_path).load_table("default.lake")
    first = table.snapshots()[0]
    table.manage_snapshots().create_tag(first.snapshot_id, "old").commit()

    def files(key: str = "catalog-table", value: str = "lake") -> int:
        return len(snapshot(with_options(given, {key: value})).files)

    assert files() == files("branch", "main") == 2
    assert files("snapshot-id", str(first.snapshot_id)) == files("tag", "old") == 1
    assert files("as-of-timestamp", str(first.timestamp_ms)) == 1
    with pytest.raises(TableError, match="has no snapshot 'new'"):
        files("tag", "new")
    with table.update_schema() as update:
        update.rename_column("id", "number")
    (old,) = snapshot(with_options(given, {"tag": "old", "catalog-table": "lake"})).files
    now = snapshot(with_options(given, {"catalog-table": "lake"})).files
    assert pq.ParquetFile(old.path.removeprefix("file://")).schema_arrow.names == ["id", "p"]
    assert {tuple(pq.ParquetFile(f.path.removeprefix("file://")).schema_arrow.names) for f in now} == {("number", "p")}


@pytest.mark.parametrize(
    ("given", "properties"),
    [
        (
            {"catalog-type": "rest", "uri": "http://host", "credential": "a:b", "token": "c", "warehouse": "w"},
            {"type": "rest", "uri": "http://host", "credential": "a:b", "token": "c", "warehouse": "w"},
        ),
        (
            {"catalog-type": "jdbc", "uri": "jdbc:postgresql://host/db", "jdbc.user": "u@x", "jdbc.password": "p:/"},
            {"type": "sql", "uri": "postgresql://u%40x:p%3A%2F@host/db"},
        ),
        ({"catalog-type": "jdbc", "uri": "jdbc:sqlite:file:/a/b.db"}, {"type": "sql", "uri": "sqlite:////a/b.db"}),
        ({"catalog-name": "mine"}, {}),
    ],
)
def test_what_a_catalog_is_asked_with(given: Mapping[str, str], properties: Mapping[str, str]) -> None:
    assert catalog_properties(given) == properties


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("'catalog-name' = 'lake', 'catalog-type' = 'hive'", "Iceberg catalogs of the type 'hive' are not asked here"),
        ("'catalog-name' = 'lake', 'catalog-type' = 'rest'", "the option 'uri' of the catalog is missing"),
        ("'write-format' = 'parquet'", "neither 'catalog-name' nor 'catalog-type'"),
        ("'catalog-name' = 'lake', 'limit' = '1'", "write LIMIT in the query"),
        *(
            (f"'catalog-name' = 'lake', '{key}' = 't'", "watermarks are not made here of the statistics of files")
            for key in ("watermark-column", "watermark-column-time-unit")
        ),
        ("'catalog-type' = 'rest', 'uri' = 'http://localhost'", "'uri' is for the user to say, not for a plan"),
        ("'catalog-name' = 'lake', 'catalog-impl' = 'com.acme.Catalog'", "it loads a class"),
        ("'catalog-name' = 'lake', 'io-impl' = 'com.acme.IO'", "it loads a class"),
        ("'catalog-name' = 'lake', 's3.endpoint' = 'http://x'", "only options on a list are handed to a catalog"),
    ],
)
def test_what_is_refused_of_a_source(options: str, words: str) -> None:
    script = (
        f"CREATE TABLE lake (id BIGINT) WITH ('connector' = 'iceberg', {options});"
        "CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); INSERT INTO seen SELECT id FROM lake;"
    )
    (refusal,) = refusals(compile_script(script))
    assert words in str(refusal.error)


def test_columns_are_read_by_their_ids(tmp_path: Path) -> None:
    lake = catalog(tmp_path)
    lake.create_namespace("default")
    first = pa.table({"a": pa.array([1], pa.int32()), "b": ["x"], "c.d": ["u"]})
    table = lake.create_table("default.t", first.schema)
    table.append(first)
    with table.update_schema() as update:
        update.rename_column("a", "n")
    with table.update_schema() as update:
        update.delete_column("b")
    with table.update_schema() as update:
        update.add_column("b", StringType())
    table.append(pa.table({"n": pa.array([2], pa.int32()), "c.d": ["v"], "b": ["new"]}))
    read = [pq.ParquetFile(file.path.removeprefix("file://")).read() for file in files_of(table, None, "table t")]
    rows = [row for part in read for row in part.to_pylist()]
    assert sorted(rows, key=lambda row: int(row["n"])) == [
        {"n": 1, "c.d": "u"},
        {"n": 2, "c.d": "v", "b": "new"},
    ]


@pytest.mark.parametrize(
    ("columns", "options", "query", "words"),
    [
        ("id BIGINT", "'upsert-enabled' = 'true'", "SELECT id FROM made", "by its primary key, and it has none"),
        ("id BIGINT", "'write.upsert.enabled' = 'true'", "SELECT id FROM made", "by its primary key, and it has none"),
        ("id BIGINT", "'overwrite-enabled' = 'true'", "SELECT id FROM made", "a stream does not overwrite"),
        ("id BIGINT", "'write-parallelism' = '1'", "SELECT COUNT(*) FROM made", "by its primary key, and it has none"),
        ("r ROW<a BIGINT>", "'write-parallelism' = '1'", "SELECT ROW(id) FROM made", "is of the type ROW"),
        ("r ARRAY<SMALLINT>", "'write-parallelism' = '1'", "SELECT ARRAY[CAST(id AS SMALLINT)] FROM made", "ARRAY"),
    ],
)
def test_what_is_refused_of_a_sink(columns: str, options: str, query: str, words: str) -> None:
    script = (
        f"CREATE TABLE lake ({columns}) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', {options});"
        f"CREATE TABLE made (id BIGINT) WITH ('connector' = 'datagen'); INSERT INTO lake {query};"
    )
    (refusal,) = refusals(compile_script(script))
    assert words in str(refusal.error)
