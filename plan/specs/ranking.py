"""Orders, partitions and ranks."""

from __future__ import annotations

from dataclasses import dataclass

from ..codec import tagged_union, variant


@dataclass(frozen=True, slots=True)
class SortField:
    """A column to order by."""

    index: int
    is_ascending: bool
    null_is_last: bool


@dataclass(frozen=True, slots=True)
class SortSpec:
    """An order of rows."""

    fields: tuple[SortField, ...]


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """The columns rows are partitioned by; none means all rows together."""

    fields: tuple[int, ...]


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class RankRange:
    """Which ranks are kept, counted from 1."""


@variant("Constant")
@dataclass(frozen=True, slots=True)
class ConstantRankRange(RankRange):
    """Ranks ``start`` to ``end``, both included."""

    start: int
    end: int


@variant("ConstantWithoutEnd")
@dataclass(frozen=True, slots=True)
class ConstantRankRangeWithoutEnd(RankRange):
    """Ranks from ``start`` on."""

    start: int


@variant("Variable")
@dataclass(frozen=True, slots=True)
class VariableRankRange(RankRange):
    """Ranks 1 to the value of a column."""

    end_index: int


@tagged_union("type")
@dataclass(frozen=True, slots=True)
class RankStrategy:
    """How Top-N may treat its input."""


@variant("AppendFast")
@dataclass(frozen=True, slots=True)
class AppendFastStrategy(RankStrategy):
    """The input is insert-only."""


@variant("Retract")
@dataclass(frozen=True, slots=True)
class RetractStrategy(RankStrategy):
    """The input may take any row back."""


@variant("UpdateFast")
@dataclass(frozen=True, slots=True)
class UpdateFastStrategy(RankStrategy):
    """The input updates rows by these keys, only ever upwards in the order."""

    primary_keys: tuple[int, ...]
