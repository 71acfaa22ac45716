"""Which aggregations Spark computes exactly as Flink, by its own operators, which are faster than a kernel.

The state of Spark's aggregation has an encoding of its own (kernels' is Avro, so that their schemas can change), and a
query has one encoding.  So in a stream either everything in a query with state is native, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import (
    ExecNode,
    GlobalWindowAggregate,
    LocalWindowAggregate,
    Sink,
    WindowAggregate,
    WindowTableFunction,
)
from ....plan.record import replace
from ....plan.specs import AggregateCall, SessionWindow
from ....plan.types import APPROXIMATE, INTEGERS, LogicalType
from ...aggregate_functions import function_name

BATCH_ONLY = frozenset(("APPROX_COUNT_DISTINCT",))
"""Functions that Flink has in batch mode only, and that Spark computes alike."""

_NATIVE = ("COUNT", "SUM", "$SUM0", "MIN", "MAX", "AVG")
_COMPARED = (*INTEGERS, "DECIMAL", "DATE", "TIME", "VARCHAR", "CHAR", "BOOLEAN")
"""The types whose MIN and MAX are the same; NaN is not."""
_TRACED = ("COUNT", "MIN", "MAX")
_EXACT_DIGITS = 28
"""The total of decimals with so many digits has 38 in Spark, too, which no number of rows fills."""


def obstacle(plan: Plan) -> str | None:
    """Why the state of a query cannot all be Spark's own; ``None``: it can."""
    obstacles = ((node, obstacle_of(plan, node)) for node in plan.nodes)
    return next((f"node {node.id} {why}" for node, why in obstacles if why), None)


def obstacle_of(plan: Plan, node: ExecNode) -> str | None:
    """Why Spark cannot run a node without a kernel; ``None``: it can.  Of two phases the local one tells."""
    match node:
        case Sink(require_upsert_materialize=True):
            return "makes upserts"
        case WindowTableFunction(windowing=windowing) if isinstance(windowing.window, SessionWindow):
            return "has sessions, which merge"
        case GlobalWindowAggregate():
            return None  # its local phase is looked at
        case LocalWindowAggregate() | WindowAggregate():
            (source,) = plan.inputs(node)
            if node.windowing.is_proctime:
                return "goes by the clock"
            if node.need_retraction:
                return "takes rows back"
            if isinstance(node.windowing.window, SessionWindow):
                return "has sessions, which merge"
            foreign = (call for call in node.agg_calls if not is_native_call(call, source.output_type))
            call = next(foreign, None)
            return None if call is None else f"computes {_written(call)}, which Spark has not or has otherwise"
    return "keeps state that only a kernel can" if node.is_stateful else None


def _written(call: AggregateCall) -> str:
    return f"{function_name(call)}(DISTINCT)" if call.is_distinct else function_name(call)


def is_native_call(call: AggregateCall, row: LogicalType) -> bool:
    """Whether Spark computes ``call`` over rows of the type ``row`` as Flink does."""
    name = function_name(call)
    if call.is_distinct or name not in _NATIVE:
        return False
    types = [row.field_types[i] for i in call.arg_list]
    match name:
        case "COUNT":
            return True
        case "MIN" | "MAX":
            return types[0].root in _COMPARED
        case "AVG":
            return types[0].root in INTEGERS
    return _sums_alike(types[0])


def is_native_in_batch(calls: Sequence[AggregateCall], row: LogicalType) -> bool:
    """Whether Spark can compute all ``calls`` of a group over all its rows of the type ``row``.

    Of values that count once there is one kind at most: for several ones Spark would multiply the rows.
    """
    distinct = {(tuple(call.arg_list), call.filter_arg) for call in calls if call.is_distinct}
    return len(distinct) <= 1 and all(_is_native_in_batch(call, row) for call in calls)


def check_native_in_batch(calls: Sequence[AggregateCall], row: LogicalType) -> Sequence[AggregateCall]:
    """The calls but those that are of batch mode only.

    Raises :class:`UnsupportedError` where there are such, and Spark cannot compute all calls over rows of the type
    ``row``.
    """
    names = {function_name(call) for call in calls} & BATCH_ONLY
    if names and not is_native_in_batch(calls, row):
        raise UnsupportedError(
            f"{', '.join(sorted(names))} beside functions that Spark does not have, or computes otherwise",
            hint="compute them in two queries, and join these by the keys",
        )
    return [call for call in calls if function_name(call) not in names]


def _is_native_in_batch(call: AggregateCall, row: LogicalType) -> bool:
    types = [row.field_types[i] for i in call.arg_list]
    if function_name(call) in BATCH_ONLY:
        return True
    if call.is_distinct and any(t.root not in _COMPARED for t in types):
        return False
    if function_name(call) == "AVG" and types[0].root == "DECIMAL":
        return _sums_alike(types[0])
    return is_native_call(replace(call, distinct=False), row)


def is_orderless(call: AggregateCall, row: LogicalType) -> bool:
    """Whether a call over rows of the type ``row`` comes to the same in whatever order they come."""
    name = function_name(call)
    if name not in _NATIVE:
        return False
    return name in ("COUNT", "MIN", "MAX") or _sums_alike(row.field_types[call.arg_list[0]])


def _sums_alike(t: LogicalType) -> bool:
    """Flink sums FLOATs as such, DOUBLEs part by part, and begins a decimal total anew that has overflowed."""
    return t.root not in APPROXIMATE and not (t.root == "DECIMAL" and (t.precision or 0) > _EXACT_DIGITS)


def is_traced(call: AggregateCall) -> bool:
    """Whether Spark can tell when the result of a native ``call`` has changed last."""
    return function_name(call) in _TRACED and not call.is_distinct
