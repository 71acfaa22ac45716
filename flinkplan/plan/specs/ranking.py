"""Sort orders, partitions and ranks."""

from __future__ import annotations

from typing import Annotated

from ..codec import PlanRecord, tagged_union, variant
from ..references import Input, Keys, Number, OwnKeys


class SortField(PlanRecord):
    """A column to order by."""

    index: Annotated[int, Input.ALL]
    is_ascending: bool
    null_is_last: bool


class SortSpec(PlanRecord):
    """An order of rows."""

    fields: tuple[SortField, ...]


class PartitionSpec(PlanRecord):
    """The columns that rows are partitioned by; without any, all rows are one partition."""

    fields: OwnKeys


@tagged_union("type")
class RankRange(PlanRecord):
    """Which ranks are kept, counted from 1."""


@variant("Constant")
class ConstantRankRange(RankRange):
    """Ranks ``start`` to ``end``, both included."""

    start: Number
    end: Number


@variant("ConstantWithoutEnd")
class ConstantRankRangeWithoutEnd(RankRange):
    """Ranks from ``start`` on."""

    start: Number


@variant("Variable")
class VariableRankRange(RankRange):
    """Ranks 1 to the value of a column."""

    end_index: Annotated[int, Input.ALL]


@tagged_union("type")
class RankStrategy(PlanRecord):
    """What a Top-N may assume about its input."""


@variant("AppendFast")
class AppendFastStrategy(RankStrategy):
    """The input is insert-only."""


@variant("Retract")
class RetractStrategy(RankStrategy):
    """The input may retract any row."""


@variant("UpdateFast")
class UpdateFastStrategy(RankStrategy):
    """The input updates rows by these keys, and an update never moves a row down in the order."""

    primary_keys: Keys
