"""The patterns of MATCH_RECOGNIZE: their variables, where the search goes on, and what of them is refused.

Source of the rules: Flink's ``CommonExecMatch`` and the patterns of its CEP library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..plan.errors import UnsupportedError
from ..plan.functions import Function, called
from ..plan.functions.patterns import (
    CHOICE,
    EXCLUSION,
    PERMUTATION,
    QUANTIFIER,
    SEQUENCE,
    SKIPS,
)
from ..plan.record import Record
from ..plan.rex import Call, Literal, RexNode, shown_name
from ..plan.specs import MatchSpec
from .types import is_day_time

UNLIMITED = -1
"""The same as in ``Variable.java``."""

_SKIPS = {"SKIP_PAST_LAST_ROW": "PAST_LAST_ROW", "SKIP_TO_NEXT_ROW": "TO_NEXT_ROW"}
_SKIPS_TO: dict[Function | None, str] = {function: place.replace(" ", "_") for place, function in SKIPS.items()}

_REFUSED_PATTERNS: dict[Function | None, str] = {
    CHOICE: "alternatives (|) in a pattern, as Flink has it",
    PERMUTATION: "PERMUTE in a pattern, as Flink has it",
    EXCLUSION: "exclusions ({- -}) in a pattern, as Flink has it",
}


class Variable(Record):
    """A variable of a pattern: how many rows it takes at least and at most, and whether it would rather take more.

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


class Skip(Record):
    """Where the search goes on after a match: ``target`` is one of ``Skip.java``'s."""

    target: str
    variable: str | None = None


def variables_of(spec: MatchSpec) -> tuple[Variable, ...]:
    """The variables of a pattern in their order.  Raises :class:`UnsupportedError` for what Flink refuses, too."""
    found = tuple(_variables(spec.pattern))
    names = [variable.name for variable in found]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise UnsupportedError(f"a variable that stands twice in a pattern, as {twice} does")
    for variable in found:
        _check_quantifier(variable)
    if all(variable.least == 0 for variable in found):
        raise UnsupportedError("a pattern that may match no row", hint="make one of its variables match a row at least")
    for before, variable in pairwise(found):
        if variable.is_optional and before.is_greedy:
            raise UnsupportedError(
                f"the optional variable {variable.name} behind the greedy {before.name}, as Flink has it",
                hint=f"make {before.name} reluctant, or write {{0,n}} behind {variable.name}",
            )
    if found[-1].is_greedy:
        raise UnsupportedError(
            f"a pattern that ends with the greedy variable {found[-1].name}, as Flink has it",
            hint="end it with a variable that takes one row, or make the last one reluctant",
        )
    return found


def _variables(pattern: RexNode) -> Iterator[Variable]:
    match pattern:
        case Literal(value=str(name)):
            yield Variable(name)
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


def _quantified(operands: Sequence[RexNode]) -> Variable:
    match operands:
        case (
            Literal(value=str(name)),
            Literal(value=int(least)),
            Literal(value=int(most)),
            Literal(value=bool(reluctant)),
        ):
            return Variable(name, least, most, reluctant)
    raise UnsupportedError("quantifiers of groups in a pattern, as Flink has it", hint="put one behind each variable")


def _check_quantifier(variable: Variable) -> None:
    name, least, most = variable.name, variable.least, variable.most
    if most != UNLIMITED and (most < least or most < 1 or least < 0):
        raise UnsupportedError(f"the variable {name} that takes from {least} to {most} rows")
    if variable.reluctant and (least, most) == (0, 1):
        raise UnsupportedError(f"the reluctant optional variable {name}??, as Flink has it", hint=f"write {name}?")


def skip_of(spec: MatchSpec, variables: Sequence[Variable]) -> Skip:
    """Where the search goes on after a match.  Raises :class:`UnsupportedError` for what is not known."""
    match spec.after:
        case Literal(value=value) if value in _SKIPS:
            return Skip(_SKIPS[str(value)])
        case Call(operands=(Literal(value=str(variable)),)) if place := _SKIPS_TO.get(called(spec.after)):
            if variable not in [v.name for v in variables]:
                raise UnsupportedError(f"AFTER MATCH SKIP TO {variable}, which is no variable of the pattern")
            return Skip(place, variable)
    raise UnsupportedError("this AFTER MATCH clause")


def within_ms(spec: MatchSpec) -> int:
    """How long a match may last (ms); 0: as long as it may."""
    match spec.interval:
        case None:
            return 0
        case Literal(value=value, type=t) if is_day_time(t) and _is_whole(value):
            return max(0, int(value))
    raise UnsupportedError("WITHIN an interval that is no constant of days to seconds")


def _is_whole(value: object) -> bool:
    return re.fullmatch(r"-?\d{1,18}", str(value)) is not None
