"""Rows from values: constant tables and table functions."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.functions.java import java_function_of
from ....plan.functions.model import Kind
from ....plan.nodes import Correlate, Values
from ....plan.rex import Call
from ..query import QueryPlan, chooser
from ..steps import Native
from ..watermarks import row_by_row

UNNEST = "$UNNEST_ROWS$1"
UNNEST_WITH_ORDINALITY = "$UNNEST_ROWS_WITH_ORDINALITY$1"
REPLICATE = "$REPLICATE_ROWS$1"


@chooser(Values)
def values(node: Values, query: QueryPlan) -> Native:
    """Constant rows, once."""
    return Native(operators="ControlSource, Generate", why="constant rows, once")


def _check(node: Correlate, plan: Plan, options: Mapping[str, str]) -> None:
    call = node.function_call
    if isinstance(call, Call) and call.reference is not None:
        function = java_function_of(call)
        if function is not None and function.kind is Kind.PROCESS_TABLE:
            raise UnsupportedError(
                f"the process table function {function.name} in a join", hint="call it in a subquery of its own"
            )
        return  # a user's function, which may be in some jar
    if not isinstance(call, Call) or call.name not in (UNNEST, UNNEST_WITH_ORDINALITY, REPLICATE):
        raise UnsupportedError(f"the table function {getattr(call, 'name', '')} cannot be executed")


@chooser(Correlate, check=_check, real_time=row_by_row)
def correlate(node: Correlate, query: QueryPlan) -> Native:
    """Each row with the rows that a table function yields for it."""
    return Native(operators="Generate")
