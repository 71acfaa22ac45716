"""Whose rows are looked at in their order, as far as it shows in what a query yields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....plan.document import Plan
from ....plan.nodes import (
    AsyncCalc,
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    IncrementalGroupAggregate,
    Join,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    Rank,
    Sink,
    SortLimit,
    Union,
    WindowAggregate,
)
from ....plan.nodes.python import PythonAsyncCalc, PythonCalc, PythonCorrelate
from ....plan.row_kinds import INSERTS, Kinds
from ....plan.specs import AggregateCall, UpdateFastStrategy
from ....plan.types import LogicalType
from ...aggregate_functions import function_name
from .native_calls import is_orderless

PASSING = (
    AsyncCalc,
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    Expand,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    PythonAsyncCalc,
    PythonCalc,
    PythonCorrelate,
    Union,
)
"""What hands rows on as they come."""


def read_in_order(plan: Plan, kinds: Mapping[int, Kinds | None], folds: bool, *, numbers: bool) -> frozenset[int]:
    """The ids of the nodes whose rows something behind them looks at in their order.

    ``kinds`` are the kinds of rows by the id of the node that emits them; ``folds``: a key's changes may come to one.
    ``numbers``: also those that only give a later row the number it stands in order by, as the rows of a group do.
    """
    ordered: set[int] = set()
    for node in reversed(plan.nodes):
        for reader in plan.outputs(node):
            if _reads_order(reader, plan, kinds, folds) or (reader.id in ordered and _passes(reader, numbers)):
                ordered.add(node.id)
    return frozenset(ordered)


def updated_in_place(plan: Plan) -> frozenset[int]:
    """The ids of the nodes whose rows a Top-N reads that keeps the place of a row among equal ones when it is updated.

    Such a place is that of the change which made the row equal to them, which of groups that each row changes is the
    last one.
    """
    in_place_behind: set[int] = set()
    for node in reversed(plan.nodes):
        for reader in plan.outputs(node):
            in_place = isinstance(reader, (Rank, SortLimit)) and isinstance(reader.rank_strategy, UpdateFastStrategy)
            if in_place or (reader.id in in_place_behind and isinstance(reader, PASSING)):
                in_place_behind.add(node.id)
    return frozenset(id for id in in_place_behind if not _moves_by_each_row(plan.by_id[id]))


def _moves_by_each_row(node: ExecNode) -> bool:
    return isinstance(node, GroupAggregate) and all(map(moves_by_each_row, node.agg_calls))


def moves_by_each_row(call: AggregateCall) -> bool:
    """Whether each row of a group changes what is computed of it; a total that stays as it is is taken to change."""
    moves = not call.arg_list if function_name(call) == "COUNT" else function_name(call) in ("SUM", "$SUM0", "AVG")
    return moves and not call.is_distinct and call.filter_arg < 0


def _passes(node: ExecNode, numbers: bool) -> bool:
    return numbers or isinstance(node, (*PASSING, Join))


def _reads_order(node: ExecNode, plan: Plan, kinds: Mapping[int, Kinds | None], folds: bool) -> bool:
    """Whether a node itself does."""
    match node:
        case LocalGroupAggregate() | GroupAggregate() | LocalWindowAggregate() | WindowAggregate():
            (source,) = plan.inputs(node)
            return not _are_orderless(node.agg_calls, source.output_type)
        case GlobalGroupAggregate() | GlobalWindowAggregate() | IncrementalGroupAggregate() | Join():
            return False
        case Sink(dynamic_table_sink=sink):
            (source,) = plan.inputs(node)
            table = sink.table.resolved_table
            is_keyed = table is None or table.schema.primary_key is not None
            return not folds or (is_keyed and (kinds[source.id] == INSERTS or node.require_upsert_materialize))
    return not isinstance(node, PASSING)


def _are_orderless(calls: Sequence[AggregateCall], row: LogicalType) -> bool:
    return all(is_orderless(call, row) or _is_decimal_total(call, row) for call in calls)


def _is_decimal_total(call: AggregateCall, row: LogicalType) -> bool:
    """Whether order shows only in a total beyond 38 digits, which in Flink goes by the race of a join's inputs."""
    return function_name(call) in ("SUM", "$SUM0", "AVG") and row.field_types[call.arg_list[0]].root == "DECIMAL"
