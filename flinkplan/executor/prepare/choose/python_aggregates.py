"""Aggregations with Python functions.

A group's accumulators are kept by a kernel, which hands the rows of many groups to a process of Python's at once.  In
windows and with OVER a kernel gathers the rows that belong together, and Python aggregates these when they are emitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import Any

from ....plan.document import Plan
from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.functions.user import PythonKind
from ....plan.nodes import ExecNode, PythonGroupAggregate, PythonGroupWindowAggregate, PythonOverAggregate
from ....plan.record import Record, replace
from ....plan.settings import BUNDLE_ROWS, STATE_TTL
from ....plan.specs import AggregateCall, HoppingWindow, SessionWindow
from ....plan.types import BIGINT, LogicalType, array
from ....plan.types import row as row_type
from ....plan.user_functions import function_of_aggregate
from ....udf.builtin_aggregates import NAMES
from ....udf.values import check_type
from ...aggregate_functions import function_name
from ..query import QueryPlan, chooser
from ..steps import Kernel, with_ttl
from ..windows import KernelSessions, KernelWindows, WindowAggregation, clock_of, kernel_windows
from .group_windows import KernelCountWindows, check_count_windows, count_windows, counts_rows, windowing_of
from .over import KernelOverByTime, check_frame, over_by_time

KEY_GROUPS = 128
"""How many key groups there are: the groups of one are worked on together.  As Flink's default maximum parallelism."""

ROWS_AT_ONCE = 10_000
"""How many rows the process of Python's gets in one Arrow batch."""


class PythonGroups(Kernel, kw_only=True):
    """One updating row a group, by Python functions; of a table aggregate function any number of rows.

    ``grouping`` and ``calls`` are over the node's input, of which functions read ``columns``.  ``counts``: rows may be
    taken back, and a group without rows is deleted.  ``update_before``: a row is taken back before it is updated.
    ``row_by_row``: each row's change comes out, not that of a batch's rows.  ``emits_rows``: the one call is of a table
    aggregate function.  ``ttl``: of the state, in milliseconds; 0: none.
    """

    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    columns: tuple[int, ...]
    output_type: LogicalType
    counts: bool
    update_before: bool
    row_by_row: bool
    emits_rows: bool
    ttl: int

    @property
    def notes(self) -> tuple[str, ...]:
        names = dict.fromkeys(call.function_name for call in self.calls)
        each = "after each row" if self.row_by_row else "once a batch"
        return (*keys_at_once(names), f"a changed group comes out {each}")


def keys_at_once(names: Iterable[str]) -> tuple[str, ...]:
    """How functions of these names are called for many keys at once, for people."""
    return (
        f"in a Python process: {', '.join(names)}",
        f"the keys of each of {KEY_GROUPS} key groups together, {ROWS_AT_ONCE:,} rows an Arrow batch",
    )


def not_row_by_row(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle in real-time mode."""
    return "Python functions take the rows of a batch together"


def _check(node: PythonGroupAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_python_calls(node.agg_calls, plan.inputs(node)[0].output_type)
    for call in node.agg_calls:
        function = function_of_aggregate(call)
        if function is not None and function.declaration.emits_table and not node.emits_rows:
            raise UnsupportedError(
                f"the table aggregate function {call.function_name} as an aggregate function",
                hint="call it by flat_aggregate of the Table API",
            )
        if function is not None and function.declaration.python is PythonKind.PANDAS:
            raise UnsupportedError(
                f"the pandas function {call.function_name} over groups of a stream, which never end",
                hint="group by TUMBLE(…) or HOP(…), or declare it without func_type='pandas'",
            )


def check_python_calls(calls: Sequence[AggregateCall], row: LogicalType) -> None:
    """Raise :class:`UnsupportedError` for a built-in function that is not computed in Python, and for types."""
    for call in calls:
        if call.internal_name and function_name(call) not in NAMES:
            raise UnsupportedError(
                f"{call.function_name} beside an aggregate function in Python, where PyFlink does not have it, either",
                hint="compute one of them in a subquery",
            )
        for t in (call.type, *(row.field_types[i] for i in call.arg_list)):
            check_type(t)


@chooser(PythonGroupAggregate, check=_check, real_time=not_row_by_row)
def python_group_aggregate(node: PythonGroupAggregate, query: QueryPlan) -> PythonGroups:
    """The aggregation by general functions, all of which run in Python."""
    calls = node.agg_calls
    used = {i for call in calls for i in (*call.arg_list, call.filter_arg) if i >= 0}
    ttl = parse_duration(query.option(node, STATE_TTL))
    held = "accumulators as Python writes them, what each DISTINCT has seen"
    return PythonGroups(
        kernel="python.PythonGroups",
        why="functions in Python keep what they want in their accumulators",
        shuffle=query.keys(node),
        states=(with_ttl("MapState", "accumulators", f"by group {held}", ttl),),
        grouping=tuple(node.grouping),
        calls=calls,
        columns=tuple(sorted(used)),
        output_type=node.output_type,
        counts=node.need_retraction,
        update_before=node.generate_update_before,
        row_by_row=int(query.option(node, BUNDLE_ROWS)) == 1,
        emits_rows=node.emits_rows,
        ttl=ttl,
    )


# ---------------------------------------------------------------- windows, and OVER

ROWS = "rows"
"""The column of the rows that belong together."""


class Gathered(Record):
    """Rows that a kernel gathers for calls in Python.

    ``columns``: what the functions read of the node's input.  ``pane_ms``, ``gap_ms``: general functions see a window
    as merged of panes of this length, or of sessions with this gap; 0: they do not.  ``in_bundles``: no row of a
    micro-batch is late because of another one.
    """

    calls: tuple[AggregateCall, ...]
    columns: tuple[int, ...]
    pane_ms: int = 0
    gap_ms: int = 0
    in_bundles: bool = False

    @property
    def note(self) -> str:
        """For people."""
        names = dict.fromkeys(call.function_name for call in self.calls)
        return f"in Spark's Python workers, in Arrow batches: {', '.join(names)}, over all rows that belong together"

    def call(self, row: LogicalType) -> AggregateCall:
        """The aggregate call that gathers the rows: of a column behind those of ``row``, the node's input."""
        return AggregateCall(
            name=ROWS,
            internal_name="$ARRAY_AGG$1",
            arg_list=(len(row.fields),),
            filter_arg=-1,
            distinct=False,
            approximate=False,
            ignore_nulls=False,
            type=array(self.type(row)),
        )

    def type(self, row: LogicalType) -> LogicalType:
        """The type of a gathered row: the columns, and the row's time in milliseconds if it is asked for."""
        fields = [(row.field_names[i], row.field_types[i]) for i in self.columns]
        return row_type([*fields, *([("$time", BIGINT)] if self.pane_ms or self.gap_ms else [])])


class PythonWindows(KernelWindows, kw_only=True):
    """Windows whose rows are gathered by a kernel and aggregated in Python when they close."""

    gathered: Gathered

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.gathered.note,)


class PythonSessions(KernelSessions, kw_only=True):
    """The same of sessions."""

    gathered: Gathered

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.gathered.note,)


class PythonCountWindows(KernelCountWindows, kw_only=True):
    """The same of windows that count rows."""

    gathered: Gathered

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.gathered.note,)


class PythonOver(KernelOverByTime, kw_only=True):
    """The rows of each row's frame are gathered by a kernel and aggregated in Python."""

    gathered: Gathered

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.gathered.note,)


def _check_window(node: PythonGroupWindowAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    if counts_rows(node):
        check_count_windows(node)
    else:
        windowing_of(node)
    check_python_calls(node.agg_calls, plan.inputs(node)[0].output_type)
    _check_kinds(node.agg_calls)


def _check_kinds(calls: Sequence[AggregateCall]) -> None:
    """Raise :class:`UnsupportedError` for pandas functions beside others, and with what they do not have in Flink."""
    functions = [function_of_aggregate(call) for call in calls]
    pandas = [f is not None and f.declaration.python is PythonKind.PANDAS for f in functions]
    if any(pandas) and not all(pandas):
        raise UnsupportedError("a pandas aggregate function beside others", hint="compute one of them in a subquery")
    for call in calls:
        if all(pandas) and (call.is_distinct or call.filter_arg >= 0):
            raise UnsupportedError(f"DISTINCT or FILTER with the pandas function {call.function_name}")


@chooser(PythonGroupWindowAggregate, check=_check_window, real_time=not_row_by_row)
def python_group_window_aggregate(
    node: PythonGroupWindowAggregate, query: QueryPlan
) -> PythonWindows | PythonSessions | PythonCountWindows:
    """One row a key and window when the window closes."""
    source = query.input(node)
    row = source.output_type
    gathered = _gathered(node)
    keys = [(row.field_names[g], row.field_types[g]) for g in node.grouping]
    properties = node.output_type.fields[len(keys) + len(node.agg_calls) :]
    output = row_type([*keys, (ROWS, gathered.call(row).type), *((f.name, f.type) for f in properties)])
    if counts_rows(node):
        counted = count_windows(node, query, (gathered.call(row),), output)
        return PythonCountWindows(**_fields(counted), gathered=gathered)
    windowing = windowing_of(node)
    aggregation = WindowAggregation(
        tuple(node.grouping),
        (gathered.call(row),),
        windowing,
        tuple(node.named_window_properties),
        clock_of(node, windowing.time_attribute_type, query),
        output,
        panes=True,
    )
    step = kernel_windows(node, aggregation, query, "functions in Python see all rows of a window", source)
    made = PythonWindows if isinstance(step, KernelWindows) else PythonSessions
    return made(**_fields(step), gathered=gathered)


def _fields(step: Kernel) -> dict[str, Any]:
    return {name: getattr(step, name) for name in step.__struct_fields__}


def _gathered(node: PythonGroupWindowAggregate) -> Gathered:
    calls = node.agg_calls
    used = {i for call in calls for i in (*call.arg_list, call.filter_arg) if i >= 0}
    functions = [function_of_aggregate(call) for call in calls]
    is_pandas = all(f is not None and f.declaration.python is PythonKind.PANDAS for f in functions)
    pane_ms = gap_ms = 0
    if not is_pandas and not counts_rows(node) and not windowing_of(node).is_proctime:
        match windowing_of(node).window:
            case HoppingWindow() as window:
                pane_ms = gcd(window.size_ms, window.slide_ms)
            case SessionWindow() as window:
                gap_ms = window.gap_ms
    return Gathered(tuple(calls), tuple(sorted(used)), pane_ms, gap_ms, in_bundles=not is_pandas)


def _check_over(node: PythonOverAggregate, plan: Plan, options: Mapping[str, str]) -> None:
    check_frame(node, plan)
    (source,) = plan.inputs(node)
    (group,) = node.over_spec.groups
    if group.lower_bound.kind == "UNBOUNDED_PRECEDING":
        raise UnsupportedError(
            "a Python function with OVER whose frame has no lower bound", hint="Flink has none, either"
        )
    check_python_calls(group.agg_calls, _with_constants(node, source))
    _check_kinds(group.agg_calls)


def _with_constants(node: PythonOverAggregate, source: ExecNode) -> LogicalType:
    """The columns that calls are over: those of the input, then constants."""
    constants = [(f"constant{i}", c.type) for i, c in enumerate(node.over_spec.constants)]
    return row_type([*((f.name, f.type) for f in source.output_type.fields), *constants])


@chooser(PythonOverAggregate, check=_check_over, real_time=not_row_by_row)
def python_over_aggregate(node: PythonOverAggregate, query: QueryPlan) -> PythonOver:
    """Each row with what functions make of the rows of its frame."""
    (group,) = node.over_spec.groups
    used = {i for call in group.agg_calls for i in (*call.arg_list, call.filter_arg) if i >= 0}
    gathered = Gathered(group.agg_calls, tuple(sorted(used)))
    call = gathered.call(_with_constants(node, query.input(node)))
    step = over_by_time(node, query, replace(group, agg_calls=(call,)))
    return PythonOver(**_fields(step), gathered=gathered)
