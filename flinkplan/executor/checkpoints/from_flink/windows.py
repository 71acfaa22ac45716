"""Operators over windows: aggregations, ranks, deduplication and joins.

Flink keeps slices, of which the windows of HOP and CUMULATE share some; kernels keep windows.  So what slices have
accumulated is merged for each window that has not fired.  Those of CUMULATE are merged into the first one as windows
fire, so that it stands for all before.

Source: Flink's ``SliceAssigners``, ``SlicingWindowOperator`` and ``AbstractWindowAggProcessor``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ....plan.accumulator_columns import counts_rows
from ....plan.document import Plan
from ....plan.nodes import (
    ExecNode,
    GlobalWindowAggregate,
    GroupWindowAggregate,
    LocalWindowAggregate,
    WindowAggregate,
    WindowDeduplicate,
    WindowJoin,
    WindowRank,
    WindowTableFunction,
)
from ....plan.record import Record, replace
from ....plan.savepoint import flink_states
from ....plan.settings import LOCAL_TIME_ZONE
from ....plan.specs import (
    AggregateCall,
    CumulativeWindow,
    HoppingWindow,
    SessionWindow,
    TimeAttributeWindowing,
    TumblingWindow,
    WindowingStrategy,
)
from ....plan.types import RowField
from ....state.form import StateError
from ...aggregate_functions import function_name
from ...build.operators.timed_joins import LEFT_ROW, RIGHT_ROW
from ...build.stream import END, KIND, RIGHT, ROW, SEQUENCE, START
from ...build.windows.assignment import timer, window_starts
from ...jvm.spark import F
from ...jvm.types import field_name
from ...prepare.choose.group_windows import windowing_of
from ...prepare.windows import Clock
from .aggregates import VIEW_COLUMN, Calls, accumulated, counted, with_views
from .carriers import Carried, Carrier, carries
from .sessions import session_rows, sessions
from .tables import FlinkTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_BEFORE_ALL = -(2**40)
"""The number of the first row that has come before the savepoint; those that come behind have higher ones."""

_SUMMED = ("sum", "count", "count1")


class Windows(Record):
    """The windows of an operator; ``watermark`` is that of the savepoint (epoch milliseconds), if it has one.

    ``open``: those that are kept, by ``key``, ``start`` and ``end``, where timers say which they are, with ``fired``:
    they have emitted their result.
    ``first``: the end of the first one of each ``key`` that has not fired, where the clock says so.
    """

    windowing: WindowingStrategy
    clock: Clock
    watermark: int | None
    open: DataFrame | None = None
    first: DataFrame | None = None

    @classmethod
    def of(cls, carrier: Carrier, windowing: WindowingStrategy) -> Windows:
        zone = carrier.node.option(LOCAL_TIME_ZONE, carrier.time_zone)
        clock = Clock(zone, windowing.time_attribute_type.root == "TIMESTAMP_LTZ")
        return cls(windowing, clock, carrier.watermark)

    @property
    def is_sliced(self) -> bool:
        """Whether windows share slices."""
        sliced = isinstance(self.windowing, TimeAttributeWindowing)
        return sliced and not isinstance(self.windowing.window, TumblingWindow)

    def place(self, namespace: Column) -> Column:
        """The place of a slice, by its namespace, in the order in which Flink merges those of a window."""
        end = namespace.getField(field_name(0 if self.open is None else 1)).cast("bigint")
        if isinstance(self.windowing.window, HoppingWindow):
            return -end if self.open is None else end
        return F.lit(0).cast("bigint") if isinstance(self.windowing.window, TumblingWindow) else end

    def of_slices(self, frame: DataFrame) -> DataFrame:
        """Rows of slices, whose end is in ``namespace``, for each window that has not fired: ``start``, ``end``."""
        end = F.col("namespace").getField(field_name(0 if self.open is None else 1)).cast("bigint")
        if self.is_sliced:
            frame = frame.select("*", F.inline(window_starts(self.windowing.window, end - 1)))
        else:
            frame = frame.select("*", self.start(end).alias("start"), end.alias("end"))
        if self.open is not None:
            same = reduce(and_, (F.col(f"slices.{b}").eqNullSafe(F.col(f"open.{b}")) for b in ("key", "start", "end")))
            return frame.alias("slices").join(self.open.alias("open"), same).select("slices.*", "open.fired")
        if self.first is not None:
            is_open = F.col("slices.key").eqNullSafe(F.col("first.key")) & (F.col("slices.end") >= F.col("first.end"))
            return frame.alias("slices").join(self.first.alias("first"), is_open, "left_semi")
        if self.watermark is None:
            return frame
        return frame.where(self.fires(F.col("end")) > F.lit(self.watermark))

    def of_ends(self, frame: DataFrame) -> DataFrame:
        """Rows of windows, whose end is in ``namespace``, with ``start`` and ``end``."""
        end = F.col("namespace").getField(field_name(0)).cast("bigint")
        return frame.select("*", self.start(end).cast("bigint").alias("start"), end.alias("end"))

    def start(self, end: Column) -> Column:
        """The start of the window with this end."""
        window = self.windowing.window
        if isinstance(window, CumulativeWindow):
            first = F.element_at(window_starts(window, end - 1), 1)
            return first.getField("start")
        size: int = window.size_ms  # type: ignore[attr-defined]
        return (end - size).cast("bigint")

    def fires(self, end: Column) -> Column:
        """The instant at which the window with this end fires."""
        return timer(self.clock, end - 1)


def _timers(carrier: Carrier, windowing: WindowingStrategy) -> FlinkTable:
    table = carrier.timers.get(
        flink_states.WINDOW_CLOCK_TIMERS if windowing.is_proctime else flink_states.WINDOW_TIMERS
    )
    if table is None:
        raise StateError("windows without timers are not carried over")
    return table


def _open_windows(carrier: Carrier, windowing: WindowingStrategy, fires: Callable[[Column], Column]) -> DataFrame:
    """The windows that have a timer: those whose last one is not at their end have fired, and take late rows.

    Source: Flink's ``WindowOperator``.
    """
    table = _timers(carrier, windowing)
    bounds = (
        F.col("namespace").getField(field_name(i)).cast("bigint").alias(n) for i, n in enumerate(("start", "end"))
    )
    time = table.frame["value"].getField(field_name(0)).cast("bigint").alias("time")
    timers = table.frame.select(carrier.key(table).alias("key"), *bounds, time)
    first = timers.groupBy("key", "start", "end").agg(F.min("time").alias("first"))
    return first.select("key", "start", "end", (F.col("first") > fires(F.col("end"))).alias("fired"))


def _first_windows(carrier: Carrier, windowing: WindowingStrategy) -> DataFrame:
    """The end of the first window of each key that has a timer: when it fires, it sets the next one's."""
    table = _timers(carrier, windowing)
    end = F.col("namespace").getField(field_name(0)).cast("bigint")
    return table.frame.groupBy(carrier.key(table).alias("key")).agg(F.min(end).alias("end"))


@carries(WindowAggregate, GlobalWindowAggregate, GroupWindowAggregate, implied=(flink_states.WINDOW_HAS_FIRED,))
def window_aggregate(carrier: Carrier) -> Carried:
    """The accumulators of each open window."""
    calls, windowing = calls_and_windowing(carrier.node, carrier.plan)
    table = carrier.table(flink_states.WINDOW_ACCUMULATORS)
    if table is None:
        return {}
    windows = Windows.of(carrier, windowing)
    if isinstance(windowing.window, SessionWindow):
        return sessions(carrier, calls, table, windows.fires)
    if isinstance(carrier.node, GroupWindowAggregate):
        windows = replace(windows, open=_open_windows(carrier, windowing, windows.fires))
    elif windowing.is_proctime and windows.is_sliced:
        windows = replace(windows, first=_first_windows(carrier, windowing))
    stored = carrier.operator.variable("windows").value
    own: StructType = stored["accumulators"].dataType  # type: ignore[assignment]
    table, values_of_calls = with_views(carrier, calls, table)
    parts, rows = calls.by_call(F.col("acc"), values_of_calls)
    place = windows.place(F.col("namespace"))
    held = [
        {PARTS: _part(call, retracts, columns, field.dataType, place)} if is_in_parts(field.dataType) else columns
        for call, retracts, columns, field in zip(calls.calls, calls.retracts, parts, own.fields, strict=True)
    ]
    named = {f"{n}_{part}": column for n, columns in enumerate(held) for part, column in columns.items()}
    one = F.lit(1).cast("bigint") if rows is None else rows
    views = [name for name in table.frame.columns if name.startswith(VIEW_COLUMN)]
    slices = windows.of_slices(
        table.frame.select(carrier.key(table).alias("key"), "namespace", table.frame["value"].alias("acc"), *views)
    )
    fired = F.col("fired") if windows.open is not None else F.lit(False)
    slices = slices.select(
        "key", "start", "end", fired.alias("fired"), one.alias("rows"), *(c.alias(name) for name, c in named.items())
    )
    seen = _seen_by_window(carrier, calls, windows)
    by = ("key", "start", "end")
    merged = [_merged(calls, name).alias(name) for name in named]
    frame = slices.groupBy(*by).agg(F.sum("rows").alias("rows"), F.first("fired").alias("fired"), *merged)
    for number, values in seen.items():
        if windows.is_sliced:
            frame = _with_distinct(frame, calls, number, values)
    accumulators = [
        F.struct(F.col(f"{n}_{PARTS}")).cast(field.dataType)
        if PARTS in columns
        else accumulated(call, retracts, {part: F.col(f"{n}_{part}") for part in columns}, field.dataType)  # type: ignore[arg-type]
        for n, (call, retracts, columns, field) in enumerate(
            zip(calls.calls, calls.retracts, held, own.fields, strict=True)
        )
    ]
    calls_of = F.struct(*accumulators) if accumulators else F.lit(None)
    frame, emitted = _with_emitted(carrier, frame, stored)
    frame, following = _with_next(carrier, frame)
    value = F.struct("rows", "fired", following, emitted, calls_of)
    kept = frame.select("key", F.struct("end", "start").alias("map_key"), value.alias("value"))
    entries = {
        f"{calls.names[number]}-distinct": values.select(
            "key",
            F.struct(F.struct("start", "end"), "value").alias("map_key"),
            F.struct(F.col("count")).alias("value"),
        )
        for number, values in seen.items()
    }
    counted = _counted_by_window(carrier, calls, windows)
    return {**entries, **counted, **_entries(carrier, "windows", kept), **_due(carrier, windows, frame)}


def _with_emitted(carrier: Carrier, frame: DataFrame, stored: StructType) -> tuple[DataFrame, Column]:
    """The windows with what each has emitted before, where it may emit again."""
    table = carrier.table(flink_states.WINDOW_RESULTS)
    if table is None:
        return frame, F.lit(None)
    results: StructType = stored["emitted"].dataType  # type: ignore[assignment]
    values = [table.frame["value"].getField(field_name(i)) for i in range(len(results))]
    bounds = [table.frame["namespace"].getField(field_name(i)).cast("bigint") for i in range(2)]
    before = table.frame.select(
        carrier.key(table).alias("key"),
        bounds[0].alias("start"),
        bounds[1].alias("end"),
        F.struct(*values).cast(results).alias("emitted"),
    )
    same = reduce(and_, (F.col(f"windows.{b}").eqNullSafe(F.col(f"before.{b}")) for b in ("key", "start", "end")))
    joined = frame.alias("windows").join(before.alias("before"), same, "left")
    return joined.select("windows.*", "before.emitted"), F.col("emitted")


def _with_next(carrier: Carrier, frame: DataFrame) -> tuple[DataFrame, Column]:
    """The windows with when each fires next by the clock, early or late; -1: it does not."""
    by = ("key", "start", "end")
    times = []
    for name in [name for name in carrier.tables if name.startswith(flink_states.WINDOW_PERIODIC)]:
        table = carrier.table(name)
        assert table is not None
        bounds = (table.frame["namespace"].getField(field_name(i)).cast("bigint") for i in range(2))
        columns = (c.alias(n) for c, n in zip((carrier.key(table), *bounds), by, strict=True))
        times.append(table.frame.select(*columns, table.frame["value"].getField(field_name(0)).alias("next")))
    if not times:
        return frame, F.lit(-1)
    following = reduce(lambda one, other: one.unionByName(other), times).groupBy(*by).agg(F.min("next").alias("next"))
    same = reduce(and_, (F.col(f"windows.{b}").eqNullSafe(F.col(f"following.{b}")) for b in by))
    joined = frame.alias("windows").join(following.alias("following"), same, "left")
    return joined.select("windows.*", "following.next"), F.coalesce("next", F.lit(-1))


PARTS = "parts"
"""The part of an accumulator with what each slice has accumulated, as ``Sliced.java`` calls it."""

_FIRST_PART = -(2**62)
"""The number of what a slice has accumulated in Flink; parts that come behind have higher ones."""


def is_in_parts(stored: DataType) -> bool:
    """Whether a kernel keeps what each slice has accumulated, since the order in which they are merged matters."""
    return bool(stored.fieldNames() == [PARTS])  # type: ignore[attr-defined]


def _part(
    call: AggregateCall, retracts: bool, accumulator: Mapping[str, Column], stored: DataType, place: Column
) -> Column:
    """What a slice has accumulated, with its place among those of a window."""
    values = stored.fields[0].dataType.elementType.fields[-1].dataType  # type: ignore[attr-defined]
    own = accumulated(call, retracts, accumulator, values)
    return F.struct(place.alias("slice"), F.lit(_FIRST_PART).alias("part"), own.alias("values"))


def _counted_by_window(carrier: Carrier, calls: Calls, windows: Windows) -> Carried:
    """How often each value occurs in each window that MIN or MAX has seen, where they count them."""
    entries: dict[str, DataFrame] = {}
    for number, table in counted(carrier, calls):
        count = table.frame["value"].getField(field_name(0)).alias("count")
        columns = [carrier.key(table).alias("key"), table.frame["map_key"].alias("value"), count]
        each = windows.of_slices(table.frame.select("namespace", *columns))
        total = each.groupBy("key", "start", "end", "value").agg(F.sum("count").alias("count"))
        map_key = F.struct(F.struct("start", "end"), "value").alias("map_key")
        kept = total.select("key", map_key, F.struct("count").alias("value"))
        entries |= _entries(carrier, calls.names[number], kept)
    return entries


def calls_and_windowing(node: ExecNode, plan: Plan) -> tuple[Calls, WindowingStrategy]:
    """The calls of an aggregation in windows, over the columns that come to its first phase, and its windows."""
    if isinstance(node, GlobalWindowAggregate):
        local = plan.inputs(plan.inputs(node)[0])[0]
        assert isinstance(local, LocalWindowAggregate)
        fields: Sequence[RowField] = plan.inputs(local)[0].fields
        calls, windowing, retracts = local.agg_calls, local.windowing, bool(local.need_retraction)
    elif isinstance(node, GroupWindowAggregate):
        retracted = [node.need_retraction] * len(node.agg_calls)
        fields = plan.inputs(node)[0].fields
        return Calls(node.agg_calls, retracted, node.need_retraction, fields), windowing_of(node)
    else:
        assert isinstance(node, WindowAggregate)
        fields, calls, windowing = plan.inputs(node)[0].fields, node.agg_calls, node.windowing
        retracts = bool(node.need_retraction)
    return Calls(calls, [retracts] * len(calls), counts_rows(windowing, retracts), fields), windowing


def _merged(calls: Calls, name: str) -> Column:
    """A part of an accumulator, merged over slices.  Raises :class:`StateError` where it is not known how."""
    number, _, part = name.partition("_")
    if part == PARTS:
        return F.array_sort(F.collect_list(name), _by_place)
    if part in _SUMMED:
        return F.sum(name)
    if part in ("min", "max"):
        return (F.min if part == "min" else F.max)(name)
    raise StateError(f"slices of {function_name(calls.calls[int(number)])} are not merged yet")


def _by_place(one: Column, other: Column) -> Column:
    place, other_place = one.getField("slice"), other.getField("slice")
    return F.when(place < other_place, -1).when(place > other_place, 1).otherwise(0)


def _seen_by_window(carrier: Carrier, calls: Calls, windows: Windows) -> Mapping[int, DataFrame]:
    """The values that DISTINCT calls have seen, by window: ``value`` (a struct) and ``count``."""
    counts_by_call: dict[int, DataFrame] = {}
    for call in calls.distinct:
        variable = carrier.operator.variable(f"{calls.names[call.number]}-distinct")
        schema: StructType = variable.map_key["key"].dataType  # type: ignore[index,assignment]
        frames = []
        for table in call.tables(carrier):
            count, key = call.count(table), carrier.key(table)
            columns = [key.alias("key"), call.value(table, schema).alias("value"), count.alias("count")]
            frames.append(windows.of_slices(table.frame.where(count > 0).select("namespace", *columns)))
        if frames:
            united = reduce(lambda one, other: one.unionByName(other), frames)
            total = (F.sum if call.counts else F.max)("count")
            counts_by_call[call.number] = united.groupBy("key", "start", "end", "value").agg(total.alias("count"))
    return counts_by_call


def _with_distinct(frame: DataFrame, calls: Calls, number: int, values: DataFrame) -> DataFrame:
    """The accumulator of a DISTINCT call, of all values in a window's slices."""
    call = calls.calls[number]
    function = function_name(call)
    if function in ("MIN", "MAX"):  # which are the same of values that are seen twice
        return frame
    if function not in _TOTALS or f"{number}_{PARTS}" in frame.columns:
        raise StateError(f"slices of {function}(DISTINCT) are not merged yet")
    arguments = [F.col("value").getField(name) for name in values.schema["value"].dataType.names]  # type: ignore[attr-defined]
    counts = reduce(and_, (argument.isNotNull() for argument in arguments))
    totals = {f"{number}_count": F.count(F.when(counts, 1))}
    if function != "COUNT":
        totals[f"{number}_sum"] = F.sum(arguments[0])
    totals = {name: total for name, total in totals.items() if name in frame.columns}
    by = ("key", "start", "end")
    total = values.groupBy(*by).agg(*(column.alias(f"total_{name}") for name, column in totals.items()))
    same = reduce(and_, (F.col(f"windows.{b}").eqNullSafe(F.col(f"totals.{b}")) for b in by))
    joined = frame.alias("windows").join(total.alias("totals"), same, "left")
    others = [F.col(f"windows.{c}") for c in frame.columns if c not in totals]
    found = [_total(function, name, frame.schema[name].dataType) for name in totals]
    return joined.select(*others, *found)


_TOTALS = ("COUNT", "SUM", "$SUM0", "AVG")
"""The functions whose accumulator is the sum and the number of the values."""


def _total(function: str, name: str, t: DataType) -> Column:
    """A total of the values of a window; of none, a sum is NULL, but that of $SUM0."""
    total = F.col(f"totals.total_{name}").cast(t)
    if name.endswith("_count") or function == "$SUM0":
        total = F.coalesce(total, F.lit(0).cast(t))
    return total.alias(name)


def _entries(carrier: Carrier, state: str, frame: DataFrame) -> Carried:
    return dict([carrier.entries(state, 0, frame)])


def _due(carrier: Carrier, windows: Windows, frame: DataFrame) -> Carried:
    """When each key is due, of a frame with its open windows: by the kernel's own state, and Spark's timer."""
    due = frame.groupBy("key").agg(F.min(windows.fires(F.col("end"))).cast("bigint").alias("time"))
    return carrier.due(due)


@carries(WindowTableFunction, implied=(flink_states.SESSION_COUNTS,))
def window_table_function(carrier: Carrier) -> Carried:
    """The rows of open sessions: those of other windows are not kept."""
    node = carrier.node
    assert isinstance(node, WindowTableFunction)
    return session_rows(carrier, Windows.of(carrier, node.windowing).fires)


@carries(WindowRank, WindowDeduplicate)
def window_rank(carrier: Carrier) -> Carried:
    """The first rows of each open window."""
    node = carrier.node
    assert isinstance(node, WindowRank | WindowDeduplicate)
    windows = Windows.of(carrier, node.windowing)
    ranked, single = carrier.table(flink_states.WINDOW_RANK), carrier.table(flink_states.WINDOW_DEDUPLICATE)
    if ranked is not None:
        rows = ranked.frame["value"].getField(field_name(0))
        frame, table = ranked.frame.select("*", F.posexplode(rows).alias("position", "row")), ranked
    elif single is not None:
        frame, table = single.frame.select("*", F.lit(0).alias("position"), single.row.alias("row")), single
    else:
        return {}
    key = carrier.key(FlinkTable(table.table, frame)).alias("key")
    placed = frame.select(key, "namespace", "position", F.col("row").alias(ROW))
    return _rows(carrier, windows, placed)


@carries(WindowJoin)
def window_join(carrier: Carrier) -> Carried:
    """The rows of both sides in each open window."""
    node = carrier.node
    assert isinstance(node, WindowJoin)
    windows = Windows.of(carrier, node.left_windowing)
    schema = carrier.operator.variable("rows").value
    frames = []
    for is_right, name in enumerate(flink_states.JOINED):
        table = carrier.table(name)
        if table is None:
            continue
        own, other = (RIGHT_ROW, LEFT_ROW) if is_right else (LEFT_ROW, RIGHT_ROW)
        sides = [
            table.row.cast(schema[own].dataType).alias(own),
            F.lit(None).cast(schema[other].dataType).alias(other),
            F.lit(bool(is_right)).alias(RIGHT),
        ]
        frames.append(table.frame.select(carrier.key(table).alias("key"), "namespace", "position", *sides))
    if not frames:
        return {}
    return _rows(carrier, windows, reduce(lambda one, other: one.unionByName(other), frames))


def _rows(carrier: Carrier, windows: Windows, frame: DataFrame) -> Carried:
    """Rows of windows, whose ends are in ``namespace``, as a kernel keeps those that it has read."""
    placed = windows.of_ends(frame)
    held = {START: F.col("start"), END: F.col("end"), KIND: F.lit(0), SEQUENCE: F.col("position") + _BEFORE_ALL}
    held |= {name: F.col(name) for name in (ROW, LEFT_ROW, RIGHT_ROW, RIGHT) if name in frame.columns}
    kept = placed.select("key", carrier.input_row("rows", held).alias("value"), "position")
    return {**_entries(carrier, "rows", kept), **_due(carrier, windows, placed)}
