"""Updates of columns that are not deterministic, with the strategy TRY_RESOLVE."""

from __future__ import annotations

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import LookupJoin
from flinkplan.planner import compile_script

TABLES = """SET 'table.optimizer.non-deterministic-update.strategy' = 'TRY_RESOLVE';
CREATE TABLE cdc (id INT, a INT, b STRING, p AS PROCTIME(), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '/cdc', 'format' = 'debezium-json');
CREATE TABLE events (id INT, a INT, b STRING) WITH ('connector' = 'datagen');
CREATE TABLE dim (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:derby:memory:x', 'table-name' = 'dim');
CREATE TABLE by_key (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'print');
CREATE TABLE rows_of (id INT, v STRING) WITH ('connector' = 'print');
"""


def compiled(statement: str) -> Plan:
    return compile_script(TABLES + statement)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO rows_of SELECT id, UUID() FROM cdc", "the column 'EXPR$1' (by UUID) is not deterministic"),
        ("INSERT INTO rows_of SELECT id, b FROM cdc WHERE a > RAND_INTEGER(9)", "calls RAND_INTEGER"),
        (
            "INSERT INTO by_key SELECT a, MAX(u) FROM (SELECT a, UUID() AS u FROM cdc) GROUP BY a",
            "the column 'u' (by UUID)",
        ),
        (
            "INSERT INTO rows_of SELECT e.id, c.b FROM events e LEFT JOIN cdc c ON c.id = e.id AND RAND_INTEGER(9) > 3",
            "calls RAND_INTEGER",
        ),
        ("INSERT INTO rows_of SELECT id, UUID() FROM (SELECT id, COUNT(*) AS n FROM events GROUP BY id)", "by UUID"),
    ],
)
def test_what_cannot_be_taken_back_is_refused(statement: str, words: str) -> None:
    with pytest.raises(FlinkplanError) as caught:
        compiled(statement)
    assert words in caught.value.errors[0].message
    assert "<input>:9:" in str(caught.value)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO by_key SELECT id, UUID() FROM cdc",
        "INSERT INTO rows_of SELECT id, UUID() FROM events WHERE a > RAND_INTEGER(9)",
        "INSERT INTO rows_of SELECT id, b FROM (SELECT id, b, UUID() AS u FROM cdc)",
        "INSERT INTO rows_of SELECT e.id, c.b FROM events e JOIN (SELECT id, b, RAND() AS r FROM cdc) c ON e.id = c.id",
    ],
)
def test_what_is_identified_by_deterministic_columns_compiles(statement: str) -> None:
    assert compiled(statement).nodes


@pytest.mark.parametrize(("sink", "keeps"), [("rows_of", True), ("by_key", False)])
def test_lookups_are_kept_where_a_row_is_taken_back_by_them(sink: str, keeps: bool) -> None:
    lookup = f"INSERT INTO {sink} SELECT c.id, d.v FROM cdc c JOIN dim FOR SYSTEM_TIME AS OF c.p AS d ON c.a = d.k"
    (node,) = (node for node in compiled(lookup).nodes if isinstance(node, LookupJoin))
    assert node.require_upsert_materialize is keeps
    assert ("upsertMaterialize=[true]" in node.description) is keeps
    assert bool(node.state) is keeps
