"""A line of a text with carets below the place that is meant."""

from __future__ import annotations

from pathlib import Path

from .errors import FlinkplanError, Location

_WIDTH = 160


def underline(line: str, where: Location) -> str:
    """The line as it stands in a file, numbered, and carets from ``where.column`` up to ``where.end_column``."""
    number = str(where.line)
    start = (where.column or 1) - 1
    end = min(where.end_column - 1 if where.end_column else start + 1, max(len(line), start + 1), _WIDTH)
    indent = "".join("\t" if char == "\t" else " " for char in line[:start])
    margin = " " * len(number)
    shown = f"{margin} |\n{number} | {line[:_WIDTH]}"
    return shown if start >= _WIDTH else f"{shown}\n{margin} | {indent}{'^' * max(1, end - start)}"


def underline_file(where: Location) -> str | None:
    """The same, with the line read from the file; ``None`` where there is none to show."""
    if where.file is None or where.line is None:
        return None
    try:
        lines = Path(where.file).read_text(encoding="utf-8").split("\n", where.line)
    except (OSError, UnicodeDecodeError):
        return None
    return underline(lines[where.line - 1].rstrip("\r"), where) if where.line <= len(lines) else None


def described(error: FlinkplanError) -> tuple[str, str | None, str | None, str | None]:
    """Message, place, snippet and hint of an error, as far as it has them."""
    snippet = error.snippet
    if snippet is None and isinstance(error.where, Location):
        snippet = underline_file(error.where)
    return error.message, str(error.where) if error.where else None, snippet, error.hint
