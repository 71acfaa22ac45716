"""A job into a table of a lake that is killed again and again: the table holds each row once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

from flinkplan.plan.document import save
from flinkplan.planner import compile_script
from tests.compat.pipelines import TABLES
from tests.compat.watched import expected, feed
from tests.killing import Kills, Place, Work

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("processes"),
    pytest.mark.nightly("commits are tested batch by batch; each kill starts a JVM"),
]


def delta(folder: Path) -> Any:
    return DeltaTable(str(folder / "lake")).to_pyarrow_table()


def iceberg(folder: Path) -> Any:
    catalog = load_catalog("default", type="sql", uri=f"sqlite:///{folder}.db", warehouse=f"file://{folder / 'lake'}")
    return catalog.load_table("default.copied").scan().to_arrow()


OPTIONS: dict[Callable[[Path], Any], str] = {
    delta: "'connector' = 'delta', 'table-path' = '${DIR}/lake'",
    iceberg: "'connector' = 'iceberg', 'catalog-type' = 'jdbc', 'uri' = '${CATALOG}', 'warehouse' = 'file://${DIR}/lake'",
}


@pytest.mark.parametrize("read", OPTIONS)
def test_a_table_holds_each_row_once(read: Callable[[Path], Any], tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    script = (
        TABLES.replace("'format' = 'json')", "'format' = 'json', 'source.monitor-interval' = '100 ms')")
        + "CREATE TABLE copied (id BIGINT, product STRING, amount INT) PARTITIONED BY (product) "
        f"WITH ({OPTIONS[read]});"
        "INSERT INTO copied SELECT id, product, amount FROM orders;"
    )
    save(compile_script(script), tmp_path / "plan.json")
    variables = {"DIR": str(folder)} | ({"CATALOG": f"jdbc:sqlite:{folder}.db"} if read is iceberg else {})
    work = Work(tmp_path / "plan.json", folder, variables)
    feeds = Kills(*Place).inflict(work, lambda number: feed(folder, number), ["copied"])
    rows = read(folder).select(["id", "product", "amount"]).to_pylist()
    assert Counter(tuple(row.values()) for row in rows) == expected(feeds)["copied"]
