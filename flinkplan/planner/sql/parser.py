"""A cursor over tokens, the base of all parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from ...plan.errors import TABLE, UnsupportedError
from . import ast
from .dialects import CLAUSES, FUNCTIONS, OPERATORS, PHRASES, instead
from .errors import SqlSyntaxError, snippet
from .keywords import RESERVED, STRUCTURE
from .lexer import (
    BAD,
    BINARY,
    END,
    NUMBER,
    OPERATOR,
    QUOTED,
    STRING,
    WORD,
    Token,
    identifier_name,
    string_value,
    tokenize,
)
from .refused import IN_STREAMS, REFUSED
from .source import Source

T = TypeVar("T")
_PATH_PARTS = 3

QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})

_BAD_CHARACTERS = {
    '"': "strings take 'single quotes', identifiers `backquotes`",
    "\u2018": "write straight quotes: '",
    "\u2019": "write straight quotes: '",
    "\u201c": "write straight quotes: '",
    "\u201d": "write straight quotes: '",
    "#": "a comment starts with --",
    "\\": "a quote inside a string is doubled: 'it''s'",
}


class Cursor:
    """The tokens of a text and a place among them; ``token`` is the next one to take."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.position = 0
        self.token: Token = self.tokens[0]

    # Moving

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if token.kind != END:
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def move_to(self, position: int) -> None:
        """Go back (or forth) to a position noted before."""
        self.position = position
        self.token = self.tokens[position]

    def peek(self, ahead: int = 1) -> str:
        """The key of a token further on."""
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)].key

    def peek_kind(self, ahead: int = 1) -> str:
        """The kind of a token further on."""
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)].kind

    def accept(self, *keys: str) -> bool:
        """Take a run of keywords or operators if all of it is there."""
        tokens, position = self.tokens, self.position
        if self.token.key != keys[0] or len(tokens) <= position + len(keys):
            return False
        for offset in range(1, len(keys)):
            if tokens[position + offset].key != keys[offset]:
                return False
        self.move_to(position + len(keys))
        return True

    def expect(self, *keys: str) -> Token:
        """Take a run of keywords or operators; anything else is an error. Gives the last token."""
        token = self.token
        for key in keys:
            token = self.token
            if token.key != key:
                self.fail(key if key[0].isalpha() else f"'{key}'", words=(key,))
            self.advance()
        return token

    def one_of(self, *keys: str) -> str:
        """Take one of several keywords."""
        if self.token.key not in keys:
            self.fail(either(keys), words=keys)
        return self.advance().key

    def open(self) -> Token:
        """Take an opening parenthesis, to be given to :meth:`close`."""
        return self.expect("(")

    def close(self, opener: Token) -> Token:
        """Take the bracket that closes ``opener``."""
        closing = {"(": ")", "[": "]", "<": ">"}[self.text(opener)]
        if self.token.key == closing:
            return self.advance()
        line, column = self.source.position(opener.start)
        self.fail(
            f"',' or '{closing}'",
            hint=f"'{self.text(opener)}' was opened at {line}:{column}; is a ',' or a '{closing}' missing?",
        )

    def list_of(self, item: Callable[[], T]) -> tuple[T, ...]:
        """One or more items between commas."""
        items = [item()]
        while self.token.key == ",":
            self.advance()
            items.append(item())
        return tuple(items)

    def parenthesized(self, item: Callable[[], T]) -> tuple[T, ...]:
        """``( item, … )``."""
        opener = self.open()
        items = self.list_of(item)
        self.close(opener)
        return items

    def enclosed(self, item: Callable[[], T]) -> T:
        """``( item )``."""
        opener = self.open()
        parsed = item()
        self.close(opener)
        return parsed

    # Text and spans

    def text(self, token: Token) -> str:
        """A token as written."""
        return self.source.text[token.start : token.end]

    def span_of(self, token: Token) -> ast.Span:
        """Where a token stands."""
        return ast.Span(token.start, token.end, self.source)

    def span(self, start: int) -> ast.Span:
        """From an offset to the end of the last token taken."""
        return ast.Span(start, self.tokens[self.position - 1].end, self.source)

    # Errors

    def fail(self, expected: str, words: Iterable[str] = (), hint: str | None = None) -> NoReturn:
        """Raise the error that ``expected`` should stand where the next token stands.

        ``words`` are the keywords that could stand there: a misspelt one is suggested.
        """
        token = self.token
        if token.kind == BAD:
            self._fail_bad(token)
        if token.kind == END:
            actual = "the end of the text"
        elif token.key == ";":
            actual = "the end of the statement"
        elif token.kind == WORD and token.key in RESERVED:
            actual = f"the keyword {self.text(token)}"
        else:
            actual = self.text(token).split("\n")[0]
        span = self.span_of(token)
        if token.kind == END and self.position:
            span = ast.Span(self.tokens[self.position - 1].end, self.tokens[self.position - 1].end, self.source)
        raise SqlSyntaxError(
            f"expected {expected}, found {actual}",
            span,
            self._other_dialect() or self._similar_word(words) or self._runaway_string() or hint,
        )

    def _other_dialect(self) -> str | None:
        """Flink's alternative for a word or operator of another dialect at this place, or just before it."""
        token = self.token
        before = self.tokens[max(self.position - 1, 0)]
        if token.kind == WORD and token.key in FUNCTIONS and self.peek() == "(":
            return f"there is no {token.key}; {instead(FUNCTIONS[token.key])}"
        opened_by = self.tokens[max(self.position - 2, 0)]
        if before.key == "(" and opened_by.kind == WORD and opened_by.key in FUNCTIONS:
            return f"there is no {opened_by.key}; {instead(FUNCTIONS[opened_by.key])}"
        for pair in ((before.key, token.key), (token.key, self.peek())):
            if pair in PHRASES:
                return f"there is no {' '.join(pair)}; {instead(PHRASES[pair])}"
        for each in (token, before):
            if each.kind == WORD and each.key in CLAUSES:
                return f"there is no {each.key}; {instead(CLAUSES[each.key])}"
        starts = [each.start for each in (before, token) if each.kind == OPERATOR and each.end >= token.start]
        for start in starts:
            for operator, has in OPERATORS.items():
                if self.source.text.startswith(operator, start) and start + len(operator) >= token.end:
                    return f"there is no {operator}; {instead(has)}"
        return None

    def _fail_bad(self, token: Token) -> NoReturn:
        text = self.text(token)
        start = ast.Span(token.start, token.start + 1, self.source)
        if text.startswith("'"):
            raise SqlSyntaxError("the string opened here has no closing quote", start, "a quote inside is doubled: ''")
        if text.startswith("`"):
            if text.startswith("``"):
                raise SqlSyntaxError("an identifier cannot be empty", start)
            raise SqlSyntaxError("the identifier opened here has no closing backquote", start)
        if text.startswith("/*"):
            raise SqlSyntaxError("the comment opened here is never closed", start, "close it with */")
        if text[0] in ".0123456789":
            raise SqlSyntaxError(f"a number of {len(text):,} characters is beyond all types", start)
        raise SqlSyntaxError(f"the character {text} means nothing here", start, _BAD_CHARACTERS.get(text))

    def _similar_word(self, words: Iterable[str]) -> str | None:
        candidates = list(words)
        if not candidates:
            return None
        from difflib import get_close_matches

        for position in (self.position, self.position - 1):
            token = self.tokens[max(position, 0)]
            if token.kind == WORD and token.key not in candidates and token.key not in RESERVED:
                close = get_close_matches(token.key, candidates, 1, 0.7)
                if close:
                    return f"did you mean {close[0]} instead of {self.text(token)}?"
        return None

    def _runaway_string(self) -> str | None:
        for token in self.tokens[max(0, self.position - 1) : self.position + 1]:
            if token.kind == STRING and "\n" in self.text(token):
                line, column = self.source.position(token.start)
                return f"the string opened at {line}:{column} runs over several lines; is its closing quote missing?"
        return None

    def unsupported(self, feature: str, token: Token, hint: str | None = None) -> NoReturn:
        """Raise the error that ``feature`` of Flink SQL is not supported, with what it needs."""
        span = self.span_of(token)
        needs = f": {REFUSED[token.key]}" if token.key in REFUSED else ""
        message = f"{feature} is not supported{needs}"
        error = UnsupportedError(message, where=span.location, hint=hint, snippet=snippet(span))
        if token.key in IN_STREAMS:
            error.in_flink = (TABLE, IN_STREAMS[token.key])
        raise error

    # Small parts

    def identifier(self, expected: str = "an identifier") -> ast.Identifier:
        """One identifier; a reserved word needs backquotes."""
        token = self.token
        if token.kind == QUOTED:
            self.advance()
            return ast.Identifier(identifier_name(self.text(token)), True, span=self.span_of(token))
        if token.kind == WORD and token.key not in RESERVED:
            self.advance()
            return ast.Identifier(self.text(token), span=self.span_of(token))
        self.fail(expected, hint=self.quoting_hint())

    def quoting_hint(self) -> str | None:
        """The advice to quote the next token, if it is a reserved word that may be meant as a name."""
        token = self.token
        a_name = token.key not in STRUCTURE or (token.key in ("GROUP", "ORDER") and self.peek() != "BY")
        if token.kind == WORD and token.key in RESERVED and a_name:
            return f"{token.key} is a reserved word; as an identifier it needs backquotes: `{self.text(token)}`"
        if token.kind == STRING:
            return "identifiers take backquotes, 'single quotes' make a string"
        return None

    def name(self, expected: str = "a name") -> ast.Name:
        """A compound identifier."""
        start = self.token.start
        parts = [self.identifier(expected)]
        while self.token.key == ".":
            self.advance()
            parts.append(self.identifier("an identifier after '.'"))
        return ast.Name(tuple(parts), span=self.span(start))

    def path(self) -> ast.Name:
        """A text that is a name of up to three parts, which may be reserved words.  Source: ``TableApiIdentifier``."""
        start = self.token.start
        parts: list[ast.Identifier] = []
        while len(parts) < _PATH_PARTS and (not parts or self.token.key == "."):
            if parts:
                self.advance()
            word = self.token
            parts.append(
                ast.Identifier(self.text(self.advance()), span=self.span_of(word))
                if word.kind == WORD
                else self.identifier("an identifier after '.'" if parts else "a name")
            )
        if self.token.kind != END:
            self.fail("the end of the name")
        return ast.Name(tuple(parts), span=self.span(start))

    def string(self, expected: str = "a string in 'single quotes'") -> str:
        """A string literal."""
        if self.token.kind != STRING:
            self.fail(expected)
        token = self.advance()
        text = self.text(token)
        escape = "\\"
        if self.token.key == "UESCAPE" and text[:1] in "uU":
            self.advance()
            escape = self.string("the escape character")
            if len(escape) != 1:
                raise SqlSyntaxError("UESCAPE takes one character", self.span_of(self.tokens[self.position - 1]))
        try:
            return string_value(text, escape)
        except ValueError as error:
            raise SqlSyntaxError(
                str(error), self.span_of(token), f"write four hexadecimal digits: {escape}00e9"
            ) from None

    def integer(self, expected: str = "a whole number") -> int:
        """An unsigned whole number."""
        if self.token.kind != NUMBER or not self.text(self.token).isdigit():
            self.fail(expected)
        return int(self.text(self.advance()))

    def option(self) -> ast.Option:
        """``'key' = 'value'``."""
        start = self.token.start
        key = self.string("an option key in 'single quotes'")
        self.expect("=")
        value = self.string("an option value in 'single quotes'")
        return ast.Option(key, value, span=self.span(start))

    def options(self) -> tuple[ast.Option, ...]:
        """``('key' = 'value', …)``, perhaps empty."""
        if self.token.key == "(" and self.peek() == ")":
            self.advance()
            self.advance()
            return ()
        return self.parenthesized(self.option)

    def hints(self) -> tuple[ast.Hint, ...]:
        """``/*+ NAME(…), … */`` if it is there."""
        if not self.accept("/*+"):
            return ()
        hints = self.list_of(self._hint)
        self.expect("*/")
        return hints

    def column_list(self) -> tuple[ast.Identifier, ...]:
        """``(a, b)`` if it is there."""
        return self.parenthesized(self.column) if self.token.key == "(" else ()

    def column(self) -> ast.Identifier:
        """The name of a column."""
        return self.identifier("a column name")

    def _hint(self) -> ast.Hint:
        start = self.token.start
        name = self.identifier("the name of a hint").name.upper()
        options: list[ast.Option] = []
        arguments: list[str] = []
        if self.token.key == "(":
            opener = self.open()
            while self.token.key != ")":
                if options or arguments:
                    if self.token.key != ",":
                        break
                    self.advance()
                self._hint_argument(options, arguments)
            self.close(opener)
        return ast.Hint(name, tuple(options), tuple(arguments), span=self.span(start))

    def _hint_argument(self, options: list[ast.Option], arguments: list[str]) -> None:
        start = self.token.start
        if self.token.kind == STRING:
            key = self.string()
        elif self.token.kind in (NUMBER, BINARY):
            key = self.text(self.advance())
        else:
            key = str(self.name("an option, a name or a number"))
        if self.accept("="):
            options.append(ast.Option(key, self.string("a value in 'single quotes'"), span=self.span(start)))
        else:
            arguments.append(key)


def either(words: Iterable[str]) -> str:
    """``A, B or C``."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
