"""Jobs into tables of a lake, and over such tables, that are killed again and again: each row and key is there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import TABLES
from tests.compat.watched import ROWS, expected, feed
from tests.killing import Kills, Place, Work, left
from tests.object_store import BUCKET, s3

from .paimon_reader import paimon_rows
from .readers import delta_table, iceberg_catalog, iceberg_table

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("commits are tested batch by batch; each kill starts a JVM"),
]


class Lake:
    """Where tables are, which is local or in an object store; a catalog of theirs is local."""

    def __init__(self, place: str, database: Path) -> None:
        self.place, self.database = place, database

    @property
    def variables(self) -> dict[str, str]:
        """What the options of tables use."""
        uri = self.place if "://" in self.place else f"file://{self.place}"
        return {"LAKE": self.place, "WAREHOUSE": uri, "CATALOG": f"jdbc:sqlite:{self.database}"}


@pytest.fixture
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    """A lake at the place that the test asks for."""
    database = tmp_path / "catalog.db"
    if request.param == "local":
        yield Lake(str(tmp_path / "lake"), database)
        return
    with s3() as settings:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield Lake(f"{BUCKET}/tables", database)


def delta(lake: Lake, name: str) -> Any:
    return delta_table(f"{lake.place}/{name}")


def iceberg(lake: Lake, name: str) -> Any:
    return iceberg_table(lake.database, lake.place, f"default.{name}")


def paimon(lake: Lake, name: str) -> Any:
    return pa.Table.from_pylist(paimon_rows(Path(lake.place) / name, apart=True))


OPTIONS: dict[Callable[[Lake, str], Any], str] = {
    delta: "'connector' = 'delta', 'table-path' = '${LAKE}/NAME'",
    iceberg: "'connector' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = '${CATALOG}', 'warehouse' = '${WAREHOUSE}'",
    paimon: "'connector' = 'paimon', 'path' = '${LAKE}/NAME'",
}
PLACES = [(kind, place) for kind in OPTIONS for place in ("local", "s3") if (kind, place) != (paimon, "s3")]


def with_library(name: str) -> None:
    """Skip a test of Paimon tables where pypaimon is not installed: see ``test_paimon_environment.py``."""
    if "paimon" in name:
        pytest.importorskip("pypaimon", reason="pypaimon takes no PyArrow from 20 on")


@pytest.mark.parametrize(("read", "lake"), PLACES, indirect=["lake"])
def test_tables_hold_each_row_once(read: Callable[[Lake, str], Any], lake: Lake, tmp_path: Path) -> None:
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
    work = Work(tmp_path / "plan.json", folder, {"DIR": str(folder), **lake.variables})
    feeds = Kills(*Place).inflict(work, lambda number: feed(folder, number), ["copied", "summed"])
    rows = read(lake, "copied").select(["id", "product", "amount"]).to_pylist()
    copied = expected(feeds)["copied"]
    assert Counter(tuple(row.values()) for row in rows) == copied
    sums: dict[str, tuple[int, int]] = {}
    for (_, product, amount), times in copied.items():
        n, total = sums.get(product, (0, 0))
        sums[product] = (n + times, total + amount * times)
    summed = read(lake, "summed").select(["product", "n", "amount"]).to_pylist()
    assert sorted(map(tuple, (row.values() for row in summed))) == sorted((p, *values) for p, values in sums.items())


def more_delta(lake: Lake, number: int) -> None:
    """Add rows to a Delta table, in two versions."""
    for half in range(2):
        write_deltalake(f"{lake.place}/grown", _rows(number, half), mode="append", partition_by=["half"])


def more_iceberg(lake: Lake, number: int) -> None:
    """Add rows to an Iceberg table, in two snapshots."""
    catalog = iceberg_catalog(lake.database, lake.place)
    catalog.create_namespace_if_not_exists("default")
    table = catalog.create_table_if_not_exists("default.grown", _rows(number, 0).schema)
    for half in range(2):
        table.append(_rows(number, half))


def more_paimon(lake: Lake, number: int) -> None:
    """Add rows to a Paimon table, in two snapshots."""
    from pypaimon.catalog.catalog_factory import CatalogFactory
    from pypaimon.schema.schema import Schema

    catalog = CatalogFactory.create({"warehouse": f"{lake.place}/warehouse"})
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


GROWING: dict[Callable[[Lake, int], None], str] = {
    more_delta: f"{OPTIONS[delta]}, 'mode' = 'streaming', 'updateCheckIntervalMillis' = '50'",
    more_iceberg: f"{OPTIONS[iceberg]}, 'streaming' = 'true', 'monitor-interval' = '50 ms'",
    more_paimon: f"{OPTIONS[paimon]}, 'continuous.discovery-interval' = '50 ms'".replace(
        "NAME", "warehouse/shop.db/grown"
    ),
}


@pytest.mark.parametrize(
    ("more", "lake"),
    [(more, place) for more in GROWING for place in ("local", "s3") if (more, place) != (more_paimon, "s3")],
    indirect=["lake"],
)
def test_rows_of_growing_tables_come_once(more: Callable[[Lake, int], None], lake: Lake, tmp_path: Path) -> None:
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
    work = Work(tmp_path / "plan.json", folder, {"DIR": str(folder), **lake.variables})
    more(lake, 0)  # a table that is read is there
    feeds = Kills(*Place).inflict(work, lambda number: more(lake, number + 1), ["read"])
    assert left(folder / "read") == Counter((i, half) for i in range((feeds + 1) * ROWS) for half in range(2))
