"""When one of several sources is read."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from ...plan.record import Record


class Turn(Enum):
    """When a source of a stream is read, where a table has several."""

    ALONE = "alone"
    """At once, and whatever comes."""

    FIRST = "first"
    """With the first micro-batch, and those behind it until it ends."""

    LAST = "last"
    """When the batch in which others end is done, and its watermark has taken effect."""


class Switch(Protocol):
    """What the Java ``Switch`` is asked and told by sources in Python."""

    def end(self, source: str) -> None: ...

    def isReached(self) -> bool: ...

    def go(self) -> None: ...

    def table(self) -> str: ...


class InTurn(Record):
    """When a source is read: its name, its turn, and the switch between the others and the last one."""

    source: str = ""
    turn: Turn = Turn.ALONE
    switch: Switch | None = None
