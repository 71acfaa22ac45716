"""Catalogs that are not in memory: their tables come from scripts."""

from __future__ import annotations

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink, TableSourceScan
from flinkplan.planner import compile_script

LAKE = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://localhost:8181');\n"
TABLES = """
    CREATE TABLE lake.sales.orders (id INT, customer STRING, PRIMARY KEY (id) NOT ENFORCED)
        WITH ('write.format.default' = 'orc');
    USE CATALOG lake;
    CREATE TABLE sales.ids (id INT);
    CREATE VIEW sales.big AS SELECT id FROM sales.orders WHERE id > 100;
"""


def compiled(script: str, tables: str | None = TABLES) -> Plan:
    return compile_script(script, file="a.sql", catalog_tables=None if tables is None else {"lake.sql": tables})


def error(script: str, tables: str | None = TABLES) -> FlinkplanError:
    with pytest.raises(FlinkplanError) as raised:
        compiled(script, tables)
    return raised.value.errors[0]


@pytest.mark.parametrize(
    "statements",
    [
        "INSERT INTO lake.sales.ids SELECT id FROM lake.sales.orders;",
        "USE CATALOG lake; USE sales; INSERT INTO ids SELECT id FROM orders;",
        "USE lake.sales; INSERT INTO ids SELECT id FROM big;",
    ],
)
def test_tables_come_from_a_script(statements: str) -> None:
    plan = compiled(LAKE + statements)
    tables = [
        (node.scan_table_source if isinstance(node, TableSourceScan) else node.dynamic_table_sink).table
        for node in plan.nodes
        if isinstance(node, (TableSourceScan, Sink))
    ]
    assert [str(table.identifier) for table in tables] == ["`lake`.`sales`.`orders`", "`lake`.`sales`.`ids`"]
    lake = {"catalog-name": "lake", "catalog-type": "rest", "uri": "http://localhost:8181", "catalog-database": "sales"}
    options = [table.resolved_table.options for table in tables if table.resolved_table]
    assert options == [
        {"connector": "iceberg", **lake, "catalog-table": "orders", "write.format.default": "orc"},
        {"connector": "iceberg", **lake, "catalog-table": "ids"},
    ]


def test_a_script_may_create_the_catalog_itself() -> None:
    insert = "INSERT INTO lake.sales.ids SELECT id FROM lake.sales.orders;"
    assert compiled(insert, LAKE + TABLES) == compiled(LAKE + insert, LAKE + TABLES) == compiled(LAKE + insert)


def test_a_table_like_another_has_a_place_of_its_own() -> None:
    plan = compiled(
        LAKE + "CREATE TABLE lake.sales.copy LIKE lake.sales.orders; INSERT INTO lake.sales.copy "
        "SELECT id, customer FROM lake.sales.orders;",
    )
    sink = plan.nodes[-1]
    assert isinstance(sink, Sink)
    table = sink.dynamic_table_sink.table.resolved_table
    assert table is not None and table.options is not None
    assert (table.options["catalog-table"], table.options["write.format.default"]) == ("copy", "orc")


def test_tables_of_a_database_have_the_options_that_flinks_catalog_gives_them() -> None:
    script = """
        CREATE CATALOG shop WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://db:5432/', 'username' = 'u',
            'password' = '${PASSWORD}', 'default-database' = 'shop');
        CREATE TEMPORARY TABLE seen (id INT) WITH ('connector' = 'print');
        INSERT INTO seen SELECT id FROM shop.shop.`public.orders`;
    """
    plan = compiled(script, "CREATE TABLE shop.shop.`public.orders` (id INT);")
    scan = plan.nodes[0]
    assert isinstance(scan, TableSourceScan)
    table = scan.scan_table_source.table.resolved_table
    assert table is not None
    assert table.options == {
        "connector": "jdbc",
        "url": "jdbc:postgresql://db:5432/shop",
        "table-name": "public.orders",
        "username": "u",
        "password": "${PASSWORD}",
    }


def test_a_pipeline_may_create_tables_in_an_external_catalog() -> None:
    plan = compiled(
        LAKE + "CREATE DATABASE IF NOT EXISTS lake.fresh; CREATE TABLE lake.fresh.t (id INT);"
        "INSERT INTO lake.fresh.t SELECT id FROM lake.sales.orders;",
    )
    assert [type(node).__name__ for node in plan.nodes] == ["TableSourceScan", "Sink"]


@pytest.mark.parametrize("tables", [None, TABLES])
def test_a_table_that_no_script_has_is_missing_where_it_is_used(tables: str | None) -> None:
    missing = error(LAKE + "INSERT INTO lake.sales.idz SELECT 1;", tables)
    assert "flinkplan does not ask the catalog 'lake'" in missing.message
    assert missing.hint is not None
    assert ("catalog-tables" if tables is None else "'ids'") in missing.hint
    assert str(missing.where).startswith("a.sql:2:13")


def test_a_type_that_is_not_known_needs_tables() -> None:
    unknown = error("CREATE CATALOG lake WITH ('type' = 'icebreg');", None)
    assert (unknown.message, unknown.hint) == (
        "a catalog of the type 'icebreg' is not supported",
        "did you mean 'iceberg'?",
    )
    tables = "CREATE TABLE own.db.t (id INT) WITH ('connector' = 'print');"
    own = "CREATE CATALOG own WITH ('type' = 'acme'); INSERT INTO own.db.t SELECT 1;"
    assert [type(node).__name__ for node in compiled(own, tables).nodes][-1] == "Sink"
    without = error(own, "CREATE TABLE own.db.t (id INT);")
    assert (without.message, str(without.where)) == ("the table 'own.db.t' has no WITH options", "lake.sql:1:14")


@pytest.mark.parametrize(
    ("tables", "message", "where"),
    [
        ("CREATE TABLE sales.t (id INT);", "it is not said which catalog has 'sales.t'", "lake.sql:1:14"),
        ("DROP TABLE lake.sales.t;", "a script of catalog tables only defines them", "lake.sql:1:1"),
        ("CREATE TABLE lake.sales.t (id INTT);", "INTT", "lake.sql:1:31"),
    ],
)
def test_errors_of_a_script_name_its_line(tables: str, message: str, where: str) -> None:
    wrong = error(LAKE + "INSERT INTO lake.sales.t SELECT 1;", tables)
    assert message in wrong.message
    assert str(wrong.where).startswith(where)


def test_a_database_catalog_names_its_default_database() -> None:
    assert "default-database" in error("CREATE CATALOG shop WITH ('type' = 'jdbc');", None).message
