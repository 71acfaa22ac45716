"""Whether a plan can be written: functions without a name that holds elsewhere cannot be named in it."""

from __future__ import annotations

from collections.abc import Iterator

from ..plan.document import Plan
from ..plan.errors import UnsupportedError
from ..plan.functions import called
from ..plan.functions.user import PythonFunction
from ..plan.nodes import PythonGroupAggregate
from ..plan.nodes.base import ExecNode
from ..plan.nodes.expressions import expressions
from ..plan.rex import walk
from ..plan.user_functions import aggregate_calls, function_of_aggregate, java_functions


def check_storable(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for a plan that calls a function which it cannot name."""
    check_classes(plan)
    for node in plan.nodes:
        if isinstance(node, PythonGroupAggregate) and node.emits_rows:
            raise UnsupportedError("a plan cannot hold flat_aggregate", hint="execute it by the Table API")
        for function in _functions(node):
            named = "class" in function.reference
            if function.is_permanent and (function.process is None or named):
                what = "a function that is not registered" if named else f"the permanent function '{function.name}'"
                raise UnsupportedError(
                    f"a plan cannot call {what}",
                    hint="register it: create_temporary_system_function(name, function), and call it by the name"
                    if named
                    else "register it with CREATE TEMPORARY FUNCTION",
                )


def check_classes(plan: Plan) -> None:
    """Raise :class:`UnsupportedError` for a permanent function in Java that is more than its class.

    Source: ``UserDefinedFunctionHelper.isClassNameSerializable``.
    """
    for node in plan.nodes:
        for own in java_functions(node):
            if own.is_permanent and not own.declaration.is_stateless:
                raise UnsupportedError(
                    f"a plan cannot call the permanent function '{own.name}': its class has fields that are not "
                    "transient, and plans name the class alone",
                    hint="make the fields transient, and set them in open; or write CREATE TEMPORARY FUNCTION",
                )


def _functions(node: ExecNode) -> Iterator[PythonFunction]:
    for outermost in expressions(node):
        for rex in walk(outermost):
            function = called(rex)
            if isinstance(function, PythonFunction):
                yield function
    yield from filter(None, map(function_of_aggregate, aggregate_calls(node)))
