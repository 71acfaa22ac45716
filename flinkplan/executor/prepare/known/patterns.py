"""The patterns of MATCH_RECOGNIZE: their variables, where the search goes on, and what of them is refused.

Source of the rules: Flink's ``CommonExecMatch`` and the patterns of its CEP library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ....plan.errors import UnsupportedError
from ....plan.functions import Function, called
from ....plan.functions.patterns import SKIPS
from ....plan.record import Record
from ....plan.rex import Call, Literal
from ....plan.specs import UNLIMITED, MatchSpec, PatternVariable
from ...jvm.types import is_day_time

_SKIPS = {"SKIP_PAST_LAST_ROW": "PAST_LAST_ROW", "SKIP_TO_NEXT_ROW": "TO_NEXT_ROW"}
_SKIPS_TO: dict[Function | None, str] = {function: place.replace(" ", "_") for place, function in SKIPS.items()}


class Skip(Record):
    """Where the search goes on after a match: ``target`` is one of ``Skip.java``'s."""

    target: str
    variable: str | None = None


def variables_of(spec: MatchSpec) -> tuple[PatternVariable, ...]:
    """The variables of a pattern in their order.  Raises :class:`UnsupportedError` for what Flink refuses, too."""
    pattern_variables = spec.variables()
    names = [variable.name for variable in pattern_variables]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise UnsupportedError(f"a variable that stands twice in a pattern, as {twice} does")
    for variable in pattern_variables:
        _check_quantifier(variable)
    if all(variable.least == 0 for variable in pattern_variables):
        raise UnsupportedError("a pattern that may match no row", hint="make one of its variables match a row at least")
    for before, variable in pairwise(pattern_variables):
        if variable.is_optional and before.is_greedy:
            raise UnsupportedError(
                f"the optional variable {variable.name} behind the greedy {before.name}, as Flink has it",
                hint=f"make {before.name} reluctant, or write {{0,n}} behind {variable.name}",
            )
    if pattern_variables[-1].is_greedy:
        raise UnsupportedError(
            f"a pattern that ends with the greedy variable {pattern_variables[-1].name}, as Flink has it",
            hint="end it with a variable that takes one row, or make the last one reluctant",
        )
    return pattern_variables


def _check_quantifier(variable: PatternVariable) -> None:
    name, least, most = variable.name, variable.least, variable.most
    if most != UNLIMITED and (most < least or most < 1 or least < 0):
        raise UnsupportedError(f"the variable {name} that takes from {least} to {most} rows")
    if variable.reluctant and (least, most) == (0, 1):
        raise UnsupportedError(f"the reluctant optional variable {name}??, as Flink has it", hint=f"write {name}?")


def skip_of(spec: MatchSpec, variables: Sequence[PatternVariable]) -> Skip:
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
