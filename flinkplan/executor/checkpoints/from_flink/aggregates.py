"""GROUP BY: accumulators, and the values that DISTINCT has seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ....plan.accumulator_columns import is_count_star, parts
from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate, LocalGroupAggregate
from ....plan.record import Record
from ....plan.savepoint import flink_states
from ....plan.savepoint.accumulators import accumulator_names
from ....plan.savepoint.views import view_of
from ....plan.specs import AggregateCall
from ....plan.types import LogicalType, RowField
from ....plan.types.parser import parse_type
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...jvm.spark import F
from ...jvm.types import field_name
from .carriers import Carried, Carrier, carries
from .tables import FlinkTable
from .views import counts_of, with_values

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


WHOLE = "accumulator"
"""The one part of an accumulator that is a row."""
_EXTREMES = {"MIN": "min", "MAX": "max"}
_VALUES = "values"
"""The values of a group that Flink keeps in a view, in order."""

_MANY_PARTS = 2**40
"""Of how many parts a group is at least that nobody has counted: updates of parts never empty it."""


class DistinctCall(Record):
    """A DISTINCT call by its number: at ``place`` of the ``sharing`` calls that share a view of what they have seen.

    ``counts``: how often each value came is counted: values are taken back, or rows are counted beside them, by which
    Flink decides it.
    """

    number: int
    view: int
    place: int
    sharing: int
    counts: bool

    def tables(self, carrier: Carrier) -> Iterator[FlinkTable]:
        """What has been seen, NULL apart from all else."""
        for name in (flink_states.distinct_view(self.view), flink_states.distinct_null(self.view)):
            if (table := carrier.table(name)) is not None:
                yield table

    def count(self, table: FlinkTable) -> Column:
        """How often a value has been seen: Flink has a bit for each call, where values are counted a number."""
        number = table.frame["value"].getField(field_name(0))
        if not self.counts:
            return F.shiftright(number, self.place).bitwiseAND(1).cast("bigint")
        return number[self.place] if self.sharing > 1 else number

    def value(self, table: FlinkTable, schema: StructType) -> Column:
        """The value, as a struct of the call's arguments."""
        if not table.table.map_key:
            return F.struct(*(F.lit(None) for _ in schema.fields)).cast(schema)
        value = table.frame["map_key"]
        return (value.getField(field_name(0)) if len(schema.fields) > 1 else value).cast(schema)


class Calls(Record):
    """The aggregate calls of an operator over columns ``fields``.

    ``retracts``: of each call whether it takes values back; ``counts_rows``: rows of a group are counted beside them.
    ``least_rows``: how many rows a group has at least, where nobody counts them.
    """

    calls: Sequence[AggregateCall]
    retracts: Sequence[bool]
    counts_rows: bool
    fields: Sequence[RowField]
    least_rows: int = 1

    @property
    def types(self) -> list[LogicalType]:
        """The types of the columns."""
        return [field.type for field in self.fields]

    @property
    def names(self) -> list[str]:
        """What the calls are called in the state of a kernel."""
        return accumulator_names(self.calls, self.fields)

    @property
    def distinct(self) -> Iterator[DistinctCall]:
        """The calls that see each value once; in Flink those over the same columns share what they have seen."""
        shared: dict[tuple[int, ...], list[int]] = {}
        for number, call in enumerate(self.calls):
            if call.is_distinct:
                shared.setdefault(tuple(call.arg_list), []).append(number)
        for view, numbers in enumerate(shared.values()):
            for place, number in enumerate(numbers):
                yield DistinctCall(number, view, place, len(numbers), self.counts_rows or any(self.retracts))

    def by_call(
        self, value: Column, values: Mapping[int, Column] | None = None
    ) -> tuple[list[Mapping[str, Column]], Column | None]:
        """The parts of each call's accumulator in a row of Flink's, by their names, and the number of rows, if kept.

        ``values`` are those that calls keep in views, by the numbers of the calls.

        Raises :class:`StateError` for a function whose accumulator is not known.
        """
        position, rows = 0, None
        accumulators: list[Mapping[str, Column]] = []
        for number, (call, retracts) in enumerate(zip(self.calls, self.retracts, strict=True)):
            names = parts_of(call, retracts, self.types)
            columns = {name: value.getField(field_name(position + i)) for i, name in enumerate(names)}
            if retracts and function_name(call) in _EXTREMES:
                columns = {_EXTREMES[function_name(call)]: columns[WHOLE].getField(field_name(0))}
            position += len(names)
            if number in (values or {}):
                columns[_VALUES] = (values or {})[number]
            accumulators.append(columns)
            if is_count_star(call):
                rows = columns["count1"]
        if self.counts_rows and rows is None:
            rows = value.getField(field_name(position))
        return accumulators, rows


@carries(GroupAggregate, GlobalGroupAggregate)
def group_aggregate(carrier: Carrier) -> Carried:
    """The accumulators of each group."""
    node = carrier.node
    assert isinstance(node, GroupAggregate | GlobalGroupAggregate)
    calls = calls_of(node, carrier.plan)
    ttl = node.ttl_ms()
    table = carrier.table(flink_states.ACCUMULATORS)
    if table is None:
        return {}
    table, values = with_views(carrier, calls, table)
    accumulators, rows = calls.by_call(table.frame["value"], values)
    stored = carrier.operator.variable("accumulators").value
    each = zip(calls.calls, calls.retracts, accumulators, stored.fields[1:], strict=True)
    columns = [
        accumulated(call, retracts, accumulator, field.dataType).alias(field.name)  # type: ignore[arg-type]
        for call, retracts, accumulator, field in each
    ]
    value = F.struct(F.lit(calls.least_rows) if rows is None else rows, *columns)
    entries = dict([carrier.put("accumulators", ttl, table, value)])
    return {**entries, **counted_values(carrier, calls, ttl), **distinct_values(carrier, calls, ttl)}


@carries(IncrementalGroupAggregate)
def incremental_group_aggregate(carrier: Carrier) -> Carried:
    """What each part of a group has accumulated: of what is not DISTINCT Flink hands on what is new, and keeps nothing.

    So it begins with nothing here, and what comes out of it is what is new again.
    """
    node = carrier.node
    assert isinstance(node, IncrementalGroupAggregate)
    calls = partial_calls(node, carrier.plan)
    if any(calls.retracts):
        raise StateError("values are taken back, of which parts of groups keep nothing")
    entries = distinct_values(carrier, calls, node.ttl_ms())
    views = [entries[name] for call in calls.distinct if (name := _variable_of(carrier, calls, call)) in entries]
    if not views:
        return entries
    stored = carrier.operator.variable("accumulators").value
    columns = []
    for number, (call, field) in enumerate(zip(calls.calls, stored.fields[1:], strict=True)):
        if function_name(call) not in ("COUNT", "$SUM0") or (call.is_distinct and function_name(call) != "COUNT"):
            raise StateError(f"of {function_name(call)} parts of groups keep nothing")
        total = F.coalesce(F.col(f"n{number}"), F.lit(0)) if call.is_distinct else F.lit(0)
        start = F.struct(*(total.cast(t.dataType) for t in field.dataType.fields))  # type: ignore[attr-defined]
        columns.append(start.alias(field.name))
    counted = [
        _counted(entries[_variable_of(carrier, calls, call)]).withColumnRenamed("count", f"n{call.number}")
        for call in calls.distinct
        if _variable_of(carrier, calls, call) in entries
    ]
    joined = reduce(lambda one, other: one.join(other, "key", "full"), counted)
    value = F.struct(F.lit(1), *columns).alias("value")
    return {**entries, **dict([carrier.entries("accumulators", node.ttl_ms(), joined.select("key", value))])}


def partial_calls(node: IncrementalGroupAggregate, plan: Plan) -> Calls:
    """The calls whose parts of groups are aggregated, over the columns that come to the first phase."""
    local = plan.inputs(plan.inputs(node)[0])[0]
    assert isinstance(local, LocalGroupAggregate)
    return Calls(local.agg_calls, local.agg_call_need_retractions, False, plan.inputs(local)[0].fields)


def _variable_of(carrier: Carrier, calls: Calls, call: DistinctCall) -> str:
    """The variable in which what a DISTINCT call has seen stands."""
    node = carrier.node
    return carrier.variable_of(f"{calls.names[call.number]}-distinct", node.ttl_ms())


def _counted(seen: DataFrame) -> DataFrame:
    """How many values that are not NULL stand under each key."""
    names = seen.schema["map_key"].dataType.names  # type: ignore[attr-defined]
    whole = reduce(and_, (F.col("map_key").getField(name).isNotNull() for name in names))
    return seen.groupBy("key").agg(F.count(F.when(whole, 1)).alias("count"))


def calls_of(node: GroupAggregate | GlobalGroupAggregate, plan: Plan) -> Calls:
    """The calls of an aggregation, over the columns that come to its first phase."""
    if isinstance(node, GroupAggregate):
        fields = plan.inputs(node)[0].fields
        return Calls(node.agg_calls, node.agg_call_need_retractions, node.need_retraction, fields)
    below = plan.inputs(plan.inputs(node)[0])[0]
    if isinstance(below, LocalGroupAggregate):
        fields = plan.inputs(below)[0].fields
        return Calls(below.agg_calls, node.agg_call_need_retractions, node.need_retraction, fields)
    if not isinstance(below, IncrementalGroupAggregate):
        raise StateError("it aggregates what another has partly, which is not carried over yet")
    local = plan.inputs(plan.inputs(below)[0])[0]
    assert isinstance(local, LocalGroupAggregate)
    grouped = [plan.inputs(local)[0].fields[i] for i in local.grouping]
    partial = [RowField(f"$f{i}", call.type) for i, call in enumerate(local.agg_calls)]
    retracts, counts = node.agg_call_need_retractions, node.need_retraction
    return Calls(node.agg_calls, retracts, counts, [*grouped, *partial], least_rows=_MANY_PARTS)


_ROWS = ("FIRST_VALUE", "LAST_VALUE", "$WELFORD_M2", "ARRAY_AGG", "LAG")
"""The functions whose accumulator is a row even where all of it is there."""

RANKS = {"ROW_NUMBER": ("sequence",), "RANK": ("currNumber", "sequence"), "DENSE_RANK": ("sequence",)}
"""The parts of the accumulators of ranks, which are all the number of rows: in a stream they know no order."""


def parts_of(call: AggregateCall, retracts: bool, types: Sequence[LogicalType]) -> list[str]:
    """The names of the parts of a call's accumulator.  Raises :class:`StateError` where they are not known."""
    if function_name(call) in _ROWS or view_of(call, retracts) is not None:
        return [WHOLE]
    if function_name(call) in RANKS:
        return list(RANKS[function_name(call)])
    try:
        return [name for name, _ in parts(call, retracts, types)]
    except UnsupportedError as e:
        raise StateError(f"accumulators of {function_name(call)} are not carried over: {e.message}") from None


def accumulated(call: AggregateCall, retracts: bool, accumulator: Mapping[str, Column], stored: StructType) -> Column:
    """What a kernel has accumulated for a call, where Flink has ``accumulator``; ``stored`` is the kernel's schema.

    Raises :class:`StateError` for a function of which it is not known.
    """
    types = [field.dataType for field in stored.fields]
    match function_name(call):
        case "COUNT" | "ROW_NUMBER" | "RANK" | "DENSE_RANK":
            values = [next(iter(accumulator.values()))]
        case "SUM":
            total = accumulator["sum"]
            count = accumulator["count"] if retracts else F.when(total.isNull(), 0).otherwise(1)
            total = total.cast(types[0])  # NULL where it has overflowed, or where there is no value
            values = [F.when(count > 0, total).otherwise(F.coalesce(total, F.lit(0).cast(types[0]))), count]
        case "$SUM0":
            values = [accumulator["sum"], F.lit(1)]
        case "AVG":
            values = [accumulator["sum"].cast(types[0]), accumulator["count"]]
        case "MIN" | "MAX":
            values = [next(iter(accumulator.values()))]
        case "SINGLE_VALUE":
            values = [
                F.when(accumulator["count"] > 0, F.array(accumulator["value"])).otherwise(F.array().cast(types[0]))
            ]
        case "FIRST_VALUE" | "LAST_VALUE" if not retracts:
            values = [accumulator[WHOLE].getField(field_name(0))]
        case "FIRST_VALUE" | "LAST_VALUE" | "COLLECT":
            values = [accumulator[_VALUES]]
        case "ARRAY_AGG":
            values = [F.coalesce(accumulator[WHOLE].getField(field_name(0)), F.array().cast(types[0]))]
        case "LAG":
            offset, default, buffer = (accumulator[WHOLE].getField(field_name(i)) for i in range(3))
            values = [buffer, offset, default]
        case name if name.startswith("JSON_ARRAYAGG"):
            values = [F.transform(accumulator[_VALUES], lambda text: F.coalesce(text, F.lit("null")))]
        case name if name.startswith("JSON_OBJECTAGG"):
            values = [F.transform(accumulator[_VALUES], _json_member)]
        case "$WELFORD_M2":
            values = [accumulator[WHOLE].getField(field_name(i)) for i in range(len(types))]
        case "PERCENTILE":
            values = [accumulator[WHOLE].getField(field_name(0))]
        case name if name.startswith(BITMAP) and not retracts:
            values = _bitmap(name, next(iter(accumulator.values())))
        case "LISTAGG" if retracts:
            separator = accumulator[WHOLE].getField(field_name(2)) if len(call.arg_list) > 1 else F.lit(None)
            values = [accumulator[_VALUES], F.coalesce(separator, F.lit(","))]
        case "LISTAGG":
            text = accumulator["concatAcc"]
            values = [
                F.when(text.isNotNull(), F.array(text)).otherwise(F.array().cast(types[0])),
                F.coalesce(accumulator["accDelimiter"], F.lit(",")),
            ]
        case name:
            how = ", of which values are taken back," if retracts else ""
            raise StateError(f"what {name}{how} has accumulated is not carried over yet")
    return F.struct(*(value.cast(t) for value, t in zip(values, types, strict=True)))


def _bitmap(function: str, part: Column) -> list[Column]:
    """How many rows a bitmap is made of, which is only known to be none or some, and the bitmap."""
    is_built = function.startswith(f"{BITMAP}BUILD_")
    bitmap = part if is_built else part.getField(field_name(0))
    is_empty = F.octet_length(bitmap) == len(_NO_MEMBERS) if is_built else F.lit(False)
    return [F.when(bitmap.isNull() | is_empty, 0).otherwise(1), F.coalesce(bitmap, F.lit(_NO_MEMBERS))]


BITMAP = "BITMAP_"
_NO_MEMBERS = bytes((0x3A, 0x30, 0, 0, 0, 0, 0, 0))
"""A Roaring bitmap without members in its portable serialization."""


def _json_member(entry: Column) -> Column:
    """A member of a JSON object, of its key and value; in Flink an empty text stands for NULL."""
    key = F.regexp_extract(F.to_json(F.array(entry["key"])), r"^\[(.*)\]$", 1)
    return F.concat(key, F.lit(":"), F.when(F.length(entry["value"]) > 0, entry["value"]).otherwise("null"))


VIEW_COLUMN = "values_of_"
"""What the names of the columns begin with that :func:`with_views` adds; the number of the call is behind."""


def with_views(carrier: Carrier, calls: Calls, table: FlinkTable) -> tuple[FlinkTable, Mapping[int, Column]]:
    """The table with a column for each call that keeps its values in a view, in which they stand in order."""
    _check_lists(calls, table)
    columns: dict[int, Column] = {}
    for number, (call, retracts) in enumerate(zip(calls.calls, calls.retracts, strict=True)):
        view = view_of(call, retracts)
        if view is None or function_name(call) in COUNTED:
            continue
        name = f"{VIEW_COLUMN}{number}"
        table = with_values(carrier, number, view, table, name)
        columns[number] = F.col(name)
    return table, columns


_LISTS = {"ARRAY_AGG": 0, "LAG": 2}
"""The functions whose accumulator has a list in it, and the place of that."""


def _check_lists(calls: Calls, table: FlinkTable) -> None:
    """Raise :class:`StateError` for an accumulator whose list has not been decoded."""
    position = 0
    for call, retracts in zip(calls.calls, calls.retracts, strict=True):
        name = function_name(call)
        if name in _LISTS:
            accumulator = parse_type(table.table.value[position].type)
            if accumulator.field_types[_LISTS[name]].root != "ARRAY":
                raise StateError(f"the list that {name} has accumulated cannot be read")
        position += len(parts_of(call, retracts, calls.types))


COUNTED = ("MIN", "MAX", "PERCENTILE")
"""The functions that count their values in a state of their own here, too."""


def counted(carrier: Carrier, calls: Calls) -> Iterator[tuple[int, FlinkTable]]:
    """The views of calls that count their values here as well, by the numbers of the calls."""
    for number, (call, retracts) in enumerate(zip(calls.calls, calls.retracts, strict=True)):
        view = view_of(call, retracts)
        if view is not None and function_name(call) in COUNTED:
            table = counts_of(carrier, number, view)
            if table is not None:
                yield number, table


def counted_values(carrier: Carrier, calls: Calls, ttl: int) -> Carried:
    """How often each value occurs that MIN, MAX or PERCENTILE has seen, where they count them."""
    entries: dict[str, DataFrame] = {}
    for number, table in counted(carrier, calls):
        count = F.struct(table.frame["value"].getField(field_name(0)))
        entries |= dict([carrier.put(calls.names[number], ttl, table, count, table.frame["map_key"])])
    return entries


def distinct_values(carrier: Carrier, calls: Calls, ttl: int) -> Carried:
    """The values that each DISTINCT call has seen, and how often."""
    entries_by_variable: dict[str, DataFrame] = {}
    for call in calls.distinct:
        state = f"{calls.names[call.number]}-distinct"
        schema = carrier.operator.variable(state).map_key
        assert schema is not None
        frames = []
        for table in call.tables(carrier):
            count = call.count(table)
            accessed = ["accessed"] if "accessed" in table.frame.columns else []
            columns = [carrier.key(table).alias("key"), call.value(table, schema).alias("map_key")]
            frames.append(table.frame.where(count > 0).select(*columns, F.struct(count).alias("value"), *accessed))
        if frames:
            name, entries = carrier.entries(state, ttl, reduce(lambda one, other: one.unionByName(other), frames))
            entries_by_variable[name] = entries
    return entries_by_variable
