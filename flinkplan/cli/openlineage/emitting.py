"""Sending events to where ``OPENLINEAGE_URL``, ``openlineage.yml`` or another setting of OpenLineage's client says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ...plan.document import Plan
from ...plan.printable import one_line
from ...plan.secrets import without_secrets
from .events import Described, JobName, check_installed, described, job_event, run_event


class Emitter:
    """Sends events.  A failure to send one is a warning: the job goes on."""

    def __init__(self) -> None:
        check_installed()
        from openlineage.client import OpenLineageClient

        self._client = OpenLineageClient()

    def compiled(self, plan: Plan, name: JobName, variables: Mapping[str, str]) -> None:
        """Send what a compiled plan reads and writes."""
        self._send(job_event(described(plan, name, variables)))

    def started(self, plan: Plan, name: JobName, variables: Mapping[str, str]) -> Run:
        """Send that a job has started; its end is to be sent by the result."""
        from openlineage.client.uuid import generate_new_uuid

        return Run(self, described(plan, name, variables), str(generate_new_uuid()))

    def _send(self, event: Any) -> None:
        try:
            self._client.emit(event)
        except Exception as e:
            message = one_line(without_secrets(f"{type(e).__name__}: {e}"))
            warning = click.style("warning: ", fg="yellow", bold=True)
            click.echo(f"{warning}the event of OpenLineage was not sent: {message}", err=True)

    def close(self) -> None:
        """Send what still waits to be sent."""
        self._client.close(10)


class Run:
    """A run of a job, of which one end is sent."""

    def __init__(self, emitter: Emitter, what: Described, run_id: str) -> None:
        self._emitter, self._what, self._id = emitter, what, run_id
        self._is_over = False
        emitter._send(run_event(what, run_id, "START"))

    def ended(self, state: str, error: BaseException | None = None) -> None:
        """Send the first end of the run: ``COMPLETE``, ``FAIL`` or ``ABORT``."""
        if not self._is_over:
            self._is_over = True
            self._emitter._send(run_event(self._what, self._id, state, error))


@contextmanager
def emitter() -> Iterator[Emitter]:
    """Sends events in the block, and what waits at its end."""
    sender = Emitter()
    try:
        yield sender
    finally:
        sender.close()
