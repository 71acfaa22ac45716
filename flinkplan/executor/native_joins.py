"""Joins of a batch that Spark does by itself, and faster than a kernel.

A kernel joins changelogs row by row.  Where both inputs are *settled*, which means that each of their rows is an
insertion that stays, the content of the result is what Spark's own join yields.  That is all that counts where rows are
only inserted, or where the changes of a batch may come to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..plan.document import Plan
from ..plan.nodes import (
    Calc,
    Correlate,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    Expand,
    GlobalGroupAggregate,
    GlobalWindowAggregate,
    GroupAggregate,
    IncrementalGroupAggregate,
    Join,
    Limit,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    Rank,
    Sink,
    SortLimit,
    TableSourceScan,
    Union,
    Values,
    WatermarkAssigner,
    WindowAggregate,
)
from ..plan.row_kinds import INSERTS, Kinds
from ..plan.specs import AggregateCall, JoinType
from ..plan.types import LogicalType
from .aggregate_functions import function_name
from .native_aggregates import is_orderless

_PASSING = (
    Calc,
    Correlate,
    DropUpdateBefore,
    Exchange,
    Expand,
    LocalGroupAggregate,
    LocalWindowAggregate,
    LookupJoin,
    MiniBatchAssigner,
    Union,
)
"""What hands rows on as they come."""

_FOLDING = (Deduplicate, GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate, Limit, SortLimit)
"""What emits of each key its rows at the end of the batch."""

_UNTIMED = (*_PASSING, *_FOLDING, Join, Rank, TableSourceScan, Values, WatermarkAssigner)
"""What emits nothing of its own when the input ends."""

_NATIVE = {
    JoinType.INNER: "inner",
    JoinType.LEFT: "left",
    JoinType.RIGHT: "right",
    JoinType.FULL: "full",
    JoinType.SEMI: "left_semi",
    JoinType.ANTI: "left_anti",
}
"""Spark's names of the kinds of joins."""


def native_type(kind: JoinType) -> str:
    """What Spark calls a kind of join."""
    return _NATIVE[kind]


class Joins:
    """The joins of a batch.

    ``kinds`` are the kinds of rows by the id of the node that emits them; ``folds``: a key's changes may come to one.
    """

    def __init__(self, plan: Plan, kinds: Mapping[int, Kinds | None], folds: bool) -> None:
        self._plan = plan
        self._kinds = kinds
        self._folds = folds
        self._at_once: set[int] = set()
        self._settled: set[int] = set()
        self._obstacles: dict[int, str | None] = {}
        for node in plan.nodes:
            if isinstance(node, _UNTIMED) and all(source.id in self._at_once for source in plan.inputs(node)):
                self._at_once.add(node.id)
            if isinstance(node, Join):
                self._obstacles[node.id] = self._obstacle(node)
            if self._settles(node):
                self._settled.add(node.id)

    def is_settled(self, node: ExecNode) -> bool:
        """Whether all rows that a node emits are insertions that stay."""
        return node.id in self._settled

    def obstacle(self, join: Join) -> str | None:
        """Why Spark cannot do a join by itself; ``None``: it can."""
        return self._obstacles[join.id]

    def needs_tie(self, join: Join) -> bool:
        """Whether rows that one row of an input brings about must keep their order."""
        return self._is_order_read(join)

    def _settles(self, node: ExecNode) -> bool:
        by_inputs = all(map(self.is_settled, self._plan.inputs(node)))
        if isinstance(node, (*_PASSING, IncrementalGroupAggregate)) and not by_inputs:
            return False  # what a first phase emits is nothing that flows here
        if self._kinds[node.id] == INSERTS or isinstance(node, _PASSING):
            return True
        if not self._folds or not by_inputs:
            return False
        if isinstance(node, Join):
            return self.obstacle(node) is None
        folds = isinstance(node, _FOLDING) or (isinstance(node, Rank) and not node.takes_first_to_stay)
        return folds and node.id in self._at_once

    def _obstacle(self, join: Join) -> str | None:
        if join.join_spec.join_type is not JoinType.INNER and not self._folds:
            return "each change is wanted"
        sides = zip(self._plan.inputs(join), (join.left_upsert_keys, join.right_upsert_keys), strict=True)
        for source, upsert_keys in sides:
            if not self.is_settled(source):
                return "an input takes rows back"
            if upsert_keys and self._has_primary_key(source):
                return "a later row of a primary key takes the place of an earlier one"
        if self._is_order_read(join) and any(map(self._has_ties, self._plan.inputs(join))):
            return "rows of several joins must keep their order"
        return None

    def _has_primary_key(self, node: ExecNode) -> bool:
        if isinstance(node, TableSourceScan):
            table = node.scan_table_source.table.resolved_table
            return table is None or table.schema.primary_key is not None
        return any(map(self._has_primary_key, self._plan.inputs(node)))

    def _has_ties(self, node: ExecNode) -> bool:
        if isinstance(node, Join):
            return self.obstacle(node) is None
        return isinstance(node, _PASSING) and any(map(self._has_ties, self._plan.inputs(node)))

    def _is_order_read(self, node: ExecNode) -> bool:
        """Whether anything that reads from a node looks at the order of rows."""
        return any(map(self._reads_order, self._plan.outputs(node)))

    def _reads_order(self, node: ExecNode) -> bool:
        match node:
            case LocalGroupAggregate() | GroupAggregate() | LocalWindowAggregate() | WindowAggregate():
                (source,) = self._plan.inputs(node)
                return not _are_orderless(node.agg_calls, source.output_type)
            case GlobalGroupAggregate() | GlobalWindowAggregate() | IncrementalGroupAggregate():
                return False
            case Sink(dynamic_table_sink=sink):
                table = sink.table.resolved_table
                return not self._folds or table is None or table.schema.primary_key is not None
            case Join():
                return self._is_order_read(node)
        return not isinstance(node, _PASSING) or self._is_order_read(node)


def _are_orderless(calls: Sequence[AggregateCall], row: LogicalType) -> bool:
    return all(is_orderless(call, row) or _is_decimal_total(call, row) for call in calls)


def _is_decimal_total(call: AggregateCall, row: LogicalType) -> bool:
    """Whether order shows only in a total beyond 38 digits, which in Flink goes by the race of a join's inputs."""
    return function_name(call) in ("SUM", "$SUM0", "AVG") and row.field_types[call.arg_list[0]].root == "DECIMAL"
