"""A job into a table of Delta Lake that is killed again and again: the table holds each row once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

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


def test_a_delta_table_holds_each_row_once(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    script = (
        TABLES.replace("'format' = 'json')", "'format' = 'json', 'source.monitor-interval' = '100 ms')")
        + "CREATE TABLE copied (id BIGINT, product STRING, amount INT) PARTITIONED BY (product) WITH ("
        "'connector' = 'delta', 'table-path' = '${DIR}/lake');"
        "INSERT INTO copied SELECT id, product, amount FROM orders;"
    )
    save(compile_script(script), tmp_path / "plan.json")
    work = Work(tmp_path / "plan.json", folder, {"DIR": str(folder)})
    feeds = Kills(*Place).inflict(work, lambda number: feed(folder, number), ["copied"])
    table = DeltaTable(str(folder / "lake")).to_pyarrow_table().select(["id", "product", "amount"])
    assert Counter(tuple(row.values()) for row in table.to_pylist()) == expected(feeds)["copied"]
