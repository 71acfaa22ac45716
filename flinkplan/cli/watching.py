"""Who else is told of a job's batches: a page, and those who ask for counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from ..plan.record import Record
from .progress import Progress


class Watched(Record):
    """What the options ask for: a page at ``report``, served at the port ``ui``, counts at ``metrics_port``.

    ``ui_host`` and ``metrics_host`` are the addresses whose ports these are: unless given, of this machine alone.
    """

    report: str | None = None
    ui: int | None = None
    metrics_port: int | None = None
    ui_host: str | None = None
    metrics_host: str | None = None

    @property
    def is_on(self) -> bool:
        """Whether anybody is told."""
        return self.report is not None or self.ui is not None or self.metrics_port is not None

    @contextmanager
    def watching(self) -> Iterator[list[Progress]]:
        """Those to be told; afterwards the page is written, however the job has ended.

        Raises :class:`FlinkplanError` for a port that is taken, and for a page that cannot be written.
        """
        for host, port, option in ((self.ui_host, self.ui, "ui"), (self.metrics_host, self.metrics_port, "metrics")):
            if host is not None and port is None:
                named = "--ui" if option == "ui" else "--metrics-port"
                raise click.UsageError(f"--{option}-host needs {named}: that is the port.")
        told: list[Progress] = []
        with ExitStack() as stack:
            if self.report is not None or self.ui is not None:
                from .pages import report

                page = report.Report("flinkplan")
                told.append(page)
                if self.ui is not None:
                    click.echo(
                        f"watch it at {stack.enter_context(report.served(page, self.ui, _at(self.ui_host)))}", err=True
                    )
                if self.report is not None:
                    stack.callback(page.write, self.report)
            if self.metrics_port is not None:
                from . import metrics

                counts = metrics.Metrics()
                served = metrics.served(counts, self.metrics_port, _at(self.metrics_host))
                click.echo(f"counts at {stack.enter_context(served)}", err=True)
                told.append(counts)
            yield told


def _at(host: str | None) -> str:
    """The address to listen at; that others can reach it is said."""
    from .serving import LOOPBACK, is_loopback

    if host is None or is_loopback(host):
        return host or LOOPBACK
    warning = click.style("warning: ", fg="yellow", bold=True)
    click.echo(f"{warning}whoever reaches {host} can read what is served there: nobody has to log in", err=True)
    return host
