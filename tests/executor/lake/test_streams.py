"""Tables of lakes as streams: the table first, then what is added to it, each once over restarts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog

from flinkplan.executor.build.connectors.positions import java_positions
from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.errors import TableError
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.lake.delta_changes import DeltaChanges
from flinkplan.executor.lake.iceberg import snapshot
from flinkplan.executor.lake.iceberg_changes import IcebergChanges
from flinkplan.executor.lake.positions import Changes, Positions, files_now
from flinkplan.executor.lake.row_changes import changes_between
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

from ..jobs import Place

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": t, "nullable": True, "metadata": {}}
            for name, t in (("id", "integer"), ("p", "string"))
        ],
    }
)


def rows(*ids: int, p: str | None = "a/b %c") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "p": pa.array([p] * len(ids), pa.string())})


class Delta:
    """A Delta table that another library writes."""

    def __init__(self, root: Path) -> None:
        self.path = str(root / "lake")
        self.options = f"'connector' = 'delta', 'mode' = 'streaming', 'table-path' = '{self.path}'"
        self.variables: dict[str, str] = {}

    def add(self, table: pa.Table) -> None:
        write_deltalake(self.path, table, mode="append", partition_by=["p"])

    def changes(self, table: Table) -> Changes:
        return DeltaChanges(table, SCHEMA)


class Iceberg:
    """An Iceberg table that another library writes."""

    def __init__(self, root: Path) -> None:
        self.options = (
            "'connector' = 'iceberg', 'streaming' = 'true', 'monitor-interval' = '50 ms', 'catalog-type' = 'jdbc', "
            f"'uri' = '${{CATALOG}}', 'warehouse' = 'file://{root / 'lake'}'"
        )
        self.variables = {"CATALOG": f"jdbc:sqlite:{root}/c.db"}
        self.catalog = load_catalog(
            "default", type="sql", uri=f"sqlite:///{root}/c.db", warehouse=f"file://{root}/lake"
        )
        self.catalog.create_namespace("default")
        self.table = self.catalog.create_table("default.lake", rows().schema)

    def add(self, table: pa.Table) -> None:
        self.table.append(table)

    def changes(self, table: Table) -> Changes:
        return IcebergChanges(table)


LAKES: list[Any] = [pytest.param(Delta, id="delta"), pytest.param(Iceberg, id="iceberg")]


def script(
    options: str, query: str = "INSERT INTO seen SELECT id, p FROM lake", seen: str = "'connector' = 'print'"
) -> str:
    return (
        f"CREATE TABLE lake (id INT, p STRING) WITH ({options});"
        f"CREATE TABLE seen (id INT, p STRING) WITH ({seen}); {query};"
    )


def source(lake: Delta | Iceberg, more: str = "", less: str = "") -> Table:
    text = script(lake.options.replace(less, "") + more)
    (reference,) = (r for _, r in plan_tables(compile_script(text)) if r.name == "lake")
    assert reference.resolved_table is not None
    options = dict(reference.options or {})
    for name, value in lake.variables.items():
        options = {key: text.replace(f"${{{name}}}", value) for key, text in options.items()}
    return Table("lake", "lake", reference.resolved_table, options)


@pytest.mark.spark
@pytest.mark.parametrize("kind", LAKES)
def test_each_row_comes_once_over_restarts(kind: Callable[[Path], Delta | Iceberg], place: Place) -> None:
    lake = kind(place.root)
    lake.add(rows(1, 2))
    lake.add(rows(3, p=None))
    out = place.root / "out"
    seen = f"'connector' = 'filesystem', 'path' = '{out}', 'format' = 'json'"
    plan = compile_script(script(lake.options, seen=seen))

    def run(mode: Mode = Mode.AVAILABLE_NOW, checkpoint: str = "checkpoint") -> list[tuple[Any, ...]]:
        options = JobOptions(
            checkpoint=str(place.root / checkpoint), mode=mode, variables=lake.variables, spark=place.spark
        )
        execute(plan, options).wait()
        lines = (line for path in out.rglob("part-*") for line in path.read_text().splitlines())
        return sorted(tuple(json.loads(line).values()) for line in lines)

    expected: list[tuple[Any, ...]] = [(1, "a/b %c"), (2, "a/b %c"), (3, None)]
    assert run() == expected
    lake.add(rows(4, 5, p="ä=#?"))
    # Spark has not noted the end of the first batch, so it runs it again: what came later is not part of it
    for path in (place.root / "checkpoint").rglob("commits/*0*"):
        path.unlink()
    expected += [(4, "ä=#?"), (5, "ä=#?")]
    assert run() == expected
    assert run() == expected
    lake.add(rows(6))
    expected += [(6, "a/b %c")]
    assert run() == expected
    assert sorted(run(Mode.BOUNDED, "another")) == sorted(expected * 2)


@pytest.mark.parametrize("kind", LAKES)
def test_positions_are_of_snapshots(kind: Callable[[Path], Delta | Iceberg], tmp_path: Path) -> None:
    lake = kind(tmp_path)
    lake.add(rows(1, 2))
    positions = Positions("lake", lake.changes(source(lake)), settles=True, tells_lag=True)
    java = java_positions(positions, FlinkplanError)

    def ask(method: str, *arguments: Any) -> Any:
        answer = json.loads(java.apply(method, json.dumps(arguments)))
        assert "error" not in answer, answer
        return answer["answer"]

    def taken(end: Any) -> int:
        return len(ask("between", start, end))

    start = ask("initial")
    first = ask("latest", start)
    assert (taken(start), taken(first), first["settled"]) == (0, 1, False)
    settled = ask("latest", first)
    assert (taken(settled), settled["settled"], ask("lag", settled)) == (0, True, {"lake": 0})
    for _ in range(2):
        lake.add(rows(3))
    ask("close")  # so that it looks again at once
    assert ask("lag", settled) == {"lake": 2}
    second = ask("latest", settled)
    assert (taken(second), second["read"] != first["read"]) == (2, True)
    ask("stop_at_what_is_there")
    lake.add(rows(4))
    assert ask("latest", second) == {**second, "from": second["read"], "settled": True}
    # another run, which goes on from what the first one has planned last
    again = Positions("lake", lake.changes(source(lake)), settles=False)
    assert len(again.between(again.initial(), first)) == 1
    with pytest.raises(TableError, match="the checkpoint has no snapshot, but /etc"):
        again.between(second, {**second, "read": "/etc"})
    third = again.latest(second)
    assert (len(again.between(second, third)), third["settled"]) == (1, True)


def delta_ids(lake: Delta, more: str) -> list[int]:
    files = files_now(lake.changes(source(lake, more)))
    return sorted(i for f in files for i in _ids(f.path))


def _ids(path: str) -> list[int]:
    import pyarrow.parquet as pq

    ids: list[int] = pq.ParquetFile(path.removeprefix("file://")).read(["id"])["id"].to_pylist()
    return ids


def test_a_stream_of_versions_begins_where_options_say(tmp_path: Path) -> None:
    lake = Delta(tmp_path)
    for number in range(3):
        lake.add(rows(number))
    assert lake.changes(source(lake, ", 'updateCheckIntervalMillis' = '1500'")).interval == 1.5
    starts = [", 'startingVersion' = '0'", ", 'startingVersion' = '2'", ", 'startingVersion' = 'latest'"]
    assert [delta_ids(lake, start) for start in ("", *starts)] == [[0, 1, 2], [0, 1, 2], [2], [2]]
    assert delta_ids(lake, ", 'startingTimestamp' = '2020-01-01'") == [0, 1, 2]
    for options, words in (
        (", 'startingVersion' = '3'", "the newest version of the Delta table is 2"),
        (", 'startingTimestamp' = '2100-01-01'", "no version of the Delta table is as young"),
    ):
        with pytest.raises(TableError, match=words):
            delta_ids(lake, options)


def test_versions_that_remove_rows_stop_a_stream_of_inserts(tmp_path: Path) -> None:
    lake = Delta(tmp_path)
    lake.add(rows(1, 2, p="x"))
    lake.add(rows(3, p="y"))
    start = ", 'startingVersion' = '0'"
    DeltaTable(lake.path).optimize.compact()
    assert delta_ids(lake, start) == [1, 2, 3]
    DeltaTable(lake.path).delete("p = 'y'")
    with pytest.raises(TableError, match=r"version \d of the Delta table deletes rows") as caught:
        delta_ids(lake, start)
    assert "'ignoreDeletes' = 'true'" in str(caught.value.hint)
    assert delta_ids(lake, start + ", 'ignoreDeletes' = 'true'") == [1, 2, 3]
    DeltaTable(lake.path).update(updates={"id": "id + 10"}, predicate="id = 2")
    with pytest.raises(TableError, match=r"version \d of the Delta table changes rows"):
        delta_ids(lake, start + ", 'ignoreDeletes' = 'true'")
    assert delta_ids(lake, start + ", 'ignoreChanges' = 'true'") == [1, 1, 2, 3, 12]
    changes = lake.changes(source(lake, start + ", 'ignoreChanges' = 'true'"))
    (tmp_path / "lake" / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(TableError, match="version 0 is no longer in the log"):
        changes.added(-1, 1)


def test_a_stream_stops_where_the_columns_change(tmp_path: Path) -> None:
    lake = Delta(tmp_path)
    lake.add(rows(1))
    changes = lake.changes(source(lake))
    write_deltalake(lake.path, pa.table({"id": ["x"], "p": ["x"]}), mode="overwrite", schema_mode="overwrite")
    with pytest.raises(TableError, match="'id' is declared as integer, and the Delta table has string"):
        changes.added(0, 1)
    again = Iceberg(tmp_path)
    opened = again.changes(source(again))
    with again.table.update_schema() as update:
        update.delete_column("p")
    with pytest.raises(TableError, match="'p' is declared as STRING, and the Iceberg table has none"):
        opened.newest()


def test_a_stream_of_snapshots_begins_where_options_say(tmp_path: Path) -> None:
    lake = Iceberg(tmp_path)
    empty = source(lake, ", 'starting-strategy' = 'INCREMENTAL_FROM_LATEST_SNAPSHOT'")
    assert (lake.changes(empty).first(), lake.changes(empty).newest(), files_now(lake.changes(empty))) == (
        None,
        None,
        [],
    )
    for number in range(3):
        lake.add(rows(number))
    first, second, third = [s.snapshot_id for s in lake.table.snapshots()]
    time = lake.table.snapshots()[1].timestamp_ms

    def ids(more: str) -> list[int]:
        files = files_now(lake.changes(source(lake, more)))
        return sorted(i for f in files for i in _ids(f.path))

    def strategy(name: str, more: str = "") -> list[int]:
        return ids(f", 'starting-strategy' = '{name}'{more}")

    assert ids("") == strategy("table_scan_then_incremental") == [0, 1, 2]
    assert strategy("INCREMENTAL_FROM_LATEST_SNAPSHOT") == [2]
    assert strategy("INCREMENTAL_FROM_LATEST_SNAPSHOT_EXCLUSIVE") == []
    assert strategy("INCREMENTAL_FROM_EARLIEST_SNAPSHOT") == [0, 1, 2]
    assert strategy("INCREMENTAL_FROM_SNAPSHOT_ID", f", 'start-snapshot-id' = '{second}'") == [1, 2]
    assert strategy("INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP", f", 'start-snapshot-timestamp' = '{time}'") == [1, 2]
    for name, more, words in (
        ("INCREMENTAL_FROM_SNAPSHOT_ID", ", 'start-snapshot-id' = '7'", "has no snapshot 7"),
        (
            "INCREMENTAL_FROM_SNAPSHOT_TIMESTAMP",
            ", 'start-snapshot-timestamp' = '9000000000000'",
            "from 9000000000000 on",
        ),
    ):
        with pytest.raises(TableError, match=words):
            strategy(name, more)
    few = lake.changes(source(lake, ", 'max-planning-snapshot-count' = '2'"))
    assert (few.next(None, third), few.next(first, third), few.behind(first, third)) == (second, third, 2)
    # a snapshot that deletes rows is passed over, as it is in Flink
    lake.table.delete("id = 1")
    lake.add(rows(4))
    newest = few.newest()
    assert newest is not None
    assert sorted(i for f in few.added(third, newest) for i in _ids(f.path)) == [4]
    lake.table.manage_snapshots().rollback_to_snapshot(first).commit()
    assert few.newest() == first
    with pytest.raises(TableError, match=f"the snapshot {third} of the Iceberg table does not lead to {first}"):
        few.next(third, first)


def test_a_batch_reads_what_was_appended_between_two_snapshots(tmp_path: Path) -> None:
    lake = Iceberg(tmp_path)
    for number in range(3):
        lake.add(rows(number))
    first, second, _ = [s.snapshot_id for s in lake.table.snapshots()]
    lake.table.manage_snapshots().create_tag(second, "noon").commit()

    def ids(more: str) -> list[int]:
        read = snapshot(source(lake, more, "'streaming' = 'true', "))
        return sorted(i for f in read.files for i in _ids(f.path))

    assert ids(f", 'start-snapshot-id' = '{first}'") == [1, 2]
    assert ids(f", 'start-snapshot-id' = '{first}', 'end-snapshot-id' = '{second}'") == [1]
    assert (ids(", 'start-tag' = 'noon'"), ids(", 'end-tag' = 'noon'")) == ([2], [0, 1])
    with pytest.raises(TableError, match="has no snapshot 'dusk'"):
        ids(", 'end-tag' = 'dusk'")


class Feed(Delta):
    """A Delta table that keeps its changes."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.options += ", 'readChangeFeed' = 'true', 'updateCheckIntervalMillis' = '50'"

    def add(self, table: pa.Table) -> None:
        kept = {"delta.enableChangeDataFeed": "true"}
        write_deltalake(self.path, table, mode="append", partition_by=["p"], configuration=kept)

    def delete(self, id_: int) -> None:
        DeltaTable(self.path).delete(f"id = {id_}")

    def update(self, id_: int, p: str) -> None:
        DeltaTable(self.path).update(updates={"p": f"'{p}'"}, predicate=f"id = {id_}")


class Replaced(Iceberg):
    """An Iceberg table all of whose changes are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.options += ", 'read-changes' = 'true'"

    def delete(self, id_: int) -> None:
        self.table.delete(f"id = {id_}")

    def update(self, id_: int, p: str) -> None:
        self.table.overwrite(rows(id_, p=p), f"id = {id_}")


CHANGING: list[Any] = [pytest.param(Feed, id="delta"), pytest.param(Replaced, id="iceberg")]


def changed(files: Any) -> list[tuple[Any, ...]]:
    """Kind, id and partition of the rows in files."""
    import pyarrow.parquet as pq

    found = []
    for file in files:
        for row in pq.ParquetFile(file.path.removeprefix("file://")).read().to_pylist():
            found.append((row.get("__kind", 0), row["id"], file.partition.get("p", row.get("p"))))
    return found


@pytest.mark.parametrize("kind", CHANGING)
def test_changes_of_a_table_are_read(kind: Callable[[Path], Feed | Replaced], tmp_path: Path) -> None:
    lake = kind(tmp_path)
    lake.add(rows(1, 2, 3, p="x"))
    changes = lake.changes(source(lake))
    start = changes.newest()
    assert start is not None
    assert changed(changes.whole(start)) == [(0, 1, "x"), (0, 2, "x"), (0, 3, "x")]
    lake.add(rows(4, p=None))
    lake.delete(3)
    lake.update(1, "y")
    end = changes.newest()
    assert end is not None
    update = [(1, 1, "x"), (2, 1, "y")] if isinstance(lake, Feed) else [(3, 1, "x"), (0, 1, "y")]
    assert changed(changes.added(start, end)) == [(0, 4, None), (3, 3, "x"), *update]


def test_a_delta_table_that_keeps_no_changes(tmp_path: Path) -> None:
    feed = Feed(tmp_path)
    Delta.add(feed, rows(1))
    with pytest.raises(TableError, match=r"keeps no changes: 'delta.enableChangeDataFeed' is not 'true'"):
        feed.changes(source(feed)).added(-1, 0)


def test_rows_that_are_there_as_often_are_no_changes() -> None:
    def table(*values: Any) -> pa.Table:
        ids, lists = zip(*values, strict=True) if values else ((), ())
        return pa.table({"id": pa.array(ids, pa.int32()), "l": pa.array(lists, pa.list_(pa.string()))})

    before = table((1, ["a"]), (1, ["a"]), (None, None), (2, []))
    after = table((2, []), (1, ["a"]), (None, None), (None, None), (3, ["b", None]))
    expected = [
        {"id": 1, "l": ["a"], "__kind": 3},
        {"id": None, "l": None, "__kind": 0},
        {"id": 3, "l": ["b", None], "__kind": 0},
    ]
    assert changes_between(before, after).to_pylist() == expected
    assert changes_between(before, before).num_rows == changes_between(table(), table()).num_rows == 0


@pytest.mark.spark
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(Feed, id="delta"),
        pytest.param(Replaced, id="iceberg", marks=pytest.mark.nightly("files are read by the same source")),
    ],
)
def test_changes_are_aggregated(kind: Callable[[Path], Feed | Replaced], place: Place) -> None:
    lake = kind(place.root)
    lake.add(rows(1, 2, 3, p="x"))
    out = place.root / "out"
    plan = compile_script(
        f"CREATE TABLE lake (id INT, p STRING) WITH ({lake.options});"
        f"CREATE TABLE seen (p STRING, n BIGINT, s INT) WITH ("
        f"'connector' = 'filesystem', 'path' = '{out}', 'format' = 'debezium-json');"
        "INSERT INTO seen SELECT p, COUNT(*), SUM(id) FROM lake GROUP BY p;"
    )

    def run() -> dict[str, tuple[int, int]]:
        options = JobOptions(
            checkpoint=str(place.root / "checkpoint"),
            mode=Mode.AVAILABLE_NOW,
            variables=lake.variables,
            spark=place.spark,
        )
        execute(plan, options).wait()
        counts: dict[str, tuple[int, int]] = {}
        for path in sorted(out.rglob("part-*")):
            for line in map(json.loads, path.read_text().splitlines()):
                if line["op"] == "d":
                    counts.pop(line["before"]["p"], None)
                else:
                    counts[line["after"]["p"]] = line["after"]["n"], line["after"]["s"]
        return counts

    assert run() == {"x": (3, 6)}
    lake.delete(3)
    lake.update(1, "y")
    assert run() == {"x": (1, 2), "y": (1, 1)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("'connector' = 'delta', 'table-path' = '/l', 'readChangeFeed' = 'true'", "no place where 'mode' is 'batch'"),
        (
            "'connector' = 'delta', 'table-path' = '/l', 'mode' = 'streaming', 'readChangeFeed' = 'true', "
            "'ignoreDeletes' = 'true'",
            "'readChangeFeed' has all changes",
        ),
        ("'connector' = 'iceberg', 'catalog-name' = 'c', 'read-changes' = 'true'", "only a stream reads changes"),
        ("'connector' = 'delta', 'table-path' = '/l', 'startingVersion' = '1'", "no place where 'mode' is 'batch'"),
        (
            "'connector' = 'delta', 'table-path' = '/l', 'mode' = 'streaming', 'versionAsOf' = '1'",
            "no place where 'mode' is 'streaming'",
        ),
        ("'connector' = 'delta', 'table-path' = '/l', 'mode' = 'streaming', 'startingVersion' = 'new'", "or latest"),
        (
            "'connector' = 'delta', 'table-path' = '/l', 'mode' = 'streaming', 'startingVersion' = '1', "
            "'startingTimestamp' = '2024-01-01'",
            "either 'startingVersion' or 'startingTimestamp' begins",
        ),
        *(
            (
                f"'connector' = 'iceberg', 'catalog-name' = 'c', 'streaming' = 'true', '{key}' = '1'",
                "a stream has no end",
            )
            for key in ("snapshot-id", "as-of-timestamp", "tag", "end-snapshot-id", "end-tag")
        ),
        (
            "'connector' = 'iceberg', 'catalog-name' = 'c', 'streaming' = 'true', "
            "'starting-strategy' = 'INCREMENTAL_FROM_SNAPSHOT_ID'",
            "needs 'start-snapshot-id'",
        ),
        (
            "'connector' = 'iceberg', 'catalog-name' = 'c', 'streaming' = 'true', 'start-snapshot-timestamp' = '1', "
            "'starting-strategy' = 'INCREMENTAL_FROM_SNAPSHOT_ID', 'start-snapshot-id' = '1'",
            "it has no place with",
        ),
        (
            "'connector' = 'iceberg', 'catalog-name' = 'c', 'start-snapshot-id' = '1', 'start-tag' = 'x'",
            "names the snapshot already",
        ),
    ],
)
def test_options_that_contradict_each_other(options: str, words: str) -> None:
    with pytest.raises(FlinkplanError) as caught:
        compile_script(script(options))
    assert words in f"{caught.value} {caught.value.hint}"
