"""Parse what stands in FROM."""

from __future__ import annotations

from . import ast
from .errors import SqlSyntaxError
from .expressions import ExpressionParser
from .keywords import RESERVED
from .lexer import QUOTED, WORD
from .parser import QUERY_STARTS
from .patterns import PatternParser

_JOINS = {"INNER": "INNER", "JOIN": "INNER", "LEFT": "LEFT", "RIGHT": "RIGHT", "FULL": "FULL", "CROSS": "CROSS"}


class TableParser(ExpressionParser, PatternParser):
    """Table references and joins."""

    def table_expression(self) -> ast.TableExpression:
        """Tables between commas and joins, all of one precedence from left to right."""
        start = self.token.start
        left = self._table()
        while True:
            if self.accept(","):
                left = ast.Join("COMMA", left, self._table(), span=self.span(start))
                continue
            natural = self.token.key == "NATURAL"
            kind = _JOINS.get(self.peek() if natural else self.token.key)
            if kind is None:
                if natural:
                    self.advance()
                    self.fail("a join", words=_JOINS)
                return left
            left = self._join(left, start, kind, natural)

    def _join(self, left: ast.TableExpression, start: int, kind: str, natural: bool) -> ast.TableExpression:
        if natural:
            self.advance()
        if self.token.key != "JOIN":
            self.advance()
            if kind in ("LEFT", "RIGHT", "FULL"):
                self.accept("OUTER")
        if kind in ("LEFT", "RIGHT") and self.token.key in ("SEMI", "ANTI"):
            self.fail("JOIN", hint="Flink writes WHERE [NOT] EXISTS (…) or [NOT] IN (…) for a semi or anti join")
        self.expect("JOIN")
        right = self._table()
        condition = self.expression() if self.accept("ON") else None
        using: tuple[ast.Identifier, ...] = ()
        if condition is None and self.accept("USING"):
            using = self.parenthesized(self.column)
        return ast.Join(kind, left, right, natural, condition, using, span=self.span(start))

    # One table

    def _table(self) -> ast.TableExpression:
        start = self.token.start
        table = self._single_table()
        return self.match_recognize(table, start) if self.token.key == "MATCH_RECOGNIZE" else table

    def _single_table(self) -> ast.TableExpression:
        start = self.token.start
        lateral = self.accept("LATERAL")
        key = self.token.key
        if key == "UNNEST":
            return self._unnest(start, lateral)
        if key == "(":
            return self._parenthesized_table(start, lateral)
        if key == "TABLE" and self.peek() == "(":
            self.advance()
            return self._finish_call(self.enclosed(self._table_call), start, lateral)
        if key == "SNAPSHOT" and self.peek() == "(":
            self.unsupported("LATERAL SNAPSHOT", self.token)
        if lateral:
            self.fail("TABLE(…), UNNEST(…) or a query in parentheses after LATERAL")
        if key in QUERY_STARTS:
            self.fail("a table", hint="a query in FROM stands in parentheses")
        name = self.name("a table")
        if self.token.key == "(":
            return self._finish_call(self.call(name), start, lateral)
        return self._table_ref(name, start)

    def _table_call(self) -> ast.FunctionCall:
        return self.call(self.name("a table function"))

    def _finish_call(self, call: ast.FunctionCall, start: int, lateral: bool) -> ast.TableExpression:
        hints = self.hints()
        return ast.TableFunction(call, self.alias_of_table(), lateral, hints, span=self.span(start))

    def _table_ref(self, name: ast.Name, start: int) -> ast.TableExpression:
        hints = self.hints()
        system_time: ast.Expression | None = None
        if self.accept("FOR"):
            self.expect("SYSTEM_TIME", "AS", "OF")
            system_time = self.expression()
        if self.token.key in ("PIVOT", "UNPIVOT", "TABLESAMPLE"):
            self.unsupported(self.token.key, self.token)
        alias = self.alias_of_table()
        if alias is not None and self.token.key == "FOR" and self.peek() == "SYSTEM_TIME":
            self.fail("the end of the table", hint="FOR SYSTEM_TIME AS OF stands before the alias")
        if alias is not None and self.token.key == "/*+":
            self.fail("the end of the table", hint="the hints of a table stand before its alias")
        return ast.TableRef(name, alias, hints, system_time, span=self.span(start))

    def _parenthesized_table(self, start: int, lateral: bool) -> ast.TableExpression:
        query = self._parenthesized_query()
        if query is not None:
            hints = self.hints()
            return ast.DerivedTable(query, self.alias_of_table(), lateral, hints, span=self.span(start))
        opener = self.open()
        inner = self.table_expression()
        closing = self.close(opener)
        if not isinstance(inner, ast.Join):
            raise SqlSyntaxError(
                "a table alone takes no parentheses",
                self.span_of(opener).to(self.span_of(closing)),
                "only a query or a join stands in parentheses",
            )
        return inner

    def _unnest(self, start: int, lateral: bool) -> ast.Unnest:
        self.advance()
        args = self.parenthesized(self.expression)
        ordinality = self.accept("WITH", "ORDINALITY")
        alias = self.alias_of_table()
        return ast.Unnest(args, alias, ordinality, lateral, span=self.span(start))

    def alias_of_table(self) -> ast.TableAlias | None:
        start = self.token.start
        if not self.accept("AS"):
            token = self.token
            if token.kind != QUOTED and (token.kind != WORD or token.key in RESERVED):
                return None
        name = self.identifier("an alias")
        columns = self.column_list()
        return ast.TableAlias(name, columns, span=self.span(start))
