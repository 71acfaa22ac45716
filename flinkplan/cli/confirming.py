"""Questions before something is changed."""

from __future__ import annotations

import sys

import click


def confirm(question: str, is_confirmed: bool) -> bool:
    """Whether the user wants what ``question`` asks; ``is_confirmed``: ``--yes`` has said so.

    Raises :class:`click.UsageError` where nobody can answer.
    """
    if is_confirmed:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here, because standard input is no terminal: add --yes.")
    click.echo(f"{question}\n  Only 'yes' is accepted: ", err=True, nl=False)
    return sys.stdin.readline().strip() == "yes"
