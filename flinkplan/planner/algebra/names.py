"""Names that the planner gives to columns, as Calcite gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from ...plan.functions import called
from ...plan.functions.cast import CAST
from ...plan.rex import InputRef, RexNode, children


def anonymous(position: int) -> str:
    """The name of a column at a position where the query gives none.  Source: ``SqlUtil.deriveAliasFromOrdinal``."""
    return f"EXPR${position}"


def is_made_up(name: str) -> bool:
    """Whether a rule made up the name, such as ``$f1``; names of tables and queries do not begin so."""
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
    """By name the first number that may be free."""
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
