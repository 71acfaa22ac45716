"""Aggregations over sessions, and sessions of rows.

A kernel keeps the rows of sessions, since these merge, and Flink what they have accumulated.  So a row stands for the
accumulators of each open session, and one for each value that a DISTINCT call has seen, as ``SessionAggregate.java``
has it.

Sources: Flink's ``MergingWindowProcessFunction`` and ``UnalignedWindowTableFunctionOperator``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ....plan.savepoint import flink_states
from ....plan.savepoint.views import view_of
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...build.stream import END, KIND, ROW, SEQUENCE, START
from ...jvm.spark import F, T, sql
from ...jvm.types import field_name
from .aggregates import VIEW_COLUMN, Calls, DistinctCall, accumulated, counted, with_views
from .carriers import Carried, Carrier
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_FIRST_NUMBER = -(2**62) - 2**40
"""The number of the first row that stands for something; the last one has that without the second part at most."""

LAST_NUMBER = -(2**62)
"""Rows with this number or a lower one stand for something, as ``SessionAggregate.java`` has it."""

_MOST_SESSIONS = 2**32
"""More than there are rows of one kind and key."""

_BEFORE_ALL = -(2**40)
"""The number of the first row that came before the savepoint."""

_NO_CALL = -1

BOUNDS = ("start", "end")


def sessions(carrier: Carrier, calls: Calls, table: FlinkTable, fires: Callable[[Column], Column]) -> Carried:
    """What each open session has accumulated; ``fires`` tells the instant of a session with an end."""
    mapping = carrier.table(flink_states.SESSIONS)
    if mapping is None:
        return {}
    for call, retracts in zip(calls.calls, calls.retracts, strict=True):
        if view_of(call, retracts) is not None and function_name(call) == "PERCENTILE":
            raise StateError(f"sessions of which {function_name(call)} counts the values are not carried over yet")
    opened = _opened(carrier, mapping)
    placed, kept = zip(*_rows(carrier, calls, table, opened), strict=True)
    return {
        **dict([carrier.entries("rows", 0, reduce(_union, placed))]),
        **dict([carrier.entries("accumulated", 0, reduce(_union, kept))]),
        **_due(carrier, opened, fires),
    }


def session_rows(carrier: Carrier, fires: Callable[[Column], Column]) -> Carried:
    """The rows of each open session, in the order in which they came; ``fires`` as in :func:`sessions`."""
    mapping, table = carrier.table(flink_states.SESSIONS), carrier.table(flink_states.SESSION_ROWS)
    if mapping is None or table is None:
        return {}
    opened = _opened(carrier, mapping)
    rows = table.frame.select(
        carrier.key(table).alias("key"),
        _window(table.frame["namespace"]).alias("owner"),
        (table.frame["map_key"].getField(field_name(0)).cast("bigint") + _BEFORE_ALL).alias("number"),
        table.row.alias(ROW),
    )
    held = {START: F.col("start"), END: F.col("end"), KIND: F.lit(0), SEQUENCE: F.col("number"), ROW: F.col(ROW)}
    kept = _of_sessions(opened, rows).select(
        "key", carrier.input_row("rows", held).alias("value"), F.col("number").alias("position")
    )
    return {**dict([carrier.entries("rows", 0, kept)]), **_due(carrier, opened, fires)}


def _opened(carrier: Carrier, mapping: FlinkTable) -> DataFrame:
    """The open sessions: ``key``, ``start``, ``end``, and under which window Flink has what belongs to them."""
    frame = mapping.frame
    return frame.select(
        carrier.key(mapping).alias("key"),
        *(frame["map_key"].getField(field_name(i)).cast("bigint").alias(name) for i, name in enumerate(BOUNDS)),
        _window(frame["value"]).alias("owner"),
    )


def _due(carrier: Carrier, opened: DataFrame, fires: Callable[[Column], Column]) -> Carried:
    return carrier.due(opened.groupBy("key").agg(F.min(fires(F.col("end"))).cast("bigint").alias("time")))


def _rows(
    carrier: Carrier, calls: Calls, table: FlinkTable, opened: DataFrame
) -> Iterator[tuple[DataFrame, DataFrame]]:
    """The rows that stand for something, and what they stand for."""
    own = carrier.operator.variable("accumulated").value["accumulators"].dataType
    table, values_of_calls = with_views(carrier, calls, table)
    values = table.frame.select(
        carrier.key(table).alias("key"),
        _window(table.frame["namespace"]).alias("owner"),
        F.col("value").alias("acc"),
        *(name for name in table.frame.columns if name.startswith(VIEW_COLUMN)),
    )
    parts, rows = calls.by_call(F.col("acc"), values_of_calls)
    values_counted = {n: view for n, view in counted(carrier, calls) if not calls.calls[n].distinct}
    accumulators = [
        F.lit(None).cast(field.dataType).alias(field.name)
        if call.is_distinct or number in values_counted
        else accumulated(call, retracts, columns, field.dataType).alias(field.name)
        for number, (call, retracts, columns, field) in enumerate(
            zip(calls.calls, calls.retracts, parts, own.fields, strict=True)  # type: ignore[attr-defined]
        )
    ]
    count = F.lit(1).cast("bigint") if rows is None else rows
    whole = F.struct(*accumulators).cast(own) if accumulators else F.lit(None).cast(own)
    session = F.struct(count.alias("count"), F.lit(_NO_CALL).alias("call"), whole.alias("accumulators"))
    yield _standing(carrier, _of_sessions(opened, values), 0, session, {})
    all_seen = [(c.number, *_seen(carrier, calls, c, view)) for c in calls.distinct for view in c.tables(carrier)]
    all_seen += [(number, *_values(carrier, calls, number, view)) for number, view in values_counted.items()]
    for kind, (number, seen, arguments) in enumerate(all_seen, 1):
        value = F.struct(F.col("count"), F.lit(number).alias("call"), F.lit(None).cast(own).alias("accumulators"))
        yield _standing(carrier, _of_sessions(opened, seen), kind, value, arguments)


def _values(carrier: Carrier, calls: Calls, number: int, view: FlinkTable) -> tuple[DataFrame, dict[str, Column]]:
    """The values that a call counts, and the column of a row in which they are its argument."""
    (argument,) = (f"a{index}" for index in calls.calls[number].arg_list)
    seen = view.frame.select(
        carrier.key(view).alias("key"),
        _window(view.frame["namespace"]).alias("owner"),
        view.frame["map_key"].getField(field_name(0)).alias("seen"),
        view.frame["value"].getField(field_name(0)).cast("bigint").alias("count"),
    )
    if not seen.where("count < 0").isEmpty():
        raise StateError("values were taken back that had not come, which is not carried over")
    return seen, {argument: F.col("seen")}


def _seen(carrier: Carrier, calls: Calls, call: DistinctCall, view: FlinkTable) -> tuple[DataFrame, dict[str, Column]]:
    """The values that a DISTINCT call has seen, and the columns of a row in which they are its arguments."""
    names = [f"a{index}" for index in calls.calls[call.number].arg_list]
    row = carrier.operator.variable("rows").value
    schema = T.StructType([row[name] for name in names])
    seen = view.frame.select(
        carrier.key(view).alias("key"),
        _window(view.frame["namespace"]).alias("owner"),
        call.value(view, schema).alias("seen"),
        call.count(view).cast("bigint").alias("count"),
    )
    return seen.where("count > 0"), {name: F.col("seen").getField(name) for name in names}


def _window(struct: Column) -> Column:
    bounds = (struct.getField(field_name(i)).cast("bigint").alias(name) for i, name in enumerate(BOUNDS))
    return F.struct(*bounds)


def _of_sessions(opened: DataFrame, values: DataFrame) -> DataFrame:
    """Values with the bounds of the session that they belong to."""
    same = reduce(and_, (F.col(f"sessions.{c}").eqNullSafe(F.col(f"values.{c}")) for c in ("key", "owner")))
    others = [F.col(f"values.{name}") for name in values.columns if name not in ("key", "owner")]
    joined = opened.alias("sessions").join(values.alias("values"), same)
    return joined.select("sessions.key", "sessions.start", "sessions.end", *others)


def _standing(
    carrier: Carrier, frame: DataFrame, kind: int, value: Column, columns: dict[str, Column]
) -> tuple[DataFrame, DataFrame]:
    """Rows with these ``columns`` that stand for a ``value`` each, of a kind of their own."""
    place = F.row_number().over(sql.Window.partitionBy("key").orderBy(*BOUNDS)).cast("bigint")
    frame = frame.withColumn("number", place + F.lit(_FIRST_NUMBER + kind * _MOST_SESSIONS))
    held = {START: F.col("start"), END: F.col("end"), KIND: F.lit(0), SEQUENCE: F.col("number"), **columns}
    placed = frame.select("key", carrier.input_row("rows", held).alias("value"), F.col("number").alias("position"))
    return placed, frame.select("key", F.struct("number").alias("map_key"), value.alias("value"))


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionByName(other)
