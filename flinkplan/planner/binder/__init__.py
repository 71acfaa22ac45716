"""From the syntax tree to the logical algebra."""

from . import calls, json, literals, operators, subqueries  # noqa: F401  (they register what binds which node)
from .context import Context
from .errors import BindError
from .inserts import bind_insert
from .query import bind_query

__all__ = ["BindError", "Context", "bind_insert", "bind_query"]
