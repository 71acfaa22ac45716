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


class QueryHint(Record):
    """A hint with the tables that it lists, or its options by table; a table may be a side of a join."""

    name: str
    listed: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()


class ShownHints(Record):
    """The hints of a join or an aggregate as EXPLAIN shows them; plans do not.

    ``written`` are those of its SELECT, ``path`` is where it stands below that as the places of inputs, once that
    is known; ``resolved`` are those that name its inputs.
    """

    written: tuple[QueryHint, ...]
    resolved: tuple[QueryHint, ...]
    path: tuple[int, ...] | None = None
