"""Queries inside queries: the one place where modules of the binder import each other in a cycle."""

from __future__ import annotations

from ..algebra.rel import Rel
from ..sql import ast
from .context import Context
from .scope import Scope


def bind_query(context: Context, query: ast.Query, outer: Scope | None = None) -> Rel:
    """The relation of a query, such as that of a view."""
    from . import query as queries

    return queries.bind_query(context, query, outer)


def bind_inner_query(context: Context, query: ast.Query, outer: Scope | None = None) -> Rel:
    """The relation of a query inside another, where ORDER BY without LIMIT has no effect."""
    from . import query as queries

    return queries.bind_inner_query(context, query, outer)
