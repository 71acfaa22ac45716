"""Changes that are written into tables of lakes by their primary keys, and read by other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flinkplan.executor.connectors.tables import Table
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.lake.delta import DeltaLog
from flinkplan.executor.lake.iceberg import IcebergLog
from flinkplan.executor.lake.log import DELETED, JavaTableLog
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

from ..jobs import Place
from .readers import delta_table, iceberg_table

Rows = list[tuple[Any, ...]]


def delta(root: Path) -> str:
    """The options of a Delta table."""
    return f"'connector' = 'delta', 'table-path' = '{root / 'lake'}'"


def iceberg(root: Path) -> str:
    """The options of an Iceberg table."""
    return (
        "'connector' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = '${CATALOG}', "
        f"'warehouse' = 'file://{root / 'lake'}'"
    )


def delta_rows(root: Path) -> Rows:
    """What readers see."""
    return _sorted(delta_table(root / "lake"))


def iceberg_rows(root: Path) -> Rows:
    """What readers see."""
    return _sorted(iceberg_table(root / "c.db", root / "lake", "default.kept"))


def _sorted(table: pa.Table) -> Rows:
    return sorted(tuple(row.values()) for row in table.select(["k", "p", "n"]).to_pylist())


LAKES: list[Any] = [
    pytest.param(delta, delta_rows, DeltaLog, id="delta"),
    pytest.param(iceberg, iceberg_rows, IcebergLog, id="iceberg"),
]
COLUMNS = "k STRING, p INT, n BIGINT, PRIMARY KEY (k, p) NOT ENFORCED"
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": t, "nullable": True, "metadata": {}}
        for name, t in (("k", "string"), ("p", "integer"), ("n", "long"))
    ],
}


def script(root: Path, options: str, query: str, more: str = "PARTITIONED BY (p)") -> str:
    """A query of changes in files into the table ``kept``."""
    changes = f"'connector' = 'filesystem', 'path' = '{root / 'in'}', 'format' = 'debezium-json'"
    return (
        f"CREATE TABLE given (id INT, k STRING, p INT) WITH ({changes});"
        f"CREATE TABLE kept ({COLUMNS}) {more} WITH ({options}); {query}"
    )


GROUPED = "INSERT INTO kept SELECT k, p, COUNT(*) FROM given GROUP BY k, p;"


@pytest.mark.spark
@pytest.mark.parametrize(("options", "rows", "log"), LAKES)
def test_the_last_change_of_each_key_counts(
    options: Callable[[Path], str], rows: Callable[[Path], Rows], log: type[Any], place: Place
) -> None:
    def change(op: str, *values: Any) -> dict[str, Any]:
        row = dict(zip(("id", "k", "p"), values, strict=True))
        return {"op": op, "before": row if op == "d" else None, "after": None if op == "d" else row}

    def run() -> None:
        execute(
            compile_script(script(place.root, options(place.root), GROUPED)),
            JobOptions(
                checkpoint=str(place.root / "checkpoint"),
                mode=Mode.AVAILABLE_NOW,
                variables={"CATALOG": f"jdbc:sqlite:{place.root}/c.db"},
                spark=place.spark,
            ),
        ).wait()

    place.put("1", *(change("c", i, "ab'\""[i % 4], i % 2) for i in range(8)))
    run()
    assert rows(place.root) == [('"', 1, 2), ("'", 0, 2), ("a", 0, 2), ("b", 1, 2)]
    place.put("2", change("d", 0, "a", 0), change("d", 4, "a", 0), change("d", 1, "b", 1), change("c", 9, "c", 1))
    run()
    expected = [('"', 1, 2), ("'", 0, 2), ("b", 1, 1), ("c", 1, 1)]
    assert rows(place.root) == expected
    # Spark has not noted the end of the last batch, so it runs it again
    (last,) = (p for p in (place.root / "checkpoint").rglob("commits/1"))
    for file in (last, last.with_name(f".{last.name}.crc")):
        file.unlink(missing_ok=True)
    run()
    assert rows(place.root) == expected
    assert not [path for path in (place.root / "lake").rglob("*") if "staging" in path.name]


def table(root: Path, text: str) -> Table:
    (reference,) = (r for _, r in plan_tables(compile_script(text)) if r.name == "kept")
    assert reference.resolved_table is not None
    options = {k: v.replace("${CATALOG}", f"jdbc:sqlite:{root}/c.db") for k, v in (reference.options or {}).items()}
    return Table("kept", "kept", reference.resolved_table, options)


@pytest.mark.parametrize(("options", "rows", "log"), LAKES)
def test_a_merge_is_known_by_its_writer_and_batch(
    options: Callable[[Path], str], rows: Callable[[Path], Rows], log: type[Any], tmp_path: Path
) -> None:
    kept = table(tmp_path, script(tmp_path, options(tmp_path), GROUPED))
    java = JavaTableLog(log(kept, json.dumps(SCHEMA)) if log is DeltaLog else log(kept))

    def merge(batch: int, *changes: tuple[str, int, int | None, bool]) -> None:
        columns = zip(*changes, strict=True) if changes else ([], [], [], [])
        types = (pa.string(), pa.int32(), pa.int64(), pa.bool_())
        arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
        pq.write_table(pa.table(arrays, names=["k", "p", "n", DELETED]), tmp_path / "f.parquet")
        given = json.dumps(["query", batch, [str(tmp_path / "f.parquet")]])
        assert java.apply("merge", given) == '{"answer": null}'

    def holds(batch: int) -> bool:
        return bool(json.loads(java.apply("holds", json.dumps(["query", batch])))["answer"])

    merge(0, ("a", 0, 1, False), ("b", 0, 1, False), ("gone", 0, None, True))
    assert (rows(tmp_path), holds(0), holds(1)) == ([("a", 0, 1), ("b", 0, 1)], True, False)
    merge(1, ("a", 0, 2, False), ("a", 1, 3, False), ("b", 0, None, True))
    assert (rows(tmp_path), holds(1)) == ([("a", 0, 2), ("a", 1, 3)], True)
    merge(2)
    assert rows(tmp_path) == [("a", 0, 2), ("a", 1, 3)]
    merge(3, ("a", 0, None, True), ("a", 1, None, True))
    assert (rows(tmp_path), holds(2), holds(4)) == ([], True, False)


def test_changes_of_delta_tables_need_a_key() -> None:
    with pytest.raises(FlinkplanError, match="takes no updates"):
        compile_script(
            "CREATE TABLE given (k STRING) WITH ('connector' = 'datagen');"
            "CREATE TABLE lake (k STRING, n BIGINT) WITH ('connector' = 'delta', 'table-path' = '/lake');"
            "INSERT INTO lake SELECT k, COUNT(*) FROM given GROUP BY k;"
        )
