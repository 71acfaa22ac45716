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
    """A signal that is obeyed as Ctrl-C is, and also ends a shell."""


class Terminated(ProcessEnd):
    """SIGTERM."""


class HungUp(ProcessEnd):
    """SIGHUP: the terminal has gone."""


def code_of(interrupt: BaseException | None) -> int:
    """What the process ends with after an interrupt."""
    if isinstance(interrupt, Terminated):
        return TERMINATED
    return HUNG_UP if isinstance(interrupt, HungUp) else INTERRUPTED


def print_error(error: FlinkplanError) -> None:
    """What is wrong, the place with its line, and how to mend it; each of a group of errors in turn."""
    for number, each in enumerate(error.errors):
        if number:
            click.echo(err=True)
        message, place, snippet, hint = described(each)
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
    """What is perhaps not as meant, with the rule that says so."""
    where = finding.location
    snippet = underline_file(where) if where else None
    message = continued(without_secrets(finding.message))
    click.echo(click.style("warning", fg="yellow", bold=True) + f"[{finding.rule}]: {message}", err=True)
    _print_place(str(where) if where else None, snippet, finding.hint and without_secrets(finding.hint))


def print_internal_error(error: BaseException, debug: bool) -> None:
    """One line for a fault of our own; the traceback for those who ask."""
    from .. import __version__

    if debug:
        click.echo(without_secrets("".join(traceback.format_exception(error))), err=True, nl=False)
    kind = one_line(without_secrets(f"{type(error).__name__}: {error}".splitlines()[0]))
    click.echo(click.style("internal error: ", fg="red", bold=True) + f"{kind} (flinkplan {__version__})", err=True)
    if not debug:
        click.echo(
            "This is a fault of flinkplan. Please report it with the output of the same command after "
            "'flinkplan --debug'.",
            err=True,
        )
