"""Joins with a table that is asked for the rows of each key of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from ....plan.document import Plan
from ....plan.errors import UnsupportedError
from ....plan.nodes import LookupJoin
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
