"""What is typed: whether it is whole, and what is for the shell itself."""

from __future__ import annotations

from ...planner.sql.lexer import BAD, END, WORD, tokenize
from ...planner.sql.source import Source

COMMANDS = {
    "HELP": "this list",
    "QUIT": "end the shell; what still runs is stopped (also EXIT, Ctrl-D)",
    "CLEAR": "clear the screen",
    "SOURCE": "execute the statements of a file: SOURCE script.sql",
}
"""The shell's own commands, by their first word."""

_ALIASES = {"EXIT": "QUIT", "?": "HELP"}
_OPENING = ("BEGIN", "CASE")


def command_of(text: str) -> tuple[str, str] | None:
    """The shell's command that a text is, and the rest of the line; ``None`` for SQL."""
    first, _, rest = text.strip().rstrip(";").strip().partition(" ")
    word = _ALIASES.get(first.upper(), first.upper())
    return (word, rest.strip().strip("'\"")) if word in COMMANDS else None


def is_whole(text: str) -> bool:
    """Whether a text ends with its last statement, so that Enter executes it instead of beginning a new line.

    Quotes and comments are closed, and so are statement sets, whose statements end with semicolons of their own.
    """
    if not text.strip() or command_of(text):
        return True
    depth = 0
    last = ""
    for token in tokenize(Source(text)):
        if token.kind == BAD and token.end == len(text) and token.end - token.start > 1:
            return False
        if token.kind == WORD:
            depth += (token.key in _OPENING) - (token.key == "END")
        if token.kind != END:
            last = token.key
    return depth <= 0 and last == ";"
