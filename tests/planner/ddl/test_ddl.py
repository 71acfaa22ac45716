"""CREATE TABLE: the columns, keys and watermarks of the resolved table, as a compiled plan holds them."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.specs import ResolvedTable, TableDistribution
from flinkplan.planner import compile_script
from flinkplan.planner.binder.errors import BindError
from flinkplan.planner.catalog.catalog import Table
from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script
from tests.planner.relation_text import rex_text


def resolved(sql: str) -> ResolvedTable:
    """The table that the last statement creates."""
    session = Session()
    for statement in parse_script(sql).statements:
        session.apply(statement)
    table = list(session.catalog.objects.values())[-1]
    assert isinstance(table, Table)
    return table.resolved


def test_a_primary_key_makes_its_columns_not_null() -> None:
    table = resolved("CREATE TABLE t (a INT, b STRING, PRIMARY KEY (b, a) NOT ENFORCED) WITH ('z' = '1', 'c' = '2');")
    key = table.schema.primary_key
    assert key is not None and (key.name, key.columns) == ("PK_b_a", ("b", "a"))
    assert [str(c.data_type) for c in table.schema.columns] == ["INT NOT NULL", "VARCHAR(2147483647) NOT NULL"]
    assert list(table.options or {}) == ["c", "z"]


def test_types_without_a_length_or_precision() -> None:
    table = resolved(
        "CREATE TABLE t (v VARCHAR, b VARBINARY, c CHAR, x BINARY, a ARRAY<VARCHAR>, d DECIMAL, ts TIMESTAMP, tm TIME)"
        " WITH ('c'='x');"
    )
    assert [str(c.data_type) for c in table.schema.columns] == [
        "VARCHAR(2147483647)",
        "VARBINARY(2147483647)",
        "CHAR(1)",
        "BINARY(1)",
        "ARRAY<VARCHAR(2147483647)>",
        "DECIMAL(10, 0)",
        "TIMESTAMP(6)",
        "TIME(0)",
    ]


def test_a_computed_column_counts_the_stored_columns_only() -> None:
    table = resolved(
        "CREATE TABLE t (a INT, b AS a + 1, c STRING, d AS UPPER(c), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
        " WITH ('c'='x');"
    )
    d = table.schema.columns[3].expression
    assert d is not None and rex_text(d.rex_node) == "UPPER($1)"
    (watermark,) = table.schema.watermark_specs or ()
    assert rex_text(watermark.expression.rex_node) == "$4"
    assert str(table.schema.columns[4].data_type) == "TIMESTAMP(3) *ROWTIME*"


def test_like_takes_over_what_is_not_excluded() -> None:
    base = (
        "CREATE TABLE s (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED) WITH ('c'='x');"
    )
    table = resolved(base + "CREATE TABLE t (b INT) WITH ('p'='y') LIKE s (EXCLUDING WATERMARKS);")
    assert [c.name for c in table.schema.columns] == ["a", "ts", "b"]
    assert table.schema.watermark_specs is None and str(table.schema.columns[1].data_type) == "TIMESTAMP(3)"
    assert table.schema.primary_key is not None
    assert table.options == {"c": "x", "p": "y"}


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("a+1", "`a` + 1"),
        ("(a + 1) * 2", "(`a` + 1) * 2"),
        ("a - (a - 1)", "`a` - (`a` - 1)"),
        ("- a", "- `a`"),
        ("ts - interval '5' minutes", "`ts` - INTERVAL '5' MINUTE"),
        ("c = 'x' and a > 1 or not a is null", "`c` = 'x' AND `a` > 1 OR NOT `a` IS NULL"),
        ("a between 1 and 5", "`a` BETWEEN ASYMMETRIC 1 AND 5"),
        ("a not in (1, 2)", "`a` NOT IN (1, 2)"),
        ("case a when 1 then 'x' end", "CASE WHEN `a` = 1 THEN 'x' ELSE NULL END"),
        ("cast(a as bigint)", "CAST(`a` AS BIGINT)"),
        ("cast(c as row<p int, q string>)", "CAST(`c` AS ROW< `p` INTEGER, `q` STRING >)"),
        ("to_timestamp_ltz(a, 3)", "`TO_TIMESTAMP_LTZ`(`a`, 3)"),
        ("to_timestamp(c)", "TO_TIMESTAMP(`c`)"),
        ("coalesce(c, 'n')", "COALESCE(`c`, 'n')"),
        ("year(ts)", "EXTRACT(YEAR FROM `ts`)"),
        ("trim(c)", "TRIM(BOTH ' ' FROM `c`)"),
        ("substring(c from 2)", "SUBSTRING(`c`, 2)"),
        ("floor(ts to hour)", "FLOOR(`ts` TO HOUR)"),
        ("nullif(a, 1)", "CASE WHEN `a` = 1 THEN NULL ELSE `a` END"),
        ("json_value(c, '$.x' returning int)", "JSON_VALUE(`c`, '$.x' RETURNING INTEGER)"),
        ("json_object('k' value a)", "JSON_OBJECT(KEY 'k' VALUE `a` NULL ON NULL)"),
        ("1e3", "1E3"),
    ],
)
def test_the_text_of_an_expression(sql: str, text: str) -> None:
    from flinkplan.planner.ddl.expression_text import sql_text
    from tests.planner.parsing import parse_expression

    assert sql_text(parse_expression(sql)) == text


BUCKETS = "CREATE TABLE t (a INT, b STRING) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS PARTITIONED BY (b) WITH ('c'='x');"


@pytest.mark.parametrize(
    ("sql", "distribution"),
    [
        (BUCKETS, TableDistribution("HASH", 4, ("a",))),
        (f"{BUCKETS} CREATE TABLE u LIKE t;", TableDistribution("HASH", 4, ("a",))),
        (f"{BUCKETS} CREATE TABLE u LIKE t (EXCLUDING DISTRIBUTION);", None),
        ("CREATE TABLE t (a INT) DISTRIBUTED INTO 3 BUCKETS WITH ('c'='x');", TableDistribution("UNKNOWN", 3, ())),
        ("CREATE TABLE t (a INT) DISTRIBUTED BY (a) WITH ('c'='x');", TableDistribution("UNKNOWN", None, ("a",))),
    ],
)
def test_rows_are_divided_into_buckets(sql: str, distribution: TableDistribution | None) -> None:
    assert resolved(sql).distribution == distribution


def test_buckets_are_shown_as_they_are_written() -> None:
    assert str(TableDistribution("HASH", 4, ("a",))) == "DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS"
    assert str(TableDistribution("UNKNOWN", 3, ())) == "DISTRIBUTED INTO 3 BUCKETS"
    assert str(TableDistribution("UNKNOWN", None, ("a",))) == "DISTRIBUTED BY (`a`)"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TABLE t (a INT) DISTRIBUTED BY (z) WITH ('c'='x');", "no column 'z' to distribute by"),
        ("CREATE TABLE t (a INT) DISTRIBUTED INTO 0 BUCKETS WITH ('c'='x');", "one bucket at least"),
        (f"{BUCKETS} CREATE TABLE u DISTRIBUTED BY (a) LIKE t;", "has buckets already"),
    ],
)
def test_buckets_that_flink_refuses(sql: str, message: str) -> None:
    with pytest.raises(BindError, match=message):
        resolved(sql)


def test_nothing_is_written_into_buckets() -> None:
    table = BUCKETS.replace("'c'='x'", "'connector'='blackhole'")
    with pytest.raises(FlinkplanError, match="no connector here divides rows into buckets"):
        compile_script(f"{table} INSERT INTO t VALUES (1, 'b');")
