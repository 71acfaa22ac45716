"""What a change does: to state that was written under the old plan, and to results."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import total_ordering


@total_ordering
class Verdict(Enum):
    """Whether state survives, the best first; of several changes the worst counts."""

    COSMETIC = "cosmetic"
    """Nothing that matters has changed."""
    COMPATIBLE = "compatible"
    """All state is taken over."""
    PARTIAL = "partial"
    """State is taken over; a new part of it starts empty."""
    UNKNOWN = "unknown"
    """It cannot be told, so it must not be relied on."""
    INCOMPATIBLE = "incompatible"
    """State is not taken over: the job does not start, or starts without it."""
    CORRUPTING = "corrupting"
    """The job starts, and takes the state for something else: wrong rows without a word."""

    @property
    def rank(self) -> int:
        """The place in the order, from 0."""
        return list(Verdict).index(self)

    def __lt__(self, other: Verdict) -> bool:
        return self.rank < other.rank

    def __str__(self) -> str:
        return self.value


class Effect(Enum):
    """Whether results change: rows that come after the change are other rows than they would have been."""

    NO = "no"
    UNKNOWN = "unknown"
    YES = "yes"

    def __str__(self) -> str:
        return self.value


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of these; cosmetic where there are none."""
    return max(verdicts, default=Verdict.COSMETIC)


def strongest(effects: Iterable[Effect]) -> Effect:
    """Yes where one is yes, else unknown where one is unknown."""
    found = set(effects)
    return next((e for e in (Effect.YES, Effect.UNKNOWN) if e in found), Effect.NO)


def fate(verdict: Verdict) -> str:
    """What a verdict says of state, in a word."""
    return "untouched" if verdict is Verdict.COSMETIC else verdict.value
