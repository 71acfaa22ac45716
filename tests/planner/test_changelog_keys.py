"""Which queries a table with a key takes without ON CONFLICT: as real Flink 2.3 says of the same statements."""

from __future__ import annotations

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import DropUpdateBefore, Sink
from flinkplan.planner import compile_script

CHANGES = "'connector' = 'filesystem', 'path' = '/x', 'format' = 'debezium-json'"
TABLES = f"""
CREATE TABLE c (id INT, g INT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ({CHANGES});
CREATE TABLE d (k1 INT, k2 INT, v BIGINT, PRIMARY KEY (k1, k2) NOT ENFORCED) WITH ({CHANGES});
CREATE TABLE a (id INT, g INT, v BIGINT) WITH ('connector' = 'datagen');
"""
CHAIN = "FROM c x {0} JOIN c y ON x.id = y.id {1} JOIN c z ON y.id = z.id"
TOP = """SELECT id, v FROM (SELECT x.id, y.v, ROW_NUMBER() OVER (PARTITION BY y.id ORDER BY y.v DESC) AS rn
  FROM c x {0} JOIN c y ON x.id = y.id) WHERE rn {1}"""


def compiled(query: str, columns: str, key: str) -> Plan:
    sink = f"CREATE TABLE o ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'blackhole');"
    return compile_script(f"{TABLES} {sink} INSERT INTO o {query};")


@pytest.mark.parametrize(
    ("query", "columns", "key"),
    [
        pytest.param(f"SELECT x.id, z.v {CHAIN.format('', '')}", "id INT, v BIGINT", "id", id="inner joins"),
        pytest.param(f"SELECT x.id, z.v {CHAIN.format('', 'LEFT')}", "id INT, v BIGINT", "id", id="a left join last"),
        pytest.param(
            "SELECT x.k1, x.k2, z.v FROM d x JOIN d y ON x.k1 = y.k1 AND x.k2 = y.k2 JOIN c z ON y.k1 = z.id",
            "k1 INT, k2 INT, v BIGINT",
            "k1, k2",
            id="part of a key",
        ),
        pytest.param(
            "SELECT x.g, z.v FROM (SELECT DISTINCT g FROM a) x JOIN c y ON x.g = y.id JOIN c z ON y.id = z.id",
            "g INT, v BIGINT",
            "g",
            id="the key of an aggregation",
        ),
        pytest.param(TOP.format("", "<= 2"), "id INT, v BIGINT", "id", id="top n"),
        pytest.param(
            "SELECT x.id, y.v FROM c x JOIN c y ON x.id = y.id ORDER BY y.id LIMIT 5",
            "id INT, v BIGINT",
            "id",
            id="limit",
        ),
    ],
)
def test_rows_spread_by_what_never_changes_stay_in_order(query: str, columns: str, key: str) -> None:
    (sink,) = (node for node in compiled(query, columns, key).nodes if isinstance(node, Sink))
    assert not sink.require_upsert_materialize


@pytest.mark.parametrize(
    ("query", "columns", "key"),
    [
        pytest.param(f"SELECT x.id, z.v {CHAIN.format('LEFT', '')}", "id INT, v BIGINT", "id", id="NULL at times"),
        pytest.param(
            "SELECT x.id, z.v FROM c x JOIN c y ON x.id = y.id JOIN c z ON y.g = z.id",
            "id INT, v BIGINT",
            "id",
            id="no key",
        ),
        pytest.param(
            "SELECT x.id, z.v FROM c x JOIN c y ON x.id = y.id JOIN a z ON y.id = z.id",
            "id INT, v BIGINT",
            "id",
            id="many",
        ),
        pytest.param(
            "SELECT c.id, d.k2, d.v FROM c JOIN d ON c.id = d.k1",
            "id INT, k2 INT, v BIGINT",
            "id, k2",
            id="an equal column in the place of the key's",
        ),
        pytest.param(TOP.format("LEFT", "<= 2"), "id INT, v BIGINT", "id", id="top n over NULL at times"),
        pytest.param(TOP.format("", "= 1"), "id INT, v BIGINT", "id", id="deduplication by another column"),
    ],
)
def test_others_say_what_becomes_of_conflicts(query: str, columns: str, key: str) -> None:
    with pytest.raises(FlinkplanError, match="is not the key by which the query updates its rows"):
        compiled(query, columns, key)
    compiled(f"{query} ON CONFLICT DO DEDUPLICATE", columns, key)


@pytest.mark.parametrize(("join", "dropped"), [("", True), ("LEFT", False)], ids=["never", "at times"])
def test_columns_of_the_key_that_never_change_spare_the_rows_before_updates(join: str, dropped: bool) -> None:
    query = f"SELECT x.k1, x.k2, y.k1, y.v FROM d x {join} JOIN d y ON x.k1 = y.k1 AND x.k2 = y.k2"
    plan = compiled(query, "k1 INT, k2 INT, k3 INT, v BIGINT", "k1, k2, k3")
    assert any(isinstance(node, DropUpdateBefore) for node in plan.nodes) == dropped
