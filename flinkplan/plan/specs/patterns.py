"""Patterns of rows, as MATCH_RECOGNIZE looks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from ..codec import PlanRecord
from ..errors import UnsupportedError
from ..functions import Function, called
from ..functions.patterns import CHOICE, EXCLUSION, PERMUTATION, QUANTIFIER, SEQUENCE
from ..record import Record
from ..references import Input
from ..rex import Call, Literal, RexNode, shown_name
from .ranking import PartitionSpec, SortSpec

UNLIMITED = -1
"""So many rows does a variable take at most that takes any number of them; the same as in ``Variable.java``."""

_REFUSED_PATTERNS: dict[Function | None, str] = {
    CHOICE: "alternatives (|) in a pattern, as Flink has it",
    PERMUTATION: "PERMUTE in a pattern, as Flink has it",
    EXCLUSION: "exclusions ({- -}) in a pattern, as Flink has it",
}


class PatternVariable(Record):
    """A variable of a pattern: how many rows it takes at least and at most, and whether it would rather take fewer.

    ``is_optional``, ``is_greedy``: what Flink's library makes of that.
    """

    name: str
    least: int = 1
    most: int = 1
    reluctant: bool = False

    @property
    def is_optional(self) -> bool:
        """Whether it is ``?`` or ``*``, which may not stand behind a greedy one."""
        return self.least == 0 and self.most in (1, UNLIMITED)

    @property
    def is_greedy(self) -> bool:
        """Whether it takes each row that it can; ``?`` and a fixed number do not."""
        return not self.reluctant and self.least != self.most and (self.least, self.most) != (0, 1)


class MatchSpec(PlanRecord):
    """A pattern of the rows of a partition, and what comes of a match.  Source: Flink's ``MatchSpec``.

    ``pattern`` is made of literals, which name variables, and calls that combine them; ``pattern_definitions`` are the
    conditions of variables, ``measures`` the columns that are computed, both by their names in alphabetical order.
    ``after`` says where the search goes on after a match, ``subsets`` which variables a name stands for; a match takes
    ``interval`` at the most.
    """

    pattern: Annotated[RexNode, Input.NONE]
    pattern_definitions: Annotated[Mapping[str, RexNode], Input.ALL]
    measures: Annotated[Mapping[str, RexNode], Input.ALL]
    after: Annotated[RexNode, Input.NONE]
    subsets: Mapping[str, tuple[str, ...]]
    all_rows: bool
    partition: PartitionSpec
    order_by: SortSpec
    interval: Annotated[RexNode | None, Input.NONE]

    def variables(self) -> tuple[PatternVariable, ...]:
        """The variables of the pattern in their order.

        Raises :class:`UnsupportedError` where it is made of more than that, with which Flink starts no job.
        """
        return tuple(_variables(self.pattern))


def _variables(pattern: RexNode) -> Iterator[PatternVariable]:
    match pattern:
        case Literal(value=str(name)):
            yield PatternVariable(name)
        case Call(operands=operands) if called(pattern) is QUANTIFIER:
            yield _quantified(operands)
        case Call(operands=operands) if _kind(pattern) == SEQUENCE:
            for operand in operands:
                yield from _variables(operand)
        case Call():
            what = f"{_kind(pattern) or shown_name(pattern.name)} in a pattern"
            raise UnsupportedError(_REFUSED_PATTERNS.get(called(pattern), what))
        case _:
            raise UnsupportedError("a pattern that is not made of variables")


def _kind(call: Call) -> str:
    """What a part of a pattern is, which plans say instead of the name of a function."""
    return str(call.reference.get("sqlKind", "")) if call.reference is not None else ""


def _quantified(operands: Sequence[RexNode]) -> PatternVariable:
    match operands:
        case (
            Literal(value=str(name)),
            Literal(value=int(least)),
            Literal(value=int(most)),
            Literal(value=bool(reluctant)),
        ):
            return PatternVariable(name, least, most, reluctant)
    raise UnsupportedError("quantifiers of groups in a pattern, as Flink has it", hint="put one behind each variable")
