"""What becomes of UNKNOWN."""

from __future__ import annotations

from enum import Enum


class UnknownAs(Enum):
    """What a condition may as well be where it is UNKNOWN: FALSE in a filter, TRUE in its negation."""

    FALSE = False
    TRUE = True
    UNKNOWN = None

    def negated(self) -> UnknownAs:
        """The same below NOT."""
        return self if self is UnknownAs.UNKNOWN else UnknownAs(not self.value)
