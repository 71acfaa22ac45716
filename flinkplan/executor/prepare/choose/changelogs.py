"""Changelogs made complete."""

from __future__ import annotations

from ....plan.nodes import ChangelogNormalize
from ..query import QueryPlan, chooser
from ..steps import Kernel, own_state
from ..watermarks import row_by_row


@chooser(ChangelogNormalize, real_time=row_by_row)
def changelog_normalize(node: ChangelogNormalize, query: QueryPlan) -> Kernel:
    """A complete changelog of upserts by key."""
    return Kernel(
        kernel="changelog.Normalize",
        why="the row that an upsert replaces is looked up",
        shuffle=query.keys(node),
        states=(own_state(node, "ValueState", "the last row"),),
    )
