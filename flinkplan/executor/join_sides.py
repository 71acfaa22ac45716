"""How a side of a regular join keeps its rows.

Source of the rules: Flink's ``JoinInputSideSpec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..plan.record import Record
from ..plan.specs import JoinType
from .context import TranslationContext
from .kernels import int_array, java_record, schema_of
from .stream import Stream


class KeptRows(Record):
    """``unique``: the columns that tell rows apart; ``single``: a join key has one row at most.

    ``appended``: rows are only ever added, and nobody counts their matches.
    """

    unique: tuple[int, ...] | None
    single: bool
    appended: bool

    @property
    def kind(self) -> str:
        """Spark's kind of state."""
        if self.single:
            return "ValueState"
        return "ListState" if self.appended and self.unique is None else "MapState"

    def holds(self, unique: str) -> str:
        """What the state holds for a join key, with the columns of ``unique`` by name."""
        if self.single:
            return "the row"
        if self.unique is not None:
            return f"row by {unique}"
        return "rows" if self.appended else "how often by row"


def kept_rows(join_key: Sequence[int], unique_keys: Sequence[Sequence[int]] | None, counted: bool) -> KeptRows:
    """How rows are kept that are known by ``unique_keys``; ``counted``: rows are taken back or count matches."""
    contained = [key for key in unique_keys or () if set(key) <= set(join_key)]
    unique = min(contained or unique_keys or (), key=len, default=None)
    return KeptRows(None if unique is None else tuple(unique), bool(contained), not counted)


def join_kind(context: TranslationContext, kind: JoinType) -> Any:
    """What a join emits, for its kernel."""
    return context.runtime.join.JoinKind.valueOf(kind.name)


def side_spec(context: TranslationContext, name: str, stream: Stream, ttl: int, kept: KeptRows) -> Any:
    """The same for the kernel."""
    return java_record(
        context,
        "join.JoinSide$Spec",
        name=name,
        row=schema_of(stream.type.field_types),
        ttl=ttl,
        uniqueKey=None if kept.unique is None else int_array(context, kept.unique),
        single=kept.single,
        appendOnly=kept.appended,
    )
