"""Jobs into tables of a lake, and over such tables, that are killed again and again: each row and key is there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog import load_catalog

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import TABLES
from tests.compat.watched import ROWS, expected, feed
from tests.killing import Kills, Place, Work, left

from .paimon_reader import paimon_rows
from .readers import delta_table, iceberg_table

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("commits are tested batch by batch; each kill starts a JVM"),
]


def delta(folder: Path, name: str) -> Any:
    return delta_table(folder / name)


def iceberg(folder: Path, name: str) -> Any:
    return iceberg_table(folder.with_name(f"{folder.name}.db"), folder / "lake", f"default.{name}")


def paimon(folder: Path, name: str) -> Any:
    return pa.Table.from_pylist(paimon_rows(folder / name, apart=True))


OPTIONS: dict[Callable[[Path, str], Any], str] = {
    delta: "'connector' = 'delta', 'table-path' = '${DIR}/NAME'",
    iceberg: "'connector' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = '${CATALOG}', 'warehouse' = 'file://${DIR}/lake'",
    paimon: "'connector' = 'paimon', 'path' = '${DIR}/NAME'",
}


def with_library(name: str) -> None:
    """Skip a test of Paimon tables where pypaimon is not installed: see ``test_paimon_environment.py``."""
    if "paimon" in name:
        pytest.importorskip("pypaimon", reason="pypaimon takes no PyArrow from 20 on")


@pytest.mark.parametrize("read", OPTIONS)
def test_tables_hold_each_row_once(read: Callable[[Path, str], Any], tmp_path: Path) -> None:
    with_library(read.__name__)
    folder = tmp_path / "killed"
    script = (
        TABLES.replace("'format' = 'json')", "'format' = 'json', 'source.monitor-interval' = '100 ms')")
        + "CREATE TABLE copied (id BIGINT, product STRING, amount INT) PARTITIONED BY (product) "
        f"WITH ({OPTIONS[read].replace('NAME', 'copied')});"
        "CREATE TABLE summed (product STRING PRIMARY KEY NOT ENFORCED, n BIGINT, amount INT) "
        f"WITH ({OPTIONS[read].replace('NAME', 'summed')});"
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copied SELECT id, product, amount FROM orders; "
        "INSERT INTO summed SELECT product, COUNT(*), SUM(amount) FROM orders GROUP BY product; END;"
    )
    save(compile_script(script), tmp_path / "plan.json")
    variables = {"DIR": str(folder)} | ({"CATALOG": f"jdbc:sqlite:{folder}.db"} if read is iceberg else {})
    work = Work(tmp_path / "plan.json", folder, variables)
    feeds = Kills(*Place).inflict(work, lambda number: feed(folder, number), ["copied", "summed"])
    rows = read(folder, "copied").select(["id", "product", "amount"]).to_pylist()
    copied = expected(feeds)["copied"]
    assert Counter(tuple(row.values()) for row in rows) == copied
    sums: dict[str, tuple[int, int]] = {}
    for (_, product, amount), times in copied.items():
        n, total = sums.get(product, (0, 0))
        sums[product] = (n + times, total + amount * times)
    summed = read(folder, "summed").select(["product", "n", "amount"]).to_pylist()
    assert sorted(map(tuple, (row.values() for row in summed))) == sorted((p, *values) for p, values in sums.items())


def more_delta(folder: Path, number: int) -> None:
    """Add rows to a Delta table, in two versions."""
    for half in range(2):
        write_deltalake(str(folder / "grown"), _rows(number, half), mode="append", partition_by=["half"])


def more_iceberg(folder: Path, number: int) -> None:
    """Add rows to an Iceberg table, in two snapshots."""
    uri = f"sqlite:///{folder}.db"
    catalog = load_catalog("default", type="sql", uri=uri, warehouse=f"file://{folder / 'lake'}")
    catalog.create_namespace_if_not_exists("default")
    table = catalog.create_table_if_not_exists("default.grown", _rows(number, 0).schema)
    for half in range(2):
        table.append(_rows(number, half))


def more_paimon(folder: Path, number: int) -> None:
    """Add rows to a Paimon table, in two snapshots."""
    from pypaimon.catalog.catalog_factory import CatalogFactory
    from pypaimon.schema.schema import Schema

    catalog = CatalogFactory.create({"warehouse": str(folder / "warehouse")})
    catalog.create_database("shop", ignore_if_exists=True)
    schema = Schema.from_pyarrow_schema(_rows(number, 0).schema)
    catalog.create_table("shop.grown", schema, ignore_if_exists=True)
    for half in range(2):
        builder = catalog.get_table("shop.grown").new_batch_write_builder()
        write = builder.new_write()
        write.write_arrow(_rows(number, half))
        builder.new_commit().commit(write.prepare_commit())


def _rows(number: int, half: int) -> pa.Table:
    return pa.table({"id": [number * ROWS + i for i in range(ROWS)], "half": [half] * ROWS})


GROWING: dict[Callable[[Path, int], None], str] = {
    more_delta: f"{OPTIONS[delta]}, 'mode' = 'streaming', 'updateCheckIntervalMillis' = '50'",
    more_iceberg: f"{OPTIONS[iceberg]}, 'streaming' = 'true', 'monitor-interval' = '50 ms'",
    more_paimon: f"{OPTIONS[paimon]}, 'continuous.discovery-interval' = '50 ms'".replace(
        "NAME", "warehouse/shop.db/grown"
    ),
}


@pytest.mark.parametrize("more", GROWING)
def test_rows_of_growing_tables_come_once(more: Callable[[Path, int], None], tmp_path: Path) -> None:
    with_library(more.__name__)
    folder = tmp_path / "killed"
    folder.mkdir()
    script = (
        f"CREATE TABLE grown (id BIGINT, half BIGINT) WITH ({GROWING[more].replace('NAME', 'grown')});"
        "CREATE TABLE read (id BIGINT, half BIGINT) WITH "
        "('connector' = 'filesystem', 'path' = '${DIR}/read', 'format' = 'debezium-json');"
        "INSERT INTO read SELECT * FROM grown;"
    )
    save(compile_script(script), tmp_path / "plan.json")
    variables = {"DIR": str(folder)} | ({"CATALOG": f"jdbc:sqlite:{folder}.db"} if more is more_iceberg else {})
    work = Work(tmp_path / "plan.json", folder, variables)
    more(folder, 0)  # a table that is read is there
    feeds = Kills(*Place).inflict(work, lambda number: more(folder, number + 1), ["read"])
    assert left(folder / "read") == Counter((i, half) for i in range((feeds + 1) * ROWS) for half in range(2))
