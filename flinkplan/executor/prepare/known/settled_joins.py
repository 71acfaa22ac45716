"""Joins of a batch that Spark does by itself, and faster than a kernel.

A kernel joins changelogs row by row.  Where both inputs are *settled*, which means that each of their rows is an
insertion that stays, the content of the result is what Spark's own join yields.  That is all that counts where rows are
only inserted, or where the changes of a batch may come to one.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.nodes import (
    Deduplicate,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    IncrementalGroupAggregate,
    Join,
    Limit,
    Rank,
    SortLimit,
    TableSourceScan,
    Values,
    WatermarkAssigner,
)
from ....plan.row_kinds import INSERTS, Kinds
from ....plan.specs import JoinType
from .row_order import PASSING, read_in_order, updated_in_place

_FOLDING = (Deduplicate, GlobalGroupAggregate, GroupAggregate, IncrementalGroupAggregate, Limit, SortLimit)
"""What emits of each key its rows at the end of the batch."""

_UNTIMED = (*PASSING, *_FOLDING, Join, Rank, TableSourceScan, Values, WatermarkAssigner)
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
        self._ordered = read_in_order(plan, kinds, folds, numbers=False)
        self._in_place = updated_in_place(plan)
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
        return join.id in self._ordered

    def _settles(self, node: ExecNode) -> bool:
        by_inputs = all(map(self.is_settled, self._plan.inputs(node)))
        if isinstance(node, (*PASSING, IncrementalGroupAggregate)) and not by_inputs:
            return False  # what a first phase emits is nothing that flows here
        if self._kinds[node.id] == INSERTS or isinstance(node, PASSING):
            return True
        if not self._folds or not by_inputs:
            return False
        if isinstance(node, Join):
            return self.obstacle(node) is None
        folds = isinstance(node, _FOLDING) or (isinstance(node, Rank) and not node.is_first_row_final)
        return folds and node.id in self._at_once and node.id not in self._in_place

    def _obstacle(self, join: Join) -> str | None:
        if join.join_spec.join_type is not JoinType.INNER and not self._folds:
            return "each change is wanted"
        sides = zip(self._plan.inputs(join), (join.left_upsert_keys, join.right_upsert_keys), strict=True)
        for source, upsert_keys in sides:
            if not self.is_settled(source):
                return "an input takes rows back"
            if upsert_keys and self._has_primary_key(source):
                return "a later row of a primary key takes the place of an earlier one"
        return None

    def _has_primary_key(self, node: ExecNode) -> bool:
        scans = (source for source in self._plan.upstream([node]) if isinstance(source, TableSourceScan))
        tables = [scan.scan_table_source.table.resolved_table for scan in scans]
        return any(table is None or table.schema.primary_key is not None for table in tables)
