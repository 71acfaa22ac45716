"""Join keys, conditions and time bounds."""

from __future__ import annotations

from enum import Enum

from ..codec import PlanRecord
from ..rex import RexNode


class JoinType(Enum):
    """The kind of a join."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


class JoinSpec(PlanRecord):
    """Equal keys and what else must hold; ``filter_nulls[i]`` says that NULL keys do not match."""

    join_type: JoinType
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    filter_nulls: tuple[bool, ...]
    non_equi_condition: RexNode | None


class WindowBounds(PlanRecord):
    """leftTime − rightTime lies within [lower, upper] (milliseconds)."""

    is_event_time: bool
    left_lower_bound: int
    left_upper_bound: int
    left_time_index: int
    right_time_index: int


class IntervalJoinSpec(PlanRecord):
    """A join with time bounds."""

    join_spec: JoinSpec
    window_bounds: WindowBounds
