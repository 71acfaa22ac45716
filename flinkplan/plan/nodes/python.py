"""Nodes that call Python functions.

What their functions keep in Flink's state is not known, only which changes of a plan lose it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from ..references import Input, Mark, OwnKeys
from ..rex import RexNode
from ..row_kinds import Flow, Kinds, grouped, rows
from ..savepoint.layout import Inputs
from ..specs import AggregateCall, GroupWindow, NamedWindowProperty, OverSpec
from ..yields import Aggregated, Computed, FunctionColumn, OverAggregated, Yield, input_columns, windowed
from .base import ColumnOrder, ExecNode, exec_node
from .mixins import InsertsOnly, NoRows, RowByRow, SameChanges, WholeRows


class PythonNode(ExecNode, kw_only=True):
    """A node that calls Python functions."""


@exec_node("python-calc", order=ColumnOrder.CHOSEN, versions={1: "1.16"}, results=("projection",))
class PythonCalc(RowByRow, SameChanges, PythonNode, kw_only=True):
    """Computes ``projection``: calls of Python functions, columns and literals."""

    projection: Annotated[tuple[RexNode, ...], Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(Computed, self.projection)


@exec_node("python-async-calc", order=ColumnOrder.CHOSEN, versions={1: "2.0"}, results=("projection",))
class PythonAsyncCalc(RowByRow, SameChanges, PythonNode, kw_only=True):
    """Computes ``projection``: a call of an asynchronous Python function, and columns."""

    projection: Annotated[tuple[RexNode, ...], Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return map(Computed, self.projection)


@exec_node("python-correlate", order=ColumnOrder.FIXED, versions={1: "1.16"}, results=("join_type", "function_call"))
class PythonCorrelate(RowByRow, SameChanges, PythonNode, kw_only=True):
    """Joins each row with the rows that a Python function returns for it; ``join_type`` is INNER or LEFT."""

    join_type: str
    function_call: Annotated[RexNode, Input.ALL]

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        width = len(self.fields) - len(inputs[0])
        return (*input_columns(inputs), *(FunctionColumn(self.function_call, i) for i in range(width)))


@exec_node(
    "python-group-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.16"},
    timed=True,
    identity=("grouping", "need_retraction", "agg_calls", "agg_call_need_retractions"),
    results=("generate_update_before",),
)
class PythonGroupAggregate(NoRows, PythonNode, kw_only=True):
    """GROUP BY with a Python aggregate function, beside which all functions run in Python.

    A table aggregate function, whose result is a row type, may emit several rows for a group.  Flink has another node
    for it, ``StreamExecPythonGroupTableAggregate``, which cannot be written into a plan; here it is a property.
    """

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    agg_call_need_retractions: Annotated[tuple[bool, ...], Mark.BY_CALL]
    generate_update_before: bool
    need_retraction: bool

    def layout(self, inputs: Inputs) -> None:
        """Not known: the worker of the Python functions keeps it."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return (*input_columns(inputs, self.grouping), *map(Aggregated, self.agg_calls))

    @property
    def emits_rows(self) -> bool:
        """Whether the one call is of a table aggregate function."""
        return self.own_properties.get(EMITS_ROWS) is True

    def row_kinds(self, flow: Flow) -> Kinds:
        return rows(grouped(self.need_retraction or self.emits_rows), self.generate_update_before)


EMITS_ROWS = "emitsRows"
"""The property of :class:`PythonGroupAggregate` with a table aggregate function."""


@exec_node(
    "python-group-window-aggregate",
    order=ColumnOrder.GROUPED,
    versions={1: "1.16"},
    timed=True,
    identity=("grouping", "window", "need_retraction", "agg_calls"),
    results=("named_window_properties", "generate_update_before"),
)
class PythonGroupWindowAggregate(InsertsOnly, NoRows, PythonNode, kw_only=True):
    """The legacy ``GROUP BY TUMBLE(…)`` with a Python aggregate function."""

    grouping: OwnKeys
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.ALL, Mark.CALL]
    window: GroupWindow
    named_window_properties: tuple[NamedWindowProperty, ...]
    generate_update_before: bool
    need_retraction: bool

    def layout(self, inputs: Inputs) -> None:
        """Not known: the worker of the Python functions keeps it."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.grouping,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return windowed(inputs, self.grouping, self.agg_calls, self.named_window_properties)


@exec_node(
    "python-over-aggregate",
    order=ColumnOrder.EXTENDED,
    versions={1: "1.16"},
    timed=True,
    identity=("over_spec",),
)
class PythonOverAggregate(InsertsOnly, WholeRows, PythonNode, kw_only=True):
    """Aggregates over each row's preceding rows with a Python function."""

    over_spec: OverSpec

    def layout(self, inputs: Inputs) -> None:
        """Not known: the worker of the Python functions keeps it."""

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.over_spec.partition.fields,)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        calls = (call for group in self.over_spec.groups for call in group.agg_calls)
        return (*input_columns(inputs), *map(OverAggregated, calls))
