"""The row patterns of MATCH_RECOGNIZE."""

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
"""The maximum of a variable that matches any number of rows; the same constant as in ``Variable.java``."""

_REFUSED_PATTERNS: dict[Function | None, str] = {
    CHOICE: "alternatives (|) in a pattern, as Flink has it",
    PERMUTATION: "PERMUTE in a pattern, as Flink has it",
    EXCLUSION: "exclusions ({- -}) in a pattern, as Flink has it",
}


class PatternVariable(Record):
    """A variable of a pattern: its minimum and maximum number of rows, and whether it prefers fewer rows (reluctant).

    ``is_optional`` and ``is_greedy`` are the properties of the pattern in Flink's CEP library.
    """

    name: str
    least: int = 1
    most: int = 1
    reluctant: bool = False

    @property
    def is_optional(self) -> bool:
        """Whether it is ``?`` or ``*``, which may not follow a greedy variable."""
        return self.least == 0 and self.most in (1, UNLIMITED)

    @property
    def is_greedy(self) -> bool:
        """Whether it matches as many rows as possible; not so for ``?`` and a fixed number of rows."""
        return not self.reluctant and self.least != self.most and (self.least, self.most) != (0, 1)


class MatchSpec(PlanRecord):
    """A row pattern of a partition, and the result of a match.  Source: Flink's ``MatchSpec``.

    ``pattern`` consists of literals, which name variables, and calls that combine them; ``pattern_definitions`` are the
    conditions of variables and ``measures`` the computed columns, both in alphabetical order of their names.
    ``after`` says where the search continues after a match, ``subsets`` for which variables a name stands; a match
    lasts at most ``interval``.
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
        """The variables of the pattern in order.

        Raises :class:`UnsupportedError` for a pattern that is not a sequence of variables; Flink does not run it
        either.
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
            construct = f"{_kind(pattern) or shown_name(pattern.name)} in a pattern"
            raise UnsupportedError(_REFUSED_PATTERNS.get(called(pattern), construct))
        case _:
            raise UnsupportedError("a pattern that is not made of variables")


def _kind(call: Call) -> str:
    """Calcite's ``SqlKind`` of a part of a pattern, which plans contain instead of a function's name."""
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
