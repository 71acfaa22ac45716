"""Functions of users that a plan calls by name: joined with the functions themselves.

A plan that is read from a file has their names alone; whoever loads it says which function each stands for, as Flink
looks them up in the catalog of the session that executes the plan.  A plan that was compiled in the same process has
the functions already.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

from .document import Plan
from .functions.java import JavaFunction
from .functions.user import FunctionName, FunctionReference, PythonFunction, UserFunction, called_function
from .nodes import ExecNode, ProcessTableFunction
from .nodes.expressions import expressions
from .nodes.python import PythonGroupAggregate, PythonGroupWindowAggregate, PythonNode, PythonOverAggregate
from .record import Json, Record, replace
from .rex import Call, RexNode, transform, walk
from .specs import AggregateCall
from .types import LogicalType


class FunctionId(Record):
    """How a plan names a function of a user: a ``name`` that holds in all databases (``is_system``), or one with its
    catalog and database, each in backquotes, or that of a function that is not registered.
    """

    name: str
    is_system: bool
    class_name: str | None = None
    """The class of a permanent function in Java."""
    is_python: bool | None = False
    """Whether the node that calls it is one of Python functions; ``None`` for one of either."""

    @property
    def short(self) -> str:
        """The name without catalog and database."""
        return self.name if self.is_system else self.name.rpartition(".")[2].strip("`")


Find: TypeAlias = Callable[[FunctionId], UserFunction | None]
"""Gives the function of a name; ``None`` if it has none."""


def bind_functions(plan: Plan, find: Find) -> Plan:
    """The plan with the functions that ``find`` gives for names without one."""
    if not any(unbound_functions(node) for node in plan.nodes):
        return plan
    return replace(plan, nodes=tuple(_bound(node, find) for node in plan.nodes))


def unbound_functions(node: ExecNode) -> list[FunctionId]:
    """The names of the functions of users that a node calls, as long as it does not have the functions."""
    is_python = _is_python(node)
    ids = [_id(c.reference, is_python) for c in _calls(node) if c.reference and user_function_of_call(c) is None]
    for call in _aggregate_calls(node):
        if _is_user(call) and user_function_of_aggregate(call) is None:
            ids.append(_id_of(call, is_python))
    return list(dict.fromkeys(ids))


def java_functions(node: ExecNode) -> list[JavaFunction]:
    """The Java functions that a node calls, each once."""
    functions = [*map(user_function_of_call, _calls(node)), *map(user_function_of_aggregate, _aggregate_calls(node))]
    return list({id(f): f for f in functions if isinstance(f, JavaFunction)}.values())


def user_function_of_call(call: Call) -> UserFunction | None:
    """The function of a user that an expression calls, if the plan has it."""
    return call.reference.function if isinstance(call.reference, FunctionReference) else None


def user_function_of_aggregate(call: AggregateCall) -> UserFunction | None:
    """The same of an aggregate call; a built-in function is none."""
    names = (call.system_name, call.catalog_name, call.class_)
    return next(filter(None, map(called_function, names)), None)


def function_of_call(call: Call) -> PythonFunction | None:
    """The function that an expression calls, if it is a Python function that the plan has."""
    function = user_function_of_call(call)
    return function if isinstance(function, PythonFunction) else None


def function_of_aggregate(call: AggregateCall) -> PythonFunction | None:
    """The same of an aggregate call."""
    function = user_function_of_aggregate(call)
    return function if isinstance(function, PythonFunction) else None


def aggregate_calls(node: ExecNode) -> tuple[AggregateCall, ...]:
    """The aggregate calls of a node that calls Python functions."""
    if isinstance(node, (PythonGroupAggregate, PythonGroupWindowAggregate)):
        return node.agg_calls
    if isinstance(node, PythonOverAggregate):
        return tuple(call for group in node.over_spec.groups for call in group.agg_calls)
    return ()


def _calls(node: ExecNode) -> Iterator[Call]:
    """The calls of functions of users in the expressions of a node."""
    for each in expressions(node):
        for rex in walk(each):
            if type(rex) is Call and rex.reference is not None and not _NAMES.isdisjoint(rex.reference):
                yield rex


_NAMES = frozenset({"systemName", "catalogName", "class"})
"""What tells the function of a user in a call; operators of patterns have a ``sqlKind``."""


def _aggregate_calls(value: Any) -> Iterator[AggregateCall]:
    """The aggregate calls in a node or a part of one."""
    if isinstance(value, AggregateCall):
        yield value
    elif type(value) is tuple:
        for item in value:
            yield from _aggregate_calls(item)
    else:
        cls: type = type(value)
        for name in _parts(cls):
            yield from _aggregate_calls(getattr(value, name))


@cache
def _parts(cls: type) -> tuple[str, ...]:
    """The fields of a class of nodes or specs; none for expressions and types."""
    if not issubclass(cls, Record) or issubclass(cls, (LogicalType, *_EXPRESSIONS)):
        return ()
    return cls.__struct_fields__


_EXPRESSIONS = typing.get_args(RexNode)


def _is_python(node: ExecNode) -> bool | None:
    return None if isinstance(node, ProcessTableFunction) else isinstance(node, PythonNode)


def _id(reference: Json, is_python: bool | None) -> FunctionId:
    if "systemName" in reference:
        return FunctionId(str(reference["systemName"]), True, is_python=is_python)
    name = reference.get("catalogName")
    class_name = str(reference["class"]) if "class" in reference else None
    return FunctionId(str(name or class_name or ""), False, class_name, is_python)


def _is_user(call: AggregateCall) -> bool:
    return bool(call.system_name or call.catalog_name or call.class_)


def _id_of(call: AggregateCall, is_python: bool | None) -> FunctionId:
    name = call.system_name or call.catalog_name or call.class_ or ""
    return FunctionId(name, call.system_name is not None, call.class_, is_python)


def _bound(node: ExecNode, find: Find) -> ExecNode:
    is_python = _is_python(node)

    def bind(rex: RexNode) -> RexNode:
        if type(rex) is not Call or rex.reference is None or user_function_of_call(rex) is not None:
            return rex
        function = find(_id(rex.reference, is_python))
        if function is None:
            return rex
        reference = FunctionReference(rex.reference)
        reference.function = function
        return replace(rex, reference=reference)

    def bind_aggregate(call: AggregateCall) -> AggregateCall:
        if not _is_user(call) or user_function_of_aggregate(call) is not None:
            return call
        function = find(_id_of(call, is_python))
        if function is None:
            return call
        field = next(f for f in ("system_name", "catalog_name", "class_") if getattr(call, f))
        name = FunctionName(getattr(call, field))
        name.function = function
        return replace(call, **{field: name})

    def visit(value: Any) -> Any:
        if isinstance(value, AggregateCall):
            return bind_aggregate(value)
        if isinstance(value, _EXPRESSIONS):
            return transform(value, bind)
        if type(value) is tuple:
            visited = tuple(map(visit, value))
            return value if all(a is b for a, b in zip(visited, value, strict=True)) else visited
        changed = {}
        cls: type = type(value)
        for name in _parts(cls):
            old = getattr(value, name)
            new = visit(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value

    bound: ExecNode = visit(node)
    return bound
