"""Statements that define, change and show tables and views: what Flink 2.3 shows after the same ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flinkplan import EnvironmentSettings, TableEnvironment
from flinkplan.plan.errors import FlinkplanError
from flinkplan.planner.sql import parse_script
from flinkplan.table.environment import starts_job

TABLES = """
CREATE TABLE orders (id INT, customer STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE totals (customer STRING, total DECIMAL(38, 2)) WITH ('connector' = 'print');
"""


def last_rows(script: str) -> list[tuple[Any, ...]]:
    """What the last statement shows."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    rows: list[tuple[Any, ...]] = []
    for statement in parse_script(TABLES + script).statements:
        rows = [tuple(row) for row in environment.execute_statement(statement).collect()]
    return rows


def shown(columns: str, options: str = "'connector' = 'print'", kind: str = "TABLE", name: str = "t") -> str:
    """``CREATE TABLE`` as Flink writes it."""
    lines = ",\n".join(f"  {column.strip()}" for column in columns.split(";"))
    settings = ",\n".join(f"  {option}" for option in options.split("; "))
    return f"CREATE {kind} `default_catalog`.`default_database`.`{name}` (\n{lines}\n)\nWITH (\n{settings}\n)\n"


ORDERS = "`id` INT; `customer` VARCHAR(2147483647); `ts` TIMESTAMP(3)"
FILES = "'connector' = 'filesystem'; 'format' = 'json'; 'path' = 'orders'"
WATERMARK = "WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("SHOW CREATE TABLE orders", shown(f"{ORDERS}; {WATERMARK}", FILES, name="orders")),
        (
            "CREATE TABLE t LIKE orders (EXCLUDING WATERMARKS); SHOW CREATE TABLE t",
            shown(ORDERS, FILES),
        ),
        (
            "CREATE TABLE t (x INT, WATERMARK FOR ts AS ts) WITH ('path' = 'p') LIKE orders (OVERWRITING WATERMARKS);"
            "SHOW CREATE TABLE t",
            shown(f"{ORDERS}; `x` INT; WATERMARK FOR `ts` AS `ts`", FILES.replace("'orders'", "'p'")),
        ),
        (
            "CREATE TABLE t WITH ('connector' = 'print') LIKE orders (EXCLUDING OPTIONS); SHOW CREATE TABLE t",
            shown(f"{ORDERS}; {WATERMARK}"),
        ),
        (
            "ALTER TABLE orders ADD (extra INT COMMENT 'e' FIRST, other STRING AFTER id, z AS id + 1);"
            "SHOW CREATE TABLE orders",
            shown(
                "`extra` INT COMMENT 'e'; `id` INT; `other` VARCHAR(2147483647); `customer` VARCHAR(2147483647);"
                f"`ts` TIMESTAMP(3); `z` AS `id` + 1; {WATERMARK}",
                FILES,
                name="orders",
            ),
        ),
        (
            "ALTER TABLE orders MODIFY (id BIGINT AFTER customer, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);"
            "SHOW CREATE TABLE orders",
            shown(
                "`customer` VARCHAR(2147483647); `id` BIGINT; `ts` TIMESTAMP(3);"
                "WATERMARK FOR `ts` AS `ts` - INTERVAL '1' MINUTE",
                FILES,
                name="orders",
            ),
        ),
        (
            "ALTER TABLE orders DROP WATERMARK; ALTER TABLE orders DROP id;"
            "ALTER TABLE orders RENAME customer TO buyer;"
            "ALTER TABLE orders SET ('path' = 'new', 'a' = 'b'); ALTER TABLE orders RESET ('a', 'format');"
            "SHOW CREATE TABLE orders",
            shown(
                "`buyer` VARCHAR(2147483647); `ts` TIMESTAMP(3)",
                "'connector' = 'filesystem'; 'path' = 'new'",
                name="orders",
            ),
        ),
        (
            "ALTER TABLE totals ADD PRIMARY KEY (customer) NOT ENFORCED; SHOW CREATE TABLE totals",
            shown(
                "`customer` VARCHAR(2147483647) NOT NULL; `total` DECIMAL(38, 2);"
                "CONSTRAINT `PK_customer` PRIMARY KEY (`customer`) NOT ENFORCED",
                name="totals",
            ),
        ),
        (
            "ALTER TABLE totals ADD PRIMARY KEY (customer) NOT ENFORCED; ALTER TABLE totals DROP PRIMARY KEY;"
            "SHOW CREATE TABLE totals",
            shown("`customer` VARCHAR(2147483647) NOT NULL; `total` DECIMAL(38, 2)", name="totals"),
        ),
        (
            "CREATE TEMPORARY TABLE totals (x INT) WITH ('connector' = 'print'); SHOW CREATE TABLE totals",
            shown("`x` INT", kind="TEMPORARY TABLE", name="totals"),
        ),
        (
            "CREATE TEMPORARY TABLE totals (x INT) WITH ('connector' = 'print'); DROP TEMPORARY TABLE totals;"
            "SHOW CREATE TABLE totals",
            shown("`customer` VARCHAR(2147483647); `total` DECIMAL(38, 2)", name="totals"),
        ),
        (
            "ALTER TABLE totals RENAME TO t; SHOW CREATE TABLE t",
            shown("`customer` VARCHAR(2147483647); `total` DECIMAL(38, 2)"),
        ),
        (
            "CREATE VIEW v (a, b) COMMENT 'mine' AS SELECT id, UPPER(customer) FROM orders; SHOW CREATE VIEW v",
            "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `a`,\n  `b`\n)\nCOMMENT 'mine'\n"
            "AS SELECT id, UPPER(customer) FROM orders\n",
        ),
    ],
)
def test_show_create(script: str, expected: str) -> None:
    assert last_rows(script) == [(expected,)]


def test_all_of_a_table_is_shown() -> None:
    columns = (
        "(id INT NOT NULL COMMENT 'the id', m STRING METADATA FROM 'k' VIRTUAL, c AS id + 1 COMMENT 'one more',"
        " r ROW<a INT, b ARRAY<STRING>>, PRIMARY KEY (id) NOT ENFORCED)"
    )
    options = "COMMENT 'all of it' PARTITIONED BY (id) WITH ('connector' = 'filesystem')"
    rows = last_rows(f"CREATE TABLE t {columns} {options}; DESCRIBE t;")
    assert rows == [
        ("id", "INT", "FALSE", "PRI(id)", None, None, "the id"),
        ("m", "STRING", "TRUE", None, "METADATA FROM 'k' VIRTUAL", None, None),
        ("c", "INT", "FALSE", None, "AS `id` + 1", None, "one more"),
        ("r", "ROW<`a` INT, `b` ARRAY<STRING>>", "TRUE", None, None, None, None),
    ]
    ((text,),) = last_rows(f"CREATE TABLE t {columns} {options}; SHOW CREATE TABLE t;")
    assert "\n  `m` VARCHAR(2147483647) METADATA FROM 'k' VIRTUAL,\n  `c` AS `id` + 1 COMMENT 'one more',\n" in text
    assert "\n)\nCOMMENT 'all of it'\nPARTITIONED BY (`id`)\nWITH (\n" in text
    assert last_rows(text.replace("`t`", "`u`") + "; SHOW CREATE TABLE u") == [(text.replace("`t`", "`u`"),)]


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("CREATE VIEW v AS SELECT id FROM orders; DESCRIBE v", [("id", "INT", "TRUE", None, None, None)]),
        (
            "DESCRIBE orders",
            [
                ("id", "INT", "TRUE", None, None, None),
                ("customer", "STRING", "TRUE", None, None, None),
                ("ts", "TIMESTAMP(3) *ROWTIME*", "TRUE", None, None, "`ts` - INTERVAL '5' SECOND"),
            ],
        ),
        ("SHOW COLUMNS FROM orders LIKE 'c%'", [("customer", "STRING", "TRUE", None, None, None)]),
        ("CREATE VIEW a AS SELECT 1 AS x; SHOW TABLES", [("a",), ("orders",), ("totals",)]),
        ("CREATE VIEW a AS SELECT 1 AS x; SHOW VIEWS", [("a",)]),
        ("SHOW TABLES FROM default_database NOT LIKE 'o%'", [("totals",)]),
        ("CREATE DATABASE d; USE d; SHOW TABLES FROM default_database LIKE 'o%'", [("orders",)]),
        ("CREATE DATABASE d; USE d; SHOW CURRENT DATABASE", [("d",)]),
        ("CREATE DATABASE d; USE d; USE CATALOG default_catalog; SHOW CURRENT DATABASE", [("d",)]),
        ("CREATE DATABASE d; SHOW DATABASES", [("d",), ("default_database",)]),
        ("CREATE DATABASE d; CREATE VIEW d.v AS SELECT 1 AS x; DROP DATABASE d CASCADE; SHOW TABLES", None),
        ("CREATE CATALOG c WITH ('type' = 'generic_in_memory'); USE CATALOG c; SHOW CURRENT DATABASE", [("default",)]),
        (
            "CREATE CATALOG c WITH ('type' = 'generic_in_memory'); SHOW CATALOGS LIKE 'c'",
            [("c",)],
        ),
        ("CREATE CATALOG c WITH ('type' = 'generic_in_memory'); DROP CATALOG c; SHOW CATALOGS", [("default_catalog",)]),
        ("CREATE VIEW v AS SELECT 1 AS x; ALTER VIEW v AS SELECT 2 AS y; SHOW COLUMNS FROM v LIKE 'y'", ["y"]),
        ("CREATE VIEW v AS SELECT 1 AS x; CREATE OR REPLACE VIEW v AS SELECT 1 AS y; SHOW COLUMNS FROM v", ["y"]),
        ("CREATE VIEW v AS SELECT 1 AS x; CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS y; SHOW COLUMNS FROM v", ["x"]),
        ("CREATE VIEW v AS SELECT 1 AS x; ALTER VIEW v RENAME TO w; SHOW VIEWS", [("w",)]),
        ("SHOW USER FUNCTIONS", []),
        ("SHOW FUNCTIONS LIKE 'upp%'", [("upper",), ("upperCase",)]),
        ("SHOW MODULES", [("core",)]),
    ],
)
def test_rows(script: str, rows: list[tuple[str, ...]] | list[str] | None) -> None:
    found = last_rows(script)
    if rows is None:
        assert found == [("orders",), ("totals",)]
    elif rows and isinstance(rows[0], str):
        assert [row[0] for row in found] == rows
    else:
        assert found == rows


def test_a_view_looks_names_up_where_it_was_made() -> None:
    script = "CREATE VIEW v AS SELECT id FROM orders; CREATE DATABASE d; USE d;"
    (row,) = last_rows(f"{script} CREATE VIEW w AS SELECT * FROM default_database.v; DESCRIBE w;")
    assert row[:2] == ("id", "INT")


@pytest.mark.parametrize(
    ("statement", "message", "marked"),
    [
        ("CREATE TABLE orders (a INT) WITH ('connector' = 'print')", "exists already", "CREATE TABLE orders"),
        ("CREATE OR REPLACE TABLE orders (a INT) WITH ('connector' = 'print')", "exists already", "CREATE OR"),
        ("CREATE TABLE t (WATERMARK FOR ts AS ts) LIKE orders", "has a WATERMARK already", "WATERMARK FOR ts AS ts"),
        ("CREATE TABLE t WITH ('path'='x') LIKE orders (INCLUDING OPTIONS)", "has the option 'path'", "'path'='x'"),
        ("CREATE TABLE t (id BIGINT) LIKE orders", "declared twice", "id"),
        ("DROP TABLE v", "there is no table 'v'", "DROP TABLE v"),
        ("DROP VIEW orders", "'orders' is a table, not a view", "DROP VIEW orders"),
        ("DROP DATABASE default_database", "is in use", "DROP"),
        ("USE nowhere", "there is no database 'nowhere'", "USE nowhere"),
        ("USE CATALOG nowhere", "there is no catalog 'nowhere'", "USE CATALOG nowhere"),
        ("ALTER TABLE orders ADD id INT", "there is a column 'id' already", "id"),
        ("ALTER TABLE orders MODIFY idd INT", "there is no column 'idd'", "idd"),
        ("ALTER TABLE orders ADD WATERMARK FOR ts AS ts", "the table has a WATERMARK", "WATERMARK"),
        ("ALTER TABLE orders DROP ts", "'ts' is read by a computed column, a watermark or a key", "ts"),
        ("ALTER TABLE orders RENAME ts TO t", "'ts' is read by", "ts"),
        ("ALTER TABLE orders DROP PRIMARY KEY", "the table has no PRIMARY KEY", "DROP PRIMARY KEY"),
        ("ALTER VIEW orders RENAME TO o", "'orders' is a table, not a view", "ALTER VIEW"),
        ("CREATE CATALOG c WITH ('type' = 'acme')", "a catalog of the type 'acme' is not supported", "CREATE"),
        ("SHOW TABELS", "SHOW TABELS is not supported", None),
        ("DESCRIBE FUNCTION EXTENDED split_index", "there is no function 'split_index'", None),
    ],
)
def test_what_is_refused(statement: str, message: str, marked: str | None) -> None:
    with pytest.raises(FlinkplanError) as caught:
        last_rows(statement)
    error = caught.value
    assert message in str(error)
    assert "<input>:" in str(error.where)
    if marked is not None:
        source, carets = (error.snippet or "").split("\n")
        assert source[carets.index("^") :].startswith(marked)


def test_explain_shows_operators_and_their_changes() -> None:
    ((inserting,),) = last_rows(
        "EXPLAIN CHANGELOG_MODE INSERT INTO totals SELECT customer, CAST(id AS DECIMAL(38, 2)) FROM orders"
    )
    assert "Sink(table=[default_catalog.default_database.totals], fields=[customer, EXPR$1], changelogMode=[NONE])" in (
        inserting
    )
    ((query,),) = last_rows("EXPLAIN CHANGELOG_MODE SELECT customer, COUNT(*) FROM orders GROUP BY customer")
    assert "COUNT(*) AS EXPR$1], changelogMode=[I,UA])\n+- Exchange(distribution=[hash[customer]], change" in query
    assert query.count("changelogMode") == 5


@pytest.mark.parametrize("statement", ["EXPLAIN", "EXPLAIN PLAN FOR"])
def test_explain_shows_three_trees(statement: str) -> None:
    ((inserting,),) = last_rows(
        f"{statement} INSERT INTO totals SELECT customer, CAST(id AS DECIMAL(38, 2)) FROM orders WHERE id > 1"
    )
    scan = "TableSourceScan(table=[[default_catalog, default_database, orders]], fields=[id, customer, ts])"
    assert inserting.count(scan) == 2
    assert "LogicalProject(customer=[$1], EXPR$1=[CAST($0):DECIMAL(38, 2)])" in inserting
    assert "where=[>(id, 1)]" in inserting
    assert "where=[(id > 1)]" in inserting
    ((query,),) = last_rows(f"{statement} SELECT customer, COUNT(*) FROM orders GROUP BY customer")
    assert "LogicalAggregate(group=[{0}], EXPR$1=[COUNT()])" in query
    assert "Sink(" not in query


def test_explaining_a_query_leaves_nothing_behind() -> None:
    assert last_rows("EXPLAIN SELECT id FROM orders; SHOW TABLES") == [("orders",), ("totals",)]


def test_explain_gives_the_advice_of_flink() -> None:
    ((text,),) = last_rows("EXPLAIN PLAN_ADVICE SELECT customer, COUNT(*) FROM orders GROUP BY customer")
    assert "== Optimized Physical Plan With Advice ==\nGroupAggregate(advice=[1], groupBy=[customer]" in text
    assert (
        "\n\nadvice[1]: [ADVICE] You might want to enable local-global two-phase optimization by configuring "
        "('table.exec.mini-batch.enabled' to 'true', 'table.exec.mini-batch.allow-latency' to a positive long value, "
        "'table.exec.mini-batch.size' to a positive long value).\n\n== Optimized Execution Plan ==\nGroupAggregate(g"
    ) in text
    ((text,),) = last_rows("EXPLAIN PLAN_ADVICE, CHANGELOG_MODE SELECT id FROM orders")
    assert "changelogMode=[I])\n\nNo available advice...\n\n== Optimized Execution Plan ==" in text
    ((text,),) = last_rows(
        "CREATE TABLE o (customer STRING, n BIGINT, u STRING) WITH ('connector' = 'print'); EXPLAIN PLAN_ADVICE "
        "INSERT INTO o SELECT customer, n, UUID() FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)"
    )
    assert "\nadvice[1]: [ADVICE]" in text
    assert (
        "\nadvice[2]: [WARNING] The column(s): EXPR$2(generated by non-deterministic function: UUID ) can not" in text
    )
    changes = "changelogMode=[I,UB,UA], upsertKeys=[[customer]])\n"
    assert f"\nrelated rel plan:\nCalc(select=[customer, n, UUID() AS EXPR$2], {changes}" in text


def test_explain_shows_the_graph_of_the_job() -> None:
    ((text,),) = last_rows("EXPLAIN JSON_EXECUTION_PLAN SELECT customer, COUNT(*) FROM orders GROUP BY customer")
    graph = text.partition("\n\n== Physical Execution Plan ==\n")[2]
    assert graph.startswith(
        '{\n  "nodes" : [ {\n    "id" : 1,\n    "type" : "Source: orders[1]",\n    "pact" : "Data Source"'
    )
    assert graph.endswith(
        """  }, {
    "id" : 5,
    "type" : "GroupAggregate[5]",
    "pact" : "Operator",
    "contents" : "[5]:GroupAggregate(groupBy=[customer], select=[customer, COUNT(*) AS EXPR$1])",
    "parallelism" : 1,
    "predecessors" : [ {
      "id" : 3,
      "ship_strategy" : "HASH",
      "side" : "second"
    } ]
  } ]
}"""
    )
    inserting = (
        "INSERT INTO totals SELECT customer, 1 FROM (SELECT customer FROM orders UNION ALL SELECT 'a' FROM orders)"
    )
    ((text,),) = last_rows(f"EXPLAIN JSON_EXECUTION_PLAN {inserting}")
    *_, sink = json.loads(text.partition("== Physical Execution Plan ==\n")[2])["nodes"]
    assert (sink["type"].partition("[")[0], sink["pact"]) == ("Sink: totals", "Data Sink")


@pytest.mark.parametrize(
    ("statement", "starts"),
    [
        ("INSERT INTO totals SELECT customer, 1 FROM orders", True),
        ("SELECT * FROM orders", True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO totals SELECT customer, 1 FROM orders; END", True),
        ("EXECUTE PLAN 'plan.json'", True),
        ("COMPILE AND EXECUTE PLAN 'plan.json' FOR INSERT INTO totals SELECT customer, 1 FROM orders", True),
        ("COMPILE PLAN 'plan.json' FOR INSERT INTO totals SELECT customer, 1 FROM orders", False),
        ("CREATE TABLE copy WITH ('connector' = 'print') AS SELECT * FROM orders", True),
        ("CREATE TABLE other (id INT) WITH ('connector' = 'print')", False),
        ("EXPLAIN SELECT * FROM orders", False),
        ("SHOW TABLES", False),
        ("SET 'table.dml-sync' = 'true'", False),
    ],
)
def test_statements_that_start_jobs(statement: str, starts: bool) -> None:
    (parsed,) = parse_script(statement).statements
    assert starts_job(parsed) == starts


PARTITIONED = (
    "CREATE TABLE p (id INT, dt STRING, hr INT) PARTITIONED BY (dt, hr) "
    "WITH ('connector' = 'filesystem', 'path' = '/p', 'format' = 'csv')"
)


def test_partitions_are_added_shown_and_dropped() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql(PARTITIONED)
    env.execute_sql("ALTER TABLE p ADD PARTITION (dt = 'a', hr = 1) PARTITION (dt = 'b', hr = 2)")
    env.execute_sql("ALTER TABLE p ADD IF NOT EXISTS PARTITION (dt = 'a', hr = 1)")
    assert [tuple(row) for row in env.execute_sql("SHOW PARTITIONS p").collect()] == [("dt=a/hr=1",), ("dt=b/hr=2",)]
    assert [tuple(r) for r in env.execute_sql("SHOW PARTITIONS p PARTITION (hr = 2)").collect()] == [("dt=b/hr=2",)]
    env.execute_sql("ALTER TABLE p DROP PARTITION (dt = 'a', hr = 1)")
    assert [tuple(row) for row in env.execute_sql("SHOW PARTITIONS p").collect()] == [("dt=b/hr=2",)]
    for wrong, words in (
        ("ALTER TABLE p ADD PARTITION (dt = 'b', hr = 2)", "exists already"),
        ("ALTER TABLE p ADD PARTITION (dt = 'b')", "has a value of dt and of hr"),
        ("ALTER TABLE p DROP PARTITION (dt = 'x', hr = 2)", "there is no partition dt=x/hr=2"),
        ("SHOW PARTITIONS p PARTITION (id = 2)", "has a value of dt and of hr"),
    ):
        with pytest.raises(FlinkplanError, match=words):
            env.execute_sql(wrong)


def test_the_distribution_of_a_table_is_altered() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE d (id INT) DISTRIBUTED BY HASH(id) INTO 4 BUCKETS WITH ('connector' = 'datagen')")
    shown = []
    for change in ("MODIFY DISTRIBUTION BY (id) INTO 3 BUCKETS", "DROP DISTRIBUTION", "ADD DISTRIBUTION BY RANGE(id)"):
        env.execute_sql(f"ALTER TABLE d {change}")
        (text,) = next(iter(env.execute_sql("SHOW CREATE TABLE d").collect()))
        shown.append(next((line for line in text.splitlines() if line.startswith("DISTRIBUTED")), None))
    assert shown == ["DISTRIBUTED BY (`id`) INTO 3 BUCKETS", None, "DISTRIBUTED BY RANGE(`id`)"]
    with pytest.raises(FlinkplanError, match="is distributed already"):
        env.execute_sql("ALTER TABLE d ADD DISTRIBUTION BY (id)")


def test_a_table_that_is_explained_is_not_created() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.execute_sql("CREATE TABLE o (id INT) WITH ('connector' = 'datagen')")
    explained = str(env.execute_sql("EXPLAIN CREATE TABLE c WITH ('connector' = 'print') AS SELECT id FROM o"))
    assert "LogicalSink(table=[default_catalog.default_database.c], fields=[id])" in explained
    assert [tuple(row) for row in env.execute_sql("SHOW TABLES").collect()] == [("o",)]


@pytest.mark.parametrize(
    ("name", "kind", "deterministic", "signature"),
    [
        ("`SUM`", "AGGREGATE", "true", "SUM(<NUMERIC>)"),
        ("rand", "SCALAR", "false", "rand()\nrand(<INTEGER>)"),
        (
            "FROM_CHANGELOG",
            "PROCESS_TABLE",
            "true",
            "FROM_CHANGELOG(input => {TABLE, ROW SEMANTIC TABLE}, op => DESCRIPTOR, op_mapping => MAP<STRING, STRING>)",
        ),
    ],
)
def test_built_in_functions_are_described(name: str, kind: str, deterministic: str, signature: str) -> None:
    assert last_rows(f"DESCRIBE FUNCTION EXTENDED {name}") == [
        ("is system function", "true"),
        ("is temporary", "false"),
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", deterministic),
        ("supports constant folding", "true"),
        ("signature", signature),
    ]


def test_a_table_without_options_is_there_until_it_is_read() -> None:
    ((text,),) = last_rows(
        "CREATE TABLE base (id INT); CREATE TABLE t WITH ('connector'='print') LIKE base; SHOW CREATE TABLE base"
    )
    assert text == "CREATE TABLE `default_catalog`.`default_database`.`base` (\n  `id` INT\n)\n"
    with pytest.raises(FlinkplanError, match="the table 'base' has no option 'connector'"):
        last_rows("CREATE TABLE base (id INT); EXPLAIN SELECT * FROM base")


def test_functions_are_those_of_the_modules_in_use() -> None:
    assert last_rows("UNLOAD MODULE core; SHOW FUNCTIONS") == []
    assert last_rows("UNLOAD MODULE core; LOAD MODULE core; SHOW FUNCTIONS LIKE 'upper'") == [("upper",)]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("TRUNCATE TABLE totals", "TRUNCATE TABLE statement is not supported in streaming mode."),
        ("DELETE FROM totals WHERE total = 1", "DELETE statement is not supported for streaming mode now."),
        ("UPDATE totals SET total = 1", "UPDATE statement is not supported for streaming mode now."),
        ("ANALYZE TABLE totals COMPUTE STATISTICS", "ANALYZE TABLE is not supported for streaming mode now"),
        (
            "SELECT /*+ SHUFFLE_HASH(a, nope) */ a.id FROM orders a JOIN orders b ON a.id = b.id",
            "The options of following hints cannot match the name of input tables or views: \n`nope` in `SHUFFLE_HASH`",
        ),
        (
            "SELECT /*+ BROADCAST */ a.id FROM orders a JOIN orders b ON a.id = b.id",
            "Invalid hint: BROADCAST, expecting at least one table or view specified in hint BROADCAST.",
        ),
        (
            "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='print') AS SELECT id FROM orders",
            "Invalid primary key 'PK_id'. Column 'id' is nullable.",
        ),
        (
            "CREATE TABLE t (id INT NOT NULL) WITH ('connector'='print') AS SELECT id FROM orders",
            "Incompatible types for sink column 'id' at position 1. The source column has type 'INT', while the target "
            "column has type 'INT NOT NULL'.",
        ),
        (
            "CREATE TABLE t (id AS 1) WITH ('connector'='print') AS SELECT id FROM orders",
            "A column named 'id' already exists in the source schema. Computed columns cannot overwrite columns from "
            "source.",
        ),
        (
            "CREATE TABLE t (nope, id) WITH ('connector'='print') AS SELECT id, ts FROM orders",
            "Column 'nope' not found in the source schema.",
        ),
    ],
)
def test_what_flink_says(statement: str, message: str) -> None:
    with pytest.raises(FlinkplanError) as caught:
        last_rows(statement)
    assert caught.value.in_flink is not None and caught.value.in_flink[1] == message
