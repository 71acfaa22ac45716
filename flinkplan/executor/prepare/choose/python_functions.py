"""Nodes that call Python functions of a user for each row: by Spark's Python workers, in Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.functions import called
from ....plan.functions.cast import CAST
from ....plan.nodes.python import PythonAsyncCalc, PythonCalc, PythonCorrelate
from ....plan.rex import Call, InputRef, Literal, RexNode, transform, walk
from ....plan.types import LogicalType
from ....udf.values import check_type
from ..query import QueryPlan, chooser
from ..steps import Python


class PythonCalls(Python, kw_only=True):
    """Calls of functions over the columns of each row."""

    operators: ClassVar[str] = "ArrowEvalPython, Project"
    why: str = "each row by itself"

    @property
    def by(self) -> str:
        return self.operators


class PythonTableCall(Python, kw_only=True):
    """A call of a table function, whose rows are joined with the row that it is called for."""

    operators: ClassVar[str] = "ArrowEvalPython, Generate"
    why: str = "each row by itself"

    @property
    def by(self) -> str:
        return self.operators


def in_batches(node: PythonCalc | PythonAsyncCalc | PythonCorrelate, query: QueryPlan) -> str | None:
    """The obstacle in real-time mode: Spark hands rows to Python's workers when a batch of them is full."""
    return ROWS_IN_BATCHES


ROWS_IN_BATCHES = "Spark's Python workers take rows in batches"
"""The obstacle in real-time mode."""


def _check_calc(node: PythonCalc | PythonAsyncCalc, plan: Plan, options: Mapping[str, str]) -> None:
    for rex in node.projection:
        _check_call(with_plain_times(rex))


def _check_correlate(node: PythonCorrelate, plan: Plan, options: Mapping[str, str]) -> None:
    if not isinstance(node.function_call, Call):
        raise UnsupportedError("a correlation with something that is no call of a function")
    if node.join_type not in ("INNER", "LEFT"):
        raise UnsupportedError(f"a {node.join_type} join with a Python table function")
    _check_call(with_plain_times(node.function_call))


def with_plain_times(rex: RexNode) -> RexNode:
    """A call with the columns of event time themselves, where it has casts of them to plain timestamps.

    These are the only built-in calls among those of Python functions.  Source: ``CommonPythonUtil``.
    """
    return transform(rex, _plain_time)


def _plain_time(rex: RexNode) -> RexNode:
    if not isinstance(rex, Call) or called(rex) is not CAST:
        return rex
    (column,) = rex.operands
    is_time = isinstance(column, InputRef) and column.type.is_rowtime and column.type.regular() == rex.type
    return InputRef(column.index, rex.type) if is_time and isinstance(column, InputRef) else rex


def _check_call(rex: RexNode) -> None:
    """Raise :class:`UnsupportedError` for what no plan of Flink has there, and for types that no function is given."""
    for part in walk(rex):
        if type(part) is Call and part.reference is None:
            raise UnsupportedError(f"the built-in function {part.name} among calls of Python functions")
        if type(part) not in (Call, InputRef, Literal):
            raise UnsupportedError(f"{type(part).__name__} among calls of Python functions")
    for t in _types(rex):
        check_type(t)


def _types(rex: RexNode) -> Iterator[LogicalType]:
    """The types of calls and of the columns that are arguments."""
    if type(rex) is Call:
        yield rex.type
        for operand in rex.operands:
            if type(operand) is InputRef:
                yield operand.type
            yield from _types(operand)


@chooser(PythonCalc, check=_check_calc, real_time=in_batches)
def python_calc(node: PythonCalc, query: QueryPlan) -> PythonCalls:
    """Columns, literals and calls of functions, general or pandas."""
    return PythonCalls()


@chooser(PythonAsyncCalc, check=_check_calc, real_time=in_batches)
def python_async_calc(node: PythonAsyncCalc, query: QueryPlan) -> PythonCalls:
    """The same by a coroutine."""
    return PythonCalls()


@chooser(PythonCorrelate, check=_check_correlate, real_time=in_batches)
def python_correlate(node: PythonCorrelate, query: QueryPlan) -> PythonTableCall:
    """Each row with the rows that a function yields for it."""
    return PythonTableCall()
