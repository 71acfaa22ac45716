"""Process table functions.

Source of the rules: Flink's ``StreamExecProcessTableFunction`` and ``AbstractProcessTableOperator``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.functions.changelog import FROM_CHANGELOG, ChangelogCall, changelog_call
from ....plan.functions.java import JavaFunction, java_function_of
from ....plan.functions.process import DESCRIPTOR, ProcessArgument, ProcessDeclaration, ProcessState
from ....plan.nodes import (
    ProcessTableFunction,
    WatermarkAssigner,
)
from ....plan.record import Record
from ....plan.rex import Call, Literal, TableArgument
from ....plan.settings import STATE_TTL
from ....plan.user_functions import function_of_call
from ..known.carried import carries_late_rows
from ..query import QueryPlan, chooser
from ..steps import ROWS_AHEAD, TIMER, Kernel, Native, StateLayout, until_watermark, with_ttl

_KINDS = {"value": "ValueState", "list": "ListState", "map": "MapState"}
_STATE_NAME = re.compile("[A-Za-z0-9_]+")


class CalledTable(Record):
    """A table of a call: what the class declares, and what the plan says.

    ``time`` is its column that ``on_time`` names; -1 if there is none.
    """

    declared: ProcessArgument
    argument: TableArgument
    time: int


class ProcessCall(Record):
    """A call of a process table function whose class is known.

    ``tables`` are in the order of the inputs; ``emits_time``: the result has a time.
    """

    function: JavaFunction
    declaration: ProcessDeclaration
    tables: tuple[CalledTable, ...]
    emits_time: bool

    @property
    def passes_columns(self) -> bool:
        return any(table.declared.passes_columns for table in self.tables)


class RowFunction(Native, kw_only=True):
    """A function that sees each row by itself."""

    call: ProcessCall


class KernelFunction(Kernel, kw_only=True):
    """A function that sees the rows of a key, with states; ``ttls`` are those of the states, in milliseconds.

    ``is_timed``: it goes by watermarks.
    """

    call: ProcessCall
    ttls: tuple[int, ...]
    is_timed: bool


class FromChangelog(Native, kw_only=True):
    """Rows that become changes of the kind that a column names."""

    call: ChangelogCall


class ToChangelog(Native, kw_only=True):
    """Changes that become rows with their kind in a column."""

    call: ChangelogCall


def _changelog_call(node: ProcessTableFunction) -> ChangelogCall | None:
    """The call of a node of FROM_CHANGELOG or TO_CHANGELOG; ``None`` for another function."""
    return None if node.call is None else changelog_call(node.call)


def process_call(node: ProcessTableFunction) -> ProcessCall:
    """The call of a node.  Raises :class:`UnsupportedError` where its function is not known, or is another one."""
    call = node.call
    function = None if call is None else java_function_of(call)
    if call is not None and function_of_call(call) is not None:
        raise UnsupportedError("process table functions in Python are compiled, but not executed yet")
    if call is None or function is None:
        name = str(next(iter(((call and call.reference) or {}).values()), "?")).rpartition(".")[2].strip("`")
        raise UnsupportedError(
            f"the process table function {name} is not known",
            hint=f"name its jar, and the class of a temporary function: --jar PATH --function {name}=CLASS",
        )
    declaration = function.declaration.process
    if declaration is None:
        raise UnsupportedError(f"the function {function.name} is no process table function")
    width = len(declaration.arguments) + (2 if declaration.has_system_arguments else 0)
    if len(call.operands) != width:
        raise UnsupportedError(
            f"the plan calls {function.name} with {len(call.operands)} arguments, but its class takes {width}",
            hint="compile the plan again with this version of the jar",
        )
    names = _time_names(call) if declaration.has_system_arguments else ()
    tables = []
    for declared, operand in zip(declaration.arguments, call.operands, strict=False):
        if type(operand) is TableArgument:
            if not declared.is_table:
                raise UnsupportedError(f"the argument {declared.name} of {function.name} is no table")
            columns = operand.type.field_names
            time = next((i for i, name in enumerate(columns) if name in names), -1)
            tables.append(CalledTable(declared, operand, time))
    tables.sort(key=lambda table: table.argument.input_index)
    if [table.argument.input_index for table in tables] != list(range(len(tables))):
        raise UnsupportedError(f"the tables of {function.name} are not the inputs of its node, each once")
    emits_time = bool(tables) and all(table.time >= 0 for table in tables)
    return ProcessCall(function, declaration, tuple(tables), emits_time)


def _time_names(call: Call) -> tuple[str, ...]:
    """The columns that ``on_time`` names."""
    given = call.operands[-2]
    if type(given) is not Call or given.name != DESCRIPTOR:
        return ()
    return tuple(str(o.value) for o in given.operands if type(o) is Literal)


def _check(node: ProcessTableFunction, plan: Plan, options: Mapping[str, str]) -> None:
    if _changelog_call(node) is not None:
        return
    call = process_call(node)
    width = len(node.fields)
    expected = len(call.declaration.result_fields) + call.emits_time + _passed(call)
    if width != expected:
        raise UnsupportedError(
            f"the plan has {width} columns of {call.function.name}, but its class gives {expected}",
            hint="compile the plan again with this version of the jar",
        )
    for table, source in zip(call.tables, plan.inputs(node), strict=False):
        columns = (*table.argument.partition_keys, *(table.argument.order_keys or ()))
        if len(table.argument.type.fields) != len(source.fields) or any(c >= len(source.fields) for c in columns):
            raise UnsupportedError(f"the table {table.declared.name} has other columns than the input of its node")
    for state in call.declaration.states:
        if not _STATE_NAME.fullmatch(state.name):
            raise UnsupportedError(
                f"the state '{state.name}' of {call.function.name}: only letters, digits and _ make its name"
            )


def _passed(call: ProcessCall) -> int:
    """How many columns stand before those of the function."""
    passed = 0
    for table in call.tables:
        whole = table.declared.passes_columns
        keys = len(table.argument.partition_keys) if table.declared.is_set else 0
        passed += len(table.argument.type.fields) if whole else keys
    return passed


def _real_time(node: ProcessTableFunction, query: QueryPlan) -> str | None:
    if _changelog_call(node) is not None or not process_call(node).declaration.is_set:
        return None
    return "a process table function with states looks at the rows of batches"


@chooser(ProcessTableFunction, check=_check, real_time=_real_time)
def process_table_function(
    node: ProcessTableFunction, query: QueryPlan
) -> RowFunction | KernelFunction | FromChangelog | ToChangelog:
    """Each row, or the rows of a key one after the other, through a function."""
    changelog = _changelog_call(node)
    if changelog is not None:
        if changelog.function is FROM_CHANGELOG:
            return FromChangelog(operators="Project", call=changelog, why="each row says what kind of change it is")
        return ToChangelog(operators="Project, Filter", call=changelog, why="the kind of each change becomes a column")
    call = process_call(node)
    if not call.declaration.is_set:
        return RowFunction(operators="Generate", call=call, why="the function sees each row by itself")
    ttls = tuple(_ttl(state, node, query) for state in call.declaration.states)
    is_timed = _is_timed(node, call, query)
    pairs = zip(call.declaration.states, ttls, strict=True)
    states = [with_ttl(_KINDS[s.kind], f"state-{s.name}", "what the function keeps", ttl) for s, ttl in pairs]
    if is_timed:
        states.append(StateLayout("timers", "ValueState", "timers with and without names", "until they fire"))
        for index, table in enumerate(call.tables):
            if table.argument.order_keys:
                states.append(until_watermark("MapState", f"sorted{index}", "rows that wait for their turn"))
        if any(carries_late_rows(query.plan, source) for source in query.plan.inputs(node)):
            states.append(ROWS_AHEAD)
        states.append(TIMER)
    elif not states:
        states.append(StateLayout("none", "", "nothing", "the function has no state"))
    return KernelFunction(
        kernel="process.TimedFunction" if is_timed else "process.KeyedFunction",
        why="the function goes by watermarks" if is_timed else "the function sees the rows of a key in their order",
        shuffle=query.keys(node),
        states=tuple(states),
        call=call,
        ttls=ttls,
        is_timed=is_timed,
    )


def _ttl(state: ProcessState, node: ProcessTableFunction, query: QueryPlan) -> int:
    """The TTL that the class says, else that of the job."""
    return parse_duration(query.option(node, STATE_TTL)) if state.ttl_ms is None else state.ttl_ms


def _is_timed(node: ProcessTableFunction, call: ProcessCall, query: QueryPlan) -> bool:
    """Whether watermarks bring something about, or the function may look at them."""
    if any(table.argument.order_keys for table in call.tables):
        return True
    has_watermarks = any(isinstance(n, WatermarkAssigner) for n in query.plan.upstream([node]))
    if call.declaration.has_timers:
        return has_watermarks or query.is_batch
    return has_watermarks and (call.declaration.takes_context or call.emits_time)
