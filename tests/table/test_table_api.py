"""The Table API makes the relations of SQL, and its own words for what it does not have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink
from flinkplan.table import DataTypes, EnvironmentSettings, Row, Table, TableEnvironment
from flinkplan.table.expressions import (
    UNBOUNDED_RANGE,
    array,
    call,
    col,
    descriptor,
    if_then_else,
    lit,
    map_,
    row,
    row_interval,
)
from flinkplan.table.udf import AggregateFunction, udaf, udf, udtf
from flinkplan.table.window import GroupWindow, Over, Session, Slide, Tumble

ORDERS = """CREATE TABLE orders (id BIGINT, customer STRING, amount DOUBLE, ts TIMESTAMP(3),
WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'datagen')"""


@pytest.fixture
def env() -> TableEnvironment:
    environment = TableEnvironment(EnvironmentSettings({"table.local-time-zone": "UTC"}), warn=lambda finding: None)
    environment.execute_sql(ORDERS)
    environment.execute_sql("CREATE VIEW ids AS SELECT customer, id FROM orders")
    return environment


@udf(result_type=DataTypes.BIGINT())  # type: ignore[untyped-decorator]
def double(i: int) -> int:
    return i * 2


@udtf(result_types=[DataTypes.STRING()])  # type: ignore[untyped-decorator]
def words(text: str) -> list[str]:
    return text.split()


class Total(AggregateFunction):
    def create_accumulator(self) -> list[float]:
        return [0.0]

    def accumulate(self, accumulator: list[float], value: float) -> None:
        accumulator[0] += value

    def get_value(self, accumulator: list[float]) -> float:
        return accumulator[0]


total = udaf(Total(), result_type=DataTypes.DOUBLE(), accumulator_type=DataTypes.ARRAY(DataTypes.DOUBLE()))


def execution_plan(table: Table) -> str:
    return table.explain().partition("== Optimized Execution Plan ==\n")[2]


SAME_AS_SQL: list[tuple[Callable[[Table], Table], str]] = [
    (lambda t: t.select(t.id, t.amount), "SELECT id, amount FROM orders"),
    (lambda t: t.where(t.id > 3).select(t.customer), "SELECT customer FROM orders WHERE id > 3"),
    (
        lambda t: t.select((t.id + 1).alias("a"), if_then_else(t.id > 2, "x", "y").alias("b")),
        "SELECT id + 1 AS a, CASE WHEN id > 2 THEN 'x' ELSE 'y' END AS b FROM orders",
    ),
    (lambda t: t.distinct(), "SELECT DISTINCT * FROM orders"),
    (
        lambda t: t.select(t.customer, t.id).to_changelog(descriptor("kind").as_argument("op")),
        "SELECT * FROM TO_CHANGELOG(input => TABLE ids, op => DESCRIPTOR(kind), uid => 'TO_CHANGELOG')",
    ),
    (
        lambda t: t.select(t.customer, t.id).from_changelog(
            map_("c", "INSERT").as_argument("op_mapping"), descriptor("customer").as_argument("op")
        ),
        "SELECT * FROM FROM_CHANGELOG(input => TABLE ids, op => DESCRIPTOR(customer), "
        "op_mapping => MAP['c', 'INSERT'], uid => 'FROM_CHANGELOG')",
    ),
]


@pytest.mark.parametrize("build, query", SAME_AS_SQL)
def test_plans_are_those_of_sql(env: TableEnvironment, build: Callable[[Table], Table], query: str) -> None:
    assert execution_plan(build(env.from_path("orders"))) == execution_plan(env.sql_query(query))


def test_windows(env: TableEnvironment) -> None:
    orders = env.from_path("orders")
    texts = {
        "TumblingGroupWindow('w, ts, 600000)": Tumble.over(lit(10).minutes),
        "SlidingGroupWindow('w, ts, 600000, 60000)": Slide.over(lit(10).minutes).every(lit(1).minutes),
        "SessionGroupWindow('w, ts, 30000)": Session.with_gap(lit(30).seconds),
    }
    for text, window in texts.items():
        grouped = orders.window(window.on(col("ts")).alias("w")).group_by(col("w"), col("customer"))
        assert text in grouped.select(col("customer"), col("w").end, col("amount").max).explain()


def test_a_column_of_processing_time_ends_at_its_window(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE p (k STRING, n INT, pt AS PROCTIME()) WITH ('connector' = 'datagen')")
    window = Tumble.over(row_interval(3)).on(col("pt")).alias("w")
    table = env.from_path("p").window(window).group_by(col("w"), col("k")).select(col("k"), col("n").sum)
    bound, physical, _ = table.explain().split("\n\n")
    assert "LogicalWindowAggregate(group=[{0}], EXPR$0=[SUM($1)]" in bound
    assert "LogicalProject(k=[$0], n=[$1], pt=[PROCTIME()])" in bound
    assert "PROCTIME" not in physical


def test_over_windows(env: TableEnvironment) -> None:
    window = Over.partition_by(col("customer")).order_by(col("ts")).preceding(row_interval(3)).alias("w")
    table = env.from_path("orders").over_window(window).select(col("id"), col("amount").sum.over(col("w")))
    assert "OVER (PARTITION BY $1 ORDER BY $3 NULLS FIRST ROWS 3 PRECEDING)" in table.explain()
    unbounded = Over.order_by(col("ts")).preceding(UNBOUNDED_RANGE).alias("w")
    table = env.from_path("orders").over_window(unbounded).select(col("amount").max.over(col("w")))
    assert "MAX($2) OVER (ORDER BY $3 NULLS FIRST)" in table.explain()
    assert "OverAggregate(orderBy=[ts ASC]" in table.explain()


def test_python_functions_are_nodes_of_their_own(env: TableEnvironment) -> None:
    for name, function in {"twice": double, "words": words, "total": total}.items():
        env.create_temporary_system_function(name, function)
    orders = env.from_path("orders")
    scalar = orders.select(call("twice", orders.id) + 1)
    assert "PythonCalc(select=[twice(id) AS f0])" in scalar.explain()
    joined = orders.join_lateral(call("words", orders.customer).alias("word"))
    assert "PythonCorrelate(invocation=[words($1)]" in joined.explain()
    grouped = orders.group_by(orders.customer).select(call("total", orders.amount))
    assert "PythonGroupAggregate(groupBy=[customer]" in grouped.explain()
    windows = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    windowed = env.sql_query(f"SELECT SUM(twice(id)) FROM {windows} GROUP BY window_start, window_end")
    assert "LocalWindowAggregate(window=[TUMBLE(win_start=[window_start], win_end=[window_end]" in windowed.explain()


@udf(result_type=DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())]))  # type: ignore[untyped-decorator]
def pair(i: int, text: str) -> Row:
    return Row(i, text)


def test_columns_of_a_map_have_the_names_of_the_function(env: TableEnvironment) -> None:
    env.create_temporary_function("pair", pair)
    mapped = env.from_path("orders").map(call("pair", col("id"), col("customer"))).alias("x", "y")
    assert "Calc(select=[f0.a AS a, f0.b AS b])" in execution_plan(mapped)
    changed = mapped.select(col("x"), col("y").upper_case.alias("y"))
    assert "Calc(select=[f0.a AS x, UPPER(f0.b) AS y])" in execution_plan(changed)


def test_a_condition_with_a_function_without_a_name_stays_above_the_source(env: TableEnvironment) -> None:
    assert "filter=" not in env.from_path("orders").where(double(col("id")) > 3).explain()


def test_a_union_has_the_types_that_hold_values_of_both(env: TableEnvironment) -> None:
    orders = env.from_path("orders")
    union = orders.select(col("id").cast(DataTypes.INT()), lit("x")).union_all(
        orders.select(col("id"), col("customer"))
    )
    assert list(map(str, union.get_schema().get_field_data_types())) == ["BIGINT", "STRING"]
    with pytest.raises(FlinkplanError, match="differ: BIGINT and VARCHAR"):
        orders.select(col("id")).union_all(orders.select(col("customer")))


def test_values_of_rows_and_arrays(env: TableEnvironment) -> None:
    table = env.from_path("orders").select(array("a", col("customer")), array(1, 2.5), row(col("id"), "x").get("f1"))
    assert "ARRAY('a', customer) AS _c0, ARRAY(1, 2.5E0) AS _c1, ROW(id, 'x').f1 AS _c2" in execution_plan(table)


def test_a_grouped_column_under_another_name_stays_the_key(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE sums (c STRING, n BIGINT) WITH ('connector' = 'print')")
    grouped = env.from_path("orders").group_by(col("customer")).select(col("customer"), col("id").max).alias("c", "n")
    (sink,) = grouped.insert_into("sums").compile_plan().plan.sinks
    assert isinstance(sink, Sink)
    assert sink.input_upsert_key == (0,)


def test_what_aggregates_read_of_a_table_function_has_its_own_name(env: TableEnvironment) -> None:
    env.create_temporary_function("words", words)
    query = (
        "SELECT customer, MAX(w) FROM orders, LATERAL TABLE(words(customer)) AS t(w) WHERE w <> 'a' GROUP BY customer"
    )
    assert "GroupAggregate(groupBy=[customer], select=[customer, MAX(f0) AS EXPR$1])" in env.explain_sql(query)


def test_a_schema_shows_time_attributes(env: TableEnvironment) -> None:
    assert str(env.from_path("orders").select(col("ts")).get_resolved_schema()) == "(\n  `ts` TIMESTAMP(3) *ROWTIME*\n)"


def test_a_statement_set_shares_what_its_inserts_have_in_common(env: TableEnvironment) -> None:
    for name in "ab":
        env.execute_sql(f"CREATE TABLE {name} (n BIGINT) WITH ('connector' = 'print')")
    counted = env.from_path("orders").group_by(col("customer")).select(col("amount").count.alias("n"))
    statements = env.create_statement_set()
    for name in "ab":
        statements.add_insert(name, counted.where(col("n") > 1))
    text = statements.explain()
    assert (text.count("(reuse_id=[1])"), text.count("Reused(reference_id=[1])")) == (1, 2)
    assert len(statements.compile_plan().plan.sinks) == 2


def counted_by(table: Table, window: GroupWindow) -> Table:
    """The rows of each window, counted."""
    return table.window(window.on(table.ts).alias("w")).group_by(col("w")).select(table.id.count)


HOURS = Tumble.over(lit(1).hour).on(col("id")).alias("w")


@pytest.mark.parametrize(
    "build, words",
    [
        (lambda t: t.select(t.nam), "no such column: id, customer, amount, ts"),
        (lambda t: t.select(col("nam")), "nam"),
        (lambda t: t.where(t.id), "takes a condition"),
        (lambda t: t.select(call("dobule", t.id)), "dobule"),
        (lambda t: t.group_by(t.id).select(t.customer), "customer"),
        (lambda t: t.select(call("IF", t.id > 1, 1, 2)), "there is no function 'IF'"),
        (lambda t: t.group_by(t.id).flat_aggregate(total), "takes a table aggregate function"),
        (
            lambda t: t.window(Tumble.over(lit(1).hour).on(t.id).alias("w")).group_by(col("w")).select(t.id.max),
            "time attribute",
        ),
        (lambda t: t.join(t), "id"),
        (lambda t: t.select(t.id.cast(DataTypes.ARRAY(DataTypes.INT()))), "cannot be cast"),
        (
            lambda t: (
                t.window(Slide.over(lit(1).hour).every(row_interval(5)).on(t.ts).alias("w"))
                .group_by(col("w"))
                .select(lit(1).count)
            ),
            "a number of rows for the other",
        ),
        (
            lambda t: (
                t.window(Session.with_gap(row_interval(5)).on(t.ts).alias("w")).group_by(col("w")).select(col("w").end)
            ),
            "the gap of a session",
        ),
    ],
)
def test_what_is_refused(env: TableEnvironment, build: Callable[[Table], object], words: str) -> None:
    with pytest.raises((FlinkplanError, AttributeError), match=words):
        build(env.from_path("orders"))


def test_a_function_without_a_name_is_not_in_a_plan(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE sink (n BIGINT) WITH ('connector' = 'print')")
    pipeline = env.from_path("orders").select(double(col("id"))).insert_into("sink")
    assert "PythonCalc" in pipeline.explain()
    with pytest.raises(FlinkplanError, match="not registered"):
        pipeline.compile_plan()


def test_code_is_loaded_only_from_files_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "my_functions.py").write_text(
        "from pyflink.table import DataTypes\nfrom pyflink.table.udf import udf\n"
        "ran = True\n"
        "@udf(result_type=DataTypes.BIGINT())\ndef half(i):\n    return i // 2\n"
    )
    create = "CREATE TEMPORARY FUNCTION half AS 'my_functions.half' LANGUAGE PYTHON"
    query = "SELECT half(id) FROM orders"
    env = TableEnvironment(EnvironmentSettings({}), warn=lambda finding: None)
    env.execute_sql(ORDERS)
    env.execute_sql(create)
    with pytest.raises(FlinkplanError, match="is not loaded: no Python files are named"):
        env.explain_sql(query)
    assert "my_functions" not in sys.modules
    env.add_python_file(str(tmp_path))
    try:
        assert "PythonCalc(select=[half(id) AS EXPR$0])" in env.explain_sql(query)
        env.execute_sql("CREATE TEMPORARY FUNCTION third AS 'my_functions.third' LANGUAGE PYTHON")
        with pytest.raises(FlinkplanError, match="has no function 'third'"):
            env.explain_sql("SELECT third(id) FROM orders")
    finally:
        sys.modules.pop("my_functions", None)


@pytest.mark.parametrize(("name", "given"), [("array_distinct", ()), ("array_slice", (1, 2)), ("array_sort", (True,))])
def test_methods_that_fail_in_pyflink_name_the_function(name: str, given: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) cannot be called in PyFlink: use call\('{name.upper()}', …\)"):
        getattr(col("values"), name)(*given)


def test_functions_are_tested_without_an_environment() -> None:
    twice = udf(lambda i: 2 * i, result_type=DataTypes.BIGINT(), name="twice")
    mean = udaf(lambda v: sum(v) / len(v), result_type=DataTypes.DOUBLE(), func_type="pandas")
    assert (twice._func(4), twice._name, twice._func_type) == (8, "twice", "general")
    assert (mean._func([1, 2]), mean._func_type) == (1.5, "pandas")
