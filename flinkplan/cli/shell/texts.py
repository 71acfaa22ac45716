"""What the user has typed: commands of the shell, complete and incomplete statements."""

from __future__ import annotations

from ...planner.sql.lexer import BAD, END, WORD, tokenize
from ...planner.sql.source import Source

COMMANDS = {
    "HELP": "show this list",
    "QUIT": "stop the running jobs and end the shell (also EXIT, Ctrl-D)",
    "CLEAR": "clear the screen",
    "SOURCE": "execute the statements of a file: SOURCE script.sql",
}
"""The shell's own commands, by their first word."""

_ALIASES = {"EXIT": "QUIT", "?": "HELP"}
_OPENING = ("BEGIN", "CASE")


def command_of(text: str) -> tuple[str, str] | None:
    """The command of the shell in a text and its argument; ``None`` for SQL."""
    first, _, rest = text.strip().rstrip(";").strip().partition(" ")
    word = _ALIASES.get(first.upper(), first.upper())
    return (word, rest.strip().strip("'\"")) if word in COMMANDS else None


def is_complete(text: str) -> bool:
    """Whether a text ends with a complete statement, so that Enter executes it.

    Quotes, comments and statement sets must be closed; the statements of a set also end with semicolons.
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
