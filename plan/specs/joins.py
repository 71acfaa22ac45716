"""Join keys, conditions and time bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..codec import plan_field
from ..rex import RexNode


class JoinType(Enum):
    """The kind of a join."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """Equal keys and what else must hold; ``filter_nulls[i]`` says that NULL keys do not match."""

    join_type: JoinType
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    filter_nulls: tuple[bool, ...]
    non_equi_condition: RexNode | None = plan_field()


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """leftTime − rightTime lies within [lower, upper] (milliseconds)."""

    is_event_time: bool
    left_lower_bound: int
    left_upper_bound: int
    left_time_index: int
    right_time_index: int


@dataclass(frozen=True, slots=True)
class IntervalJoinSpec:
    """A join with time bounds."""

    join_spec: JoinSpec
    window_bounds: WindowBounds
