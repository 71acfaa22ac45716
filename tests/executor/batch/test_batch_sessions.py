"""Statements of a session in batch mode, compiled here: they write what Flink's batch plans of the same SQL write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.checks import check_nodes
from flinkplan.executor.prepare.job_plan import JobSettings, prepare
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.errors import FlinkplanError, UnsupportedError
from flinkplan.plan.settings import RUNTIME_MODE
from flinkplan.planner import compile_script
from flinkplan.planner.session import Session
from flinkplan.planner.sql import ast, parse_script

from . import CASES, put_tables, rows_of, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH = {RUNTIME_MODE: "batch"}
TABLES_HERE = """
CREATE TABLE t (id INT, k STRING, v INT, d DECIMAL(10, 2), x DOUBLE, f FLOAT, ts TIMESTAMP(3), dt DATE, b BOOLEAN,
                l BIGINT) WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json');
CREATE TABLE timed (WATERMARK FOR ts AS ts + INTERVAL '1' HOUR) LIKE t;
CREATE TABLE u (k STRING, w INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/u', 'format' = 'json');
CREATE TABLE e (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/e', 'format' = 'json');
"""
MORE: dict[str, dict[str, Any]] = {
    "nothing_left": {
        "sql": "SELECT SUM(n) AS s, COUNT(*) AS c, MAX(k) AS m FROM "
        "(SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING COUNT(*) > 99)",
        "rows": [[None, 0, None]],
    },
    "first": {
        "sql": "SELECT id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS r FROM t "
        "WHERE id < 4) WHERE r = 1",
        "rows": [[3], [2]],
    },
    "late": {
        "sql": "SELECT window_start, window_end, k, SUM(v) AS s FROM "
        "TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k",
        "rows": CASES["w1"]["rows"],
    },
    "sorted": {
        "sql": "SELECT k, COUNT(*) AS c FROM t GROUP BY k ORDER BY c, k",
        "rows": [[None, 2], ["b", 2], ["c", 2], ["a", 3]],
        "ordered": True,
    },
    "group_windows": {
        "sql": "SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, TUMBLE_END(ts, INTERVAL '10' SECOND) AS e, "
        "SUM(v) AS n FROM t GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)",
        "rows": [
            ["a", "2024-01-01 00:00:00", "2024-01-01 00:00:10", 30],
            ["b", "2024-01-01 00:00:10", "2024-01-01 00:00:20", 40],
            [None, "2024-01-01 00:00:20", "2024-01-01 00:00:30", 50],
            ["a", "2024-01-01 00:00:20", "2024-01-01 00:00:30", 20],
            [None, "2024-01-01 00:00:40", "2024-01-01 00:00:50", None],
            ["c", "2024-01-01 00:00:50", "2024-01-01 00:01:00", 9],
        ],
    },
    "hops_of_groups": {
        "sql": "SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS s, COUNT(*) AS n, MAX(m) AS m FROM "
        "(SELECT ts, k, MAX(v) AS m FROM t WHERE id < 4 GROUP BY ts, k) "
        "GROUP BY HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
        "rows": [
            ["2023-12-31 23:59:55", 1, 10],
            ["2024-01-01 00:00:00", 2, 20],
            ["2024-01-01 00:00:05", 2, 20],
            ["2024-01-01 00:00:10", 1, None],
        ],
    },
    "windows_of_windows": {
        "sql": "SELECT TUMBLE_END(r, INTERVAL '20' SECOND) AS e, SUM(n) AS n FROM (SELECT TUMBLE_ROWTIME(ts, "
        "INTERVAL '10' SECOND) AS r, COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)) "
        "GROUP BY TUMBLE(r, INTERVAL '20' SECOND)",
        "rows": [["2024-01-01 00:00:20", 4], ["2024-01-01 00:00:40", 2], ["2024-01-01 00:01:00", 2]],
    },
    "windows_of_starts": {
        "sql": "SELECT TUMBLE_END(r, INTERVAL '20' SECOND) AS e, SUM(n) AS n FROM (SELECT CAST(TUMBLE_START(ts, "
        "INTERVAL '10' SECOND) AS TIMESTAMP(3)) AS r, COUNT(*) AS n FROM t GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)) "
        "GROUP BY TUMBLE(r, INTERVAL '20' SECOND)",
        "rows": [["2024-01-01 00:00:20", 4], ["2024-01-01 00:00:40", 2], ["2024-01-01 00:01:00", 2]],
    },
    "approximate_groups": {
        "sql": "SELECT b, APPROX_COUNT_DISTINCT(k) AS n, COUNT(*) AS c FROM t GROUP BY b",
        "rows": [[True, 3, 4], [False, 2, 3], [None, 1, 2]],
    },
    "patterns_of_two_orders": {
        "sql": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES A.id AS a, B.id AS b, "
        "A.ts AS t "
        "ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS B.v >= A.v)",
        "rows": [
            ["a", 1, 2, "2024-01-01 00:00:01"],
            ["a", 2, 6, "2024-01-01 00:00:05"],
            ["c", 7, 9, None],
        ],
    },
    "times_of_patterns": {
        "sql": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS a, B.id AS b, MATCH_ROWTIME() AS r "
        "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.v > A.v)",
        "rows": [[7, 1, "2024-01-01 00:00:01"], [4, 5, "2024-01-01 00:00:21"]],
    },
    "windows_by_microsecond": {
        "sql": "SELECT TUMBLE_START(CAST(ts AS TIMESTAMP(6)), INTERVAL '1' MINUTE) AS s, COUNT(*) AS n FROM timed "
        "GROUP BY TUMBLE(CAST(ts AS TIMESTAMP(6)), INTERVAL '1' MINUTE)",
        "rows": [["2024-01-01 00:00:00", 8]],
    },
}
"""Queries beside those that Flink compiled as batch plans."""


QUERIES = {**CASES, **MORE}


def _session(folder: Path) -> Session:
    session = Session(BATCH)
    for statement in parse_script(TABLES_HERE.replace("{folder}", str(folder))).statements:
        session.apply(statement)
    return session


def _insert(session: Session, folder: Path, name: str) -> ast.Insert:
    """The table of a query's rows, and the INSERT that fills it."""
    options = f"'connector' = 'filesystem', 'path' = '{folder}/out/{name}', 'format' = 'json'"
    (statement,) = parse_script(f"CREATE TABLE {name} WITH ({options}) AS {QUERIES[name]['sql']}").statements
    assert isinstance(statement, ast.CreateTable)
    return session.create_table_as(statement)


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Any]]]:
    """The values of the rows that one job writes, by the names of the queries."""
    folder = tmp_path_factory.mktemp("session")
    put_tables(folder)
    session = _session(folder)
    inserts = tuple(_insert(session, folder, name) for name in QUERIES)
    plan = session.compile(ast.StatementSet(inserts, span=inserts[0].span), complete=True)
    execute(plan, JobOptions(spark=spark, options=BATCH)).wait()
    return {name: values(rows_of(folder / "out" / name)) for name in QUERIES}


@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_it_writes_the_final_rows(name: str, written: dict[str, list[list[Any]]]) -> None:
    case = QUERIES[name]
    rows, expected = written[name], values(case["rows"])
    if not case.get("ordered"):
        rows, expected = sorted(rows, key=json.dumps), sorted(expected, key=json.dumps)
    assert rows == expected, case["sql"]


_PATTERN = "MEASURES A.id AS a PATTERN (A B) DEFINE B AS B.v > A.v)"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            "SELECT TUMBLE_PROCTIME(ts, INTERVAL '1' HOUR) AS p FROM t GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)",
            "PROCTIME",
        ),
        ("SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(PROCTIME(), INTERVAL '1' HOUR)", "no processing time"),
        ("SELECT COUNT(*) AS n FROM t GROUP BY TUMBLE(dt, INTERVAL '1' HOUR)", "takes a timestamp, not DATE"),
        (f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id {_PATTERN}", "ordered by a time"),
        (f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts DESC {_PATTERN}", "from early to late"),
    ],
)
def test_what_goes_by_no_time_is_refused_as_in_flink(query: str, words: str, tmp_path: Path) -> None:
    (statement,) = parse_script(query).statements
    assert isinstance(statement, ast.QueryStatement)
    with pytest.raises(FlinkplanError, match=words):
        check_nodes(_session(tmp_path).compile_query(statement.query))


def test_input_must_end(tmp_path: Path) -> None:
    session = _session(tmp_path)
    plan = session.compile(_insert(session, tmp_path, "a1"), complete=True)
    assert prepare(plan, Mode.BOUNDED, JobSettings(options=BATCH, streams=True)).is_batch
    with pytest.raises(UnsupportedError, match="reads its input to the end"):
        prepare(plan, Mode.STREAMING, JobSettings(options=BATCH))


def test_operators_that_ask_for_each_change_are_refused(tmp_path: Path) -> None:
    session = _session(tmp_path)
    columns = "k STRING, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED"
    options = "'connector' = 'filesystem', 'path' = '/p', 'format' = 'debezium-json'"
    (table,) = parse_script(f"CREATE TABLE p ({columns}) WITH ({options})").statements
    session.apply(table)
    (query,) = parse_script("SELECT id, w FROM timed JOIN p FOR SYSTEM_TIME AS OF timed.ts ON timed.k = p.k").statements
    assert isinstance(query, ast.QueryStatement)
    plan = session.compile_query(query.query)
    with pytest.raises(UnsupportedError, match="temporal joins"):
        prepare(plan, Mode.BOUNDED, JobSettings(options=BATCH))


def test_no_plan_is_made_of_it() -> None:
    with pytest.raises(FlinkplanError, match="compiled by Flink only"):
        compile_script(f"{TABLES_HERE} INSERT INTO t SELECT * FROM t", options=BATCH)
