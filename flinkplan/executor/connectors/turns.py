"""When one of several sources is read."""

from __future__ import annotations

from enum import Enum


class Turn(Enum):
    """When a source of a stream is read, where a table has several."""

    ALONE = "alone"
    """At once, and whatever comes."""

    FIRST = "first"
    """With the first micro-batch, and those behind it until it ends."""

    LAST = "last"
    """When the batch in which others end is done, and its watermark has taken effect."""
