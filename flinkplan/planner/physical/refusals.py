"""Operators that Flink refuses to plan for a stream, although the query binds.

Sources: ``SatisfyModifyKindSetTraitVisitor``, ``WindowUtil``, ``AggFunctionFactory``,
``StreamPhysicalIntervalJoinRule``, ``StreamExecWindowJoin``, ``FileSystemTableSink``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...plan.functions import aggregation_of
from ...plan.functions.aggregate import APPROX_COUNT_DISTINCT
from ...plan.functions.process import Trait
from ...plan.functions.user import PythonFunction, PythonKind, UserFunction
from ...plan.rex import RexNode, walk
from ...plan.settings import DELTA_JOINS, PROCESS_TABLES, is_batch_mode, value_of
from ...plan.specs import AggregateCall, SessionGroupWindow
from ...plan.types import CHARACTER, DATETIME, NUMERIC, LogicalType
from ..algebra import physical as p
from ..algebra.calls import is_call_of, python_calls
from ..algebra.rel import Rel
from ..algebra.traits import ReadsInserts
from ..algebra.tree import Pass, Rewrite
from ..connectors import table_options
from ..errors import Part, PlanningError
from ..metadata.modify_kinds import INSERT_ONLY, is_ordered_by_time, modify_kinds
from ..metadata.process_tables import takes_updates
from ..rules.legacy_windows import emit_text

_ORDERED = frozenset((*CHARACTER, "BOOLEAN", *NUMERIC, *DATETIME))
_DISTINCT = _ORDERED | {"ARRAY", "VARIANT", "BITMAP"}
"""The types that DISTINCT accepts, besides intervals."""
_SWITCH_OFF = "switch table.exec.emit.early-fire.enabled and table.exec.emit.late-fire.enabled off"


def refuse_unplannable(rel: Rel, config: Mapping[str, str]) -> Rel:
    """The tree as it is.  Raises :class:`PlanningError` for its first operator, inputs first, that Flink refuses."""

    def check(each: Rel, visit: Rewrite) -> Rel:
        for below in each.inputs:
            visit(below)
        _check(each, config)
        return each

    return Pass(check).visit(rel)


def _check(rel: Rel, config: Mapping[str, str]) -> None:
    reader = _reader_of_inserts(rel)
    if reader is not None and any(not modify_kinds(each) <= INSERT_ONLY for each in rel.inputs):
        raise PlanningError(f"{reader} takes inserts only, but its input has updates or deletions")
    if not is_batch_mode(config) and any(is_call_of(c, APPROX_COUNT_DISTINCT) for c in _calls(rel)):
        name = APPROX_COUNT_DISTINCT.name
        hint = "use COUNT(DISTINCT …)"
        raise PlanningError(f"{name} does not work on streams", hint=hint, part=Part.FUNCTION, name=name)
    if isinstance(rel, p.Calc) and any(r.type.root == "VARIANT" for e in _expressions(rel) for r in walk(e)):
        raise PlanningError(
            "Flink cannot write an expression of type VARIANT into a compiled plan",
            hint="read JSON texts with JSON_VALUE or JSON_QUERY",
        )
    for call, t in _arguments(rel):
        if call.distinct and t.root not in _DISTINCT and not t.root.startswith("INTERVAL"):
            raise PlanningError(
                f"DISTINCT in an aggregate function does not support {t.nullable_()}",
                hint="aggregate a column of a simple type, or the result of SELECT DISTINCT in a subquery",
                part=Part.FUNCTION,
                name=call.function_name,
            )
        if aggregation_of(call.internal_name).compares and t.root not in _ORDERED:
            raise PlanningError(
                f"{call.function_name} does not support {t.nullable_()}",
                hint="aggregate a column of a number, a text, a BOOLEAN, a date or a time",
                part=Part.FUNCTION,
                name=call.function_name,
            )
    _check_python(rel)
    rule = _RULES.get(type(rel))
    if rule is not None:
        rule(rel, config)


def _check_python(rel: Rel) -> None:
    """Raise :class:`PlanningError` where Flink cannot aggregate by a Python function.

    Sources: ``PythonAggregateRule``, ``StreamPhysicalPythonGroupAggregateRule``,
    ``StreamPhysicalPythonGroupWindowAggregateRule``, ``StreamPhysicalPythonOverAggregateRule``.
    """
    if not isinstance(rel, (p.GroupAggregate, p.LegacyWindowAggregate, p.OverAggregate)):
        return
    functions = python_calls(rel.calls)
    if not functions:
        return
    pandas = [f for f in functions if f.declaration.python is PythonKind.PANDAS]
    general = [f for f in functions if f not in pandas]
    if isinstance(rel, p.OverAggregate):
        if general:
            raise _python_error(
                general[0], "cannot be used with OVER", "declare it with func_type='pandas', or aggregate by GROUP BY"
            )
        if len(functions) < len(rel.calls):
            raise _python_error(
                functions[0],
                "cannot stand beside a built-in aggregate function with OVER",
                "compute one of them in a subquery",
            )
        return
    if pandas and isinstance(rel, p.GroupAggregate):
        raise _python_error(
            pandas[0],
            "takes the rows of a window at once, and a group of a stream never ends",
            "group by TUMBLE(…) or HOP(…), or declare the function without func_type='pandas'",
        )
    if pandas and len(pandas) < len(rel.calls):
        raise _python_error(
            pandas[0],
            "cannot stand beside other aggregate functions than those with func_type='pandas'",
            "compute one of them in a subquery",
        )
    if pandas and isinstance(rel, p.LegacyWindowAggregate) and isinstance(rel.window, SessionGroupWindow):
        raise _python_error(pandas[0], "cannot be used in a session window", "group by TUMBLE(…) or HOP(…)")


def _python_error(function: PythonFunction, cause: str, hint: str) -> PlanningError:
    message = f"the Python function {function.name} {cause}"
    return PlanningError(message, hint=hint, part=Part.FUNCTION, name=function.name)


def _expressions(rel: p.Calc) -> Iterator[RexNode]:
    yield from rel.projection
    if rel.condition is not None:
        yield rel.condition


def _reader_of_inserts(rel: Rel) -> str | None:
    """An operator that accepts inserts only, in words; ``None`` where it also accepts other changes."""
    if isinstance(rel, ReadsInserts):
        return rel.description
    if isinstance(rel, p.OverAggregate) and is_ordered_by_time(rel):
        return "OVER ordered by time"
    if isinstance(rel, p.Sink):
        options = table_options(rel.table, dict(rel.options))
        if options.get("connector") == "filesystem" and "sink.parallelism" in options:
            return "a table of files with sink.parallelism"
    return None


def _calls(rel: Rel) -> Iterator[AggregateCall]:
    if isinstance(rel, p.OverAggregate):
        yield from (c for g in rel.groups for c in g.agg_calls)
    elif isinstance(rel, (*_FIRST_PHASES, p.GlobalGroupAggregate, p.GlobalWindowAggregate)):
        yield from rel.calls


def _arguments(rel: Rel) -> Iterator[tuple[AggregateCall, LogicalType]]:
    """The calls with one argument that read the rows of the input, with the argument's type.

    Sources: ``AggregateUtil.createDistinctKeyType``, ``AggFunctionFactory``.
    """
    if isinstance(rel, _FIRST_PHASES):
        fields = rel.input.row_type.fields
        yield from ((c, fields[c.arg_list[0]].type) for c in rel.calls if len(c.arg_list) == 1)


def _window_aggregate(rel: p.WindowAggregate | p.GlobalWindowAggregate, config: Mapping[str, str]) -> None:
    if emit_text(config) is not None:
        raise PlanningError(
            "an aggregation over a window table function fires neither early nor late", hint=_SWITCH_OFF
        )


def _legacy_window(rel: p.LegacyWindowAggregate, config: Mapping[str, str]) -> None:
    if rel.emit is not None and isinstance(rel.window, SessionGroupWindow):
        raise PlanningError("a session window fires neither early nor late", hint=_SWITCH_OFF)


def _interval_join(rel: p.IntervalJoin, config: Mapping[str, str]) -> None:
    bounds = rel.spec.window_bounds
    if not bounds.is_event_time and any(f.type.is_rowtime for i in rel.inputs for f in i.row_type.fields):
        raise PlanningError(
            "an interval join by processing time reads a column of event time, whose watermarks it would not hold back",
            hint="leave that column out of both sides, or cast it to a plain timestamp below the join",
        )
    left = rel.left.types[bounds.left_time_index]
    right = rel.right.types[bounds.right_time_index]
    if bounds.is_event_time and left.root != right.root:
        raise PlanningError(
            f"an interval join compares time attributes of one type, not {left.regular()} with {right.regular()}",
            hint="declare both watermarks on columns of the same type",
        )


def _window_join(rel: p.WindowJoin, config: Mapping[str, str]) -> None:
    if rel.left_windowing.is_proctime or rel.right_windowing.is_proctime:
        raise PlanningError(
            "a join of windows by processing time is not supported", hint="assign both windows by event time"
        )


def _regular_join(rel: p.RegularJoin, config: Mapping[str, str]) -> None:
    if value_of(config, DELTA_JOINS).upper() == "FORCE":
        raise PlanningError(
            f"a join is no delta join, which '{DELTA_JOINS}' = 'FORCE' asks for: no table of a script has an index",
            hint=f"SET '{DELTA_JOINS}' = 'AUTO'",
        )


def _process_table(rel: p.ProcessTable, config: Mapping[str, str]) -> None:
    limit = int(value_of(config, PROCESS_TABLES))
    if len(rel.tables) > limit:
        raise PlanningError(
            f"{rel.function.name} takes {len(rel.tables)} tables, and '{PROCESS_TABLES}' is {limit}",
            part=Part.FUNCTION,
            name=rel.function.name,
        )
    for index, table in enumerate(rel.declared_tables):
        if not takes_updates(rel, index) and not modify_kinds(rel.inputs[index]) <= INSERT_ONLY:
            name = rel.function.name
            raise PlanningError(
                f"the table {table.name} of {name} takes inserts only, but its input has updates or deletions",
                hint="declare it with ArgumentTrait.SUPPORT_UPDATES",
                part=Part.FUNCTION,
                name=name,
            )
        is_users = isinstance(rel.function, UserFunction)
        if is_users and Trait.ROW_SEMANTIC_TABLE in table.traits and not modify_kinds(rel) <= INSERT_ONLY:
            name = rel.function.name
            raise PlanningError(
                f"{name} emits updates, but looks at each row of {table.name} by itself",
                hint="declare the table with ArgumentTrait.SET_SEMANTIC_TABLE",
                part=Part.FUNCTION,
                name=name,
            )


_FIRST_PHASES = (
    p.GroupAggregate,
    p.LocalGroupAggregate,
    p.LegacyWindowAggregate,
    p.WindowAggregate,
    p.LocalWindowAggregate,
)
_RULES: dict[type[Rel], Callable[..., None]] = {
    p.WindowAggregate: _window_aggregate,
    p.GlobalWindowAggregate: _window_aggregate,
    p.LegacyWindowAggregate: _legacy_window,
    p.RegularJoin: _regular_join,
    p.IntervalJoin: _interval_join,
    p.WindowJoin: _window_join,
    p.ProcessTable: _process_table,
}
