"""Queries and table references."""

from __future__ import annotations

from typing import Any, TypeAlias

from .core import Hint, Identifier, Name, Node
from .expressions import Expression, FunctionCall, RowConstructor, SortItem, WindowSpec
from .patterns import MatchRecognize
from .stream_windows import WindowQuery


class CommonTableExpression(Node):
    """``name [(columns)] AS (query)`` in a WITH clause."""

    name: Identifier
    query: Query
    columns: tuple[Identifier, ...] = ()


class Query(Node):
    """``[WITH …] body [ORDER BY …] [OFFSET …] [LIMIT | FETCH …]``.

    A parenthesised query with nothing of its own around it is the query itself.
    """

    body: QueryBody
    ctes: tuple[CommonTableExpression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    offset: Expression | None = None
    limit: Expression | None = None


class SetOperation(Node):
    """``left UNION|INTERSECT|EXCEPT [ALL] right``; an operand is a Query where it stands in parentheses."""

    operator: str
    all: bool
    left: QueryBody
    right: QueryBody


class Values(Node):
    """``VALUES (a, b), (c, d)``; a row without parentheses is a RowConstructor of one item."""

    rows: tuple[RowConstructor, ...]


class ExplicitTable(Node):
    """``TABLE t`` as a query."""

    name: Name


class BoundQuery(Node):
    """A query that is bound already: ``rel`` is a relation; ``of_sql``: of a text, as it stands."""

    rel: Any
    of_sql: bool = False


class SelectItem(Node):
    """``expression [AS alias]``; a star is an expression."""

    expression: Expression
    alias: Identifier | None = None


class GroupingTuple(Node):
    """``(a, b)`` or ``()`` among grouping elements."""

    items: tuple[Expression, ...]


class GroupingSets(Node):
    """``kind`` GROUPING SETS, ROLLUP or CUBE over its elements."""

    kind: str
    items: tuple[GroupingElement, ...]


class GroupBy(Node):
    """``GROUP BY [DISTINCT] …``."""

    items: tuple[GroupingElement, ...]
    distinct: bool = False


class NamedWindow(Node):
    """``name AS (…)`` in a WINDOW clause."""

    name: Identifier
    window: WindowSpec


class Select(Node):
    """``SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW … QUALIFY …``; ``from_`` is None without FROM."""

    items: tuple[SelectItem, ...]
    from_: TableExpression | None = None
    where: Expression | None = None
    group_by: GroupBy | None = None
    having: Expression | None = None
    windows: tuple[NamedWindow, ...] = ()
    qualify: Expression | None = None
    distinct: bool = False
    stream: bool = False
    hints: tuple[Hint, ...] = ()


class TableAlias(Node):
    """``AS name [(columns)]``."""

    name: Identifier
    columns: tuple[Identifier, ...] = ()


class TableRef(Node):
    """``name [/*+ hints */] [FOR SYSTEM_TIME AS OF system_time] [AS alias]``."""

    name: Name
    alias: TableAlias | None = None
    hints: tuple[Hint, ...] = ()
    system_time: Expression | None = None


class DerivedTable(Node):
    """``[LATERAL] (query) [AS alias]``."""

    query: Query
    alias: TableAlias | None = None
    lateral: bool = False
    hints: tuple[Hint, ...] = ()


class TableFunction(Node):
    """``[LATERAL] TABLE(f(…)) [AS alias]``, or ``f(…)`` without TABLE."""

    call: FunctionCall
    alias: TableAlias | None = None
    lateral: bool = False
    hints: tuple[Hint, ...] = ()


class Unnest(Node):
    """``UNNEST(…) [WITH ORDINALITY] [AS alias]``."""

    args: tuple[Expression, ...]
    alias: TableAlias | None = None
    with_ordinality: bool = False
    lateral: bool = False


class Join(Node):
    """``left … JOIN right [ON condition | USING (columns)]``.

    ``kind`` is INNER, LEFT, RIGHT, FULL, CROSS, or COMMA for ``left, right``.
    """

    kind: str
    left: TableExpression
    right: TableExpression
    natural: bool = False
    condition: Expression | None = None
    using: tuple[Identifier, ...] = ()


QueryBody: TypeAlias = Select | SetOperation | Values | ExplicitTable | BoundQuery | Query | WindowQuery
"""What stands between WITH and ORDER BY; a Query where it is parenthesised."""

TableExpression: TypeAlias = TableRef | DerivedTable | TableFunction | Unnest | Join | MatchRecognize
"""What may stand in FROM."""

GroupingElement: TypeAlias = Expression | GroupingTuple | GroupingSets
"""What may stand in GROUP BY."""
