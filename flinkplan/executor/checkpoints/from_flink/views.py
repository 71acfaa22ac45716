"""The views of accumulators: values that Flink keeps beside an accumulator's row, and kernels mostly in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....plan.record import replace
from ....plan.savepoint.views import Holding, View, view_state
from ....state.form import StateError
from ...jvm.spark import F
from ...jvm.types import field_name
from .carriers import Carrier
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OWNER = ("key", "namespace")
"""The columns that say whose an entry is."""


def with_values(carrier: Carrier, call: int, view: View, table: FlinkTable, name: str) -> FlinkTable:
    """A table of accumulators with a column ``name``: the values of a call in order, an array that may be empty.

    Raises :class:`StateError` where values were taken back that had not come.
    """
    state = _state(carrier, call, view)
    if state is None:
        return replace(table, frame=table.frame.withColumn(name, F.array()))
    owner = [column for column in _OWNER if column in table.frame.columns]
    frame = state.frame
    value = frame["value"].getField(field_name(0))
    match view.holding:
        case Holding.LIST:
            order, values = F.col("position"), F.array(value)
        case Holding.BY_ORDER:
            order, values = frame["map_key"].getField(field_name(0)), value
        case Holding.ENTRIES:
            key = frame["map_key"].getField(field_name(0))
            order, values = F.lit(0), F.array(F.struct(key.alias("key"), value.alias("value")))
        case Holding.COUNTS:
            order = F.lit(0)
            values = F.array_repeat(frame["map_key"].getField(field_name(0)), value.cast("int"))
    each = frame.select(*owner, order.alias("order"), values.alias("values"))
    return replace(table, frame=_joined(table.frame, _gathered(each, owner, name), owner, name))


def _gathered(each: DataFrame, owner: list[str], name: str) -> DataFrame:
    """The arrays ``values`` of each owner behind one another."""

    def before(one: Column, other: Column) -> Column:
        return F.when(one["order"] < other["order"], -1).when(one["order"] > other["order"], 1).otherwise(0)

    grouped = each.groupBy(*owner).agg(F.array_sort(F.collect_list(F.struct("order", "values")), before).alias("all"))
    return grouped.select(*owner, F.flatten(F.transform("all", lambda one: one["values"])).alias(name))


def _joined(frame: DataFrame, values: DataFrame, owner: list[str], name: str) -> DataFrame:
    from functools import reduce
    from operator import and_

    same = reduce(and_, (F.col(f"accumulators.{c}").eqNullSafe(F.col(f"views.{c}")) for c in owner))
    joined = frame.alias("accumulators").join(values.alias("views"), same, "left")
    empty = F.array().cast(values.schema[name].dataType)
    return joined.select("accumulators.*", F.coalesce(F.col(f"views.{name}"), empty).alias(name))


def counts_of(carrier: Carrier, call: int, view: View) -> FlinkTable | None:
    """The view of a call that counts its values; ``None`` where the savepoint has none."""
    return _state(carrier, call, view)


def _state(carrier: Carrier, call: int, view: View) -> FlinkTable | None:
    for other in view.others:
        carrier.asked.add(view_state(call, other))
    if view.pending and carrier.table(view_state(call, view.pending)) is not None:
        raise StateError("values were taken back that had not come, which is not carried over")
    return carrier.table(view_state(call, view.name))
