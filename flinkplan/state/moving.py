"""What a command that moves a job between Flink and Spark says of it."""

from __future__ import annotations

from collections.abc import Callable

from ..plan.record import Record
from .form import StateError


class NotMovedError(StateError):
    """State, or a source's position, that cannot be moved to the other engine (exit code 1)."""

    exit_code = 1


class Moved(Record):
    """Something that is moved: ``where`` is an operator or a source, ``what`` describes what goes along."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


Report = Callable[[Moved], None]
"""Is told of each operator and source before anything is written."""

Progress = Callable[[str, int, int], None]
"""Is told what is done, of how many entries so far, and how many there are."""


def silent(what: str, done: int, total: int) -> None:
    """The progress that nobody looks at."""
