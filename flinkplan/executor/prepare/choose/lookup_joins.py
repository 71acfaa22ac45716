"""Joins with tables that are asked for the rows of each key of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import DeltaJoin, LookupJoin
from ...connectors import find_connector
from ...connectors.tables import table_of
from ..query import QueryPlan, chooser
from ..steps import Kernel


def _check(node: LookupJoin, plan: Plan, options: Mapping[str, str]) -> None:
    if not node.lookup_keys:
        raise UnsupportedError(
            f"a join that looks '{node.table.name}' up by none of its columns",
            hint="as in Flink: compare a column of it, as it stands and in its type, with = to one of the left side",
        )
    if node.require_upsert_materialize:
        raise UnsupportedError(
            "lookups that are remembered, to take back what they once found",
            hint="compile with table.optimizer.non-deterministic-update.strategy = IGNORE",
        )


@chooser(LookupJoin, check=_check)
def lookup_join(node: LookupJoin, query: QueryPlan) -> Kernel:
    """Each row with those of its key in the table."""
    connector = node.table.connector or "unknown connector"
    return Kernel(kernel="lookup.LookupJoin", why=f"{connector} is asked for the keys of many rows at once")


def _check_delta_join(node: DeltaJoin, plan: Plan, options: Mapping[str, str]) -> None:
    left, _ = plan.inputs(node)
    for lookup in node.lookups(len(left.fields)):
        _check(lookup, plan, options)
        resolved = lookup.table.resolved_table
        if resolved is None or resolved.options is None:
            continue  # which is said of the table that is read
        if (connector := find_connector(table_of(lookup.table, {}))).answers_lookups:
            continue
        raise UnsupportedError(
            f"tables of '{connector.name}' are not asked for the rows of keys here, as '{lookup.table.name}' would be",
            hint="compile with table.optimizer.delta-join.strategy = NONE",
        )


@chooser(DeltaJoin, check=_check_delta_join)
def delta_join(node: DeltaJoin, query: QueryPlan) -> Kernel:
    """The rows of each side with those of their keys in the table of the other one."""
    return Kernel(kernel="lookup.LookupJoin", why="both tables are asked for the keys of many rows at once")
