"""Python functions that a plan calls by name: joined with the functions themselves.

A plan that is read from a file has their names alone; whoever loads it says which function each stands for, as Flink
looks them up in the catalog of the session that executes the plan.  A plan that was compiled in the same process has
the functions already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from .document import Plan
from .functions.user import FunctionName, FunctionReference, PythonFunction, called_python
from .nodes import ExecNode
from .nodes.python import (
    PythonAsyncCalc,
    PythonCalc,
    PythonCorrelate,
    PythonGroupAggregate,
    PythonGroupWindowAggregate,
    PythonNode,
    PythonOverAggregate,
)
from .record import Json, Record, replace
from .rex import Call, RexNode, transform, walk
from .specs import AggregateCall


class FunctionId(Record):
    """How a plan names a function of a user: a ``name`` that holds in all databases (``is_system``), or one with its
    catalog and database, each in backquotes, or that of a function that is not registered.
    """

    name: str
    is_system: bool

    @property
    def short(self) -> str:
        """The name without catalog and database."""
        return self.name if self.is_system else self.name.rpartition(".")[2].strip("`")


Find: TypeAlias = Callable[[FunctionId], PythonFunction | None]
"""Gives the function of a name; ``None`` if it has none."""


def bind_functions(plan: Plan, find: Find) -> Plan:
    """The plan with the functions that ``find`` gives for names without one."""
    if not any(unbound_functions(node) for node in plan.nodes):
        return plan
    return replace(plan, nodes=tuple(_bound(node, find) for node in plan.nodes))


def unbound_functions(node: ExecNode) -> list[FunctionId]:
    """The names of the Python functions that a node calls, as long as it does not have the functions."""
    if not isinstance(node, PythonNode):
        return []
    ids = [_id_in(call) for call in _calls(node) if function_of_call(call) is None]
    ids += [_id_of(call) for call in aggregate_calls(node) if _is_user(call) and function_of_aggregate(call) is None]
    return list(dict.fromkeys(ids))


def function_of_call(call: Call) -> PythonFunction | None:
    """The function that an expression calls, if it is a Python function that the plan has."""
    return call.reference.function if isinstance(call.reference, FunctionReference) else None


def function_of_aggregate(call: AggregateCall) -> PythonFunction | None:
    """The same of an aggregate call; a built-in function is none."""
    names = (call.system_name, call.catalog_name, call.class_)
    return next(filter(None, map(called_python, names)), None)


def aggregate_calls(node: ExecNode) -> tuple[AggregateCall, ...]:
    """The aggregate calls of a node that calls Python functions."""
    if isinstance(node, (PythonGroupAggregate, PythonGroupWindowAggregate)):
        return node.agg_calls
    if isinstance(node, PythonOverAggregate):
        return tuple(call for group in node.over_spec.groups for call in group.agg_calls)
    return ()


def _calls(node: ExecNode) -> Iterator[Call]:
    """The calls of functions of users in the expressions of a node."""
    outermost: tuple[RexNode, ...] = ()
    if isinstance(node, (PythonCalc, PythonAsyncCalc)):
        outermost = node.projection
    elif isinstance(node, PythonCorrelate):
        outermost = (node.function_call,)
    for each in outermost:
        for rex in walk(each):
            if type(rex) is Call and rex.reference is not None:
                yield rex


def _id_in(call: Call) -> FunctionId:
    assert call.reference is not None
    return _id(call.reference)


def _id(reference: Json) -> FunctionId:
    if "systemName" in reference:
        return FunctionId(str(reference["systemName"]), True)
    return FunctionId(str(reference.get("catalogName") or reference.get("class") or ""), False)


def _is_user(call: AggregateCall) -> bool:
    return bool(call.system_name or call.catalog_name or call.class_)


def _id_of(call: AggregateCall) -> FunctionId:
    return FunctionId(call.system_name or call.catalog_name or call.class_ or "", call.system_name is not None)


def _bound(node: ExecNode, find: Find) -> ExecNode:
    def bind(rex: RexNode) -> RexNode:
        if type(rex) is not Call or rex.reference is None or function_of_call(rex) is not None:
            return rex
        function = find(_id(rex.reference))
        if function is None:
            return rex
        reference = FunctionReference(rex.reference)
        reference.function = function
        return replace(rex, reference=reference)

    def bind_aggregate(call: AggregateCall) -> AggregateCall:
        function = find(_id_of(call)) if _is_user(call) and function_of_aggregate(call) is None else None
        if function is None:
            return call
        field = next(f for f in ("system_name", "catalog_name", "class_") if getattr(call, f))
        name = FunctionName(getattr(call, field))
        name.function = function
        return replace(call, **{field: name})

    if isinstance(node, (PythonCalc, PythonAsyncCalc)):
        return replace(node, projection=tuple(transform(rex, bind) for rex in node.projection))
    if isinstance(node, PythonCorrelate):
        return replace(node, function_call=transform(node.function_call, bind))
    if isinstance(node, (PythonGroupAggregate, PythonGroupWindowAggregate)):
        return replace(node, agg_calls=tuple(map(bind_aggregate, node.agg_calls)))
    if isinstance(node, PythonOverAggregate):
        groups = tuple(
            replace(group, agg_calls=tuple(map(bind_aggregate, group.agg_calls))) for group in node.over_spec.groups
        )
        return replace(node, over_spec=replace(node.over_spec, groups=groups))
    return node
