"""Progress by entries, and memory, of commands that read or write the state of a job."""

from __future__ import annotations

import sys

import click

from ..plan.printable import one_line
from ..state.form import Manifest, OperatorState, StateTable

FOR_STATE = {"spark.driver.memory": "1g"}
"""Settings of a session that state goes through: it is sorted and spilled, so that more would only be filled with
garbage."""


def operator_name(operator: OperatorState) -> str:
    """The UID of an operator, else its hash."""
    return operator.uid or operator.hash or "?"


class EntryProgress:
    """Shows on a terminal how many entries have been read or written."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def __call__(self, operator: OperatorState, table: StateTable, entries: int) -> None:
        self._show(f"{operator_name(operator)} {table.name}: {entries} entries")

    def step(self, what: str, done: int, total: int) -> None:
        """Show a step of a command."""
        self._show(f"{what}: {done} of {total} entries")

    def read(self, entries: int) -> None:
        """Show how many entries of a savepoint have been read."""
        self._show(f"reading: {entries} entries")

    def _show(self, text: str) -> None:
        if self._is_shown:
            self._print(f"\r\x1b[K{one_line(text)}")

    def end(self) -> None:
        """Clear the line."""
        if self._is_shown:
            self._print("\r\x1b[K")

    def _print(self, text: str) -> None:
        click.echo(text, err=True, nl=False)


def summary(manifest: Manifest) -> str:
    """The number of entries and states, and the states that were not decoded."""
    tables = list(manifest.tables())
    text = f"{sum(table.entries or 0 for _, table in tables)} entries of {len(tables)} states"
    opaque = [f"{operator_name(operator)} {table.name}" for operator, table in tables if table.opaque]
    return f"{text}; copied as bytes, not decoded: {', '.join(opaque)}" if opaque else text
