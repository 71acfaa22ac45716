"""The values of accumulators, by what they aggregate."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ...plan.functions import aggregate

_SUM, _AVG = aggregate.SUM.internal_name, aggregate.AVG.internal_name


class Call(NamedTuple):
    """What a call aggregates: columns and condition by their meanings."""

    arguments: Hashable
    condition: Hashable
    is_distinct: bool


class Accumulator(NamedTuple):
    """A value of an accumulator: its function, the name of the part, what it aggregates, and its type."""

    function: str | None
    part: str
    call: Call
    type: str
    place: int
    has_view: bool
    is_never_null: bool = False
    """Whether no argument of the call can be NULL."""

    @property
    def is_null_without_values(self) -> bool:
        """Whether the function begins with NULL."""
        return self.function == _SUM

    @property
    def is_average(self) -> bool:
        """Whether the result is neither of the values of the accumulator."""
        return self.function == _AVG
