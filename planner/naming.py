"""Names that the planner gives to columns, as Calcite gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def uniquify(names: Iterable[str | None], unnamed: Callable[[int], str] = "$f{}".format) -> tuple[str, ...]:
    """Each name once: a repeated one gets the smallest number that makes it unique.

    A missing name becomes ``unnamed`` of how many different names there are before it.
    """
    used: set[str] = set()
    different: set[str] = set()
    found = []
    for name in names:
        base = unnamed(len(different)) if name is None else name
        different.add(base)
        candidate, number = base, 0
        while candidate in used:
            candidate = f"{base}{number}"
            number += 1
        used.add(candidate)
        found.append(candidate)
    return tuple(found)
