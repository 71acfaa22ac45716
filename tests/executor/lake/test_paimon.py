"""Paimon tables: written exactly once, read by snapshots and as streams, checked before a job starts.

They run in an environment with pypaimon, see ``test_paimon_environment.py``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.lake.log import DELETED, KIND, JavaTableLog
from flinkplan.executor.lake.positions import files_now
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import Plan
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

from ..jobs import Place
from .paimon_reader import paimon_rows

pytest.importorskip("pypaimon", reason="pypaimon takes no PyArrow from 20 on")

import pyarrow as pa
import pyarrow.parquet as pq

from flinkplan.executor.lake.paimon import PaimonLog, existing_table
from flinkplan.executor.lake.paimon_changes import PaimonChanges, snapshot_files

PLAIN = "id INT, v STRING, t TIMESTAMP(3), p STRING"
KEYED = f"{PLAIN}, PRIMARY KEY (id, p) NOT ENFORCED"
Change = tuple[int, int, str, str | None]
"""Kind, id, value and partition."""


def table(root: Path, columns: str = PLAIN, more: str = "", partitions: str = "PARTITIONED BY (p)") -> Table:
    plain = columns.split(", PRIMARY")[0]
    plan = compile_script(
        f"CREATE TABLE lake ({columns}) {partitions} WITH ('connector' = 'paimon', 'path' = '{root / 'lake'}'{more});"
        f"CREATE TABLE given ({plain}) WITH ('connector' = 'datagen'); INSERT INTO lake SELECT * FROM given;"
    )
    (reference,) = (r for _, r in plan_tables(plan) if r.name == "lake")
    assert reference.resolved_table is not None
    return Table("lake", "lake", reference.resolved_table, reference.options or {})


def write(root: Path, log: PaimonLog, batch: int, *changes: Change, kinds: bool = False) -> None:
    """Hand a batch over: appended rows, the last change of each key, or with ``kinds`` all changes."""
    columns = {
        "id": pa.array([id_ for _, id_, _, _ in changes], pa.int32()),
        "v": pa.array([v for _, _, v, _ in changes], pa.string()),
        "t": pa.array([id_ * 1000 for _, id_, _, _ in changes], pa.timestamp("us", "UTC")),
        "p": pa.array([p for _, _, _, p in changes], pa.string()),
    }
    keyed = bool(log._declared.primary_key)
    if kinds:
        columns[KIND] = pa.array([kind for kind, *_ in changes], pa.int8())
    elif keyed:
        columns[DELETED] = pa.array([kind == 3 for kind, *_ in changes])
    path = root / f"batch-{batch}.parquet"
    pq.write_table(pa.table(columns), path)
    answer = JavaTableLog(log).apply("merge" if keyed else "append", json.dumps(["query", batch, [str(path)]]))
    assert answer == '{"answer": null}'


def values(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    return sorted((row["id"], row["v"], row["p"]) for row in rows)


def read(files: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Kind, id and value of the rows in files that Spark would read."""
    rows: list[Any] = []
    for file in files:
        rows += pq.ParquetFile(file.path.removeprefix("file://")).read().to_pylist()
    return [(row.get(KIND, 0), row["id"], row["v"]) for row in rows]


def test_a_commit_is_known_by_its_writer_and_batch(tmp_path: Path) -> None:
    lake = table(tmp_path, more=", 'file.compression' = 'gzip', 'file.compression.zstd-level' = '2'")
    log = PaimonLog(lake)
    assert not log.holds("query", 0)
    write(tmp_path, log, 0, (0, 1, "a", "x"), (0, 2, "b", None), (0, 3, "c", "a/b %=ä"))
    write(tmp_path, log, 1, (0, 4, "d", "x"))
    expected = [(1, "a", "x"), (2, "b", None), (3, "c", "a/b %=ä"), (4, "d", "x")]
    assert sorted(values(paimon_rows(tmp_path / "lake")), key=str) == sorted(expected, key=str)
    for each in (log, PaimonLog(lake)):
        assert [each.holds(writer, batch) for writer, batch in (("query", 1), ("query", 2), ("other", 0))] == [
            True,
            False,
            False,
        ]
    opened = existing_table(tmp_path / "lake")
    assert [s.commit_identifier for s in opened.snapshot_manager().list_snapshots()] == [0, 1]
    assert opened.table_schema.options["file.compression"] == "gzip"


@pytest.mark.parametrize(
    "more", ["", ", 'bucket' = '2', 'bucket-key' = 'id'", ", 'dynamic-bucket.target-row-num' = '1'"]
)
def test_rows_take_the_place_of_those_of_their_keys(more: str, tmp_path: Path) -> None:
    log = PaimonLog(table(tmp_path, KEYED, more))
    write(tmp_path, log, 0, (0, 1, "a", "x"), (0, 2, "b", "x"), (0, 1, "c", "y"), (3, 9, "", "x"))
    assert values(paimon_rows(tmp_path / "lake")) == [(1, "a", "x"), (1, "c", "y"), (2, "b", "x")]
    write(tmp_path, log, 1, (0, 1, "A", "x"), (3, 2, "b", "x"))
    assert values(paimon_rows(tmp_path / "lake")) == [(1, "A", "x"), (1, "c", "y")]


def test_a_changelog_of_input_has_all_changes(tmp_path: Path) -> None:
    lake = table(tmp_path, KEYED, ", 'changelog-producer' = 'input', 'bucket' = '1'")
    log = PaimonLog(lake)
    write(tmp_path, log, 0, (0, 1, "a", "x"), (0, 2, "b", "x"), kinds=True)
    changes = ((1, 1, "a", "x"), (2, 1, "A", "x"), (3, 2, "b", "x"), (1, 1, "A", "x"), (2, 1, "B", "x"))
    write(tmp_path, log, 1, *changes, kinds=True)
    assert values(paimon_rows(tmp_path / "lake")) == [(1, "B", "x")]
    stream = PaimonChanges(lake)
    assert stream.begins_whole and stream.newest() == 2
    assert read(stream.whole(1)) == [(0, 1, "a"), (0, 2, "b")]
    assert read(stream.added(1, 2)) == [(1, 1, "a"), (2, 1, "A"), (1, 1, "A"), (2, 1, "B"), (3, 2, "b")]
    assert read(files_now(stream)) == [(0, 1, "B")]
    with pytest.raises(TableError, match="has 'changelog-producer' = 'input', and not 'none'"):
        PaimonChanges(table(tmp_path, KEYED))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'max'", (1, "z", "x")),
        (", 'merge-engine' = 'aggregation', 'fields.default-aggregate-function' = 'min'", (1, "b", "x")),
        (", 'sequence.field' = 'v'", (1, "z", "x")),
        (", 'sequence.field' = 'v', 'sequence.field.sort-order' = 'descending'", (1, "b", "x")),
        ("", (1, "c", "x")),
    ],
)
def test_how_rows_of_a_key_are_merged(more: str, expected: tuple[Any, ...], tmp_path: Path) -> None:
    log = PaimonLog(table(tmp_path, KEYED, more))
    kinds = "'" in more
    write(tmp_path, log, 0, (0, 1, "b", "x"), *([(0, 1, "z", "x")] if kinds else []), kinds=kinds)
    write(tmp_path, log, 1, (0, 1, "c", "x"), kinds=kinds)
    opened = existing_table(tmp_path / "lake").new_read_builder()
    assert values(opened.new_read().to_arrow(opened.new_scan().plan().splits()).to_pylist()) == [expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", 'ignore-delete' = 'true'", [(1, "b", "x")]),
        (", 'ignore-update-before' = 'true', 'changelog-producer' = 'input'", []),
    ],
)
def test_changes_that_are_dropped(more: str, expected: Any, tmp_path: Path) -> None:
    lake = table(tmp_path, KEYED, more)
    log = PaimonLog(lake)
    kinds = "input" in more
    write(tmp_path, log, 0, (0, 1, "b", "x"), kinds=kinds)
    more_changes: list[Change] = [(1, 1, "b", "x")] if kinds else []
    write(tmp_path, log, 1, *more_changes, (3, 1, "b", "x"), kinds=kinds)
    builder = existing_table(tmp_path / "lake").new_read_builder()
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
    assert values(rows) == expected
    if "input" in more:
        assert read(PaimonChanges(lake).added(1, 2)) == [(3, 1, "b")]


@pytest.mark.parametrize(
    ("columns", "more", "partitions", "words"),
    [
        (PLAIN.replace("INT", "BIGINT"), "", "PARTITIONED BY (p)", "has the columns id int32"),
        (PLAIN, "", "", "the partition columns of the Paimon table: p"),
        (KEYED, "", "PARTITIONED BY (p)", "the primary key of the Paimon table: none"),
        (PLAIN, ", 'target-file-size' = '1 mb'", "PARTITIONED BY (p)", "has 'target-file-size' = '2 mb', and not"),
    ],
)
def test_a_table_that_is_declared_otherwise_is_refused(
    tmp_path: Path, columns: str, more: str, partitions: str, words: str
) -> None:
    kept = ", 'target-file-size' = '2 mb', 'commit.max-retries' = '3', 'commit.timeout' = '9 s'"
    PaimonLog(table(tmp_path, more=f"{kept}, 'metadata.stats-mode' = 'none', 'partition.default-name' = 'NONE'"))
    with pytest.raises(TableError, match=words):
        PaimonLog(table(tmp_path, columns, more, partitions))


def grown(root: Path) -> Any:
    """A table with three snapshots of a row each; the second has a tag."""
    log = PaimonLog(table(root))
    for number in range(3):
        write(root, log, number, (0, number, str(number), "x"))
    opened = existing_table(root / "lake")
    opened.create_tag("second", 2)
    return opened


def test_a_batch_reads_the_snapshot_that_options_name(tmp_path: Path) -> None:
    opened = grown(tmp_path)
    _, second, _ = opened.snapshot_manager().list_snapshots()

    def ids(more: str) -> list[int]:
        return sorted(id_ for _, id_, _ in read(snapshot_files(table(tmp_path, more=more))))

    assert ids("") == ids(", 'scan.mode' = 'full'") == ids(", 'scan.mode' = 'latest'") == [0, 1, 2]
    assert ids(", 'scan.snapshot-id' = '1'") == ids(", 'scan.version' = '1'") == [0]
    assert ids(", 'scan.tag-name' = 'second'") == ids(", 'scan.version' = 'second'") == [0, 1]
    assert ids(f", 'scan.timestamp-millis' = '{second.time_millis}'") == [0, 1]
    assert ids(", 'scan.timestamp' = '2100-01-01 00:00:00'") == [0, 1, 2]
    assert ids(", 'scan.snapshot-id' = '2', 'scan.mode' = 'from-snapshot-full'") == [0, 1]
    assert ids(", 'incremental-between' = '1,3'") == [1, 2]
    assert ids(", 'incremental-between' = 'second,3'") == [2]
    for more, words in (
        (", 'scan.snapshot-id' = '7'", "'7' doesn't exist"),
        (", 'scan.tag-name' = 'third'", "'third' doesn't exist"),
        (", 'scan.watermark' = '7'", "watermark greater than or equal to 7"),
        (", 'scan.timestamp' = 'noon'", "'noon' is no time"),
        (", 'incremental-between' = '3,1'", "does not name two snapshots"),
        (", 'incremental-between' = 'a,1'", "has no tag 'a'"),
    ):
        with pytest.raises(TableError, match=words):
            ids(more)


def test_a_stream_begins_where_options_say(tmp_path: Path) -> None:
    opened = grown(tmp_path)
    _, second, _ = opened.snapshot_manager().list_snapshots()

    def first(more: str) -> tuple[bool, int]:
        stream = PaimonChanges(table(tmp_path, more=more))
        return stream.begins_whole, -1 if stream.begins_whole else stream.first()

    assert first("") == first(", 'scan.mode' = 'latest-full'") == (True, -1)
    assert first(", 'scan.mode' = 'latest'") == (False, 3)
    assert first(", 'scan.snapshot-id' = '2'") == first(", 'scan.mode' = 'from-snapshot', 'scan.snapshot-id' = '2'")
    assert first(", 'scan.snapshot-id' = '2'") == (False, 1)
    assert first(f", 'scan.timestamp-millis' = '{second.time_millis}'") == (False, 1)
    assert first(", 'scan.timestamp' = '2000-01-01 00:00:00'") == (False, 0)
    stream = PaimonChanges(table(tmp_path, more=", 'continuous.discovery-interval' = '50 ms'"))
    assert (stream.interval, stream.newest(), stream.behind(1, 3)) == (0.05, 3, 2)
    assert read(stream.added(1, 3)) == [(0, 1, "1"), (0, 2, "2")]
    with pytest.raises(TableError, match="a stream does not begin with 'from-snapshot-full'"):
        first(", 'scan.mode' = 'from-snapshot-full', 'scan.snapshot-id' = '2'")
    with pytest.raises(TableError, match="the newest snapshot of the Paimon table is 2, and 3 has been read"):
        stream.next(3, 2)
    (tmp_path / "lake" / "snapshot" / "snapshot-1").unlink()
    with pytest.raises(TableError, match="the snapshot 1 of the Paimon table has expired"):
        stream.added(0, 3)


def test_rows_that_overwrite_others_are_passed_over_by_streams(tmp_path: Path) -> None:
    lake = table(tmp_path)
    log = PaimonLog(lake)
    write(tmp_path, log, 0, (0, 1, "a", "x"), (0, 2, "b", "y"))
    pq.write_table(pa.table({"id": pa.array([3], pa.int32()), "v": ["c"], "t": [None], "p": ["x"]}), tmp_path / "o")
    log.overwrite("another", 0, [str(tmp_path / "o")], {})
    assert values(paimon_rows(tmp_path / "lake")) == [(2, "b", "y"), (3, "c", "x")]
    assert log.holds("another", 0)
    assert PaimonChanges(lake).added(1, 2) == []


def plan(place: Place, query: str, more: str = "", columns: str = PLAIN) -> Plan:
    """A query of files and a Paimon table of a catalog."""
    files = f"'connector' = 'filesystem', 'path' = '{place.root / 'in'}', 'format' = 'debezium-json'"
    seen = files.replace(str(place.root / "in"), str(place.root / "seen"))
    return compile_script(f"""
        CREATE CATALOG lakes WITH ('type' = 'paimon', 'warehouse' = 'file://{place.root}/warehouse');
        CREATE TABLE given ({PLAIN}) WITH ({files});
        CREATE TABLE seen ({PLAIN}) WITH ({seen});
        CREATE DATABASE lakes.shop;
        CREATE TABLE lakes.shop.lake ({columns}) PARTITIONED BY (p) WITH ('file.format' = 'parquet'{more});
        {query};
    """)


def run(place: Place, job: Plan, mode: Mode = Mode.AVAILABLE_NOW, checkpoint: str = "checkpoint") -> None:
    options = JobOptions(checkpoint=str(place.root / checkpoint), mode=mode, spark=place.spark)
    execute(job, options).wait()


def change(op: str, id_: int, v: str, p: str | None) -> dict[str, Any]:
    row = {"id": id_, "v": v, "t": f"2024-05-01 00:00:0{id_}.5", "p": p}
    return {"op": op, "before": row if op == "d" else None, "after": None if op == "d" else row}


def run_again(place: Place, job: Plan) -> None:
    """Run a job whose last batch Spark has not noted as done."""
    last = max((place.root / "checkpoint").rglob("commits/[0-9]*"), key=lambda path: int(path.name))
    for file in (last, last.with_name(f".{last.name}.crc")):
        file.unlink(missing_ok=True)
    run(place, job)


@pytest.mark.spark
def test_each_batch_is_one_snapshot_and_comes_once(place: Place) -> None:
    place.put("1", change("c", 1, "a", "a/b c"), change("c", 2, "b", "ä=%"))
    appends = plan(place, "INSERT INTO lakes.shop.lake SELECT * FROM given /*+ OPTIONS('format' = 'json') */")
    place.put("2", *({"id": n, "v": str(n), "t": "2024-05-01 00:00:00.123", "p": p} for n, p in ((8, None), (9, "x"))))
    (place.root / "in" / "1").rename(place.root / "1")
    run(place, appends)
    lake = place.root / "warehouse" / "shop.db" / "lake"
    run_again(place, appends)
    assert sorted((row["id"], row["p"], row["t"]) for row in paimon_rows(lake, apart=True)) == [
        (8, None, "2024-05-01 00:00:00.123000"),
        (9, "x", "2024-05-01 00:00:00.123000"),
    ]
    # the table is found in the warehouse, and read as a stream and as a batch
    script = f"""
        CREATE CATALOG lakes WITH ('type' = 'paimon', 'warehouse' = 'file://{place.root}/warehouse');
        CREATE TABLE seen ({PLAIN}) WITH (
            'connector' = 'filesystem', 'path' = '{place.root / "seen"}', 'format' = 'json');
        INSERT INTO seen SELECT * FROM lakes.shop.lake;"""
    for mode in (Mode.AVAILABLE_NOW, Mode.BOUNDED):
        run(place, compile_script(script), mode, mode.name)
    read_ = [json.loads(line) for p in (place.root / "seen").rglob("part-*") for line in p.read_text().splitlines()]
    assert sorted(row["id"] for row in read_) == [8, 8, 9, 9]
    assert {row["t"] for row in read_} == {"2024-05-01 00:00:00.123"}


@pytest.mark.spark
@pytest.mark.parametrize("producer", ["none", "input"])
def test_changes_go_into_a_table_and_out_of_it(producer: str, place: Place) -> None:
    more = f", 'changelog-producer' = '{producer}'"
    grouped = "INSERT INTO lakes.shop.lake SELECT id, MAX(v), MAX(t), p FROM given GROUP BY id, p"
    writes = plan(place, grouped, more, KEYED)
    reads = plan(place, "INSERT INTO seen SELECT * FROM lakes.shop.lake", more, KEYED)
    lake = place.root / "warehouse" / "shop.db" / "lake"

    def seen() -> list[str]:
        lines = [line for p in (place.root / "seen").rglob("part-*") for line in p.read_text().splitlines()]
        left: Counter[str] = Counter()
        for each in map(json.loads, lines):
            if each["op"] == "d":
                left[each["before"]["v"]] -= 1
            else:
                left[each["after"]["v"]] += 1
        return sorted(left.elements())

    place.put("1", *(change("c", i, f"v{i}", "xy"[i % 2]) for i in range(4)))
    run(place, writes)
    run(place, reads, checkpoint="reading")
    assert seen() == ["v0", "v1", "v2", "v3"]
    place.put("2", change("d", 0, "v0", "x"), change("c", 1, "w", "y"))
    run(place, writes)
    run_again(place, writes)
    assert values(paimon_rows(lake)) == [(1, "w", "y"), (2, "v2", "x"), (3, "v3", "y")]
    run(place, reads, checkpoint="reading")
    assert seen() == ["v2", "v3", "w"]
