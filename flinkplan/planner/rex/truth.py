"""How UNKNOWN is treated."""

from __future__ import annotations

from enum import Enum


class UnknownAs(Enum):
    """What UNKNOWN may be replaced by: FALSE in a filter, TRUE below a NOT in it."""

    FALSE = False
    TRUE = True
    UNKNOWN = None

    def negated(self) -> UnknownAs:
        """The same below NOT."""
        return self if self is UnknownAs.UNKNOWN else UnknownAs(not self.value)
