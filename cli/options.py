"""Parameter types and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..compat.reports import FORMATS


class Assignment(click.ParamType):
    """``NAME=VALUE``."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, content = str(value).partition("=")
        if not equals or not name.strip():
            self.fail(f"'{value}' is not of the form NAME=VALUE", param, ctx)
        return name.strip(), content


class Duration(click.ParamType):
    """A duration as Flink reads it, such as ``10s``; converted to milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from ..plan.durations import DurationError, parse_duration

        try:
            return parse_duration(value)
        except DurationError as e:
            self.fail(f"{e.message}; {e.hint}" if e.hint else e.message, param, ctx)


def report_format(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--format`` of the commands that report findings."""
    option = click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
    return option(command)


def read_input(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for ``-``, and what to call it in messages."""
    if path == "-":
        return click.get_text_stream("stdin", encoding="utf-8").read(), "<stdin>"
    from ..plan.document import read_text

    return read_text(path), path
