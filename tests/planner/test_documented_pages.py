"""The table of docs/sql.md that goes through the pages of Flink's documentation: each row is shown by statements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner import compile_script

TABLES = """
CREATE TABLE t (id INT, v INT, s STRING, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'datagen');
CREATE TABLE u (id INT, w INT, et TIMESTAMP(3), WATERMARK FOR et AS et) WITH ('connector' = 'datagen');
CREATE TABLE dim (id INT, name STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:derby:memory:d', 'table-name' = 'd');
CREATE TABLE files (id INT, dt STRING) PARTITIONED BY (dt)
WITH ('connector' = 'filesystem', 'path' = '/f', 'format' = 'csv');
"""
_WINDOW = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
_NUMBERED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY"

QUERIES = {
    "Overview": "SELECT id FROM t",
    "Data Types": "SELECT CAST(s AS DECIMAL(10, 2)), CAST(NULL AS ROW<a INT, b ARRAY<STRING>>) FROM t",
    "Built-in Functions": "SELECT UPPER(s), DATE_FORMAT(ts, 'yyyy') FROM t",
    "Hints": "SELECT /*+ STATE_TTL('t' = '1 d') */ t.id FROM t /*+ OPTIONS('rows-per-second' = '1') */ "
    "JOIN u ON t.id = u.id",
    "WITH": "WITH a AS (SELECT id FROM t) SELECT id FROM a",
    "SELECT and WHERE": "SELECT id, v + 1 FROM t WHERE v > 3",
    "SELECT DISTINCT": "SELECT DISTINCT s FROM t",
    "Windowing TVF": f"SELECT id, window_start FROM {_WINDOW}",
    "Window Aggregation": f"SELECT window_end, COUNT(*) FROM {_WINDOW} GROUP BY window_start, window_end",
    "Group Aggregation": "SELECT s, COUNT(DISTINCT v) FROM t GROUP BY CUBE (s, id) HAVING COUNT(*) > 1",
    "Over Aggregation": "SELECT SUM(v) OVER (PARTITION BY s ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) "
    "FROM t",
    "Joins": "SELECT t.id, name FROM t JOIN dim FOR SYSTEM_TIME AS OF t.p ON t.id = dim.id LEFT JOIN u ON t.id = u.id",
    "Window Join": f"SELECT a.id FROM (SELECT * FROM {_WINDOW}) a JOIN (SELECT * FROM {_WINDOW}) b "
    "ON a.id = b.id AND a.window_start = b.window_start AND a.window_end = b.window_end",
    "Set Operations": "SELECT id FROM t UNION ALL SELECT id FROM u EXCEPT SELECT w FROM u",
    "ORDER BY": "SELECT id, ts FROM t ORDER BY ts, id",
    "LIMIT": "SELECT id FROM t LIMIT 3",
    "Top-N": f"SELECT id FROM ({_NUMBERED} s ORDER BY v) AS n FROM t) WHERE n <= 3",
    "Window Top-N": f"SELECT id FROM ({_NUMBERED} window_start, window_end ORDER BY v) AS n FROM {_WINDOW}) "
    "WHERE n <= 3",
    "Deduplication": f"SELECT id FROM ({_NUMBERED} s ORDER BY p) AS n FROM t) WHERE n = 1",
    "Window Deduplication": f"SELECT id FROM ({_NUMBERED} window_start, window_end, s ORDER BY ts) AS n "
    f"FROM {_WINDOW}) WHERE n = 1",
    "Pattern Recognition": "SELECT x FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(A.id) AS x PATTERN (A B) "
    "DEFINE A AS A.v > 1, B AS B.v < 1)",
    "Time Travel": "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
    "Changelog Functions": "SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE u)))",
    "Model Inference": "SELECT * FROM ML_PREDICT(TABLE t, MODEL m, DESCRIPTOR(v))",
    "Vector Search": "SELECT * FROM t, LATERAL TABLE(VECTOR_SEARCH(TABLE u, DESCRIPTOR(w), t.v, 3))",
}
STATEMENTS = {
    "Time Zone": ["SET 'table.local-time-zone' = 'Europe/Berlin'"],
    "User-defined Functions": ["CREATE TEMPORARY FUNCTION f AS 'a.f' LANGUAGE PYTHON", "SHOW USER FUNCTIONS"],
    "Catalogs": ["CREATE CATALOG c WITH ('type' = 'generic_in_memory')", "USE CATALOG c", "CREATE DATABASE d", "USE d"],
    "ALTER": ["ALTER TABLE t SET ('rows-per-second' = '1')", "ALTER TABLE files ADD PARTITION (dt = 'a')"],
    "ANALYZE": ["ANALYZE TABLE t COMPUTE STATISTICS"],
    "CALL": ["CALL sys.f(1)"],
    "CREATE": ["CREATE VIEW w AS SELECT id FROM t", "CREATE TABLE x (a INT) DISTRIBUTED BY (a) LIKE u"],
    "DELETE": ["DELETE FROM t"],
    "DESCRIBE": ["DESCRIBE t", "DESC FUNCTION EXTENDED `SUM`"],
    "DROP": ["DROP TABLE IF EXISTS nothing", "DROP TABLE u"],
    "EXPLAIN": ["EXPLAIN PLAN_ADVICE, CHANGELOG_MODE SELECT id FROM t"],
    "INSERT": [
        "EXPLAIN INSERT INTO files PARTITION (dt = 'a') VALUES (1), (2)",
        "EXPLAIN INSERT OVERWRITE files VALUES (1, 'a')",
    ],
    "JAR": ["ADD JAR '/a.jar'", "SHOW JARS", "REMOVE JAR '/a.jar'"],
    "LOAD": ["UNLOAD MODULE core", "LOAD MODULE core"],
    "RESET": ["RESET 'table.exec.state.ttl'", "RESET"],
    "SET": ["SET 'table.exec.state.ttl' = '1 h'", "SET"],
    "SHOW": ["SHOW TABLES LIKE 't%'", "SHOW CREATE TABLE t", "SHOW PARTITIONS files", "SHOW FUNCTIONS"],
    "TRUNCATE": ["TRUNCATE TABLE t"],
    "UNLOAD": ["UNLOAD MODULE core"],
    "UPDATE": ["UPDATE t SET v = 1"],
    "USE": ["USE default_database", "USE MODULES core"],
    "Materialized Tables": ["CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT id FROM t"],
}
WITHOUT_STATEMENTS = {"JOB", "SQL Client", "SQL Gateway", "JDBC Driver", "Hive Dialect"}
"""Pages about clients; tests/cli has theirs."""


def rows() -> dict[str, str]:
    """The pages in the table, with what it says of each."""
    text = (Path(__file__).parents[2] / "docs" / "sql.md").read_text("utf-8")
    (section,) = re.findall(r"## Flink's documentation, page by page\n(.*?)\n## ", text, re.DOTALL)
    lines = [line.strip("| ").split(" | ", 1) for line in section.splitlines() if line.startswith("| ")]
    return {page: here for page, here in lines[1:]}


def test_every_page_is_shown() -> None:
    assert rows().keys() == QUERIES.keys() | STATEMENTS.keys() | WITHOUT_STATEMENTS


def run(page: str) -> None:
    if page in QUERIES:
        sink = f"CREATE TEMPORARY TABLE o WITH ('connector' = 'blackhole') AS {QUERIES[page]};"
        compile_script(TABLES + sink, options={"table.exec.sink.require-on-conflict": "false"})
        return
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in (*TABLES.split(";\n")[:-1], *STATEMENTS[page]):
        env.execute_sql(statement)


@pytest.mark.parametrize("page", [*QUERIES, *STATEMENTS])
def test_a_page_is_as_the_table_says(page: str) -> None:
    here = rows()[page]
    if not here.startswith("refused"):
        run(page)
        return
    with pytest.raises(FlinkplanError) as caught:
        run(page)
    reason = here.partition(": ")[2].partition("; compiled plans")[0]
    assert reason in str(caught.value)
