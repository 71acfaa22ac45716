"""The kinds of rows that operators emit, for the planner, ``explain`` and the executor.

Kinds of *changes* are inserts, updates and deletes; they follow from an operator and its inputs.  Whether an update
comes with its old row (UPDATE_BEFORE) is then decided by the operator's readers.
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
"""Kinds of rows of an upsert stream: updates come without their old row."""
ALL: Kinds = frozenset(RowKind)


class Flow(Protocol):
    """The context of a node, as far as the kinds of rows that it emits depend on it."""

    @property
    def inputs(self) -> Sequence[Kinds]:
        """The kinds of rows of each input.  Raises :class:`NotKnownError`."""

    @property
    def sources(self) -> Sequence[object]:
        """The nodes that it reads from; exchanges are skipped."""

    @property
    def fields(self) -> Sequence[RowField]:
        """The columns of the first input."""

    @property
    def needs_update_before(self) -> bool:
        """Whether a reader of the node needs the old rows of updates."""

    @property
    def uses_mini_batches(self) -> bool:
        """Whether the job processes mini-batches."""


class NotKnownError(Exception):
    """The kinds of rows of an input are not known."""


NAMES = {RowKind.INSERT: "I", RowKind.UPDATE_BEFORE: "UB", RowKind.UPDATE_AFTER: "UA", RowKind.DELETE: "D"}
"""The short names of the kinds, in Flink's order."""


def kinds_text(kinds: Kinds) -> str:
    """The short names of the kinds, in Flink's order: ``I,UB,UA,D``."""
    return ",".join(name for kind, name in NAMES.items() if kind in kinds)


def rows(changes: Kinds, update_before: bool) -> Kinds:
    """Kinds of changes as kinds of rows, with or without the old rows of updates."""
    return changes | {RowKind.UPDATE_BEFORE} if RowKind.UPDATE_AFTER in changes and update_before else changes


def forwarded(inputs: Iterable[Kinds]) -> Kinds:
    """The kinds of an operator that forwards the rows of its inputs unchanged."""
    return NOTHING.union(*inputs)


def grouped(retracts: bool) -> Kinds:
    """The changes of a group aggregation: groups are deleted if input rows can be retracted."""
    return CHANGES if retracts else UPDATES


def fired(early_or_late: bool) -> Kinds:
    """The changes of a group window aggregation; with early or late firing a window emits updates."""
    return UPDATES if early_or_late else INSERTS


def joined(kinds: Iterable[JoinType], inputs: Iterable[Kinds], update_before: bool = False) -> Kinds:
    """The rows of a regular join of two or more inputs; an outer join retracts rows with NULLs when a match arrives."""
    forwards = set(kinds) <= {JoinType.INNER, JoinType.SEMI}
    return forwarded(inputs) if forwards else rows(CHANGES, update_before)


def limited(input_kinds: Kinds) -> Kinds:
    """The changes of a LIMIT without ORDER BY."""
    return INSERTS if input_kinds <= INSERTS else CHANGES


def deduplicated(inserts_only: bool) -> Kinds:
    """The changes of a deduplication: inserts only if the first row of a key is kept for good."""
    return INSERTS if inserts_only else CHANGES


def first_row_is_final(rank_type: str, range_: RankRange, order: Sequence[SortField], *, with_rank: bool) -> bool:
    """Whether Flink treats the first row of each key as final, whatever the order is, as it is with an order by time.

    Source: ``RankUtil.isDeduplication``, ``RankUtil.keepLastDeduplicateRow``.
    """
    is_first = rank_type == "ROW_NUMBER" and range_ == ConstantRankRange(1, 1) and not with_rank
    return is_first and not (len(order) == 1 and not order[0].is_ascending)


def ranked(stays: bool, input_kinds: Kinds) -> Kinds:
    """The changes of a Top-N; ``stays`` is the result of :func:`first_row_is_final`."""
    return INSERTS if stays and input_kinds <= INSERTS else CHANGES


def framed(by_time: bool, input_kinds: Kinds) -> Kinds:
    """The changes of an OVER aggregation: rows that are ordered by time arrive in that order."""
    return INSERTS if by_time and input_kinds <= INSERTS else CHANGES
