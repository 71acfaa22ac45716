"""The benchmarks' jobs: the query as Flink SQL, and the same written by hand on Spark's native operators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from data import FLIGHT_COLUMNS, ORDER_COLUMNS, Dataset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPARK_TYPES = {"BIGINT": "BIGINT", "INT": "INT", "STRING": "STRING", "TIMESTAMP(3)": "TIMESTAMP"}


def table(name: str, columns: tuple[tuple[str, str], ...], path: object, more: str = "") -> str:
    """CREATE TABLE over the CSV files of ``path``."""
    declared = ", ".join(f"{column} {type_}" for column, type_ in columns)
    return (
        f"CREATE TABLE {name} ({declared}{more}) WITH ('connector' = 'filesystem', 'path' = '{path}', "
        "'format' = 'csv', 'csv.null-literal' = '');\n"
    )


def sink(columns: str) -> str:
    return f"CREATE TABLE outcome ({columns}) WITH ('connector' = 'blackhole');\n"


@dataclass(frozen=True)
class Benchmark:
    """A job: ``sql`` makes its script, ``native`` the query that a Spark programmer would write."""

    name: str
    aim: float
    """What the time divided by the native time should be at most."""
    sql: Callable[[Dataset], str]
    native: Callable[["SparkSession", Dataset], "DataFrame"]
    native_mode: str = "append"


def flights_sql(data: Dataset, more: str = "") -> str:
    return table("flights", FLIGHT_COLUMNS, data.flights, more)


def read(spark: "SparkSession", columns: tuple[tuple[str, str], ...], path: object) -> "DataFrame":
    schema = ", ".join(f"{column} {SPARK_TYPES[type_]}" for column, type_ in columns)
    return spark.readStream.schema(schema).option("timestampFormat", "yyyy-MM-dd HH:mm:ss").csv(str(path))


def window_sql(data: Dataset) -> str:
    return (
        flights_sql(data, ", WATERMARK FOR sched_dep AS sched_dep - INTERVAL '1' MINUTE")
        + sink("window_start TIMESTAMP(3), window_end TIMESTAMP(3), origin STRING, departures BIGINT, distance INT")
        + "INSERT INTO outcome SELECT window_start, window_end, origin, COUNT(*), SUM(distance) "
        "FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end, origin;"
    )


def window_native(spark: "SparkSession", data: Dataset) -> "DataFrame":
    from pyspark.sql import functions as F

    flights = read(spark, FLIGHT_COLUMNS, data.flights).withWatermark("sched_dep", "1 minute")
    return flights.groupBy(F.window("sched_dep", "1 hour"), "origin").agg(F.count("*"), F.sum("distance"))


def group_sql(data: Dataset) -> str:
    return (
        "SET 'table.exec.state.ttl' = '1 h';\n"
        + flights_sql(data)
        + sink("passenger_group INT, flights BIGINT, distance INT")
        + "INSERT INTO outcome SELECT passenger_group, COUNT(*), SUM(distance) FROM flights GROUP BY passenger_group;"
    )


def group_native(spark: "SparkSession", data: Dataset) -> "DataFrame":
    from pyspark.sql import functions as F

    flights = read(spark, FLIGHT_COLUMNS, data.flights)
    return flights.groupBy("passenger_group").agg(F.count("*"), F.sum("distance"))


def join_sql(data: Dataset) -> str:
    return (
        "SET 'table.exec.state.ttl' = '1 h';\n"
        + flights_sql(data)
        + table("orders", ORDER_COLUMNS, data.orders)
        + sink("row_id BIGINT, carrier STRING, order_id BIGINT, ship_mode STRING")
        + "INSERT INTO outcome SELECT f.row_id, f.carrier, o.order_id, o.ship_mode "
        "FROM flights f JOIN orders o ON f.passenger_group = o.passenger_group;"
    )


def join_native(spark: "SparkSession", data: Dataset) -> "DataFrame":
    flights = read(spark, FLIGHT_COLUMNS, data.flights).select("row_id", "carrier", "passenger_group")
    orders = read(spark, ORDER_COLUMNS, data.orders).select("order_id", "ship_mode", "passenger_group")
    return flights.join(orders, "passenger_group")


def session_sql(data: Dataset) -> str:
    return (
        flights_sql(data, ", WATERMARK FOR sched_dep AS sched_dep - INTERVAL '1' MINUTE")
        + sink("window_start TIMESTAMP(3), window_end TIMESTAMP(3), tailnum STRING, legs BIGINT, distance INT")
        + "INSERT INTO outcome SELECT window_start, window_end, tailnum, COUNT(*), SUM(distance) "
        "FROM TABLE(SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(sched_dep), INTERVAL '6' HOUR)) "
        "GROUP BY window_start, window_end, tailnum;"
    )


def session_native(spark: "SparkSession", data: Dataset) -> "DataFrame":
    from pyspark.sql import functions as F

    flights = read(spark, FLIGHT_COLUMNS, data.flights).withWatermark("sched_dep", "1 minute")
    return flights.groupBy(F.session_window("sched_dep", "6 hours"), "tailnum").agg(F.count("*"), F.sum("distance"))


def first_sql(data: Dataset) -> str:
    return (
        flights_sql(data, ", arrived AS PROCTIME()")
        + sink("passenger_group INT, row_id BIGINT, carrier STRING")
        + "INSERT INTO outcome SELECT passenger_group, row_id, carrier FROM (SELECT *, ROW_NUMBER() OVER "
        "(PARTITION BY passenger_group ORDER BY arrived) AS place FROM flights) WHERE place = 1;"
    )


def first_native(spark: "SparkSession", data: Dataset) -> "DataFrame":
    flights = read(spark, FLIGHT_COLUMNS, data.flights).select("passenger_group", "row_id", "carrier")
    return flights.dropDuplicates(["passenger_group"])


BENCHMARKS = (
    Benchmark("tumble", 1.3, window_sql, window_native),
    Benchmark("group aggregate, TTL", 2.0, group_sql, group_native, "update"),
    Benchmark("join, TTL", 1.0, join_sql, join_native),
    Benchmark("session", 2.0, session_sql, session_native),
    Benchmark("first row of a key", 2.0, first_sql, first_native),
)
