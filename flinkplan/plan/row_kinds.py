"""The kinds of rows that operators emit: what the planner infers, explain shows and the executor goes by.

Kinds of *changes* are inserts, updates and deletes, which is what follows from an operator and its inputs; whether an
update comes with its old row (-U) is then a matter of who reads it.
Source: ``FlinkChangelogModeInferenceProgram``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

from .specs import ConstantRankRange, JoinType, RankRange, RowKind, SortField
from .types import RowField

Kinds: TypeAlias = frozenset[RowKind]

NOTHING: Kinds = frozenset()
INSERTS: Kinds = frozenset({RowKind.INSERT})
UPDATES: Kinds = INSERTS | {RowKind.UPDATE_AFTER}
CHANGES: Kinds = UPDATES | {RowKind.DELETE}
"""All kinds of changes."""
UPSERTS: Kinds = CHANGES
"""As kinds of rows: updates come without their old row."""
ALL: Kinds = frozenset(RowKind)


class Flow(Protocol):
    """What stands around a node, as far as it decides which rows it emits."""

    @property
    def inputs(self) -> Sequence[Kinds]:
        """The kinds of rows of each input.  Raises :class:`NotKnownError`."""

    @property
    def sources(self) -> Sequence[object]:
        """The nodes that it reads from, but for exchanges."""

    @property
    def fields(self) -> Sequence[RowField]:
        """The columns of the first input."""

    @property
    def wants_old_rows(self) -> bool:
        """Whether who reads it needs the old rows of updates."""

    @property
    def in_batches(self) -> bool:
        """Whether the job works in mini-batches."""


class NotKnownError(Exception):
    """It is not known which rows an input emits."""


NAMES = {RowKind.INSERT: "I", RowKind.UPDATE_BEFORE: "UB", RowKind.UPDATE_AFTER: "UA", RowKind.DELETE: "D"}
"""In short, in Flink's order."""


def kinds_text(kinds: Kinds) -> str:
    """The kinds in short, in Flink's order: ``I,UB,UA,D``."""
    return ",".join(name for kind, name in NAMES.items() if kind in kinds)


def rows(changes: Kinds, update_before: bool) -> Kinds:
    """Kinds of changes as kinds of rows: with the old row of updates, or without."""
    return changes | {RowKind.UPDATE_BEFORE} if RowKind.UPDATE_AFTER in changes and update_before else changes


def together(inputs: Iterable[Kinds]) -> Kinds:
    """What comes of rows that are handed on as they are."""
    return NOTHING.union(*inputs)


def grouped(takes_back: bool) -> Kinds:
    """Of an aggregation by group: groups vanish where rows are taken back."""
    return CHANGES if takes_back else UPDATES


def fired(early_or_late: bool) -> Kinds:
    """Of an aggregation in the windows of GROUP BY, which may fire before they end, and after."""
    return UPDATES if early_or_late else INSERTS


def joined(kinds: Iterable[JoinType], inputs: Iterable[Kinds], update_before: bool = False) -> Kinds:
    """Of a regular join of two or more inputs: one that fills up with NULL takes that back when a match comes."""
    hands_on = set(kinds) <= {JoinType.INNER, JoinType.SEMI}
    return together(inputs) if hands_on else rows(CHANGES, update_before)


def limited(read: Kinds) -> Kinds:
    """Of a LIMIT without order."""
    return INSERTS if read <= INSERTS else CHANGES


def deduplicated(inserts_only: bool) -> Kinds:
    """Of a deduplication: where the first row of a key stays there are inserts alone."""
    return INSERTS if inserts_only else CHANGES


def first_stays(rank_type: str, range_: RankRange, order: Sequence[SortField], *, with_rank: bool) -> bool:
    """Whether Flink takes the first row of each key to stay the first, by whatever it is ordered, as by time.

    Source: ``RankUtil.isDeduplication``, ``RankUtil.keepLastDeduplicateRow``.
    """
    is_first = rank_type == "ROW_NUMBER" and range_ == ConstantRankRange(1, 1) and not with_rank
    return is_first and not (len(order) == 1 and not order[0].is_ascending)


def ranked(stays: bool, read: Kinds) -> Kinds:
    """Of a Top-N; ``stays``: of the first row of each key, which never changes again unless rows are taken back."""
    return INSERTS if stays and read <= INSERTS else CHANGES


def framed(by_time: bool, read: Kinds) -> Kinds:
    """Of OVER windows: rows ordered by time come in their order."""
    return INSERTS if by_time and read <= INSERTS else CHANGES
