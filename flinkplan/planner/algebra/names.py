"""Names that the planner gives to columns, as Calcite gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from ...plan.functions import called
from ...plan.functions.cast import CAST
from ...plan.rex import InputRef, RexNode, children


def anonymous(position: int) -> str:
    """What a query calls a column at a position that it does not name.  Source: ``SqlUtil.deriveAliasFromOrdinal``."""
    return f"EXPR${position}"


def is_made_up(name: str) -> bool:
    """Whether rules have made a column and called it by its place, as ``$f1``: no table or query names one so."""
    return name.startswith("$")


def uniquify(
    names: Iterable[str | None], unnamed: Callable[[int], str] = "$f{}".format, *, separator: str = ""
) -> tuple[str, ...]:
    """Each name once: a repeated one gets, behind ``separator``, the smallest number that makes it unique.

    A missing name becomes ``unnamed`` of its position.
    """
    wanted = list(names)
    if len(set(wanted)) == len(wanted) and None not in wanted:
        return cast("tuple[str, ...]", tuple(wanted))
    unique: dict[str, None] = {}
    numbers: dict[str, int] = {}
    """By name the first number that may make it unique: those before have been taken."""
    for position, name in enumerate(wanted):
        base = candidate = unnamed(position) if name is None else name
        while candidate in unique:
            number = numbers.get(base, 0)
            candidate = f"{base}{separator}{number}"
            numbers[base] = number + 1
        unique[candidate] = None
    return tuple(unique)


def inferred(names: Sequence[str], exprs: Iterable[RexNode]) -> tuple[str, ...]:
    """The names that ``RelBuilder.project`` finds: columns keep theirs, cast ones too, others are places."""
    bare = (children(e)[0] if called(e) is CAST else e for e in exprs)
    return tuple(names[e.index] if isinstance(e, InputRef) else f"$f{i}" for i, e in enumerate(bare))
