"""Aggregate calls and OVER specifications."""

from __future__ import annotations

from typing import Annotated

from ..codec import PlanRecord
from ..references import Input, Mark, Number
from ..rex import FUNCTION, RexNode, shown_name
from ..types import LogicalType
from .ranking import PartitionSpec, SortSpec


class AggregateCall(PlanRecord, kw_only=True):
    """One aggregate function call over input columns; ``filter_arg`` is -1 or a BOOLEAN column."""

    name: str | None
    syntax: str = FUNCTION
    internal_name: str | None = None
    catalog_name: str | None = None
    system_name: str | None = None
    class_: str | None = None
    arg_list: Annotated[tuple[int, ...], Input.CALLS]
    filter_arg: Annotated[int, Input.CALLS, Mark.PERHAPS]
    distinct: bool
    approximate: bool
    ignore_nulls: bool
    type: LogicalType

    @property
    def is_distinct(self) -> bool:
        """Whether the call leaves out duplicates: COUNT(*) has none, even where it is marked DISTINCT.

        Source: ``AggregateUtil.extractDistinctInformation``.
        """
        return self.distinct and bool(self.arg_list)

    @property
    def function_name(self) -> str:
        """The function's name for messages."""
        name = self.catalog_name or self.system_name or self.class_ or ""
        return shown_name(self.internal_name) if self.internal_name else getattr(name, "written", name)


class OverBound(PlanRecord):
    """``kind`` is UNBOUNDED_PRECEDING, CURRENT_ROW, UNBOUNDED_FOLLOWING or BOUNDED_WINDOW (with an offset)."""

    kind: str
    is_preceding: bool | None = None
    is_following: bool | None = None
    offset: Annotated[RexNode | None, Input.BOUND] = None


class OverGroup(PlanRecord):
    """Aggregates over one frame."""

    order_by: SortSpec
    is_rows: bool
    lower_bound: OverBound
    upper_bound: OverBound
    agg_calls: Annotated[tuple[AggregateCall, ...], Input.CONSTANTS, Mark.CALL]


class OverSpec(PlanRecord):
    """OVER windows with the same partitioning.

    ``constants`` have the indexes after the input's columns in calls, and in bounds after ``original_input_fields``
    columns: those of the input without what other OVER windows below have added.
    """

    partition: PartitionSpec
    groups: tuple[OverGroup, ...]
    constants: Annotated[tuple[RexNode, ...], Input.NONE]
    original_input_fields: Number
