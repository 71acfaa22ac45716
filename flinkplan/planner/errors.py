"""Errors of planning: SQL that means something, but that no plan can be made of."""

from __future__ import annotations

from enum import Enum

from ..plan.errors import FlinkplanError
from ..plan.types.readable import readable


class Part(Enum):
    """The part of a statement that an error of planning is about."""

    SINK = "the table that is written"
    TEMPORAL_JOIN = "a table FOR SYSTEM_TIME AS OF"
    FUNCTION = "calls of a function"
    OVER = "calls with OVER"
    ORDER_BY = "ORDER BY"


class PlanningError(FlinkplanError):
    """A query that Flink refuses to plan (exit code 2).

    Relations do not know where they were written: ``part``, with the ``name`` of a function where it is one, says
    what to underline, if the statement has one such part (:func:`~.placing.place_of`).
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, part: Part | None = None, name: str = "") -> None:
        super().__init__(readable(message), hint=None if hint is None else readable(hint))
        self.part = part
        self.name = name
