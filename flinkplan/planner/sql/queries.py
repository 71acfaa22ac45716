"""Parse queries."""

from __future__ import annotations

from . import ast
from .keywords import RESERVED
from .lexer import NUMBER, QUOTED, STRING, WORD
from .tables import TableParser

CLAUSES = ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "UNION", "ORDER", "LIMIT")
"""The clauses that might have been meant where a query ends too early."""


class QueryParser(TableParser):
    """Queries."""

    def query(self) -> ast.Query:
        """``[WITH …] body [ORDER BY …] [LIMIT …] [OFFSET …] [FETCH …]``."""
        start = self.token.start
        ctes: tuple[ast.CommonTableExpression, ...] = ()
        if self.accept("WITH"):
            if self.token.key == "RECURSIVE":
                self.unsupported("WITH RECURSIVE", self.token)
            ctes = self.list_of(self._common_table)
        body = self._set_operation(0)
        order_by: tuple[ast.SortItem, ...] = self.order_by()
        offset, limit = self._limits()
        if isinstance(body, ast.Query) and not (ctes or order_by or offset or limit):
            return body
        return ast.Query(body, ctes, order_by, offset, limit, span=self.span(start))

    def _common_table(self) -> ast.CommonTableExpression:
        start = self.token.start
        name = self.identifier("the name of a common table expression")
        columns = self.column_list()
        self.expect("AS")
        return ast.CommonTableExpression(name, self.enclosed(self.query), columns, span=self.span(start))

    def _limits(self) -> tuple[ast.Expression | None, ast.Expression | None]:
        offset: ast.Expression | None = None
        limit: ast.Expression | None = None
        if self.accept("LIMIT") and not self.accept("ALL"):
            limit = self._count()
            if self.token.key == ",":
                skipped, rows = limit.span.text, self.source.text[self.token.end :].split(maxsplit=1)[:1]
                hint = f"write LIMIT {rows[0].rstrip(';')} OFFSET {skipped}" if rows else None
                self.fail("the end of the query", hint=hint)
        if self.accept("OFFSET"):
            offset = self._count()
            if not self.accept("ROW"):
                self.accept("ROWS")
            if self.token.key == "LIMIT":
                self.fail("the end of the query", hint="LIMIT stands before OFFSET")
        if limit is None and self.accept("FETCH"):
            self.one_of("FIRST", "NEXT")
            limit = self._count()
            self.one_of("ROW", "ROWS")
            self.expect("ONLY")
        return offset, limit

    def _count(self) -> ast.Expression:
        token = self.token
        if token.kind != NUMBER or not self.text(token).isdigit():
            self.fail("a number of rows")
        self.advance()
        return ast.NumericLiteral(self.text(token), span=self.span_of(token))

    # Bodies

    def _set_operation(self, minimum: int) -> ast.QueryBody:
        start = self.token.start
        left = self._query_primary()
        while True:
            operator = self.token.key
            precedence = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}.get(operator, 0)
            if precedence <= minimum:
                if operator == "MINUS":
                    self.fail("the end of the query")
                return left
            self.advance()
            every = self.accept("ALL")
            if not every:
                self.accept("DISTINCT")
            right = self._set_operation(precedence)
            left = ast.SetOperation(operator, every, left, right, span=self.span(start))

    def _query_primary(self) -> ast.QueryBody:
        token = self.token
        if token.key == "SELECT":
            return self._select()
        if self.accept("VALUES"):
            rows = self.list_of(self._values_row)
            return ast.Values(rows, span=self.span(token.start))
        if self.accept("TABLE"):
            name: ast.Name = self.name("the name of a table")
            return ast.ExplicitTable(name, span=self.span(token.start))
        if token.key == "(":
            query = self.enclosed(self.query)
            if query.ctes or query.order_by or query.offset or query.limit:
                return query
            return query.body
        self.fail("a query", words=("SELECT", "VALUES", "WITH", "TABLE"))

    def _values_row(self) -> ast.RowConstructor:
        expression = self.expression()
        if isinstance(expression, ast.RowConstructor):
            return expression
        return ast.RowConstructor((expression,), explicit=False, span=expression.span)

    def _select(self) -> ast.Select:
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
        return ast.Select(
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

    def _select_item(self) -> ast.SelectItem:
        start = self.token.start
        if self.accept("*"):
            return ast.SelectItem(ast.Star(span=self.span(start)), span=self.span(start))
        if self.token.key == "FROM":
            self.fail("a select item", hint="is there a comma too many?" if self._after_comma() else None)
        expression = self.expression()
        alias = self._alias()
        return ast.SelectItem(expression, alias, span=self.span(start))

    def _after_comma(self) -> bool:
        return self.tokens[self.position - 1].key == ","

    def _alias(self) -> ast.Identifier | None:
        if self.accept("AS"):
            return self.identifier("an alias")
        if self.token.kind == QUOTED or (self.token.kind == WORD and self.token.key not in RESERVED):
            return self.identifier()
        if self.token.kind == STRING:
            self.fail("an alias", hint=self.quoting_hint())
        return None

    def _named_window(self) -> ast.NamedWindow:
        start = self.token.start
        name = self.identifier("the name of a window")
        self.expect("AS")
        window = self.window_spec()
        return ast.NamedWindow(name, window, span=self.span(start))

    # Grouping

    def _group_by(self) -> ast.GroupBy:
        start = self.token.start
        self.expect("GROUP", "BY")
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        items = self.list_of(self._grouping_element)
        return ast.GroupBy(items, distinct, span=self.span(start))

    def _grouping_element(self) -> ast.GroupingElement:
        start = self.token.start
        kind = self.token.key
        if kind in ("ROLLUP", "CUBE"):
            self.advance()
        elif self.accept("GROUPING", "SETS"):
            kind = "GROUPING SETS"
        elif self.accept("(", ")"):
            return ast.GroupingTuple((), span=self.span(start))
        else:
            expression = self.expression()
            if isinstance(expression, ast.RowConstructor) and not expression.explicit:
                return ast.GroupingTuple(expression.items, span=expression.span)
            return expression
        items = self.parenthesized(self._grouping_element)
        return ast.GroupingSets(kind, items, span=self.span(start))
