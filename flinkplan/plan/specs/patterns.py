"""Patterns of rows, as MATCH_RECOGNIZE looks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ..codec import PlanRecord
from ..references import Input
from ..rex import RexNode
from .ranking import PartitionSpec, SortSpec


class MatchSpec(PlanRecord):
    """A pattern of the rows of a partition, and what comes of a match.  Source: Flink's ``MatchSpec``.

    ``pattern`` is made of literals, which name variables, and calls that combine them; ``pattern_definitions`` are the
    conditions of variables, ``measures`` the columns that are computed, both by their names in alphabetical order.
    ``after`` says where the search goes on after a match, ``subsets`` which variables a name stands for; a match takes
    ``interval`` at the most.
    """

    pattern: Annotated[RexNode, Input.NONE]
    pattern_definitions: Annotated[Mapping[str, RexNode], Input.ALL]
    measures: Annotated[Mapping[str, RexNode], Input.ALL]
    after: Annotated[RexNode, Input.NONE]
    subsets: Mapping[str, tuple[str, ...]]
    all_rows: bool
    partition: PartitionSpec
    order_by: SortSpec
    interval: Annotated[RexNode | None, Input.NONE]
