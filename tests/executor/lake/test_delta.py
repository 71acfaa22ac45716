"""Tables of Delta Lake: written exactly once, read by versions, checked before a job starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.lake.delta import DeltaLog, in_one_line, snapshot
from flinkplan.executor.lake.log import JavaTableLog
from flinkplan.executor.prepare.checks import refusals
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink, TableSourceScan
from flinkplan.planner import compile_script

from ..jobs import Place
from .readers import delta_table

COLUMNS = "id INT, v STRING, t TIMESTAMP(3), p STRING"


def plan(place: Place, query: str, target: str = "out", options: str = "", columns: str = COLUMNS) -> Plan:
    """A query of files into a Delta table."""
    return compile_script(f"""
        CREATE TABLE given (id INT, v STRING, t TIMESTAMP(3), p STRING) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "in"}', 'format' = 'json');
        CREATE TABLE lake ({columns}) PARTITIONED BY (p) WITH (
            'connector' = 'delta', 'table-path' = '{place.root / target}'{options});
        CREATE TABLE files ({columns}) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "read"}', 'format' = 'json');
        {query};
    """)


WRITE = "INSERT INTO lake SELECT * FROM given"


def row(number: int, p: str | None) -> dict[str, Any]:
    return {"id": number, "v": f"v{number}", "t": f"2024-05-01 00:00:0{number}.5", "p": p}


def rows(place: Place, version: int | None = None) -> list[tuple[Any, ...]]:
    """What other readers see."""
    table = delta_table(place.root / "out", version)
    return sorted(tuple(each.values()) for each in table.select(["id", "p"]).to_pylist())


@pytest.mark.spark
def test_each_batch_is_one_commit_and_comes_once(place: Place) -> None:
    place.put("1", row(1, "a/b c"), row(2, None), row(3, "ä=%"))
    job = plan(place, WRITE)
    place.run(job, Mode.AVAILABLE_NOW)
    assert rows(place) == [(1, "a/b c"), (2, None), (3, "ä=%")]
    place.put("2", row(4, "a/b c"))
    place.run(job, Mode.AVAILABLE_NOW)
    assert rows(place) == [(1, "a/b c"), (2, None), (3, "ä=%"), (4, "a/b c")]
    assert rows(place, 1) == [(1, "a/b c"), (2, None), (3, "ä=%")]
    # Spark has not noted the end of the last batch, so it runs it again
    (last,) = (p for p in (place.root / "checkpoint").rglob("commits/1"))
    for file in (last, last.with_name(f".{last.name}.crc")):
        file.unlink(missing_ok=True)
    place.run(job, Mode.AVAILABLE_NOW)
    assert rows(place) == [(1, "a/b c"), (2, None), (3, "ä=%"), (4, "a/b c")]
    assert DeltaTable(str(place.root / "out")).version() == 2


@pytest.mark.spark
@pytest.mark.parametrize("streams", [False, True])
def test_a_snapshot_is_read(streams: bool, place: Place) -> None:
    target = str(place.root / "out")
    for number, p in ((1, "x y"), (2, None)):
        t = pa.array([number * 1_000_000], pa.timestamp("us", "UTC"))
        columns = {"id": pa.array([number], pa.int32()), "v": [f"v{number}"], "t": t, "p": pa.array([p], pa.string())}
        write_deltalake(target, pa.table(columns), mode="append", partition_by=["p"])
    place.run(plan(place, "INSERT INTO files SELECT * FROM lake"), streams=streams)
    read = [json.loads(line) for p in (place.root / "read").rglob("part-*") for line in p.read_text().splitlines()]
    assert sorted(read, key=lambda each: each["id"]) == [
        {"id": 1, "v": "v1", "t": "1970-01-01 00:00:01", "p": "x y"},
        {"id": 2, "v": "v2", "t": "1970-01-01 00:00:02", "p": None},
    ]


def table(folder: Path, script: str) -> Table:
    node = next(n for n in compile_script(script).nodes if isinstance(n, (Sink, TableSourceScan)) and "lake" in str(n))
    reference = (node.dynamic_table_sink if isinstance(node, Sink) else node.scan_table_source).table
    assert reference.resolved_table is not None
    return Table("lake", "lake", reference.resolved_table, reference.resolved_table.options or {})


def sink(folder: Path, columns: str = "id INT, p STRING", more: str = "PARTITIONED BY (p)", options: str = "") -> Table:
    return table(
        folder,
        f"CREATE TABLE lake ({columns}) {more}"
        f"WITH ('connector' = 'delta', 'table-path' = '{folder / 'out'}'{options});"
        "CREATE TABLE made (id INT) WITH ('connector' = 'datagen');"
        "INSERT INTO lake SELECT id, CAST(id AS STRING) FROM made;",
    )


SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": t, "nullable": True, "metadata": {}}
            for name, t in (("id", "integer"), ("p", "string"))
        ],
    }
)


def test_a_commit_is_known_by_its_writer_and_batch(tmp_path: Path) -> None:
    log = JavaTableLog(DeltaLog(sink(tmp_path), SCHEMA))
    assert log.apply("holds", '["query", 0]') == '{"answer": false}'
    (tmp_path / "out" / "p=a%3Ab").mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int32())}), tmp_path / "out" / "p=a%3Ab" / "f.parquet")
    assert log.apply("commit", '["query", 0, ["p=a%3Ab/f.parquet"]]') == '{"answer": null}'
    assert [log.apply("holds", f'["{w}", {b}]') for w, b in (("query", 0), ("query", 1), ("other", 0))] == [
        '{"answer": true}',
        '{"answer": false}',
        '{"answer": false}',
    ]
    read = DeltaTable(str(tmp_path / "out"))
    assert read.to_pyarrow_table().to_pylist() == [{"id": 1, "p": "a:b"}]
    assert "No such file" in json.loads(log.apply("commit", '["query", 1, ["p=b/missing.parquet"]]'))["error"]
    assert DeltaTable(str(tmp_path / "out")).version() == 1


@pytest.mark.parametrize(
    ("columns", "more", "words"),
    [
        ("id BIGINT, p STRING", "PARTITIONED BY (p)", "has the columns id integer, p string"),
        ("id INT, p STRING", "", "is partitioned by p"),
    ],
)
def test_a_table_that_is_declared_otherwise_is_refused(tmp_path: Path, columns: str, more: str, words: str) -> None:
    DeltaLog(sink(tmp_path), SCHEMA)
    schema = SCHEMA.replace("integer", "long") if "BIGINT" in columns else SCHEMA
    with pytest.raises(TableError, match=words):
        DeltaLog(sink(tmp_path, columns, more), schema)


def test_properties_of_the_table_are_those_of_its_creation(tmp_path: Path) -> None:
    DeltaLog(sink(tmp_path, options=", 'delta.appendOnly' = 'true'"), SCHEMA)
    assert DeltaTable(str(tmp_path / "out")).metadata().configuration == {"delta.appendOnly": "true"}


def test_versions_and_times_name_a_snapshot(tmp_path: Path) -> None:
    for number in range(3):
        write_deltalake(str(tmp_path / "out"), pa.table({"id": [number]}), mode="append")

    def files(options: str) -> int:
        script = (
            "CREATE TABLE lake (id BIGINT) WITH ('connector' = 'delta', "
            f"'table-path' = '{tmp_path / 'out'}'{options});"
            "CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print');"
            "INSERT INTO seen SELECT * FROM lake;"
        )
        return len(snapshot(table(tmp_path, script)).files)

    assert [files(o) for o in ("", ", 'versionAsOf' = '0'", ", 'timestampAsOf' = '2100-01-01'")] == [3, 1, 3]
    with pytest.raises(TableError, match="'yesterday' is no time"):
        files(", 'timestampAsOf' = 'yesterday'")
    with pytest.raises(TableError, match="the Delta table: "):
        files(", 'versionAsOf' = '9'")


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ("id BIGINT, r ROW<a INT>", "'mode' = 'batch'", "no column of a Delta table is of the type ROW"),
        ("id BIGINT, r ARRAY<TIMESTAMP(9)>", "'mode' = 'batch'", "no column of a Delta table is of the type ARRAY"),
    ],
)
def test_what_is_refused_before_a_job_starts(columns: str, options: str, words: str) -> None:
    script = (
        f"CREATE TABLE lake ({columns}) WITH ('connector' = 'delta', 'table-path' = '/lake', {options});"
        "CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); INSERT INTO seen SELECT id FROM lake;"
    )
    (refusal,) = refusals(compile_script(script))
    assert words in f"{refusal.error} {refusal.error.hint}"


def test_one_snapshot_is_named() -> None:
    with pytest.raises(FlinkplanError, match="either 'versionAsOf' or 'timestampAsOf'"):
        compile_script(
            "CREATE TABLE lake (id BIGINT) WITH ('connector' = 'delta', 'table-path' = '/lake',"
            "'versionAsOf' = '1', 'timestampAsOf' = '2024-01-01');"
            "CREATE TABLE seen (id BIGINT) WITH ('connector' = 'print'); INSERT INTO seen SELECT id FROM lake;"
        )


def test_a_directory_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(TableError, match="there is no Delta table"):
        snapshot(sink(tmp_path))


def test_reasons_of_errors_stand_in_one_line() -> None:
    error = OSError(
        "Generic S3 error\n          \x1b[31m↳\x1b[0m Error performing GET\n           \x1b[31m↳\x1b[0m refused\n"
    )
    assert in_one_line(error) == "Generic S3 error: Error performing GET: refused"
