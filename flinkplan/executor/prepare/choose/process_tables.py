"""Process table functions.

Source of the rules: Flink's ``StreamExecProcessTableFunction`` and ``AbstractProcessTableOperator``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from ....plan.document import Plan
from ....plan.durations import parse_duration
from ....plan.errors import UnsupportedError
from ....plan.functions.changelog import FROM_CHANGELOG, ChangelogCall, changelog_call
from ....plan.functions.process import DESCRIPTOR, ProcessArgument, ProcessDeclaration, ProcessState
from ....plan.functions.user import PythonFunction as InPython
from ....plan.functions.user import UserFunction
from ....plan.nodes import (
    ProcessTableFunction,
    WatermarkAssigner,
)
from ....plan.record import Record
from ....plan.rex import Call, Literal, TableArgument
from ....plan.settings import STATE_TTL
from ....plan.user_functions import user_function_of_call
from ....udf.values import check_type
from ..known.carried import carries_late_rows
from ..query import QueryPlan, chooser
from ..steps import ROWS_AHEAD, TIMER, Kernel, Native, Python, StateLayout, until_watermark, with_ttl
from .python_aggregates import keys_at_once
from .python_functions import ROWS_IN_BATCHES

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

    function: UserFunction
    declaration: ProcessDeclaration
    tables: tuple[CalledTable, ...]
    emits_time: bool

    @property
    def is_python(self) -> bool:
        """Whether the function is in Python."""
        return isinstance(self.function, InPython)

    @property
    def passes_columns(self) -> bool:
        """Whether all columns of its table are passed through."""
        return any(table.declared.passes_columns for table in self.tables)

    @property
    def sets_timers(self) -> bool:
        """Whether it may set timers: all its tables have set semantics, without columns that are passed through."""
        are_sets = all(table.declared.is_set for table in self.tables) and bool(self.tables)
        return self.declaration.has_timers and are_sets and not self.passes_columns


class RowFunction(Native, kw_only=True):
    """A function that sees each row by itself."""

    call: ProcessCall


class PythonRowFunction(Python, kw_only=True):
    """The same in Python."""

    operators: ClassVar[str] = "ArrowEvalPython, Generate"
    call: ProcessCall

    @property
    def by(self) -> str:
        return self.operators


class KernelFunction(Kernel, kw_only=True):
    """A function that sees the rows of a key, with states; ``ttls`` are those of the states, in milliseconds.

    ``is_timed``: it goes by watermarks.
    """

    call: ProcessCall
    ttls: tuple[int, ...]
    is_timed: bool


class PythonFunction(KernelFunction, kw_only=True):
    """The same in Python."""

    @property
    def notes(self) -> tuple[str, ...]:
        return keys_at_once([self.call.function.name])


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
    function = None if call is None else user_function_of_call(call)
    if call is None or function is None:
        name = str(next(iter(((call and call.reference) or {}).values()), "?")).rpartition(".")[2].strip("`")
        raise UnsupportedError(
            f"the process table function {name} is not known",
            hint=f"name its file, or its jar and the class of a temporary function: --py-files PATH, or --jar PATH "
            f"--function {name}=CLASS",
        )
    declaration = function.process
    if declaration is None:
        raise UnsupportedError(f"the function {function.name} is no process table function")
    width = len(declaration.arguments) + (2 if declaration.has_system_arguments else 0)
    if len(call.operands) != width:
        raise UnsupportedError(
            f"the plan calls {function.name} with {len(call.operands)} arguments, but its class takes {width}",
            hint="compile the plan again with this version of the class",
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
            hint="compile the plan again with this version of the class",
        )
    for table, source in zip(call.tables, plan.inputs(node), strict=False):
        columns = (*table.argument.partition_keys, *(table.argument.order_keys or ()))
        if len(table.argument.type.fields) != len(source.fields) or any(c >= len(source.fields) for c in columns):
            raise UnsupportedError(f"the table {table.declared.name} has other columns than the input of its node")
    _check_states(node, call)
    if call.is_python:
        _check_types(call)
    for state in call.declaration.states:
        if not _STATE_NAME.fullmatch(state.name):
            raise UnsupportedError(
                f"the state '{state.name}' of {call.function.name}: only letters, digits and _ make its name"
            )


def _check_types(call: ProcessCall) -> None:
    """Raise :class:`UnsupportedError` for a type whose values no Python function can be given, or give."""
    types = [call.declaration.result, *(t for s in call.declaration.states for t in (s.value, s.key) if t is not None)]
    types += [a.type for a in call.declaration.arguments if a.type is not None and a.type.root != "DESCRIPTOR"]
    for t in (*types, *(table.argument.type for table in call.tables)):
        check_type(t)


def _check_states(node: ProcessTableFunction, call: ProcessCall) -> None:
    names = [state.name for state in call.declaration.states]
    for state in node.states:
        if state.name not in names:
            raise UnsupportedError(
                f"the plan has a state '{state.name}' of {call.function.name}, which its class does not have",
                hint=f"its states are {', '.join(names)}" if names else "it has no states",
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
    if _changelog_call(node) is not None:
        return None
    call = process_call(node)
    if not call.declaration.is_set:
        return ROWS_IN_BATCHES if call.is_python else None
    return "a process table function with states looks at the rows of batches"


@chooser(ProcessTableFunction, check=_check, real_time=_real_time)
def process_table_function(
    node: ProcessTableFunction, query: QueryPlan
) -> RowFunction | PythonRowFunction | KernelFunction | FromChangelog | ToChangelog:
    """Each row, or the rows of a key one after the other, through a function."""
    changelog = _changelog_call(node)
    if changelog is not None:
        if changelog.function is FROM_CHANGELOG:
            return FromChangelog(operators="Project", call=changelog, why="each row says what kind of change it is")
        return ToChangelog(operators="Project, Filter", call=changelog, why="the kind of each change becomes a column")
    call = process_call(node)
    if not call.declaration.is_set:
        if call.is_python:
            return PythonRowFunction(call=call, why="the function sees each row by itself")
        return RowFunction(operators="Generate", call=call, why="the function sees each row by itself")
    ttls = tuple(_ttl(state, node, query) for state in call.declaration.states)
    is_timed = _is_timed(node, call, query)
    pairs = zip(call.declaration.states, ttls, strict=True)
    kinds = dict.fromkeys(_KINDS, "MapState") if call.is_python else _KINDS
    states = [with_ttl(kinds[s.kind], f"state-{s.name}", "what the function keeps", ttl) for s, ttl in pairs]
    if is_timed:
        if call.sets_timers or not call.is_python:
            kind = "MapState" if call.is_python else "ValueState"
            states.append(StateLayout("timers", kind, "timers with and without names", "until they fire"))
        for index, table in enumerate(call.tables):
            if table.argument.order_keys:
                states.append(until_watermark("MapState", f"sorted{index}", "rows that wait for their turn"))
        if any(carries_late_rows(query.plan, source) for source in query.plan.inputs(node)):
            states.append(ROWS_AHEAD)
        states.append(TIMER)
    elif not states:
        states.append(StateLayout("none", "", "nothing", "the function has no state"))
    why = "the function goes by watermarks" if is_timed else "the function sees the rows of a key in their order"
    keys = query.keys(node)
    if call.is_python:
        return PythonFunction(
            kernel="python.PythonTimedFunction" if is_timed else "python.PythonKeyedFunction",
            why=why,
            shuffle=keys,
            states=tuple(states),
            call=call,
            ttls=ttls,
            is_timed=is_timed,
        )
    return KernelFunction(
        kernel="process.TimedFunction" if is_timed else "process.KeyedFunction",
        why=why,
        shuffle=keys,
        states=tuple(states),
        call=call,
        ttls=ttls,
        is_timed=is_timed,
    )


def _ttl(state: ProcessState, node: ProcessTableFunction, query: QueryPlan) -> int:
    """The TTL in the plan, else the one that the class says, else that of the job."""
    edited = node.ttl_of(state.name)
    if edited is not None:
        return edited
    return parse_duration(query.option(node, STATE_TTL)) if state.ttl_ms is None else state.ttl_ms


def _is_timed(node: ProcessTableFunction, call: ProcessCall, query: QueryPlan) -> bool:
    """Whether watermarks bring something about, or the function may look at them."""
    if any(table.argument.order_keys for table in call.tables):
        return True
    has_watermarks = any(isinstance(n, WatermarkAssigner) for n in query.plan.upstream([node]))
    if call.declaration.has_timers:
        return has_watermarks or query.is_batch
    return has_watermarks and (call.declaration.takes_context or call.emits_time)
