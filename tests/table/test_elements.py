"""Tables of Python values, and tables described in Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from flinkplan import (
    DataTypes,
    EnvironmentSettings,
    FlinkplanError,
    PlanError,
    Row,
    Schema,
    TableDescriptor,
    TableEnvironment,
    UnsupportedError,
)
from flinkplan.executor.prepare.checks import check_executable
from flinkplan.plan.document import loads
from flinkplan.plan.types.readable import readable
from flinkplan.table import QueryResult, TableResult
from flinkplan.table.data_types import RowType
from flinkplan.table.expression import TimeIntervalUnit
from flinkplan.table.expressions import col, lit, null_of

NOON = datetime(2024, 1, 2, 12, 0, 0, 123456)

ROWS = [
    (True, 1, 1.5, "it's", b"\x01\xff", Decimal("1.50"), date(2024, 1, 2), time(3, 4, 5), NOON),
    (None,) * 9,
]


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def columns(env: TableEnvironment, elements: Sequence[Any], schema: RowType | list[str] | None = None) -> list[str]:
    result = env.from_elements(elements, schema).execute()
    assert isinstance(result, QueryResult)
    return [f"{name} {readable(str(t.nullable_()))}" for name, t in result.columns]


def test_types_go_by_the_values(env: TableEnvironment) -> None:
    assert columns(env, ROWS, [*"abcdefghi"]) == [
        "a BOOLEAN",
        "b BIGINT",
        "c DOUBLE",
        "d STRING",
        "e BYTES",
        "f DECIMAL(38, 18)",
        "g DATE",
        "h TIME(0)",
        "i TIMESTAMP(6)",
    ]


def declared(env: TableEnvironment, elements: Sequence[Any], schema: Any = None) -> list[str]:
    result = env.from_elements(elements, schema).execute()
    assert isinstance(result, QueryResult)
    return [f"{name} {readable(str(t))}" for name, t in result.columns]


def test_columns_may_be_null_unless_the_schema_says_otherwise(env: TableEnvironment) -> None:
    """As PyFlink 2.3 has it."""
    field, row = DataTypes.FIELD, DataTypes.ROW
    assert declared(env, [(1, "a")], ["x", "y"]) == ["x BIGINT", "y STRING"]
    assert declared(env, [([1], {"a": 1})]) == ["_1 ARRAY<BIGINT>", "_2 MAP<STRING, BIGINT>"]
    schema = row([field("x", DataTypes.INT(False)), field("y", DataTypes.STRING().not_null())])
    assert declared(env, [(1, "a")], schema) == ["x INT NOT NULL", "y STRING NOT NULL"]
    schema = row([field("x", DataTypes.INT()), field("y", DataTypes.STRING())])
    assert declared(env, [(1, "a")], schema) == declared(env, [], schema) == ["x INT", "y STRING"]


def test_names_come_with_the_values(env: TableEnvironment) -> None:
    assert declared(env, [{"y": 1, "x": "a"}, {"x": "b", "y": 2}]) == ["x STRING", "y BIGINT"]
    assert declared(env, [Row(b=1, a="x")]) == ["b BIGINT", "a STRING"]
    assert declared(env, [Row(1, "x")]) == ["_1 BIGINT", "_2 STRING"]
    assert declared(env, [((1, "b"), Row(p=1))], ["t", "r"]) == [
        "t ROW<`_1` BIGINT, `_2` STRING>",
        "r ROW<`p` BIGINT>",
    ]


def test_a_schema_says_names_and_types(env: TableEnvironment) -> None:
    schema = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("a b", DataTypes.VARCHAR(3))])
    assert columns(env, [(1, "x")], schema) == ["n INT", "a b VARCHAR(3)"]
    assert columns(env, [], schema) == ["n INT", "a b VARCHAR(3)"]
    assert columns(env, [1, 2]) == ["_1 BIGINT"]


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([(1, 2), (1,)], "1 or 2 values"),
        ([], "no rows to infer the types from"),
        ([(None,)], "no value to infer its type from"),
        ([(object(),)], "there is no SQL type for"),
    ],
)
def test_what_is_not_a_table(env: TableEnvironment, elements: list[Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        env.from_elements(elements)


def test_a_schema_of_another_width(env: TableEnvironment) -> None:
    with pytest.raises(PlanError, match="the schema has 1 columns, the rows have 2 values"):
        env.from_elements([(1, 2)], ["a"])


@pytest.mark.parametrize(
    ("data_type", "value", "words"),
    [
        (DataTypes.INT(), "1", "it is of the class str, not int"),
        (DataTypes.INT(), True, "it is of the class bool, not int"),
        (DataTypes.TINYINT(), 128, "it is out of range"),
        (DataTypes.DOUBLE(), 1, "not float"),
        (DataTypes.BYTES(), b"x", "not bytearray"),
        (DataTypes.CHAR(2), "x", "its length is 1"),
        (DataTypes.VARCHAR(2), "xyz", "its length is 3"),
        (DataTypes.INT().not_null(), None, "it is NOT NULL"),
        (DataTypes.ARRAY(DataTypes.INT()), [1, "x"], r"'x\[\]' of type INT does not take 'x'"),
        (DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), {"k": 1.5}, "'x's value' of type INT"),
        (DataTypes.ROW([DataTypes.FIELD("y", DataTypes.DATE())]), ("d",), "'x.y' of type DATE"),
        (DataTypes.ROW([DataTypes.FIELD("y", DataTypes.DATE())]), (1, 2), "it has 2 values, not 1"),
    ],
)
def test_values_are_of_the_types_of_a_schema(env: TableEnvironment, data_type: Any, value: Any, words: str) -> None:
    """Those that PyFlink refuses, too."""
    schema = DataTypes.ROW([DataTypes.FIELD("x", data_type)])
    with pytest.raises(PlanError, match=words):
        env.from_elements([(value,)], schema)


def test_a_plan_holds_the_rows(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole')")
    texts = [env.from_elements([(1,), (2,)], ["n"]).insert_into("o").compile_plan().as_json_string() for _ in range(2)]
    plans = [json.loads(text) for text in texts]
    scan, again = (plan["nodes"][0] for plan in plans)
    options = scan["scanTableSource"]["table"]["resolvedTable"]["options"]
    assert options == again["scanTableSource"]["table"]["resolvedTable"]["options"]
    assert sorted(options) == ["batched", "connector", "file-path"]
    assert [[part["value"] for part in row] for row in scan["flinkplan"]["rows"]] == [[1], [2]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (None, "PyFlink keeps them in a file"),
        ([[]], "each row of from_elements.. has 1 values"),
        ([[{"kind": "INPUT_REF", "inputIndex": 0, "type": "BIGINT"}]], "made of literals"),
        ([["x"]], "an expression is an object"),
    ],
)
def test_other_rows_are_refused(env: TableEnvironment, rows: Any, words: str) -> None:
    env.execute_sql("CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole')")
    plan = json.loads(env.from_elements([(1,)], ["n"]).insert_into("o").compile_plan().as_json_string())
    plan["nodes"][0]["flinkplan"] = {"rows": rows}
    with pytest.raises(PlanError, match=words):
        check_executable(loads(json.dumps(plan)), {}, {}, ())


@pytest.mark.spark
def test_values_come_back_as_they_went_in(env: TableEnvironment) -> None:
    with env.from_elements(ROWS).execute().collect() as rows:
        assert [tuple(row) for row in rows] == ROWS
    nested = [([1, None], {"k": 1.5}, NOON.replace(tzinfo=UTC), Row(a=[Row(b="x")])), ([], {}, None, None)]
    with env.from_elements(nested).execute().collect() as rows:
        assert [tuple(row) for row in rows] == nested


@pytest.mark.spark
def test_pandas_there_and_back(env: TableEnvironment) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": pandas.to_datetime(["2024-01-01", None])})
    back = env.from_pandas(frame).to_pandas()
    assert back["a"].tolist() == [1, 2]
    assert back["b"].iloc[0] == "x"
    assert pandas.isna(back["b"].iloc[1])
    assert back["c"].iloc[0] == pandas.Timestamp("2024-01-01")
    assert pandas.isna(back["c"].iloc[1])


@pytest.mark.spark
def test_first_rows_and_the_others(env: TableEnvironment) -> None:
    table = env.from_elements([1, 2, 3], ["n"])
    assert table.fetch(2).to_pandas()["n"].tolist() == [1, 2]
    assert table.offset(1).to_pandas()["n"].tolist() == [2, 3]


@pytest.mark.spark
def test_a_notebook_shows_texts_as_texts(env: TableEnvironment) -> None:
    result = env.from_elements([("<b>", 1), (None, 2)], ["a<", "n"]).execute()
    html = result._repr_html_()
    assert "<th>a&lt;</th><th>n</th>" in html
    assert "<tr><td>&lt;b&gt;</td><td>1</td></tr><tr><td><i>NULL</i></td><td>2</td></tr>" in html


def test_a_notebook_shows_statements_too(env: TableEnvironment) -> None:
    assert "<td>default_database</td>" in env.execute_sql("SHOW DATABASES")._repr_html_()
    assert TableResult()._repr_html_() == "OK"


def test_a_table_is_described(env: TableEnvironment) -> None:
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.BIGINT().not_null())
        .column("ts", "TIMESTAMP(3)")
        .column_by_expression("twice", "id * 2")
        .column_by_metadata("file", DataTypes.STRING(), "file.path", is_virtual=True)
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .build()
    )
    descriptor = (
        TableDescriptor.for_connector("filesystem")
        .schema(schema)
        .format("json")
        .option("path", "/data/it's")
        .partitioned_by("id")
        .comment("what was")
        .build()
    )
    env.create_table("things", descriptor)
    text = str(env.execute_sql("SHOW CREATE TABLE things"))
    for part in (
        "`id` BIGINT NOT NULL",
        "`twice` AS",
        "METADATA FROM 'file.path' VIRTUAL",
        "WATERMARK FOR `ts`",
        "PRIMARY KEY (`id`) NOT ENFORCED",
        "COMMENT 'what was'",
        "PARTITIONED BY (`id`)",
        "'path' = '/data/it''s'",
    ):
        assert part in text
    env.create_temporary_table("passing", descriptor)
    assert "CREATE TEMPORARY TABLE" in str(env.execute_sql("SHOW CREATE TABLE passing"))


def test_a_schema_is_made_of_others(env: TableEnvironment) -> None:
    first = Schema.new_builder().from_fields(["a", "b"], [DataTypes.INT().not_null(), "STRING"]).build()
    table = env.from_elements([(1.5,)], ["c"])
    builder = Schema.new_builder().from_schema(first).from_resolved_schema(table.get_resolved_schema())
    schema = builder.primary_key_named("unique_a", "a").build()
    env.create_temporary_table("made", TableDescriptor.for_connector("print").schema(schema).build())
    text = str(env.execute_sql("SHOW CREATE TABLE made"))
    for part in (
        "`a` INT NOT NULL",
        "`b` VARCHAR(2147483647)",
        "`c` DOUBLE",
        "CONSTRAINT `unique_a` PRIMARY KEY (`a`)",
    ):
        assert part in text


def test_expressions_in_a_schema(env: TableEnvironment) -> None:
    builder = Schema.new_builder().from_fields(["a", "t"], ["INT", "TIMESTAMP(3)"])
    columns = {
        "twice": (col("a") * 2 + 1, "`a` * 2 + 1"),
        "text": (col("a").cast(DataTypes.STRING()).upper_case, "UPPER(CAST(`a` AS STRING))"),
        "sign": ((col("a") > 0).then("it's", null_of(DataTypes.STRING())), "CASE WHEN `a` > 0 THEN 'it''s'"),
        "few": (~col("a").in_(1, 2) & col("t").is_not_null, "(`a` IN (1, 2)) IS NOT TRUE AND `t` IS NOT NULL"),
        "hour": (col("t").floor(TimeIntervalUnit.HOUR), "FLOOR(`t` TO HOUR)"),
    }
    for name, (expression, _) in columns.items():
        builder.column_by_expression(name, expression)
    schema = builder.watermark("t", col("t") - lit(3).seconds).build()
    env.create_temporary_table("computed", TableDescriptor.for_connector("datagen").schema(schema).build())
    text = str(env.execute_sql("SHOW CREATE TABLE computed"))
    for name, (_, sql) in columns.items():
        assert f"`{name}` AS {sql}" in text
    assert "WATERMARK FOR `t` AS `t` - INTERVAL '3' SECOND" in text
    with pytest.raises(UnsupportedError, match="cannot stand in a schema"):
        builder.column_by_expression("total", col("a").sum)


def test_settings_are_built() -> None:
    builder = EnvironmentSettings.new_instance().with_built_in_catalog_name("default_catalog")
    assert builder.with_built_in_database_name("default_database").build().is_streaming_mode()
    with pytest.raises(UnsupportedError, match="the built-in catalog cannot be called 'mine'"):
        builder.with_built_in_catalog_name("mine")
    with pytest.raises(UnsupportedError, match="batch mode"):
        builder.in_batch_mode()


def test_idle_state_retention(env: TableEnvironment) -> None:
    config = env.get_config()
    config.set_idle_state_retention(timedelta(hours=1))
    assert config.get("table.exec.state.ttl", "") == "3600000 ms"
    config.set_idle_state_retention_time(timedelta(hours=2), timedelta(hours=3))
    assert config.get("table.exec.state.ttl", "") == "7200000 ms"
    config.set_idle_state_retention_time(timedelta(), timedelta())
    with pytest.raises(FlinkplanError, match="0:05:00 above"):
        config.set_idle_state_retention_time(timedelta(hours=1), timedelta(hours=1))


@pytest.mark.parametrize("rows", ["[[1", "{}", "[1]"])
def test_rows_that_are_none_are_named(env: TableEnvironment, rows: str) -> None:
    options = f"'connector' = 'python-input-format', 'flinkplan.rows' = '{rows}'"
    with pytest.raises(FlinkplanError, match="it is what from_elements\\(\\) writes"):
        env.execute_sql(f"CREATE TABLE broken (a INT) WITH ({options})")
        env.sql_query("SELECT a FROM broken").explain()
