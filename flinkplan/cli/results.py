"""How the rows of a SELECT are shown, in the result modes of Flink's SQL client."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import click

from ..plan.errors import FlinkplanError
from ..plan.printable import printable
from ..plan.record import Record
from ..plan.settings import SETTINGS

if TYPE_CHECKING:
    from rich.text import Text

    from ..plan.text.content import Content
    from ..plan.types import LogicalType
    from ..windowing.rows import Row

RESULT_MODE = "sql-client.execution.result-mode"
_MAX_ROWS = "sql-client.execution.max-table-result.rows"
_LESS = "-SX"
"""The options of ``less`` for tables: long lines are cut, and the arrow keys scroll sideways."""
_REFRESHES = 8
"""How often per second the live table is drawn."""
_FRAME = 6
"""The number of lines of the live table that are not rows."""


class Options(Protocol):
    """The options of a session."""

    def get(self, key: str, default: str, /) -> str:
        """The value of an option."""
        ...


class Query(Protocol):
    """A query, whose rows arrive here or from a gateway."""

    @property
    def columns(self) -> tuple[tuple[str, LogicalType], ...]:
        """The names and types of the columns."""
        ...

    @property
    def max_width(self) -> int:
        """The printed width of columns whose type has no maximum length."""
        ...

    def texts(self, seconds: float | None = None) -> AbstractContextManager[Iterator[Row]]:
        """The rows, with their kinds, as texts."""
        ...

    def lines(self, limit: int | None = None, seconds: float | None = None) -> Iterator[str]:
        """The lines of a table of the changes, each as soon as it arrives."""
        ...


class Shown(Record):
    """How much of a SELECT is shown: at most ``limit`` changes, for at most ``seconds``; ``None`` is no limit.

    ``is_paged`` says that a table that does not fit on the terminal is shown by a pager.
    """

    limit: int | None = None
    seconds: float | None = None
    is_paged: bool = False


def show(result: Query, config: Options, default_mode: str, shown: Shown, obey: Callable[[], None]) -> None:
    """Print the rows of a query in the session's result mode.

    ``obey`` raises KeyboardInterrupt after Ctrl-C; the rows that have arrived by then are still printed.
    """
    if config.get(RESULT_MODE, default_mode).upper() == "TABLE":
        max_rows = int(config.get(_MAX_ROWS, SETTINGS[_MAX_ROWS].option.default or ""))
        _show_content(result, max_rows, shown, obey)
        return
    for line in result.lines(shown.limit, shown.seconds):
        click.echo(line)
        obey()


def _show_content(result: Query, max_rows: int, shown: Shown, obey: Callable[[], None]) -> None:
    """Show the current rows as a live table on a terminal, and print the final rows, or those before a failure."""
    from ..plan.text import tableau
    from ..plan.text.content import Content

    content = Content(max_rows)
    has_failed = False
    try:
        with result.texts(shown.seconds) as rows, _Live(result, content) as change:
            for row in islice(rows, shown.limit):
                change(row)
                obey()
    except FlinkplanError:
        has_failed = True
        raise
    finally:
        final = list(content)
        if final or not has_failed:
            _print(list(tableau.content(result.columns, final, result.max_width)), shown.is_paged)


def _print(lines: Sequence[str], is_paged: bool) -> None:
    """Print lines; a pager shows those that do not fit on the terminal."""
    from ..plan.text import tableau

    columns, height = shutil.get_terminal_size()
    fits = len(lines) < height and max(map(tableau.shown_width, lines)) <= columns
    if not is_paged or fits or not sys.stdout.isatty():
        for line in lines:
            click.echo(line)
        return
    os.environ.setdefault("LESS", _LESS)
    click.echo_via_pager("\n".join(map(printable, lines)) + "\n")


class _Live:
    """Draws the newest rows, as many as fit on the terminal; draws nothing where the output is no terminal."""

    def __init__(self, result: Query, content: Content) -> None:
        from rich.console import Console
        from rich.live import Live

        self._columns = result.columns
        self._content = content
        self._width = result.max_width
        self._drawing = Lock()
        self._console = Console()
        self._live = Live(
            console=self._console,
            get_renderable=self._drawn,
            refresh_per_second=_REFRESHES,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Callable[[Row], None]:
        if self._console.is_terminal:
            self._live.start()
        return self._change

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def _change(self, row: Row) -> None:
        with self._drawing:
            self._content.change(row)

    def _drawn(self) -> Text:
        """The text of the table; called by rich's own thread."""
        from rich.text import Text

        from ..plan.text import tableau

        room = max(self._console.height - _FRAME, 1)
        with self._drawing:
            count, newest = len(self._content), self._content.newest(room)
        *lines, _ = tableau.content(self._columns, newest, self._width)
        lines.append(f"{count:,} rows so far, the newest last; Ctrl-C ends the query")
        return Text("\n".join(map(printable, lines)), no_wrap=True, overflow="crop")
