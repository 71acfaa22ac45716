"""Parse queries."""

from __future__ import annotations

from .ast import (
    CommonTableExpression,
    ExplicitTable,
    Expression,
    GroupBy,
    GroupingElement,
    GroupingSets,
    GroupingTuple,
    Identifier,
    Name,
    NamedWindow,
    NumericLiteral,
    Query,
    QueryBody,
    RowConstructor,
    Select,
    SelectItem,
    SetOperation,
    SortItem,
    Star,
    Values,
)
from .keywords import RESERVED
from .lexer import NUMBER, QUOTED, STRING, WORD
from .tables import TableParser

CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "UNION", "ORDER", "LIMIT")
"""The clauses that might have been meant where a query ends too early."""


class QueryParser(TableParser):
    """Queries."""

    def query(self) -> Query:
        """``[WITH …] body [ORDER BY …] [LIMIT …] [OFFSET …] [FETCH …]``."""
        start = self.token.start
        ctes: tuple[CommonTableExpression, ...] = ()
        if self.token.key == "WITH":
            self.advance()
            if self.token.key == "RECURSIVE":
                self.unsupported("WITH RECURSIVE", self.token)
            ctes = self.list_of(self._common_table)
        body = self._set_operation(0)
        order_by: tuple[SortItem, ...] = self.order_by()
        offset, limit = self._limits()
        if isinstance(body, Query) and not (ctes or order_by or offset or limit):
            return body
        return Query(body, ctes, order_by, offset, limit, span=self.span(start))

    def _common_table(self) -> CommonTableExpression:
        start = self.token.start
        name = self.identifier("the name of a common table expression")
        columns = self.column_list()
        self.expect("AS")
        opener = self.open()
        query = self.query()
        self.close(opener)
        return CommonTableExpression(name, query, columns, span=self.span(start))

    def _limits(self) -> tuple[Expression | None, Expression | None]:
        offset: Expression | None = None
        limit: Expression | None = None
        if self.accept("LIMIT") and not self.accept("ALL"):
            limit = self._count()
        if self.token.key == "OFFSET":
            self.advance()
            offset = self._count()
            if self.token.key in ("ROW", "ROWS"):
                self.advance()
            if self.token.key == "LIMIT":
                self.fail("the end of the query", hint="LIMIT stands before OFFSET")
        if limit is None and self.accept("FETCH"):
            self.one_of("FIRST", "NEXT")
            limit = self._count()
            self.one_of("ROW", "ROWS")
            self.expect("ONLY")
        return offset, limit

    def _count(self) -> Expression:
        token = self.token
        if token.kind != NUMBER or not self.text(token).isdigit():
            self.fail("a number of rows")
        self.advance()
        return NumericLiteral(self.text(token), span=self.span_of(token))

    # Bodies

    def _set_operation(self, minimum: int) -> QueryBody:
        start = self.token.start
        left = self._query_primary()
        while True:
            operator = self.token.key
            precedence = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}.get(operator, 0)
            if precedence <= minimum:
                if operator == "MINUS":
                    self.fail("the end of the query", hint="Flink writes EXCEPT for MINUS")
                return left
            self.advance()
            every = self.accept("ALL")
            if not every:
                self.accept("DISTINCT")
            right = self._set_operation(precedence)
            left = SetOperation(operator, every, left, right, span=self.span(start))

    def _query_primary(self) -> QueryBody:
        token = self.token
        if token.key == "SELECT":
            return self._select()
        if token.key == "VALUES":
            self.advance()
            rows = self.list_of(self._values_row)
            return Values(rows, span=self.span(token.start))
        if token.key == "TABLE":
            self.advance()
            name: Name = self.name("the name of a table")
            return ExplicitTable(name, span=self.span(token.start))
        if token.key == "(":
            opener = self.open()
            query = self.query()
            self.close(opener)
            if query.ctes or query.order_by or query.offset or query.limit:
                return query
            return query.body
        self.fail("a query", words=("SELECT", "VALUES", "WITH", "TABLE"))

    def _values_row(self) -> RowConstructor:
        expression = self.expression()
        if isinstance(expression, RowConstructor):
            return expression
        return RowConstructor((expression,), explicit=False, span=expression.span)

    def _select(self) -> Select:
        start = self.advance().start
        hints = self.hints()
        stream = self.accept("STREAM")
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        items = self.list_of(self._select_item)
        from_ = self.table_expression() if self.accept("FROM") else None
        where = self.expression() if self.accept("WHERE") else None
        group_by = self._group_by() if self.token.key == "GROUP" else None
        having = self.expression() if self.accept("HAVING") else None
        windows = self.list_of(self._named_window) if self.accept("WINDOW") else ()
        qualify = self.expression() if self.accept("QUALIFY") else None
        return Select(
            items,
            from_,
            where,
            group_by,
            having,
            windows,
            qualify,
            distinct,
            stream,
            hints,
            span=self.span(start),
        )

    def _select_item(self) -> SelectItem:
        start = self.token.start
        if self.token.key == "*":
            self.advance()
            return SelectItem(Star(span=self.span(start)), span=self.span(start))
        if self.token.key == "FROM":
            self.fail("a select item", hint="is there a comma too many?" if self._after_comma() else None)
        expression = self.expression()
        alias = self._alias()
        return SelectItem(expression, alias, span=self.span(start))

    def _after_comma(self) -> bool:
        return self.tokens[self.position - 1].key == ","

    def _alias(self) -> Identifier | None:
        if self.accept("AS"):
            return self.identifier("an alias")
        if self.token.kind == QUOTED or (self.token.kind == WORD and self.token.key not in RESERVED):
            return self.identifier()
        if self.token.kind == STRING:
            self.fail("an alias", hint=self.quoting_hint())
        return None

    def _named_window(self) -> NamedWindow:
        start = self.token.start
        name = self.identifier("the name of a window")
        self.expect("AS")
        window = self.window_spec()
        return NamedWindow(name, window, span=self.span(start))

    # Grouping

    def _group_by(self) -> GroupBy:
        start = self.token.start
        self.expect("GROUP", "BY")
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        items = self.list_of(self._grouping_element)
        return GroupBy(items, distinct, span=self.span(start))

    def _grouping_element(self) -> GroupingElement:
        start = self.token.start
        kind = self.token.key
        if kind in ("ROLLUP", "CUBE"):
            self.advance()
        elif self.accept("GROUPING", "SETS"):
            kind = "GROUPING SETS"
        elif self.accept("(", ")"):
            return GroupingTuple((), span=self.span(start))
        else:
            expression = self.expression()
            if isinstance(expression, RowConstructor) and not expression.explicit:
                return GroupingTuple(expression.items, span=expression.span)
            return expression
        items = self.parenthesized(self._grouping_element)
        return GroupingSets(kind, items, span=self.span(start))
