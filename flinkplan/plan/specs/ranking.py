"""Orders, partitions and ranks."""

from __future__ import annotations

from ..codec import PlanRecord, tagged_union, variant


class SortField(PlanRecord):
    """A column to order by."""

    index: int
    is_ascending: bool
    null_is_last: bool


class SortSpec(PlanRecord):
    """An order of rows."""

    fields: tuple[SortField, ...]


class PartitionSpec(PlanRecord):
    """The columns rows are partitioned by; none means all rows together."""

    fields: tuple[int, ...]


@tagged_union("type")
class RankRange(PlanRecord):
    """Which ranks are kept, counted from 1."""


@variant("Constant")
class ConstantRankRange(RankRange):
    """Ranks ``start`` to ``end``, both included."""

    start: int
    end: int


@variant("ConstantWithoutEnd")
class ConstantRankRangeWithoutEnd(RankRange):
    """Ranks from ``start`` on."""

    start: int


@variant("Variable")
class VariableRankRange(RankRange):
    """Ranks 1 to the value of a column."""

    end_index: int


@tagged_union("type")
class RankStrategy(PlanRecord):
    """How Top-N may treat its input."""


@variant("AppendFast")
class AppendFastStrategy(RankStrategy):
    """The input is insert-only."""


@variant("Retract")
class RetractStrategy(RankStrategy):
    """The input may take any row back."""


@variant("UpdateFast")
class UpdateFastStrategy(RankStrategy):
    """The input updates rows by these keys, only ever upwards in the order."""

    primary_keys: tuple[int, ...]
