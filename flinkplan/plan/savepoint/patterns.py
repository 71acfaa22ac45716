"""What Flink's library of patterns calls the places in which a match may stand, and which of its versions go together.

Sources: ``NFACompiler``, ``NFAStateNameHandler`` and ``DeweyNumber``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..specs import UNLIMITED, PatternVariable

END = "$endState$"
"""The place behind the last row."""


def place_names(variables: Sequence[PatternVariable]) -> Iterator[str]:
    """The names of all places, the end first, then those of the last variable, in the order in which Flink makes them.

    A variable has a place for each row that it must take, and for each that it may; one for all that are unlimited.
    """
    yield END
    for variable in reversed(variables):
        least = max(1, variable.least)
        further = 1 if variable.most == UNLIMITED else variable.most - least
        for number in range(least + further):
            yield variable.name if number == 0 else f"{variable.name}:{number - 1}"


def variable_name(place: str) -> str:
    """The variable of a place."""
    return place.split(":")[0]


def is_compatible(version: Sequence[int], older: Sequence[int]) -> bool:
    """Whether a match of a version goes on from what an ``older`` version has left."""
    if len(version) > len(older):
        return list(version[: len(older)]) == list(older)
    same_length = len(version) == len(older)
    return same_length and list(version[:-1]) == list(older[:-1]) and version[-1] >= older[-1]
