"""Hints of joins and aggregates."""

from __future__ import annotations

from ...plan.record import Record
from ...plan.specs import RetryLookup


class TtlHint(Record):
    """``STATE_TTL``: milliseconds by input (0 left, 1 right) of a join, or {0: ms} of an aggregate."""

    by_input: tuple[tuple[int, int], ...]


class LookupHint(Record):
    """``LOOKUP``: whether rows are shuffled by key first, and how lookups without a result are retried."""

    shuffle: bool = False
    retry: RetryLookup | None = None
