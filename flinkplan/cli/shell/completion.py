"""Completion of tables, columns, functions, options and keywords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ...plan.connectors import CONNECTORS, FORMATS
from ...plan.functions import all_functions
from ...plan.settings import SETTINGS
from ...planner.catalog.catalog import Catalog, Table, View
from ...planner.sql.keywords import RESERVED
from ...planner.sql.lexer import BAD, END, QUOTED, WORD, Token, tokenize
from ...planner.sql.parser import QUERY_STARTS
from ...planner.sql.source import Source
from ...planner.sql.statements import STATEMENTS
from .texts import COMMANDS

_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "TABLE", "VIEW", "DESCRIBE", "DESC", "EXPLAIN"})


class SqlCompleter(Completer):
    """Completes the last word of a statement by the words before it and by the catalog of the session."""

    def __init__(self, catalog: Callable[[], Catalog]) -> None:
        self._catalog = catalog

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        tokens = _last_statement(text)
        quote = tokens[-1] if tokens and tokens[-1].kind == BAD and text[tokens[-1].start] == "'" else None
        if quote is not None:
            yield from _matching(text[quote.start + 1 :], _options(text, tokens[:-1]), "option")
            return
        word = re.search(r"[\w$]*\Z", text)
        typed = word[0] if word else ""
        if typed and tokens:
            tokens = tokens[:-1]
        before = tokens[-1].key if tokens else ""
        if not tokens:
            yield from _matching(typed, (*STATEMENTS, *QUERY_STARTS, *COMMANDS), "statement")
        elif before == ".":
            yield from _matching(typed, self._columns(document.text, tokens[-2:-1]), "column")
        elif before in _BEFORE_TABLES:
            yield from _matching(typed, self._tables(), "table")
        elif typed:
            yield from _matching(typed, self._columns(document.text, ()), "column")
            yield from _matching(typed, self._tables(), "table")
            yield from _matching(typed, _function_names(), "function")
            yield from _matching(typed, sorted(RESERVED), "keyword")

    def _tables(self) -> list[str]:
        return sorted(map(_quoted, self._catalog().names()))

    def _columns(self, text: str, owner: Iterable[Token]) -> list[str]:
        """The columns of the tables in the text; with an owner, only of the table with this name or alias."""
        owners = {_name(text, token) for token in owner}
        columns: dict[str, None] = {}
        names = [_name(text, token) for token in tokenize(Source(text)) if token.kind in (WORD, QUOTED)]
        for i, name in enumerate(names):
            item = self._catalog().find((name,))
            if item is not None and (not owners or owners & {*names[i : i + 3]}):  # t, t a, t AS a
                columns |= dict.fromkeys(_columns_of(item))
        return list(columns)


def _last_statement(text: str) -> list[Token]:
    """The tokens after the last semicolon."""
    tokens = [token for token in tokenize(Source(text)) if token.kind != END]
    ends = [i for i, token in enumerate(tokens) if token.key == ";"]
    return tokens[ends[-1] + 1 :] if ends else tokens


def _name(text: str, token: Token) -> str:
    identifier = text[token.start : token.end]
    return identifier[1:-1].replace("``", "`") if token.kind == QUOTED else identifier


def _columns_of(item: Table | View) -> list[str]:
    columns = item.resolved.schema.columns if isinstance(item, Table) else item.row_type.fields
    return [_quoted(column.name) for column in columns]


def _quoted(name: str) -> str:
    """A name as an identifier of SQL, with backquotes where it needs them."""
    is_plain = re.fullmatch(r"[^\W\d]\w*", name) and name.upper() not in RESERVED
    return name if is_plain else f"`{name.replace('`', '``')}`"


def _options(text: str, tokens: list[Token]) -> list[str]:
    """The completions of an open string: settings after SET; options of WITH, and names of connectors and formats."""
    if not tokens:
        return []
    if tokens[0].key in ("SET", "RESET"):
        return list(SETTINGS) if len(tokens) == 1 else []
    if tokens[-1].key == "=":
        key = text[tokens[-2].start : tokens[-2].end].strip("'") if len(tokens) > 1 else ""
        if key == "connector":
            return sorted(CONNECTORS)
        return sorted(FORMATS) if key == "format" or key.endswith(".format") else []
    match = re.search(r"'connector'\s*=\s*'([^']*)'", text[tokens[0].start :])
    connector = CONNECTORS.get(match[1]) if match else None
    return ["connector", "format", *sorted(option.key for option in (connector and connector.options) or ())]


@cache
def _function_names() -> tuple[str, ...]:
    return tuple(sorted({name for f in all_functions() if f.named for name in (f.name, *f.aliases)}))


def _matching(typed: str, words: Iterable[str], kind: str) -> Iterator[Completion]:
    """The words that begin with ``typed``; keywords and functions are in lower case where ``typed`` is."""
    lower = typed.islower() and kind in ("keyword", "statement", "function")
    for word in words:
        if word.upper().startswith(typed.upper()) and word != typed:
            yield Completion(word.lower() if lower else word, -len(typed), display_meta=kind)
