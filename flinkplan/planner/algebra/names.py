"""Names that the planner gives to columns, as Calcite gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def uniquify(
    names: Iterable[str | None], unnamed: Callable[[int], str] = "$f{}".format, *, separator: str = ""
) -> tuple[str, ...]:
    """Each name once: a repeated one gets, behind ``separator``, the smallest number that makes it unique.

    A missing name becomes ``unnamed`` of its position.
    """
    used: set[str] = set()
    found = []
    for position, name in enumerate(names):
        base = unnamed(position) if name is None else name
        candidate, number = base, 0
        while candidate in used:
            candidate = f"{base}{separator}{number}"
            number += 1
        used.add(candidate)
        found.append(candidate)
    return tuple(found)
