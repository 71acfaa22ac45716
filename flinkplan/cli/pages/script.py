"""The pipeline that stands beside a graph, as it can be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...plan.record import Record
from ...plan.secrets import hidden
from .highlighting import Piece, pieces

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Parts of a text: from one character up to another."""


class Script(Record):
    """A text without its secrets, if there is one, where operators stand in it by node id, and what has a colour."""

    text: str | None
    places: Mapping[int, Places]
    colours: tuple[Piece, ...]

    @classmethod
    def of(cls, text: str | None, places: Mapping[int, Places], is_yaml: bool) -> Script:
        """That of a script as it was written, with the places in that; what is no SQL has no colours."""
        if text is None:
            return cls(None, {}, ())
        shown, shifted = hidden(text)
        moved = {id: tuple((shifted(start), shifted(end)) for start, end in spans) for id, spans in places.items()}
        return cls(shown, moved, () if is_yaml else pieces(shown))
