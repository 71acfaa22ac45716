"""ORDER BY, OFFSET and LIMIT."""

from __future__ import annotations

from ...plan.specs import SortField
from ..algebra.logical import Sort
from ..algebra.rel import Rel
from ..sql import ast
from .errors import BindError


def ordinal(node: ast.Expression, width: int) -> int | None:
    """The column that ``ORDER BY 2`` means, from 0."""
    if not isinstance(node, ast.NumericLiteral) or not node.text.isdigit():
        return None
    position = int(node.text)
    if not 1 <= position <= width:
        raise BindError(f"ORDER BY {position}: there are {width} columns", node.span)
    return position - 1


def sort_field(position: int, item: ast.SortItem) -> SortField:
    """NULL counts as the least value unless said otherwise."""
    return SortField(position, not item.descending, item.nulls_last)


def sort(rel: Rel, order: tuple[SortField, ...], query: ast.Query) -> Rel:
    """The relation ordered and cut as the query says; itself if it says nothing.

    It is ordered by a column once, and OFFSET 0 says nothing.
    """
    order = tuple({f.index: f for f in reversed(order)}[i] for i in dict.fromkeys(f.index for f in order))
    offset, fetch = count(query.offset) or None, count(query.limit)
    if not order and offset is None and fetch is None:
        return rel
    return Sort(input=rel, order=order, offset=offset, fetch=fetch)


def count(node: ast.Expression | None) -> int | None:
    """The number that LIMIT or OFFSET says, if it says one."""
    if node is None:
        return None
    if not isinstance(node, ast.NumericLiteral) or not node.text.isdigit():
        raise BindError("LIMIT and OFFSET take a whole number", node.span)
    return int(node.text)
