"""Programs of the Table API whose operators Flink was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flinkplan.table import DataTypes, Table, TableEnvironment
from flinkplan.table.expression import JsonQueryOnEmptyOrError, JsonQueryWrapper, TimeIntervalUnit, TimePointUnit
from flinkplan.table.expressions import (
    and_,
    atan2,
    call,
    call_sql,
    col,
    concat,
    convert_tz,
    current_database,
    current_date,
    current_time,
    current_timestamp,
    date_format,
    e,
    from_unixtime,
    if_then_else,
    lit,
    local_time,
    local_timestamp,
    negative,
    not_,
    null_of,
    or_,
    rand,
    rand_integer,
    row_interval,
    temporal_overlaps,
    timestamp_diff,
    to_date,
    to_timestamp,
    to_timestamp_ltz,
    unix_timestamp,
    uuid,
)
from flinkplan.table.udf import TableAggregateFunction, udf, udtaf, udtf
from flinkplan.table.window import Tumble

DEFINITIONS = (
    "CREATE TABLE b (id INT, quay STRING, depth DOUBLE, fee DECIMAL(10, 2), slots INT, lit BOOLEAN, built DATE, "
    "spot ROW<town STRING, num INT, geo ROW<lat DOUBLE, lon DOUBLE>>, tags ARRAY<STRING>, marks MAP<STRING, INT>, "
    "nn INT NOT NULL, ts TIMESTAMP(3), bi BIGINT) WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')",
    "CREATE TABLE g (ts TIMESTAMP(3), probe STRING, level DOUBLE, cnt INT, "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) "
    "WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')",
    "CREATE TABLE g2 (ts2 TIMESTAMP(3), probe2 STRING, level2 DOUBLE, cnt2 INT, "
    "WATERMARK FOR ts2 AS ts2 - INTERVAL '5' SECOND) "
    "WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')",
    "CREATE TABLE c (cid INT, name STRING, w DOUBLE) "
    "WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')",
    "CREATE TABLE r (rid INT, name STRING, n INT, p AS PROCTIME()) "
    "WITH ('connector' = 'filesystem', 'path' = '/x', 'format' = 'json')",
)


class Top(TableAggregateFunction):
    """A table aggregate function of two columns, which is never called."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        pass

    def emit_value(self, accumulator: list[int]) -> Sequence[Any]:
        return accumulator

    def get_result_type(self) -> Any:
        return DataTypes.ROW([DataTypes.FIELD("v", DataTypes.INT()), DataTypes.FIELD("at", DataTypes.STRING())])

    def get_accumulator_type(self) -> Any:
        return DataTypes.ARRAY(DataTypes.INT())


def define(te: TableEnvironment) -> None:
    """Create the tables and functions of the programs."""
    for definition in DEFINITIONS:
        te.execute_sql(definition)
    te.create_temporary_system_function("f", udf(lambda x: x, result_type=DataTypes.INT()))
    te.create_temporary_system_function("w", udtf(lambda x: x, result_types=[DataTypes.STRING(), DataTypes.INT()]))
    te.create_temporary_system_function("top", udtaf(Top()))


def windowed(te: TableEnvironment) -> Any:
    """A table with windows of 20 seconds."""
    return te.from_path("g").window(Tumble.over(lit(20).seconds).on(col("ts")).alias("w"))


EXPRESSIONS: dict[str, Callable[[], Sequence[Any]]] = {
    "cast_name": lambda: [col("id").cast(DataTypes.BIGINT())],
    "cast_same": lambda: [
        col("id").cast(DataTypes.INT()),
        col("nn").cast(DataTypes.INT()),
        col("nn").cast(DataTypes.INT().not_null()),
    ],
    "at": lambda: [
        col("tags").at(1),
        col("tags")[1],
        col("marks").at("x"),
        col("tags").cardinality,
        col("tags").element,
    ],
    "ext": lambda: [
        col("ts").extract(TimeIntervalUnit.HOUR),
        col("ts").floor(TimeIntervalUnit.DAY),
        col("built").ceil(TimeIntervalUnit.YEAR),
        col("ts").extract(TimeIntervalUnit.QUARTER),
    ],
    "tsdiff": lambda: [
        timestamp_diff(TimePointUnit.HOUR, col("ts"), col("ts")),
        timestamp_diff(TimePointUnit.MONTH, col("built"), col("ts")),
    ],
    "bool": lambda: [
        col("lit") & (col("id") > 1),
        col("lit") | col("lit"),
        ~col("lit"),
        and_(col("lit"), col("lit"), col("id") > 1),
        or_(col("lit"), col("id") > 2, col("id") < 0),
        not_(col("lit")),
        col("lit").is_true,
        col("lit").is_not_false,
    ],
    "reversed": lambda: [
        10 / (col("slots") + 20.5),
        100 - col("id"),
        2 * col("id"),
        2 + col("id"),
        7 % col("id"),
        True & col("lit"),
        False | col("lit"),
    ],
    "plus_texts": lambda: [
        "a" + col("quay"),
        col("quay") + "b",
        col("quay").upper_case + "-" + col("quay"),
        lit("x") + "y",
    ],
    "plus_mixed": lambda: [col("quay") + col("id")],
    "operators_by_name": lambda: [
        call("plus", col("id"), 1),
        call("greaterThan", col("id"), col("slots")),
        call("and", col("lit"), col("lit")),
    ],
    "between": lambda: [col("id").between(1, 5), col("id").not_between(col("slots"), 5)],
    "in": lambda: [col("id").in_(1, 2, 3), col("quay").in_("a", "b"), col("id").in_(1), col("id").in_(col("slots"), 2)],
    "case": lambda: [
        if_then_else(col("id") > 1, 1, col("bi")),
        (col("id") > 1).then("abc", "d"),
        if_then_else(col("lit"), col("quay"), null_of(DataTypes.STRING())),
    ],
    "str1": lambda: [
        col("quay").substring(2),
        col("quay").substr(2, 1),
        col("quay").trim_leading(),
        col("quay").trim_trailing("x"),
        col("quay").trim("y"),
        col("quay").position("x"),
        col("quay").overlay("ab", 2),
        col("quay").overlay("ab", 2, 1),
        col("quay").like("a!%", "!"),
    ],
    "str2": lambda: [
        col("quay").regexp_replace("a", "b"),
        col("quay").regexp_extract("a", 1),
        col("quay").regexp_extract("a"),
        col("quay").regexp("x"),
        col("quay").locate("a"),
        col("quay").locate("a", 2),
        col("quay").instr("x"),
        col("quay").split_index(",", 1),
        col("quay").ltrim(),
        col("quay").rtrim("x"),
        col("quay").str_to_map(),
        col("quay").str_to_map(",", "="),
        col("quay").ascii,
        col("id").chr,
    ],
    "str3": lambda: [
        col("quay").encode("UTF-8"),
        col("quay").md5,
        col("quay").sha2(256),
        col("quay").to_base64,
        col("quay").from_base64,
        col("quay").translate("a", "b"),
        col("quay").url_encode(),
        col("quay").parse_url("HOST"),
        col("quay").concat("x"),
        col("quay").btrim(),
        col("id").hex,
        col("quay").split(","),
    ],
    "math": lambda: [
        col("id").exp,
        col("depth").log10,
        col("depth").log2,
        col("depth").log(),
        col("depth").log(3),
        col("depth").cot,
        col("depth").degrees,
        col("fee").round(1),
        col("fee").floor(),
        col("fee").abs,
        col("depth").truncate(),
        atan2(col("depth"), 1),
        e(),
        rand(),
        rand(5),
        rand_integer(10),
        col("id").sqrt,
        col("fee").sqrt,
        negative(col("id")),
        uuid(),
    ],
    "now": lambda: [
        current_date(),
        current_timestamp(),
        local_timestamp(),
        current_time(),
        local_time(),
        current_database(),
    ],
    "todate": lambda: [
        col("quay").to_date,
        col("quay").to_timestamp,
        to_date(col("quay")),
        to_date(col("quay"), "yyyy"),
        to_timestamp(col("quay"), "yyyy"),
        date_format(col("ts"), "yyyy"),
        unix_timestamp(),
        from_unixtime(col("bi")),
        unix_timestamp(col("quay")),
        convert_tz(col("quay"), "UTC", "Asia/Tokyo"),
        to_timestamp_ltz(col("bi")),
    ],
    "names": lambda: [col("id"), col("id").alias("x"), col("id") + 1, call("f", col("id")), call("UPPER", col("quay"))],
    "star": lambda: [col("*"), (col("id") + 1).alias("z")],
    "flat": lambda: [col("id"), col("spot").flatten, call("f", col("id")).alias("y")],
    "try": lambda: [col("quay").try_cast(DataTypes.INT()), col("quay").cast(DataTypes.INT())],
    "callsql": lambda: [call_sql("id + 1"), call_sql("UPPER(quay) || 'x'").alias("u")],
    "json_query": lambda: [
        col("quay").json_query("$.a"),
        col("quay").json_query(
            "$.b",
            JsonQueryWrapper.CONDITIONAL_ARRAY,
            JsonQueryOnEmptyOrError.EMPTY_ARRAY,
            JsonQueryOnEmptyOrError.ERROR,
        ),
    ],
    "intervals": lambda: [
        col("ts") + (lit(5).minutes + lit(7).seconds),
        col("ts") - lit(1).years,
        temporal_overlaps(col("ts"), lit(30).seconds, col("ts") + lit(10).seconds, lit(5).seconds),
    ],
}
"""Columns of the table ``b``."""

TABLES: dict[str, Callable[[TableEnvironment], Table]] = {
    "agg_expr": lambda te: (
        te.from_path("b")
        .group_by(col("quay"))
        .select(col("quay"), (col("slots").sum + 1).alias("s"), col("slots").sum * 2, col("id").max - col("id").min)
    ),
    "agg_key_expr": lambda te: (
        te.from_path("b").group_by(col("quay"), col("lit")).select(col("quay").upper_case, col("slots").avg)
    ),
    "agg_filter_in": lambda te: (
        te.from_path("b").where(col("id") > 1).group_by(col("quay")).select(col("quay"), col("slots").max)
    ),
    "agg_proj_in": lambda te: (
        te.from_path("b")
        .select(col("id"), col("quay"), col("slots"), col("depth"))
        .group_by(col("quay"))
        .select(col("quay"), col("slots").max.alias("m"))
    ),
    "agg_then_where": lambda te: (
        te.from_path("b").group_by(col("quay")).select(col("quay"), col("slots").max.alias("m")).where(col("m") > 3)
    ),
    "agg_arg_expr": lambda te: (
        te.from_path("b").group_by(col("quay")).select((col("slots") + 1).sum, (col("slots") + 1).max)
    ),
    "agg_lit": lambda te: te.from_path("b").group_by(col("quay")).select(lit("x"), col("slots").max, col("quay")),
    "agg_nokey": lambda te: te.from_path("b").group_by(col("quay")).select(col("slots").max),
    "agg_unnamed_key": lambda te: (
        te.from_path("b").group_by(col("id") > 1, col("quay")).select(col("quay"), col("slots").max)
    ),
    "agg_unnamed_keys": lambda te: (
        te.from_path("b").group_by(col("id") % 2, col("quay").upper_case).select(col("slots").sum + 1)
    ),
    "in_of_calls": lambda te: (
        te.from_path("b")
        .where(call("f", col("id")).in_(1, 2, 3) & (col("id") % 5).in_(4))
        .select(
            col("id").abs.in_(3, 1), col("quay").upper_case.in_("a", "bc"), call("f", col("id")).in_(7, 8, col("id"))
        )
    ),
    "agg_cast_key": lambda te: (
        te.from_path("b").group_by(col("id").cast(DataTypes.STRING())).select(col("slots").avg, col("id").max)
    ),
    "flat_unnamed_key": lambda te: (
        te.from_path("b").group_by(col("id") > 1).flat_aggregate(call("top", col("id"), 2)).select(col("v"))
    ),
    "agg_udf": lambda te: (
        te.from_path("b").group_by(call("f", col("id")).alias("k")).select(col("k"), call("f", col("slots").max))
    ),
    "distinct_then": lambda te: te.from_path("b").select(col("quay")).distinct().select(col("quay").upper_case),
    "distinct_star": lambda te: te.from_path("c").distinct(),
    "addcol": lambda te: (
        te.from_path("b").select(col("id"), col("quay")).add_columns(col("id") + 1, (col("id") * 2).alias("q"))
    ),
    "addrep": lambda te: (
        te.from_path("b")
        .select(col("id"), col("quay"))
        .add_or_replace_columns(lit(1).alias("id"), col("quay").alias("k"))
    ),
    "rename2": lambda te: (
        te.from_path("b").select(col("id"), col("quay")).rename_columns(col("id").alias("x")).where(col("x") > 1)
    ),
    "alias": lambda te: te.from_path("c").alias("x", "y", "z").select(col("y")),
    "where_or": lambda te: te.from_path("b").where((col("id") == 1) | (col("id") == 2)).select(col("id")),
    "where_true": lambda te: te.from_path("b").where(lit(True)).select(col("id")),
    "where_in": lambda te: (
        te.from_path("b").where(col("id").in_(te.from_path("c").select(col("cid")))).select(col("id"))
    ),
    "where_in_list": lambda te: te.from_path("b").where(col("id").in_(1, 2, 3, 4, 5)).select(col("id")),
    "where_str": lambda te: te.from_path("b").where(col("quay") == "a").select(col("id")),
    "where_date": lambda te: te.from_path("b").where(col("built") > lit("2020-01-01").to_date).select(col("id")),
    "where_constants": lambda te: te.from_path("b").where(
        (col("ts") > to_timestamp("2025-05-01 10:01:40"))
        & (col("id") > lit(1) + lit(2))
        & (col("slots") > lit("5").cast(DataTypes.INT()))
        & (col("quay") == concat("a", "b"))
    ),
    "agg_cast": lambda te: (
        te.from_path("b")
        .group_by(col("quay"))
        .select(col("quay"), col("id").cast(DataTypes.BIGINT()).sum, (col("slots") + 1).max)
    ),
    "join": lambda te: (
        te.from_path("b").join(te.from_path("c"), col("id") == col("cid")).select(col("id"), col("name"))
    ),
    "join_expressions": lambda te: (
        te.from_path("b")
        .join(te.from_path("c"), (col("bi") == col("cid")) & (col("quay").upper_case == col("name")))
        .select(col("id"), col("name"))
    ),
    "join_where": lambda te: (
        te.from_path("b")
        .join(te.from_path("c"))
        .where((col("id") == col("cid")) & (col("w") > 1))
        .select(col("id"), col("name"))
    ),
    "join_left_where": lambda te: (
        te.from_path("b")
        .left_outer_join(te.from_path("c"), col("id") == col("cid"))
        .where(col("w").is_null)
        .select(col("id"), col("name"))
    ),
    "join_interval": lambda te: (
        te.from_path("g")
        .join(
            te.from_path("g2"),
            (col("probe") == col("probe2"))
            & (col("ts") >= col("ts2") - lit(5).seconds)
            & (col("ts") < col("ts2") + lit(5).minutes),
        )
        .select(col("ts"), col("level2"))
    ),
    "union_all": lambda te: (
        te.from_path("b")
        .select(col("id"), col("quay"))
        .union_all(te.from_path("c").select(col("cid"), col("name")))
        .select(col("id"))
    ),
    "order_fetch": lambda te: te.from_path("b").order_by(col("id").desc, col("quay")).fetch(3),
    "order_asc": lambda te: (
        te.from_path("b").select(col("id"), col("quay")).order_by(col("id").asc, col("quay").desc).limit(3, 1)
    ),
    "order_expr": lambda te: te.from_path("b").select(col("id"), col("quay")).order_by(col("id") + 1).fetch(2),
    "fetch_only": lambda te: te.from_path("b").select(col("id")).fetch(3),
    "lateral": lambda te: (
        te.from_path("b").join_lateral(call("w", col("quay")).alias("a", "n")).select(col("id"), col("a"))
    ),
    "lateral_where": lambda te: (
        te.from_path("b")
        .select(col("id"), col("quay"))
        .join_lateral(call("w", col("quay").upper_case).alias("a", "n"))
        .where(col("n") > 2)
        .select(col("id"), col("a"))
    ),
    "lateral_condition": lambda te: (
        te.from_path("b")
        .join_lateral(call("w", col("quay")).alias("a", "n"), col("id") == col("n"))
        .select(col("id"), col("a"))
    ),
    "lateral_left": lambda te: (
        te.from_path("b")
        .left_outer_join_lateral(call("w", col("quay")).alias("a", "n"), lit(True))
        .select(col("id"), col("a"))
    ),
    "lateral_noalias": lambda te: te.from_path("b").join_lateral(call("w", col("quay"))).select(col("id"), col("f0")),
    "flatmap": lambda te: te.from_path("b").flat_map(call("w", col("quay"))).select(col("f0")),
    "rows_filtered": lambda te: (
        te.from_path("r")
        .where(col("name").is_not_null)
        .where(col("n") > 1)
        .window(Tumble.over(row_interval(2)).on(col("p")).alias("w"))
        .group_by(col("name"), col("w"))
        .select(col("name"), col("n").max)
    ),
    "flat_aggregate": lambda te: (
        te.from_path("b").flat_aggregate(call("top", col("id")).alias("x", "y")).select(col("y"), col("x"))
    ),
    "flat_aggregate_keys": lambda te: (
        te.from_path("b")
        .group_by(col("quay"), (col("depth") > 1.5).alias("deep"))
        .flat_aggregate(call("top", col("id"), 2))
        .select(col("deep"), col("quay").upper_case, col("v") + 1)
        .where(col("deep"))
    ),
    "flat_aggregate_order": lambda te: (
        te.from_path("b")
        .group_by((col("depth") > 1.5).alias("deep"), col("quay"))
        .flat_aggregate(call("top", col("id"), 2))
        .select(col("deep"), col("quay").upper_case, col("v") + 1)
    ),
    "flat_aggregate_of_updates": lambda te: (
        te.from_path("b")
        .group_by(col("quay"))
        .select(col("quay"), col("id").count.alias("n"))
        .group_by(col("n"))
        .flat_aggregate(call("top", col("quay")))
        .select(col("*"))
        .join(te.from_path("c"), col("n") == col("cid"))
        .select(col("v"), col("name"))
    ),
}
