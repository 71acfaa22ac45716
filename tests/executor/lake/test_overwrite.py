"""INSERT OVERWRITE: a bounded job replaces the rows of a table, or of the partitions that it writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.lake.delta import DeltaLog
from flinkplan.executor.lake.iceberg import IcebergLog
from flinkplan.executor.lake.log import JavaTableLog, TableLog
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

from ..jobs import Place
from .readers import delta_table, iceberg_table

Rows = list[tuple[Any, ...]]


def in_files(folder: Path, format_: str) -> list[Mapping[str, Any]]:
    """The rows of visible files, with the values of their partitions."""
    rows: list[Mapping[str, Any]] = []
    for path in folder.rglob("part-*"):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        values = {name: unquote(value) for name, value in (f.split("=") for f in path.relative_to(folder).parts[:-1])}
        if format_ == "parquet":
            read = pq.ParquetFile(path).read().to_pylist()
        else:
            read = [json.loads(line) for line in path.read_text().splitlines()]
        rows += [{**row, **values} for row in read]
    return rows


def lines(root: Path) -> list[Mapping[str, Any]]:
    return in_files(root / "lake", "json")


def parquet(root: Path) -> list[Mapping[str, Any]]:
    return in_files(root / "lake", "parquet")


def delta(root: Path) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = delta_table(root / "lake").to_pylist()
    return rows


def iceberg(root: Path) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = iceberg_table(root / "c.db", root / "lake", "default.t").to_pylist()
    return rows


def paimon(root: Path) -> list[Mapping[str, Any]]:
    from .paimon_reader import paimon_rows

    return [*paimon_rows(root / "lake")]


TABLES: Mapping[Callable[[Path], Sequence[Mapping[str, Any]]], str] = {
    lines: "'connector' = 'filesystem', 'path' = '{root}/lake', 'format' = 'json'",
    parquet: "'connector' = 'filesystem', 'path' = '{root}/lake', 'format' = 'parquet'",
    delta: "'connector' = 'delta', 'table-path' = '{root}/lake'",
    iceberg: "'connector' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = '${{CATALOG}}', 'warehouse' = 'file://{root}/lake'",
    paimon: "'connector' = 'paimon', 'path' = '{root}/lake'",
}


def some(*kept: Callable[[Path], Sequence[Mapping[str, Any]]]) -> list[Any]:
    """All kinds of tables, of which some are left to the night."""
    mark = pytest.mark.nightly("other tables are written in the same way")
    return [pytest.param(rows, marks=[] if rows in kept else mark) for rows in TABLES]


def run(place: Place, options: str, statement: str, partitions: str = "", checkpoint: str | None = None) -> None:
    plan = compile_script(
        f"CREATE TABLE t (id INT, p STRING) {partitions} WITH ({options});"
        f"CREATE TABLE given (id INT, p STRING) WITH ({TABLES[lines].format(root=place.root).replace('lake', 'in')});"
        f"{statement};"
    )
    variables = {"CATALOG": f"jdbc:sqlite:{place.root}/c.db"}
    options_ = JobOptions(checkpoint=checkpoint, mode=Mode.BOUNDED, variables=variables, spark=place.spark)
    execute(plan, options_).wait()


@pytest.mark.spark
@pytest.mark.parametrize("rows", some(lines, delta))
def test_rows_replace_others(rows: Callable[[Path], Sequence[Mapping[str, Any]]], place: Place) -> None:
    if rows is paimon:
        pytest.importorskip("pypaimon", reason="pypaimon takes no PyArrow from 20 on")
    options = TABLES[rows].format(root=place.root)

    def seen() -> Rows:
        return sorted((row["id"], row["p"]) for row in rows(place.root))

    place.put("1", *({"id": i, "p": "x'y" if i % 2 else "z"} for i in range(4)))
    by_p = "PARTITIONED BY (p)"
    run(place, options, "INSERT OVERWRITE t SELECT * FROM given", by_p)
    run(place, options, "INSERT INTO t SELECT 9, 'v' FROM given WHERE id = 1", by_p)
    assert seen() == [(0, "z"), (1, "x'y"), (2, "z"), (3, "x'y"), (9, "v")]
    # only the partitions of rows are replaced
    run(place, options, "INSERT OVERWRITE t SELECT id + 10, p FROM given WHERE id < 2", by_p)
    assert seen() == [(9, "v"), (10, "z"), (11, "x'y")]
    run(place, options, "INSERT OVERWRITE t PARTITION (p = 'v') SELECT id FROM given", by_p)
    assert seen() == [(0, "v"), (1, "v"), (2, "v"), (3, "v"), (10, "z"), (11, "x'y")]
    # as in Flink, a partition without new rows stays
    run(place, options, "INSERT OVERWRITE t SELECT id, p FROM given WHERE id > 9", by_p)
    run(place, options, "INSERT OVERWRITE t PARTITION (p = 'v') SELECT id FROM given WHERE id > 9", by_p)
    assert len(seen()) == 6


@pytest.mark.spark
@pytest.mark.parametrize("rows", some(parquet, iceberg))
def test_a_table_without_partitions_is_replaced(
    rows: Callable[[Path], Sequence[Mapping[str, Any]]], place: Place
) -> None:
    if rows is paimon:
        pytest.importorskip("pypaimon", reason="pypaimon takes no PyArrow from 20 on")
    options = TABLES[rows].format(root=place.root)
    place.put("1", {"id": 1, "p": "x"}, {"id": 2, "p": None})
    run(place, options, "INSERT INTO t SELECT * FROM given")
    # the table is read while it is replaced; a job that is done does nothing when it is started again
    checkpoint = str(place.root / "checkpoint")
    for _ in range(2):
        run(place, options, "INSERT OVERWRITE t SELECT id + 1, p FROM t", checkpoint=checkpoint)
    assert sorted(row["id"] for row in rows(place.root)) == [2, 3]
    run(place, options, "INSERT OVERWRITE t SELECT * FROM given WHERE id > 9")
    assert list(rows(place.root)) == []


@pytest.mark.parametrize("kind", ["INT", "DATE", "BOOLEAN", "STRING"])
def test_partitions_of_rows_are_replaced_at_once(kind: str, tmp_path: Path) -> None:
    values: dict[str, list[Any]] = {
        "INT": [1, -2, None],
        "DATE": [date(2024, 5, 1), date(1969, 12, 31), None],
        "BOOLEAN": [True, False, None],
        "STRING": ["it's", 'a/b "c"', None],
    }
    arrow, spark = {
        "INT": (pa.int32(), "integer"),
        "DATE": (pa.date32(), "date"),
        "BOOLEAN": (pa.bool_(), "boolean"),
        "STRING": (pa.string(), "string"),
    }[kind]
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in (("id", "integer"), ("p", spark))]
    schema = json.dumps({"type": "struct", "fields": fields})

    def table(options: str) -> Table:
        plan = compile_script(
            f"CREATE TABLE t (id INT, p {kind}) PARTITIONED BY (p) WITH ({options.format(root=tmp_path)});"
            f"CREATE TABLE g (id INT, p {kind}) WITH ('connector' = 'datagen'); INSERT INTO t SELECT * FROM g;"
        )
        (reference,) = (r for _, r in plan_tables(plan) if r.name == "t")
        assert reference.resolved_table is not None
        given = {
            k: v.replace("${CATALOG}", f"jdbc:sqlite:{tmp_path}/c.db") for k, v in (reference.options or {}).items()
        }
        return Table("t", "t", reference.resolved_table, given)

    def rows(*pairs: tuple[int, Any]) -> str:
        columns = {"id": pa.array([i for i, _ in pairs], pa.int32()), "p": pa.array([p for _, p in pairs], arrow)}
        pq.write_table(pa.table(columns), tmp_path / "rows")
        return json.dumps(str(tmp_path / "rows"))

    first, second, absent = values[kind]
    logs: list[tuple[TableLog, Callable[[], pa.Table]]] = [
        (DeltaLog(table(TABLES[delta].replace("lake", "other")), schema), lambda: delta_table(tmp_path / "other")),
        (IcebergLog(table(TABLES[iceberg])), lambda: iceberg_table(tmp_path / "c.db", tmp_path / "lake", "default.t")),
    ]
    for log, read in logs:
        java = JavaTableLog(log)
        for batch, pairs in enumerate(([(1, first), (2, second), (3, absent)], [(4, absent), (5, first)])):
            answer = java.apply("overwrite", f'["query", {batch}, [{rows(*pairs)}], {{}}]')
            assert answer == '{"answer": null}'
            assert java.apply("holds", f'["query", {batch}]') == '{"answer": true}'
        left = sorted((row["id"], row["p"]) for row in read().to_pylist())
        assert left == [(2, second), (4, absent), (5, first)]


@pytest.mark.spark
def test_a_job_that_died_while_it_replaced_files_ends_that_alone(place: Place) -> None:
    options = TABLES[lines].format(root=place.root)
    place.put("1", {"id": 1, "p": "x"})
    run(place, options, "INSERT INTO t SELECT * FROM given")
    (old,) = (place.root / "lake").glob("part-*")
    content = old.read_text()
    checkpoint = place.root / "checkpoint"
    replace = "INSERT OVERWRITE t SELECT id + 1, p FROM t"
    run(place, options, replace, checkpoint=str(checkpoint))
    assert [row["id"] for row in lines(place.root)] == [2]
    # as if the process had died before the old file was removed, and before the job was noted as done
    (record,) = checkpoint.rglob("published")
    noted = json.loads(record.read_text())
    assert noted["replaced"] == [old.name]
    old.write_text(content)
    for path in checkpoint.rglob("done*"):
        path.unlink()
    run(place, options, replace, checkpoint=str(checkpoint))
    assert [row["id"] for row in lines(place.root)] == [2]
    # a list that names other files is not followed
    record.write_text(json.dumps({**noted, "replaced": ["../in"]}))
    for path in checkpoint.rglob("done*"):
        path.unlink()
    with pytest.raises(FlinkplanError, match="names no file of the table"):
        run(place, options, replace, checkpoint=str(checkpoint))
    assert (place.root / "in" / "1").exists()


def test_only_a_batch_overwrites(tmp_path: Path) -> None:
    script = (
        f"CREATE TABLE t (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json');"
        "INSERT OVERWRITE t SELECT id FROM t;"
    )
    for source, mode in ((script, Mode.AVAILABLE_NOW), (script.replace("FROM t;", "FROM g;"), None)):
        made = f"CREATE TABLE g (id INT) WITH ('connector' = 'datagen'); {source}"
        with pytest.raises(FlinkplanError, match=r"a job in the mode '[\w-]+' cannot overwrite a table") as caught:
            execute(compile_script(made), JobOptions(mode=mode))
        assert caught.value.where == "table `default_catalog`.`default_database`.`t`"
    with pytest.raises(FlinkplanError, match=r"only tables of .*paimon can") as raised:
        compile_script(script.replace("'filesystem'", "'print'").replace("SELECT id FROM t", "VALUES (1)"))
    assert "cannot be overwritten" in str(raised.value)
