"""Parse expressions by operator precedence, with the precedences of Calcite."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import ast
from .errors import SqlSyntaxError
from .functions import FunctionParser
from .keywords import CONTEXT_FUNCTIONS, CONTEXT_VARIABLES, FUNCTIONS, RESERVED
from .lexer import BINARY, NUMBER, QUOTED, STRING, WORD, binary_value
from .parser import QUERY_STARTS

_OR, _AND, _NOT, _IS, _COMPARISON, _RANGE, _SUM, _PRODUCT, _SIGN = 22, 24, 26, 28, 30, 32, 40, 60, 80

_COMPARISONS = frozenset({"=", "<>", "!=", "<", "<=", ">", ">="})
_OF_PERIODS = ("OVERLAPS", "CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS")
_BINARY = {
    **{"OR": _OR, "AND": _AND},
    **dict.fromkeys((*_COMPARISONS, *_OF_PERIODS), _COMPARISON),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "%", "||"), _PRODUCT),
}
_RANGE_WORDS = frozenset({"BETWEEN", "IN", "LIKE", "SIMILAR"})
_UNIT_INSIDE = re.compile(r"\s*([+-]?\d+)\s*([A-Za-z]+?)[sS]?\s*")
_JSON_KINDS = ("VALUE", "OBJECT", "ARRAY", "SCALAR")


class ExpressionParser(FunctionParser):
    """Expressions."""

    def expression(self, minimum: int = 0) -> ast.Expression:
        """An expression; operators of a precedence below ``minimum`` are left alone."""
        start = self.token.start
        left = self._prefix()
        while True:
            key = self.token.key
            precedence = _BINARY.get(key)
            if precedence is not None:
                if precedence < minimum:
                    return left
                left = self._binary(left, start, key, precedence)
            elif key == "IS":
                if minimum > _IS:
                    return left
                left = self._is(left, start)
            elif key in _RANGE_WORDS or (key == "NOT" and self.peek() in _RANGE_WORDS):
                if minimum > _RANGE:
                    return left
                left = self._range(left, start)
            elif key == "IMMEDIATELY" and self.peek() in ("PRECEDES", "SUCCEEDS"):
                if minimum > _COMPARISON:
                    return left
                self.advance()
                operator = f"IMMEDIATELY {self.advance().key}"
                left = ast.Binary(operator, left, self.expression(_COMPARISON + 1), span=self.span(start))
            else:
                if key == ":" and self.peek() == ":":
                    self.fail("an operator of Flink", hint="Flink has no ::; write CAST(a AS type)")
                if key in ("ILIKE", "RLIKE", "DIV"):
                    self.fail("an operator of Flink")
                return left

    def _prefix(self) -> ast.Expression:
        token = self.token
        key = token.key
        if key == "NOT":
            self.advance()
            operand = self.expression(_NOT)
            return ast.Unary("NOT", operand, span=self.span(token.start))
        if key in ("-", "+"):
            self.advance()
            operand = self.expression(_SIGN)
            span = self.span(token.start)
            if not isinstance(operand, ast.NumericLiteral):
                return ast.Unary(key, operand, span=span)
            if key == "+":
                return ast.NumericLiteral(operand.text, span=span)
            digits = operand.text
            return ast.NumericLiteral(digits[1:] if digits.startswith("-") else f"-{digits}", span=span)
        if key in ("FINAL", "RUNNING") and self.tokens[self.position + 1].kind == WORD and self.peek(2) == "(":
            self.advance()
            name = ast.Name((ast.Identifier(key),), span=self.span(token.start))
            return ast.FunctionCall(name, (self._prefix(),), span=self.span(token.start))
        return self._postfix(self._primary(), token.start)

    def _postfix(self, operand: ast.Expression, start: int) -> ast.Expression:
        while True:
            if self.token.key == "[":
                opener = self.advance()
                index = self.expression()
                self.close(opener)
                operand = ast.ElementAccess(operand, index, span=self.span(start))
            elif self.token.key == "." and not isinstance(operand, ast.Star):
                self.advance()
                field = self.identifier("a field name after '.'")
                operand = ast.FieldAccess(operand, field, span=self.span(start))
            else:
                return operand

    # Operators

    def _binary(self, left: ast.Expression, start: int, key: str, precedence: int) -> ast.Expression:
        operator = self.advance()
        if key in _COMPARISONS:
            if key == "!=":
                raise SqlSyntaxError("Flink's SQL has no !=", self.span_of(operator), "write <>")
            if self.token.key in ("ANY", "SOME", "ALL") and self.peek() == "(":
                return self._quantified(left, start, key)
        right = self.expression(precedence + 1)
        return ast.Binary(key, left, right, span=self.span(start))

    def _quantified(self, left: ast.Expression, start: int, operator: str) -> ast.Expression:
        quantifier = "ALL" if self.advance().key == "ALL" else "ANY"
        items, query = self._list_or_query()
        return ast.Quantified(operator, quantifier, left, items, query, span=self.span(start))

    def _is(self, left: ast.Expression, start: int) -> ast.Expression:
        self.advance()
        negated = self.accept("NOT")
        key = self.token.key
        if key == "DISTINCT":
            self.advance()
            self.expect("FROM")
            right = self.expression(_COMPARISON + 1)
            return ast.IsDistinctFrom(left, right, negated, span=self.span(start))
        if key == "JSON":
            self.advance()
            kind = self.advance().key if self.token.key in _JSON_KINDS else "VALUE"
            return ast.IsPredicate(left, f"JSON {kind}", negated, span=self.span(start))
        test = self.one_of("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM", "JSON")
        return ast.IsPredicate(left, test, negated, span=self.span(start))

    def _range(self, left: ast.Expression, start: int) -> ast.Expression:
        negated = self.accept("NOT")
        key = self.advance().key
        if key == "IN":
            items, query = self._list_or_query()
            if query is not None:
                return ast.InQuery(left, query, negated, span=self.span(start))
            return ast.InList(left, items, negated, span=self.span(start))
        if key == "BETWEEN":
            symmetric = self.accept("SYMMETRIC")
            if not symmetric:
                self.accept("ASYMMETRIC")
            low = self.expression(_AND + 1)
            self.expect("AND")
            high = self.expression(_RANGE + 1)
            return ast.Between(left, low, high, negated, symmetric, span=self.span(start))
        if key == "SIMILAR":
            self.expect("TO")
        pattern = self.expression(_RANGE)
        escape = self.expression(_RANGE) if self.accept("ESCAPE") else None
        return ast.Like(left, pattern, escape, negated, key == "SIMILAR", span=self.span(start))

    def _list_or_query(self) -> tuple[tuple[ast.Expression, ...], ast.Query | None]:
        if self.peek() in QUERY_STARTS:
            return (), self.enclosed(self.query)
        items = self.parenthesized(self.expression)
        if len(items) == 1 and isinstance(items[0], ast.SubQuery):
            return (), items[0].query
        return items, None

    # Operands

    def _primary(self) -> ast.Expression:
        token = self.token
        kind = token.kind
        if kind == WORD:
            return self._word()
        if kind == QUOTED:
            return self._column_or_call()
        if kind == NUMBER:
            self.advance()
            return ast.NumericLiteral(self.text(token), span=self.span_of(token))
        if kind == STRING:
            value = self.string()
            while self.token.kind == STRING:
                value += self.string()
            return ast.StringLiteral(value, span=self.span(token.start))
        if kind == BINARY:
            return self._binary_literal()
        if token.key == "(":
            return self._parenthesis()
        self.fail("an expression")

    def _word(self) -> ast.Expression:
        token = self.token
        key = token.key
        start = token.start
        following = self.peek()
        parse = _WORDS.get(key)
        if parse is not None:
            result = parse(self)
            if result is not None:
                return result
        if following == "(":
            special = self.special_call()
            if special is not None:
                return special
            if key in FUNCTIONS:
                self.advance()
                return self.call(self._single_name(token.start, token.end))
        if key not in RESERVED:
            return self._column_or_call()
        if key in CONTEXT_FUNCTIONS:
            self.advance()
            name = self._single_name(token.start, token.end)
            return ast.FunctionCall(name, parentheses=False, span=self.span(start))
        if key in CONTEXT_VARIABLES:
            self.advance()
            return ast.ColumnRef(self._single_name(token.start, token.end).parts, span=self.span(start))
        if key == "TIMESTAMP_LTZ":
            self.fail("an expression", hint="a literal is written TIMESTAMP WITH LOCAL TIME ZONE '…'")
        self.fail("an expression", hint=self.quoting_hint())

    def _single_name(self, start: int, end: int) -> ast.Name:
        identifier = ast.Identifier(self.source.text[start:end], span=self.span(start))
        return ast.Name((identifier,), span=identifier.span)

    def _column_or_call(self) -> ast.Expression:
        start = self.token.start
        parts = [self.identifier()]
        while self.token.key == ".":
            self.advance()
            if self.token.key == "*":
                self.advance()
                return ast.Star(tuple(parts), span=self.span(start))
            parts.append(self.identifier("an identifier after '.'"))
        if self.token.key == "(":
            return self.call(ast.Name(tuple(parts), span=self.span(start)))
        return ast.ColumnRef(tuple(parts), span=self.span(start))

    def _binary_literal(self) -> ast.Expression:
        start = self.token.start
        value = b""
        while self.token.kind == BINARY or (value and self.token.kind == STRING):
            token = self.advance()
            text = self.text(token)
            try:
                value += binary_value(text if token.kind == BINARY else f"X{text}")
            except ValueError:
                raise SqlSyntaxError(
                    "a binary literal holds pairs of hexadecimal digits", self.span_of(token), "such as X'0aff'"
                ) from None
        return ast.BinaryLiteral(value, span=self.span(start))

    def _parenthesis(self) -> ast.Expression:
        start = self.token.start
        query = self._parenthesized_query()
        if query is not None:
            return ast.SubQuery(query, span=self.span(start))
        items = self.parenthesized(self.expression)
        if len(items) > 1:
            return ast.RowConstructor(items, explicit=False, span=self.span(start))
        item = items[0]
        if isinstance(item, ast.Binary) and item.operator == "-" and self.at_interval_unit():
            qualifier = self.interval_qualifier()
            return ast.IntervalDifference(item.left, item.right, qualifier, span=self.span(start))
        return item

    def _parenthesized_query(self) -> ast.Query | None:
        """``(query)`` if that is what stands here, and not an expression that starts with one."""
        ahead = 1
        while self.peek(ahead) == "(":
            ahead += 1
        if self.peek(ahead) not in QUERY_STARTS or (self.peek(ahead), self.peek(ahead + 1)) == ("TABLE", "("):
            return None
        position = self.position
        opener = self.open()
        try:
            query = self.query()
            self.close(opener)
        except SqlSyntaxError:
            if ahead == 1:
                raise
            self.move_to(position)
            return None
        return query

    # Operands that start with a keyword of their own; None where the word turns out to be something else

    def _constant(self) -> ast.Expression:
        token = self.advance()
        span = self.span_of(token)
        if token.key == "NULL":
            return ast.NullLiteral(span=span)
        return ast.BooleanLiteral({"TRUE": True, "FALSE": False, "UNKNOWN": None}[token.key], span=span)

    def _datetime(self) -> ast.Expression | None:
        start = self.token.start
        kind = self.token.key
        if kind == "TIMESTAMP" and self.accept("TIMESTAMP", "WITH", "LOCAL", "TIME", "ZONE"):
            kind = "TIMESTAMP_LTZ"
        elif self.peek() == STRING:
            self.advance()
        else:
            return None
        return ast.DateTimeLiteral(kind, self.string(), span=self.span(start))

    def _interval(self) -> ast.Expression:
        start = self.advance().start
        sign = self.token.key in ("-", "+") and self.peek() == STRING
        negative = sign and self.advance().key == "-"
        if self.token.kind == STRING:
            value = self.string()
            if not self.at_interval_unit() and (inside := _UNIT_INSIDE.fullmatch(value)):
                hint = f"the unit stands behind the quotes: INTERVAL '{inside[1]}' {inside[2].upper()}"
                self.fail("a unit such as DAY, HOUR or SECOND", hint=hint)
            return ast.IntervalLiteral(value, self.interval_qualifier(), negative, span=self.span(start))
        operand = self.expression(_SIGN)
        return ast.IntervalExpression(operand, self.interval_qualifier(), span=self.span(start))

    def _case(self) -> ast.Expression:
        start = self.advance().start
        operand = None if self.token.key == "WHEN" else self.expression()
        branches: list[ast.When] = []
        if self.token.key != "WHEN":
            self.fail("WHEN", words=("WHEN",))
        while self.token.key == "WHEN":
            branches.extend(self._when(simple=operand is not None))
        otherwise = self.expression() if self.accept("ELSE") else None
        if self.token.key != "END":
            line, column = self.source.position(start)
            self.fail("WHEN, ELSE or END", ("WHEN", "ELSE", "END"), f"CASE was opened at {line}:{column}")
        self.advance()
        return ast.Case(operand, tuple(branches), otherwise, span=self.span(start))

    def _when(self, *, simple: bool) -> list[ast.When]:
        start = self.advance().start
        conditions = self.list_of(self.expression) if simple else (self.expression(),)
        self.expect("THEN")
        result = self.expression()
        span = self.span(start)
        return [ast.When(condition, result, span=span) for condition in conditions]

    def _array(self) -> ast.Expression | None:
        return self._collection(lambda items, start: ast.ArrayConstructor(items, span=self.span(start)))

    def _multiset(self) -> ast.Expression | None:
        return self._collection(lambda items, start: ast.MultisetConstructor(items, span=self.span(start)))

    def _map(self) -> ast.Expression | None:
        return self._collection(self._map_of)

    def _map_of(self, items: tuple[ast.Expression, ...], start: int) -> ast.Expression:
        if len(items) % 2:
            raise SqlSyntaxError("MAP takes keys and values in turn, and the last key has no value", self.span(start))
        entries = tuple(
            ast.KeyValue(key, value, span=key.span.to(value.span))
            for key, value in zip(items[::2], items[1::2], strict=True)
        )
        return ast.MapConstructor(entries, span=self.span(start))

    def _collection(self, build: Callable[[tuple[ast.Expression, ...], int], ast.Expression]) -> ast.Expression | None:
        start = self.token.start
        if self.peek() == "(" and self.peek(2) in QUERY_STARTS:
            kind = self.advance().key
            return ast.CollectionQuery(kind, self.enclosed(self.query), span=self.span(start))
        if self.peek() != "[":
            return None
        self.advance()
        opener = self.advance()
        items = () if self.token.key == "]" else self.list_of(self.expression)
        self.close(opener)
        return build(items, start)

    def _row(self) -> ast.Expression | None:
        if self.peek() != "(":
            return None
        start = self.advance().start
        items = self.parenthesized(self.argument)
        return ast.RowConstructor(items, span=self.span(start))


_WORDS: dict[str, Callable[[ExpressionParser], ast.Expression | None]] = {
    "NULL": ExpressionParser._constant,
    "TRUE": ExpressionParser._constant,
    "FALSE": ExpressionParser._constant,
    "UNKNOWN": ExpressionParser._constant,
    "DATE": ExpressionParser._datetime,
    "TIME": ExpressionParser._datetime,
    "TIMESTAMP": ExpressionParser._datetime,
    "INTERVAL": ExpressionParser._interval,
    "CASE": ExpressionParser._case,
    "ARRAY": ExpressionParser._array,
    "MULTISET": ExpressionParser._multiset,
    "MAP": ExpressionParser._map,
    "ROW": ExpressionParser._row,
}
