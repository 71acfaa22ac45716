"""Whose rows are looked at in their order."""

from __future__ import annotations

import pytest

from flinkplan.executor.prepare.job_plan import queries_of
from flinkplan.executor.prepare.known.row_order import read_in_order
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.nodes import GroupAggregate, Join, Rank
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script

from .building import query_of

TABLES = """\
SET 'table.exec.sink.require-on-conflict' = 'false';
CREATE TABLE a (id INT, x INT) WITH ('connector' = 'filesystem', 'path' = 'a', 'format' = 'json');
CREATE TABLE b (id INT, y INT) WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json');
CREATE TABLE o (id INT, n INT) WITH ('connector' = 'filesystem', 'path' = 'o', 'format' = 'debezium-json');
CREATE TABLE k (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'jdbc', 'url' = 'jdbc:derby:memory:a', 'table-name' = 'k');
"""
GREATEST = "SELECT id, MAX(x) AS m FROM a GROUP BY id"
FIRST = "SELECT id, n FROM (SELECT id, n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM ({})) WHERE r < 3"
GROUP = "stream-exec-group-aggregate"
SCAN = "stream-exec-table-source-scan"


@pytest.mark.parametrize(
    ("statement", "looked_at", "numbered"),
    [
        (f"INSERT INTO o {GREATEST}", set(), set()),
        (f"INSERT INTO k {GREATEST}", set(), set()),
        ("INSERT INTO k SELECT * FROM a", {SCAN}, {SCAN}),
        ("INSERT INTO k SELECT x, id FROM a GROUP BY id, x", {GROUP}, {GROUP, SCAN}),
        (f"INSERT INTO o {FIRST.format(GREATEST.replace('m FROM', 'n FROM'))}", {GROUP}, {GROUP, SCAN}),
        (f"INSERT INTO o {GREATEST} LIMIT 2", {GROUP}, {GROUP, SCAN}),
        (f"INSERT INTO o SELECT m, FIRST_VALUE(id) FROM ({GREATEST}) GROUP BY m", {GROUP}, {GROUP, SCAN}),
        (f"INSERT INTO o SELECT m, MAX(id) FROM ({GREATEST}) GROUP BY m", set(), set()),
        (f"INSERT INTO o SELECT g.id, y FROM ({GREATEST}) AS g JOIN b ON g.id = b.id", set(), set()),
        (
            f"INSERT INTO o {FIRST.format(f'SELECT g.id, y AS n FROM ({GREATEST}) AS g JOIN b ON g.id = b.id')}",
            {GROUP, SCAN},
            {GROUP, SCAN},
        ),
    ],
)
def test_order_is_looked_at(statement: str, looked_at: set[str], numbered: set[str]) -> None:
    plan = compile_script(f"{TABLES}{statement};")
    kinds = query_of(plan).kinds
    for numbers, expected in ((False, looked_at), (True, numbered)):
        found = read_in_order(plan, kinds, folds=True, numbers=numbers)
        types = {plan.by_id[id].type.rpartition("_")[0] for id in found}
        assert types & {GROUP, SCAN} == expected


def test_a_journal_keeps_the_order() -> None:
    plan = compile_script(f"{TABLES}INSERT INTO o SELECT * FROM a;")
    kinds = query_of(plan).kinds
    assert not read_in_order(plan, kinds, folds=True, numbers=False)
    assert read_in_order(plan, kinds, folds=False, numbers=False) == {plan.nodes[0].id}


def test_streams_that_are_shared_have_the_order_that_any_sink_looks_at() -> None:
    joined = "SELECT a.x AS id, y AS n FROM a JOIN b ON a.id = b.id"
    greatest = GREATEST.replace("m FROM", "n FROM")
    whole = compile_script(f"""{TABLES}
        EXECUTE STATEMENT SET BEGIN
          INSERT INTO o {joined};
          INSERT INTO o {FIRST.format(joined)};
          INSERT INTO o {greatest};
          INSERT INTO o {FIRST.format(greatest)};
        END;
    """)
    for part in queries_of(whole).values():
        alone = query_of(part, Mode.BOUNDED, is_batch=True)
        shared = replace(alone, whole=whole)
        looks = any(isinstance(node, Rank) for node in part.nodes)
        for node in part.nodes:
            if isinstance(node, Join):
                assert (alone.joins.needs_tie(node), shared.joins.needs_tie(node)) == (looks, True)
            if isinstance(node, GroupAggregate):
                assert (node.id in alone.numbered, node.id in shared.numbered) == (looks, True)
