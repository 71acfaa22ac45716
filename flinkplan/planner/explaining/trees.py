"""Trees with branches as Flink draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def tree_lines(
    item: T, label: Callable[[T], tuple[str, Sequence[T]]], first: str = "", rest: str = ""
) -> Iterator[str]:
    """The lines of a tree; ``label`` gives an item's text and what is below it."""
    text, below = label(item)
    yield first + text
    for i, each in enumerate(below, 1):
        last = i == len(below)
        yield from tree_lines(each, label, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "))
