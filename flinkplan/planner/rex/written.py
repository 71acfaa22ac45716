"""IN lists as a statement writes them: EXPLAIN shows them so, while expressions have them sorted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...plan.rex import RexNode

_LISTS: ContextVar[dict[RexNode, RexNode] | None] = ContextVar("lists", default=None)


@contextmanager
def recorded_lists() -> Iterator[dict[RexNode, RexNode]]:
    """Inside it, lists that are bound are recorded: by the SEARCH what it stands for, in the order of the statement."""
    lists: dict[RexNode, RexNode] = {}
    token = _LISTS.set(lists)
    try:
        yield lists
    finally:
        _LISTS.reset(token)


def records_lists() -> bool:
    """Whether lists are recorded."""
    return _LISTS.get() is not None


def record_list(search: RexNode, written: RexNode) -> None:
    """Record what a SEARCH stands for."""
    lists = _LISTS.get()
    if lists is not None:
        lists[search] = written
