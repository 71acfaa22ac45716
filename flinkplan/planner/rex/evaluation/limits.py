"""Limits of constant evaluation; larger constants are left to the job.

Flink has no limits: a constant of a gigabyte is computed by its planner, too, and written into the plan.
"""

from __future__ import annotations

import re

from .registry import UnknownValue

LONGEST = 1_000_000
"""The greatest length of a constant, in characters."""

STEPS = 1_000_000
"""The greatest number of steps of a regular expression in the worst case."""

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\()|(?P<close>\))|(?P<or>\|)|(?P<once>\?)|(?P<many>[*+]|\{\d*,\d*\})"
    r"|(?P<times>\{\d+\})|.",
    re.DOTALL,
)


def length(characters: int) -> int:
    """The length of a constant.  Raises :class:`UnknownValue` where it is too long."""
    if characters > LONGEST:
        raise UnknownValue
    return characters


def steps(regex: str, text: str) -> int:
    """The number of steps of a backtracking regular-expression engine in the worst case.

    Each repetition of any number may end at any place of the text, each optional part doubles what is tried.  Raises
    :class:`UnknownValue` where that is too much, and for repetitions inside repetitions and references to groups,
    for which there is no such bound.
    """
    if re.search(r"\\[1-9]", regex):
        raise UnknownValue
    count = len(text) + 1
    branches = [False]
    """Of each open group, whether it can match in several ways."""
    closed = False
    for token in _TOKEN.finditer(regex):
        kind = token.lastgroup
        if kind in ("once", "many", "times") and closed:
            raise UnknownValue
        if kind == "open":
            branches.append(False)
        elif kind in ("once", "many", "or"):
            branches[-1] = True
            count *= len(text) + 1 if kind == "many" else 2
        if count > STEPS:
            raise UnknownValue
        closed = kind == "close" and len(branches) > 1 and branches.pop()
        if closed:
            branches[-1] = True
    return count
