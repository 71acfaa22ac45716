"""Keys of joins in the state of a checkpoint, which Spark reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..plan.errors import FlinkplanError
from ..plan.nodes import Join
from .keys import KeyComparison, compare_keys
from .query import CompareKeys, QueryCase

if TYPE_CHECKING:
    from ..executor.jobs.states import State

MOST_KEYS = 10_000
"""How many keys of a side are compared."""


def comparing(checkpoint: str, spark: Any) -> CompareKeys:
    """What compares the keys that joins keep in a checkpoint."""
    from ..executor.jobs.states import find_states

    try:
        states = find_states(checkpoint)
    except FlinkplanError:
        states = []

    def compare(query: QueryCase, join: Join) -> KeyComparison | None:
        return _compared(states, query, join, spark)

    return compare


def _compared(states: Sequence[State], query: QueryCase, join: Join, spark: Any) -> KeyComparison | None:
    from ..executor.jobs.states import sampled_keys

    sides = []
    for declared in type(join).declared_states(2):
        name = query.names[join.id]
        matches = [s for s in states if (s.sink, s.node, s.name) == (query.sink, name, declared.name)]
        if len(matches) != 1:
            return None
        sides.append(sampled_keys(spark, matches[0], MOST_KEYS))
    left, right = sides
    return compare_keys(left, right)
