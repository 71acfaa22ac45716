"""The effects of a change on state that was written under the old plan, and on results."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import total_ordering


@total_ordering
class Verdict(Enum):
    """Whether state survives, from best to worst; the worst of several verdicts counts."""

    COSMETIC = "cosmetic"
    """Nothing relevant has changed."""
    COMPATIBLE = "compatible"
    """All state is restored."""
    PARTIAL = "partial"
    """State is restored; a new part of it starts empty."""
    UNKNOWN = "unknown"
    """No rule knows the effect, so the state must not be relied on."""
    INCOMPATIBLE = "incompatible"
    """State is not restored: the job does not start, or starts without it."""
    CORRUPTING = "corrupting"
    """The job starts and misreads its state: wrong rows without an error."""

    @property
    def rank(self) -> int:
        """The position in the order, from 0."""
        return list(Verdict).index(self)

    def __lt__(self, other: Verdict) -> bool:
        return self.rank < other.rank

    def __str__(self) -> str:
        return self.value


class Effect(Enum):
    """Whether results change: whether later rows differ from those of the old plan."""

    NO = "no"
    UNKNOWN = "unknown"
    YES = "yes"

    def __str__(self) -> str:
        return self.value


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of these verdicts; cosmetic if there are none."""
    return max(verdicts, default=Verdict.COSMETIC)


def strongest(effects: Iterable[Effect]) -> Effect:
    """Yes if one is yes, else unknown if one is unknown, else no."""
    present = set(effects)
    return next((e for e in (Effect.YES, Effect.UNKNOWN) if e in present), Effect.NO)


def fate(verdict: Verdict) -> str:
    """The word for a verdict on state."""
    return "untouched" if verdict is Verdict.COSMETIC else verdict.value
