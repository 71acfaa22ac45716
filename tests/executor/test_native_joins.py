"""Which joins of a batch Spark does by itself."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.job_plan import prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.nodes import Join
from flinkplan.planner import compile_script

TABLES = """\
CREATE TABLE a (id INT, x INT{key}) WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = '{source}');
CREATE TABLE b (id INT, y INT) WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json');
CREATE TABLE c (id INT, z INT) WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'json');
CREATE TABLE o (id INT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = '{sink}');
INSERT INTO o {query};
"""
INNER = "SELECT a.id, CAST(y AS BIGINT) FROM a JOIN b ON a.id = b.id"
LEFT = "SELECT a.id, CAST(y AS BIGINT) FROM a LEFT JOIN b ON a.id = b.id"
GROUPED = "SELECT a.id, n FROM a LEFT JOIN (SELECT id, COUNT(*) AS n FROM b GROUP BY id) g ON a.id = g.id"
TWO = "SELECT a.id, CAST(z AS BIGINT) FROM a JOIN b ON a.id = b.id JOIN c ON b.y = c.z"
FIRST = (
    "SELECT id, n FROM (SELECT id, CAST(z AS BIGINT) AS n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY z) AS r "
    f"FROM ({TWO.replace('CAST(z AS BIGINT)', 'z')})) WHERE r = 1"
)


def joins(
    query: str, source: str = "json", sink: str = "debezium-json", key: str = ""
) -> list[tuple[str | None, bool]]:
    """Of each join of a script, in the plan's order: what stands in its way, and whether its rows have an order."""
    plan = compile_script(TABLES.format(query=query, source=source, sink=sink, key=key))
    (prepared,) = prepare(plan, Mode.BOUNDED).queries.values()
    found = prepared.joins
    return [(found.obstacle(node), found.needs_tie(node)) for node in plan.nodes if isinstance(node, Join)]


def obstacles(query: str, source: str = "json", sink: str = "debezium-json", key: str = "") -> list[str | None]:
    """What stands in the way of each join of a script."""
    return [obstacle for obstacle, _ in joins(query, source, sink, key)]


@pytest.mark.parametrize("query", [INNER, LEFT, GROUPED])
def test_rows_that_stay_are_joined_by_spark(query: str) -> None:
    assert obstacles(query) == [None]


def test_rows_that_are_taken_back_are_joined_by_a_kernel() -> None:
    assert obstacles(INNER, source="debezium-json") == ["an input takes rows back"]


@pytest.mark.parametrize(("query", "found"), [(INNER, None), (LEFT, "each change is wanted")])
def test_a_journal_wants_each_change(query: str, found: str | None) -> None:
    assert obstacles(query, sink="canal-json") == [found]


def test_rows_of_one_primary_key_replace_each_other() -> None:
    key = ", PRIMARY KEY (id) NOT ENFORCED"
    assert obstacles(INNER, key=key) == ["a later row of a primary key takes the place of an earlier one"]


def test_the_order_of_rows_is_kept_over_joins_where_it_is_read() -> None:
    assert joins(TWO) == [(None, False), (None, False)]
    assert joins(FIRST) == [(None, True), (None, True)]


@pytest.mark.parametrize(("type_", "ordered"), [("DECIMAL(32, 4)", False), ("DOUBLE", True)])
def test_totals_of_doubles_go_by_the_order_of_rows_those_of_decimals_do_not(type_: str, ordered: bool) -> None:
    rows = TWO.replace("CAST(z AS BIGINT)", f"CAST(z AS {type_}) AS z")
    assert joins(f"SELECT id, CAST(SUM(z) AS BIGINT) FROM ({rows}) GROUP BY id") == [(None, ordered)] * 2
