"""Parameter types and options that several commands share."""

from __future__ import annotations

import sys

import click

from ..compat.reports import FORMATS


def assignment(text: str) -> tuple[str, str]:
    """The parameter type of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"'{text}' is not of the form NAME=VALUE")
    return name.strip(), value


def duration(text: str) -> int:
    """The parameter type of a duration as Flink reads it, such as ``10s``; in milliseconds."""
    from ..plan.durations import DurationError, parse_duration

    try:
        return parse_duration(text)
    except DurationError as e:
        raise click.BadParameter(f"{e.message}; {e.hint}" if e.hint else e.message) from None


report_format = click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
"""``--format`` of the commands that report findings."""


def read_input(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for ``-``, and what to call it in messages."""
    from ..plan.document import read_text
    from ..plan.errors import PlanError

    if path != "-":
        return read_text(path), path
    try:
        return sys.stdin.buffer.read().decode("utf-8"), "<stdin>"
    except UnicodeDecodeError as e:
        raise PlanError(f"not UTF-8 text (byte {e.start})", where="<stdin>") from None
