"""The prompt of the shell: several lines, history, completion, colours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import Output
from pygments.lexers.sql import SqlLexer

from ...plan.secrets import may_hold_secret
from ...planner.catalog.catalog import Catalog
from .completion import SqlCompleter
from .texts import is_complete

PROMPT = "flinkplan> "
_CONTINUATION = "        -> "


def prompt_session(
    catalog: Callable[[], Catalog],
    history: Path | None,
    terminal: Input | None = None,
    output: Output | None = None,
) -> PromptSession[str]:
    """A prompt that reads statements from the terminal, or from ``terminal``; ``history`` is the history file."""
    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=_CONTINUATION,
        lexer=PygmentsLexer(SqlLexer),
        completer=SqlCompleter(catalog),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        history=_history(history),
        key_bindings=_keys(),
        input=terminal,
        output=output,
    )


def _history(file: Path | None) -> History:
    """The history in this file, or in memory where the file cannot be written."""
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return _PrivateHistory(str(file))


class _PrivateHistory(FileHistory):
    """A history that does not write statements with secrets to its file; it offers them in this session."""

    def store_string(self, string: str) -> None:
        if not may_hold_secret(string):
            super().store_string(string)


def _keys() -> KeyBindings:
    """Enter executes complete statements, else it starts a new line; Escape and then Enter always execute."""
    keys = KeyBindings()

    @Condition
    def is_entered() -> bool:
        return is_complete(get_app().current_buffer.document.text)

    @keys.add("enter", filter=has_focus(DEFAULT_BUFFER) & is_entered)
    def _execute(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys
