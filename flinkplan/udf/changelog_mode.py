"""Kinds of changelogs."""

from __future__ import annotations

from collections.abc import Iterable

from ..plan.record import Record
from ..windowing.rows import RowKind


class ChangelogMode(Record):
    """The kinds of rows in a changelog; with ``key_only_deletes`` deleted rows have their key alone."""

    kinds: frozenset[RowKind]
    key_only_deletes: bool = False

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Insertions only."""
        return ChangelogMode(frozenset((RowKind.INSERT,)))

    @staticmethod
    def upsert(key_only_deletes: bool = True) -> ChangelogMode:
        """Insertions, updates without the old row, and deletions."""
        return ChangelogMode(frozenset(RowKind) - {RowKind.UPDATE_BEFORE}, key_only_deletes)

    @staticmethod
    def all() -> ChangelogMode:
        """All kinds of rows."""
        return ChangelogMode(frozenset(RowKind))

    def contains(self, kind: RowKind) -> bool:
        """Whether there may be rows of a kind."""
        return kind in self.kinds

    @staticmethod
    def of_plan(kinds: Iterable[str]) -> ChangelogMode:
        """The mode of the kinds that a plan lists, ``~DELETE`` among them."""
        listed = list(kinds)
        return ChangelogMode(frozenset(RowKind[kind.removeprefix("~")] for kind in listed), "~DELETE" in listed)

    def as_plan(self) -> tuple[str, ...]:
        """The kinds as plans list them."""
        by_key = {RowKind.DELETE} if self.key_only_deletes else set()
        return tuple(f"{'~' if kind in by_key else ''}{kind.name}" for kind in RowKind if kind in self.kinds)
