"""How errors reach the user: the only place that prints them."""

from __future__ import annotations

import traceback

import click

from ..plan.errors import FlinkplanError
from ..plan.findings import Finding
from ..plan.printable import continued, one_line, printable
from ..plan.secrets import without_secrets
from ..plan.text.snippets import described, underline_file

INTERRUPTED = 130
TERMINATED = 143
HUNG_UP = 129
INTERNAL = 70


class ProcessEnd(KeyboardInterrupt):
    """A signal that interrupts as Ctrl-C does and, other than it, also ends a shell."""


class Terminated(ProcessEnd):
    """SIGTERM."""


class HungUp(ProcessEnd):
    """SIGHUP: the terminal was closed."""


def code_of(interrupt: BaseException | None) -> int:
    """The exit code after an interrupt."""
    if isinstance(interrupt, Terminated):
        return TERMINATED
    return HUNG_UP if isinstance(interrupt, HungUp) else INTERRUPTED


def print_error(error: FlinkplanError) -> None:
    """Print what is wrong, where, with the line, and how to fix it; the errors of a group one after the other."""
    for index, member in enumerate(error.errors):
        if index:
            click.echo(err=True)
        message, place, snippet, hint = described(member)
        click.echo(click.style("error: ", fg="red", bold=True) + continued(message), err=True)
        _print_place(place, snippet, hint)


def _print_place(place: str | None, snippet: str | None, hint: str | None) -> None:
    if place:
        click.echo(click.style(" --> ", fg="blue") + one_line(place), err=True)
    if snippet:
        click.echo(printable(snippet), err=True)
    if hint:
        click.echo(click.style("hint: ", fg="cyan") + continued(hint), err=True)


def print_warning(finding: Finding) -> None:
    """Print a warning with its rule, place and hint."""
    location = finding.location
    snippet = underline_file(location) if location else None
    message = continued(without_secrets(finding.message))
    click.echo(click.style("warning", fg="yellow", bold=True) + f"[{finding.rule}]: {message}", err=True)
    _print_place(str(location) if location else None, snippet, finding.hint and without_secrets(finding.hint))


def print_internal_error(error: BaseException, debug: bool) -> None:
    """Print an internal error as one line, with ``debug`` after its traceback."""
    from .. import __version__

    if debug:
        click.echo(without_secrets("".join(traceback.format_exception(error))), err=True, nl=False)
    kind = one_line(without_secrets(f"{type(error).__name__}: {error}".splitlines()[0]))
    click.echo(click.style("internal error: ", fg="red", bold=True) + f"{kind} (flinkplan {__version__})", err=True)
    if not debug:
        click.echo(
            "This is a bug in flinkplan. Please report it with the output of 'flinkplan --debug' and the same "
            "arguments.",
            err=True,
        )
