"""Operators are found in the text that they come from."""

from __future__ import annotations

import pytest

from flinkplan.plan.nodes import (
    DropUpdateBefore,
    Exchange,
    Match,
    MiniBatchAssigner,
    OpaqueNode,
    TableSourceScan,
    node_classes,
)
from flinkplan.planner import compile_script
from flinkplan.planner.clauses import CLAUSES, places
from flinkplan.planner.script import parse_pipeline

TABLES = """\
CREATE TABLE a (k INT, v INT, ts TIMESTAMP(3), l ARRAY<INT>, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');
CREATE TABLE b (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE c (k INT, v INT) WITH ('connector' = 'datagen');
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'blackhole');
"""


def texts_of_operators(script: str, file: str | None = None) -> list[tuple[str, list[str]]]:
    """The operators by the names that their descriptions begin with, each with the texts of its places."""
    plan = compile_script(script, file=file)
    at = places(plan, parse_pipeline(script, file))
    return [((n.description or "").partition("(")[0], [span.text for span in at[n.id]]) for n in plan.nodes]


def test_all_operators_are_written_somehow_or_serve_others() -> None:
    classes = [each for each in node_classes() if not each.metadata.is_batch]
    known = {Match, *(each for each in classes if not issubclass(each, OpaqueNode))}
    assert known - {Exchange, DropUpdateBefore, MiniBatchAssigner} == set(CLAUSES)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(
            "SELECT a.k, b.v FROM a JOIN b ON a.k = b.k WHERE b.v > 1",
            [
                ("Join", ["JOIN b ON a.k = b.k"]),
                ("Exchange", ["JOIN b ON a.k = b.k"]),
                ("TableSourceScan", ["a", "a"]),
                ("TableSourceScan", ["b", "b"]),
                ("WatermarkAssigner", ["WATERMARK FOR ts AS ts"]),
                ("Sink", ["o"]),
            ],
            id="join",
        ),
        pytest.param(
            "SELECT n, COUNT(*) FROM (SELECT k, CAST(COUNT(*) AS INT) AS n FROM b GROUP BY k) GROUP BY n",
            [("GroupAggregate", ["GROUP BY k"]), ("GroupAggregate", ["GROUP BY n"])],
            id="groupings in their order",
        ),
        pytest.param(
            "WITH b AS (SELECT * FROM c WHERE v > 1) SELECT k, COUNT(*) FROM b GROUP BY k",
            [("TableSourceScan", ["c", "c"]), ("GroupAggregate", ["GROUP BY k"])],
            id="a name that hides another",
        ),
        pytest.param(
            "SELECT k, v FROM b WHERE k IN (SELECT k FROM c) AND v > 2",
            [("Join", ["k IN (SELECT k FROM c)"]), ("Calc", ["k", "v", "k IN (SELECT k FROM c) AND v > 2"])],
            id="a subquery",
        ),
        pytest.param(
            "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS r FROM b) WHERE r < 3",
            [("Rank", ["ROW_NUMBER() OVER (PARTITION BY k ORDER BY v)"])],
            id="a rank",
        ),
        pytest.param(
            "SELECT x, COUNT(*) FROM a CROSS JOIN UNNEST(l) AS t (x) GROUP BY x",
            [("Correlate", ["CROSS JOIN UNNEST(l) AS t (x)"]), ("GroupAggregate", ["GROUP BY x"])],
            id="a table function",
        ),
        pytest.param(
            "SELECT k, v FROM b UNION ALL SELECT k, v FROM c",
            [("Union", ["SELECT k, v FROM b UNION ALL SELECT k, v FROM c"])],
            id="a union",
        ),
        pytest.param(
            "SELECT k, COUNT(*) FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
            "GROUP BY window_start, window_end, k",
            [("GlobalWindowAggregate", ["GROUP BY window_start, window_end, k"])],
            id="windows",
        ),
        pytest.param("SELECT k, v FROM b ORDER BY v DESC LIMIT 3", [("SortLimit", ["v DESC", "3"])], id="an order"),
        pytest.param("VALUES (1, 2)", [("Values", ["VALUES (1, 2)"])], id="values"),
    ],
)
def test_operators_come_from_the_clauses_over_their_tables(query: str, expected: list[tuple[str, list[str]]]) -> None:
    operators = texts_of_operators(f"{TABLES}INSERT INTO o {query};")
    assert [each for each in expected if each not in operators] == []


def test_tables_of_one_name_are_told_apart_by_their_database() -> None:
    script = """
CREATE TABLE t (k INT) WITH ('connector' = 'datagen');
CREATE DATABASE d2;
USE d2;
CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen');
CREATE VIEW w AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;
USE default_database;
CREATE TABLE o (k INT, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO o SELECT t.k, n FROM t JOIN d2.w ON t.k = w.k;
"""
    operators = texts_of_operators(script)
    assert [texts for name, texts in operators if name == "TableSourceScan"] == [["t", "t"], ["t", "t"]]
    plan = compile_script(script)
    spans = places(plan, parse_pipeline(script, None))
    lines = [sorted(span.line for span in spans[n.id]) for n in plan.nodes if isinstance(n, TableSourceScan)]
    assert lines == [[2, 9], [5, 6]]


def test_each_sink_has_its_own_clauses() -> None:
    inserts = "INSERT INTO o SELECT k, COUNT(*) FROM b GROUP BY k; INSERT INTO p SELECT v, COUNT(*) FROM b GROUP BY v;"
    operators = texts_of_operators(f"{TABLES}EXECUTE STATEMENT SET BEGIN {inserts} END;")
    assert [texts for name, texts in operators if name == "GroupAggregate"] == [["GROUP BY k"], ["GROUP BY v"]]
    assert [texts for name, texts in operators if name == "Sink"] == [["o"], ["p"]]


def test_a_join_that_was_moved_is_found_by_the_smallest_one_around() -> None:
    script = f"{TABLES}INSERT INTO o SELECT a.k, c.v FROM a, b, c WHERE a.k = c.k AND c.v = b.v;"
    joins = [
        texts
        for name, texts in texts_of_operators(f"SET 'table.optimizer.join-reorder-enabled' = 'true'; {script}")
        if name == "Join"
    ]
    assert len(joins) == 2
    assert all(texts for texts in joins)


def test_sql_in_a_spec() -> None:
    spec = """\
version: 1
tables:
  b: {columns: {k: INT, v: INT}, with: {connector: datagen}}
  o: {columns: {k: INT, n: BIGINT}, with: {connector: blackhole}}
inserts:
  - {into: o, query: "SELECT k, COUNT(*) FROM b GROUP BY k"}
"""
    assert ("GroupAggregate", ["GROUP BY k"]) in texts_of_operators(spec, "p.yaml")
