"""Windows of the Table API: ``Tumble.over(lit(10).minutes).on(col("ts")).alias("w")``."""

from __future__ import annotations

from typing import Any

from ..plan.record import Record, replace
from .expression import Expression

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


class GroupWindow(Record, kw_only=True):
    """A window by which a table is grouped: ``kind`` is TUMBLE, SLIDE or SESSION, ``size`` may be a session's gap."""

    kind: str
    size: Any
    slide: Any = None
    time: Any = None
    name: str | None = None

    def every(self, slide: Expression) -> GroupWindow:
        """Set how often a sliding window starts."""
        return replace(self, slide=slide)

    def on(self, time_field: Expression) -> GroupWindow:
        """Set the column of time."""
        return replace(self, time=time_field)

    def alias(self, alias: str) -> GroupWindow:
        """Name the window, for ``group_by`` and ``select``."""
        return replace(self, name=alias)


class Tumble:
    """Windows of one size that do not overlap."""

    @classmethod
    def over(cls, size: Expression) -> GroupWindow:
        """Windows of a size, an interval or a number of rows."""
        return GroupWindow(kind="TUMBLE", size=size)


class Slide:
    """Windows of one size that start at an interval."""

    @classmethod
    def over(cls, size: Expression) -> GroupWindow:
        """Windows of a size, an interval or a number of rows."""
        return GroupWindow(kind="SLIDE", size=size)


class Session:
    """Windows that end when no row comes for a gap."""

    @classmethod
    def with_gap(cls, gap: Expression) -> GroupWindow:
        """Sessions with this gap, an interval."""
        return GroupWindow(kind="SESSION", size=gap)


class OverWindow(Record, kw_only=True):
    """A window of rows around each row."""

    partition: tuple[Any, ...] = ()
    order: Any = None
    lower: Any = None
    upper: Any = None
    name: str | None = None

    def order_by(self, order_by: Expression) -> OverWindow:
        """Set the column of time that orders the rows."""
        return replace(self, order=order_by)

    def preceding(self, preceding: Expression) -> OverWindow:
        """Set the lower bound."""
        return replace(self, lower=preceding)

    def following(self, following: Expression) -> OverWindow:
        """Set the upper bound."""
        return replace(self, upper=following)

    def alias(self, alias: str) -> OverWindow:
        """Name the window, for ``over``."""
        return replace(self, name=alias)


class Over:
    """Windows of rows around each row."""

    @classmethod
    def order_by(cls, order_by: Expression) -> OverWindow:
        """A window over all rows, in the order of a column of time."""
        return OverWindow(order=order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression) -> OverWindow:
        """A window over the rows with equal values."""
        return OverWindow(partition=partition_by)
