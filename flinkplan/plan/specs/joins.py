"""Join keys, conditions and time bounds."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from ..codec import PlanRecord
from ..references import Input, Mark, Number
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
    """The equal keys and the remaining condition; ``filter_nulls[i]`` says that a NULL in key i matches nothing."""

    join_type: JoinType
    left_keys: Annotated[tuple[int, ...], Input.LEFT, Mark.KEY]
    right_keys: Annotated[tuple[int, ...], Input.RIGHT, Mark.KEY]
    filter_nulls: Annotated[tuple[bool, ...], Mark.KEY]
    non_equi_condition: Annotated[RexNode | None, Input.ALL]


class WindowBounds(PlanRecord):
    """leftTime − rightTime lies within [lower, upper] (milliseconds)."""

    is_event_time: bool
    left_lower_bound: Number
    left_upper_bound: Number
    left_time_index: Annotated[int, Input.LEFT]
    right_time_index: Annotated[int, Input.RIGHT]


class IntervalJoinSpec(PlanRecord):
    """A join with time bounds."""

    join_spec: JoinSpec
    window_bounds: WindowBounds
