"""A source line with carets below a place."""

from __future__ import annotations

from pathlib import Path

from ..errors import FlinkplanError, Location
from ..secrets import hidden, without_secrets

_WIDTH = 100


def underline(line: str, where: Location) -> str:
    """The line with its number, cut around the place, and carets up to ``where.end_column`` below it."""
    column = where.column or 1
    end = where.end_column or column + 1
    line, shifted = hidden(line)
    column, end = shifted(column - 1) + 1, shifted(end - 1) + 1
    width = end - column
    number = str(where.line)
    if column > _WIDTH:
        line, column = "…" + line[column - _WIDTH // 2 - 1 :], _WIDTH // 2 + 2
    if len(line) > 2 * _WIDTH:
        line = line[: 2 * _WIDTH] + "…"
    width = max(1, min(width, len(line) - column + 1))
    indent = "".join("\t" if char == "\t" else " " for char in line[: column - 1])
    return f"  {number} | {line}\n  {' ' * len(number)} | {indent}{'^' * width}"


def underline_file(where: Location) -> str | None:
    """The result of :func:`underline` for the line in the file; ``None`` if it cannot be read."""
    if where.file is None or where.line is None:
        return None
    try:
        lines = Path(where.file).read_text(encoding="utf-8").split("\n", where.line)
    except (OSError, UnicodeDecodeError):
        return None
    return underline(lines[where.line - 1].rstrip("\r"), where) if where.line <= len(lines) else None


def described(error: FlinkplanError) -> tuple[str, str | None, str | None, str | None]:
    """Message, place, snippet and hint of an error, without secrets; ``None`` for what it does not have."""
    snippet = _shown(error.snippet)
    if snippet is None and isinstance(error.where, Location):
        snippet = underline_file(error.where)
    return without_secrets(error.message), str(error.where) if error.where else None, snippet, _shown(error.hint)


def _shown(text: str | None) -> str | None:
    return text and without_secrets(text)
