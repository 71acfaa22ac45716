"""Parse calls: plain ones, and those whose arguments have a syntax of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from . import ast
from .lexer import QUOTED, WORD, Token
from .parser import QUERY_STARTS, T
from .types import TypeParser


class FunctionParser(TypeParser):
    """Function calls, window specifications and sort items."""

    @abstractmethod
    def expression(self, minimum: int = 0) -> ast.Expression:
        """An expression; ``minimum`` is the precedence below which operators are left alone."""

    @abstractmethod
    def query(self) -> ast.Query:
        """A query."""

    # Plain calls

    def call(self, name: ast.Name) -> ast.FunctionCall:
        """A call after its name, with what may follow the closing parenthesis."""
        start = name.span.start
        opener = self.open()
        distinct = False
        args: tuple[ast.Expression, ...] = ()
        order_by: tuple[ast.SortItem, ...] = ()
        ignore_nulls = None
        if self.token.key != ")":
            distinct = self.accept("DISTINCT")
            if (distinct or self.accept("ALL")) and self.token.key == "*":
                self.fail("an expression", hint="name columns, or count the rows of SELECT DISTINCT in a subquery")
            args = self.list_of(self.argument)
            ignore_nulls = self._null_treatment()
            order_by = self.order_by()
        self.close(opener)
        return self._call_suffix(name, start, args, distinct=distinct, order_by=order_by, ignore_nulls=ignore_nulls)

    def _call_suffix(
        self,
        name: ast.Name,
        start: int,
        args: tuple[ast.Expression, ...],
        *,
        distinct: bool = False,
        order_by: tuple[ast.SortItem, ...] = (),
        ignore_nulls: bool | None = None,
    ) -> ast.FunctionCall:
        if ignore_nulls is None:
            ignore_nulls = self._null_treatment()
        within_group = self.enclosed(self._required_order) if self.accept("WITHIN", "GROUP") else ()
        filter_ = self.enclosed(self._where) if self.accept("FILTER") else None
        over: ast.WindowSpec | ast.Identifier | None = None
        if self.accept("OVER"):
            over = self.window_spec() if self.token.key == "(" else self.identifier("'(' or the name of a window")
        return ast.FunctionCall(
            name, args, distinct, order_by, within_group, filter_, ignore_nulls, over, span=self.span(start)
        )

    def _null_treatment(self) -> bool | None:
        if self.accept("IGNORE", "NULLS"):
            return True
        if self.accept("RESPECT", "NULLS"):
            return False
        return None

    def _where(self) -> ast.Expression:
        self.expect("WHERE")
        return self.expression()

    def argument(self) -> ast.Expression:
        """An argument: an expression, ``name => value``, DEFAULT, a table, a descriptor or a query."""
        token = self.token
        start = token.start
        if token.kind in (WORD, QUOTED) and self.peek() == "=>":
            name = self.identifier("the name of a parameter")
            self.advance()
            return ast.NamedArgument(name, self.argument(), span=self.span(start))
        if self.accept("DEFAULT"):
            return ast.DefaultArgument(span=self.span(start))
        if token.key == "DESCRIPTOR" and self.peek() == "(":
            self.advance()
            columns = self.parenthesized(lambda: self.identifier("a column"))
            return ast.Descriptor(columns, span=self.span(start))
        if self.accept("*"):
            return ast.Star(span=self.span(start))
        if token.key == "MODEL" and self.peek_kind() in (WORD, QUOTED):
            self.unsupported("a MODEL as an argument", token)
        if self.accept("TABLE"):
            table = ast.ExplicitTable(self.name("the name of a table"), span=self.span(start))
            return self._table_argument(ast.Query(table, span=table.span), start)
        if token.key in QUERY_STARTS:
            query = self.query()
            return ast.SubQuery(query, span=query.span)
        value = self.expression()
        if isinstance(value, ast.SubQuery) and self.token.key in ("PARTITION", "ORDER"):
            return self._table_argument(value.query, start)
        return value

    def _table_argument(self, query: ast.Query, start: int) -> ast.TableArgument:
        partition_by = self._bracketed_or_single(self.expression) if self.accept_by("PARTITION") else ()
        order_by = self._bracketed_or_single(self.sort_item) if self.accept_by("ORDER") else ()
        return ast.TableArgument(query, partition_by, order_by, span=self.span(start))

    def _bracketed_or_single(self, item: Callable[[], T]) -> tuple[T, ...]:
        return self.parenthesized(item) if self.token.key == "(" else (item(),)

    # Windows and sorting

    def accept_by(self, word: str) -> bool:
        """Take ``PARTITION BY``, or another word with BY, if the word is there."""
        if self.token.key != word:
            return False
        self.expect(word, "BY")
        return True

    def order_by(self) -> tuple[ast.SortItem, ...]:
        """``ORDER BY item, …`` if it is there."""
        return self.list_of(self.sort_item) if self.accept_by("ORDER") else ()

    def _required_order(self) -> tuple[ast.SortItem, ...]:
        self.expect("ORDER", "BY")
        return self.list_of(self.sort_item)

    def sort_item(self) -> ast.SortItem:
        """``x [ASC|DESC] [NULLS FIRST|LAST]``."""
        start = self.token.start
        expression = self.expression()
        descending = self.accept("DESC")
        if not descending:
            self.accept("ASC")
        nulls_first = self.one_of("FIRST", "LAST") == "FIRST" if self.accept("NULLS") else None
        return ast.SortItem(expression, descending, nulls_first, span=self.span(start))

    def window_spec(self) -> ast.WindowSpec:
        """``([base] [PARTITION BY …] [ORDER BY …] [frame])``."""
        start = self.token.start
        opener = self.open()
        base: ast.Identifier | None = None
        if self.token.key not in ("PARTITION", "ORDER", "ROWS", "RANGE", ")"):
            base = self.identifier("PARTITION BY, ORDER BY, ROWS or RANGE")
        partition_by = self.list_of(self.expression) if self.accept_by("PARTITION") else ()
        order_by = self.order_by()
        frame = self._frame() if self.token.key in ("ROWS", "RANGE") else None
        self.close(opener)
        return ast.WindowSpec(base, partition_by, order_by, frame, span=self.span(start))

    def _frame(self) -> ast.WindowFrame:
        token = self.advance()
        has_end = self.accept("BETWEEN")
        start = self._frame_bound()
        end: ast.FrameBound | None = None
        if has_end:
            self.expect("AND")
            end = self._frame_bound()
        return ast.WindowFrame(token.key, start, end, span=self.span(token.start))

    def _frame_bound(self) -> ast.FrameBound:
        start = self.token.start
        if self.accept("CURRENT", "ROW"):
            return ast.FrameBound("CURRENT ROW", span=self.span(start))
        if self.accept("UNBOUNDED"):
            side = self.one_of("PRECEDING", "FOLLOWING")
            return ast.FrameBound(f"UNBOUNDED {side}", span=self.span(start))
        offset = self.expression()
        side = self.one_of("PRECEDING", "FOLLOWING")
        return ast.FrameBound(side, offset, span=self.span(start))

    # Calls with a syntax of their own

    def special_call(self) -> ast.Expression | None:
        """A call that only the parser can read, if the next token, before a parenthesis, starts one."""
        parse = _SPECIAL.get(self.token.key)
        return parse(self) if parse is not None else None

    def _own_call(self, arguments: Callable[[], tuple[ast.Expression, ...]]) -> ast.Expression:
        name, start = self._own_name()
        return ast.FunctionCall(name, self.enclosed(arguments), span=self.span(start))

    def _own_name(self) -> tuple[ast.Name, int]:
        token = self.advance()
        span = self.span_of(token)
        return ast.Name((ast.Identifier(self.text(token), span=span),), span=span), token.start

    def _symbol(self, kind: str, value: str, start: int) -> ast.Symbol:
        return ast.Symbol(kind, value, span=self.span(start))

    def _time_unit(self) -> ast.Symbol:
        token = self.token
        if token.kind != WORD:
            self.fail("a unit such as DAY, HOUR or SECOND")
        self.advance()
        return self._symbol("TIME_UNIT", token.key, token.start)

    def _cast(self) -> ast.Expression:
        token = self.advance()
        opener = self.open()
        operand = self.expression()
        self.expect("AS")
        kind = self.data_type()
        if self.token.key == "NOT" and self.peek() == "NULL":
            self.fail("')'", hint="the target type of a cast has no NOT NULL")
        self.close(opener)
        return ast.Cast(operand, kind, token.key == "TRY_CAST", span=self.span(token.start))

    def _exists(self) -> ast.Expression:
        start = self.advance().start
        return ast.Exists(self.enclosed(self.query), span=self.span(start))

    def _extract(self) -> tuple[ast.Expression, ...]:
        unit = self._time_unit()
        self.expect("FROM")
        return unit, self.expression()

    def _floor(self) -> tuple[ast.Expression, ...]:
        args = self.list_of(self.argument)
        return (*args, self._time_unit()) if self.accept("TO") else args

    def _trim(self) -> tuple[ast.Expression, ...]:
        token = self.token
        mode = self._symbol("TRIM", "BOTH", token.start)
        if token.key in ("BOTH", "LEADING", "TRAILING"):
            self.advance()
            mode = self._symbol("TRIM", token.key, token.start)
        characters: ast.Expression = ast.StringLiteral(" ", span=mode.span)
        said = not self.accept("FROM")
        operand = self.expression()
        if said and self.accept("FROM"):
            characters, operand = operand, self.expression()
        return mode, characters, operand

    def _divided_by(self, *keywords: str) -> tuple[ast.Expression, ...]:
        """Arguments that are divided by keywords; commas do as well."""
        args = [self.expression(_ABOVE_IN) if "IN" in keywords else self.expression()]
        for keyword in keywords:
            if self.accept(keyword) or self.accept(","):
                args.append(self.expression())
        return tuple(args)

    def _timestamp_arithmetic(self) -> tuple[ast.Expression, ...]:
        unit = self._time_unit()
        return (unit, *self.list_of(self.expression)) if self.accept(",") else (unit,)

    # JSON

    def _json_start(self) -> tuple[Token, Token, ast.Expression, ast.Expression]:
        token = self.advance()
        opener = self.open()
        operand = self.expression()
        self.expect(",")
        path = self.expression()
        return token, opener, operand, path

    def _json_value(self) -> ast.Expression:
        token, opener, operand, path = self._json_start()
        returning = self.data_type() if self.accept("RETURNING") else None
        on_empty, on_error = self._json_behaviors()
        self.close(opener)
        return ast.JsonValue(operand, path, returning, on_empty, on_error, span=self.span(token.start))

    def _json_query(self) -> ast.Expression:
        token, opener, operand, path = self._json_start()
        returning = self.data_type() if self.accept("RETURNING") else None
        wrapper = "WITHOUT" if self.accept("WITHOUT") else None
        if wrapper is None and self.accept("WITH"):
            said = self.token.key in ("CONDITIONAL", "UNCONDITIONAL")
            wrapper = self.advance().key if said else "UNCONDITIONAL"
        if wrapper:
            self.accept("ARRAY")
            self.expect("WRAPPER")
        on_empty, on_error = self._json_behaviors()
        self.close(opener)
        return ast.JsonQuery(operand, path, returning, wrapper, on_empty, on_error, span=self.span(token.start))

    def _json_behaviors(self) -> tuple[ast.JsonBehavior | None, ast.JsonBehavior | None]:
        behaviors: dict[str, ast.JsonBehavior] = {}
        while self.token.key in ("NULL", "ERROR", "DEFAULT", "EMPTY"):
            start = self.token.start
            kind = self.advance().key
            value = self.expression() if kind == "DEFAULT" else None
            if kind == "EMPTY":
                kind = f"EMPTY {self.one_of('ARRAY', 'OBJECT')}"
            span = self.span(start)
            self.expect("ON")
            behaviors[self.one_of("EMPTY", "ERROR")] = ast.JsonBehavior(kind, value, span=span)
        return behaviors.get("EMPTY"), behaviors.get("ERROR")

    def _json_exists(self) -> ast.Expression:
        token, opener, operand, path = self._json_start()
        on_error: str | None = None
        if self.token.key in ("TRUE", "FALSE", "UNKNOWN", "ERROR"):
            on_error = self.advance().key
            self.expect("ON", "ERROR")
        self.close(opener)
        return ast.JsonExists(operand, path, on_error, span=self.span(token.start))

    def _json_object(self) -> ast.Expression:
        start = self.advance().start
        opener = self.open()
        entries = self._json_items(self._json_entry)
        on_null = self._json_on_null()
        self.close(opener)
        return ast.JsonObject(entries, on_null, span=self.span(start))

    def _json_array(self) -> ast.Expression:
        start = self.advance().start
        opener = self.open()
        items = self._json_items(self.expression)
        on_null = self._json_on_null()
        self.close(opener)
        return ast.JsonArray(items, on_null, span=self.span(start))

    def _json_items(self, item: Callable[[], T]) -> tuple[T, ...]:
        return () if self.token.key == ")" or self._at_on_null() else self.list_of(item)

    def _json_object_agg(self) -> ast.Expression:
        name, start = self._own_name()
        opener = self.open()
        entry = self._json_entry()
        position = self.token.start
        on_null = self._symbol("JSON_ON_NULL", self._json_on_null() or "NULL", position)
        self.close(opener)
        return self._call_suffix(name, start, (entry.key, entry.value, on_null))

    def _json_array_agg(self) -> ast.Expression:
        name, start = self._own_name()
        opener = self.open()
        value = self.expression()
        order_by = self.order_by()
        position = self.token.start
        on_null = self._symbol("JSON_ON_NULL", self._json_on_null() or "ABSENT", position)
        self.close(opener)
        return self._call_suffix(name, start, (value, on_null), order_by=order_by)

    def _json_entry(self) -> ast.KeyValue:
        start = self.token.start
        if self.token.key == "KEY" and self.peek() not in ("VALUE", ":", ".", "("):
            self.advance()
        key = self.expression()
        if not self.accept(":"):
            self.expect("VALUE")
        value = self.expression()
        return ast.KeyValue(key, value, span=self.span(start))

    def _at_on_null(self) -> bool:
        return self.token.key in ("NULL", "ABSENT") and self.peek() == "ON" and self.peek(2) == "NULL"

    def _json_on_null(self) -> str | None:
        if not self._at_on_null():
            return None
        word = self.advance().key
        self.expect("ON", "NULL")
        return word


_ABOVE_IN = 33

_SPECIAL: dict[str, Callable[[FunctionParser], ast.Expression]] = {
    "CAST": FunctionParser._cast,
    "TRY_CAST": FunctionParser._cast,
    "EXISTS": FunctionParser._exists,
    "EXTRACT": lambda parser: parser._own_call(parser._extract),
    "FLOOR": lambda parser: parser._own_call(parser._floor),
    "CEIL": lambda parser: parser._own_call(parser._floor),
    "CEILING": lambda parser: parser._own_call(parser._floor),
    "TRIM": lambda parser: parser._own_call(parser._trim),
    "SUBSTRING": lambda parser: parser._own_call(lambda: parser._divided_by("FROM", "FOR")),
    "OVERLAY": lambda parser: parser._own_call(lambda: parser._divided_by("PLACING", "FROM", "FOR")),
    "POSITION": lambda parser: parser._own_call(lambda: parser._divided_by("IN", "FROM")),
    "TIMESTAMPADD": lambda parser: parser._own_call(parser._timestamp_arithmetic),
    "TIMESTAMPDIFF": lambda parser: parser._own_call(parser._timestamp_arithmetic),
    "JSON_VALUE": FunctionParser._json_value,
    "JSON_QUERY": FunctionParser._json_query,
    "JSON_EXISTS": FunctionParser._json_exists,
    "JSON_OBJECT": FunctionParser._json_object,
    "JSON_ARRAY": FunctionParser._json_array,
    "JSON_OBJECTAGG": FunctionParser._json_object_agg,
    "JSON_ARRAYAGG": FunctionParser._json_array_agg,
}
