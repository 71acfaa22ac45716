"""Keys of the two sides of a join, of which none is on both: whether they would be if they were written alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from ..plan.record import Record

Key = tuple[Any, ...]
"""The values of the columns of a key."""


class Form(Record):
    """A way to write keys alike: ``what`` both sides differ in, ``fix`` what makes it go away in SQL."""

    what: str
    fix: str


def _text(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """Numbers, and texts of numbers, alike: ``'007'``, ``7`` and ``7.0`` are the same."""
    if isinstance(value, bool):
        return value
    try:
        return Decimal(str(value).strip()).normalize()
    except InvalidOperation:
        return value


def _compact(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


FORMS: Mapping[Form, Callable[[Any], Any]] = {
    Form("spaces around them", "TRIM(…) on both sides"): _text(str.strip),
    Form("case", "UPPER(…) on both sides"): _text(str.casefold),
    Form("spaces around them and case", "UPPER(TRIM(…)) on both sides"): _text(lambda text: text.strip().casefold()),
    Form("how numbers are written", "CAST(… AS …) to the same type of number on both sides"): _number,
    Form("how Unicode characters are composed", "the same normalization where the rows are made"): _text(
        lambda text: unicodedata.normalize("NFC", text)
    ),
    Form("characters that are no letters or digits", "REGEXP_REPLACE(…) on both sides"): _text(_compact),
}
"""How keys may differ that mean the same, from the likeliest on: each with what makes values of this kind the same."""


class KeyComparison(Record):
    """Keys of two sides of a join.

    ``left`` and ``right`` are how many keys were compared, ``common`` how many of them are on both sides.  ``form`` is
    what most other keys differ in, ``alike`` how many keys of the smaller side are then on the other one, and
    ``example`` a pair of them.  ``samples``: a key of each side.  ``null_left`` and ``null_right``: how many keys have
    a NULL.
    """

    left: int
    right: int
    common: int
    form: Form | None = None
    alike: int = 0
    example: tuple[str, str] | None = None
    samples: tuple[str, str] | None = None
    null_left: int = 0
    null_right: int = 0


def compare_keys(left: Collection[Key], right: Collection[Key]) -> KeyComparison:
    """Compare keys of the two sides of a join."""
    ours, theirs = set(left), set(right)
    common = len(ours & theirs)
    best: tuple[int, Form, tuple[str, str]] | None = None
    if not common:
        for form, change in FORMS.items():
            changed = _by_form(ours, change), _by_form(theirs, change)
            matches = changed[0].keys() & changed[1].keys()
            if matches and (best is None or len(matches) > best[0]):
                first = min(matches, key=repr)
                best = len(matches), form, (shown(changed[0][first]), shown(changed[1][first]))
    return KeyComparison(
        len(ours),
        len(theirs),
        common,
        best[1] if best else None,
        best[0] if best else 0,
        best[2] if best else None,
        (shown(min(ours, key=repr)), shown(min(theirs, key=repr))) if ours and theirs else None,
        _with_null(ours),
        _with_null(theirs),
    )


def _by_form(keys: Iterable[Key], change: Callable[[Any], Any]) -> dict[Key, Key]:
    return {tuple(map(change, key)): key for key in keys if None not in key}


def _with_null(keys: Iterable[Key]) -> int:
    return sum(None in key for key in keys)


def shown(key: Key) -> str:
    """A key in a message: texts in quotes, so that spaces are seen."""
    parts = [repr(value) if isinstance(value, str) else "NULL" if value is None else str(value) for value in key]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
