"""The changes that physical relations emit.  Sources: ``ModifyKindSetTrait``, ``UpdateKindTrait``."""

from __future__ import annotations

from enum import Enum

from ...plan.record import Record
from ...plan.row_kinds import INSERTS, Kinds
from ...plan.specs import RowKind


class Updates(Enum):
    """How updates are emitted.  Source: ``UpdateKind``."""

    NONE = "NONE"
    ONLY_AFTER = "ONLY_AFTER"
    BEFORE_AND_AFTER = "BEFORE_AND_AFTER"


class Changes(Record):
    """The kinds of changes that an operator emits, and how it emits updates."""

    kinds: Kinds
    updates: Updates

    @property
    def are_insertions(self) -> bool:
        """Whether there are insertions only."""
        return self.kinds <= INSERTS

    @property
    def has_update_before(self) -> bool:
        return self.updates is Updates.BEFORE_AND_AFTER

    @property
    def row_kinds(self) -> tuple[RowKind, ...]:
        """The kinds of rows, in the order of the plan."""
        updates = RowKind.UPDATE_AFTER in self.kinds
        before = {RowKind.UPDATE_BEFORE} if updates and self.has_update_before else set()
        return tuple(kind for kind in RowKind if kind in self.kinds | before)
