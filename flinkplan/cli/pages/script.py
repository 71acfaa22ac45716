"""The pipeline beside a graph, without its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...plan.record import Record
from ...plan.secrets import hidden
from .highlighting import Piece, pieces

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of characters in a text, each with start and end."""


class Script(Record):
    """A pipeline without its secrets, the places of operators in it by node id, and its coloured parts."""

    text: str | None
    places: Mapping[int, Places]
    colours: tuple[Piece, ...]

    @classmethod
    def of(cls, text: str | None, places: Mapping[int, Places], is_yaml: bool) -> Script:
        """Hides the secrets of a script and moves its places accordingly; YAML gets no colours."""
        if text is None:
            return cls(None, {}, ())
        shown, shifted = hidden(text)
        moved = {id: tuple((shifted(start), shifted(end)) for start, end in spans) for id, spans in places.items()}
        return cls(shown, moved, () if is_yaml else pieces(shown))
